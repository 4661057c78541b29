"""The cell of a head that is chosen, and the one that is looked at first."""

from collections.abc import Hashable

from transformer.analysis.reading import AttentionMap
from viz.ui.address import keep, kept
from viz.ui.current import current
from viz.views.view import Selection


def chosen_cell(selection: Selection, suffix: str = "") -> tuple[int, int] | None:
    """Positions of the chosen query and key; None where no cell is, or none that there is."""
    attention = selection.attention(current(suffix).recording)

    def legal(text: str) -> str:
        match numbers(text):
            case query, key if query < len(attention.queries) and key < len(attention.keys):
                return text
        return ""

    cell = numbers(kept(f"cell{suffix}", _cells(selection, suffix), legal=legal))
    return (cell[0], cell[1]) if cell else None


def keep_cell(selection: Selection, query: int, key: int, suffix: str = "") -> None:
    """Remember which cell is chosen."""
    keep(f"cell{suffix}", _cells(selection, suffix), f"{query},{key}")


def _cells(selection: Selection, suffix: str) -> Hashable:
    """A cell stays chosen while heads of the same kind are looked at."""
    return (current(suffix).request, selection.kind)


def place(map: AttentionMap, query: int, key: int) -> tuple[int, int] | None:
    """The row and column that these positions belong to; None where they are hidden."""
    rows = [row for row, group in enumerate(map.row_groups) if query in group]
    columns = [column for column, group in enumerate(map.column_groups) if key in group]
    return (rows[0], columns[0]) if rows and columns else None


def numbers(text: str) -> tuple[int, ...]:
    """ "0,3" -> (0, 3); what is no number is left out."""
    return tuple(int(part[:9]) for part in text.split(",") if part.isascii() and part.isdecimal())
