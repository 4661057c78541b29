"""Sizes: what each kind of attention has, as a table that the page only declares."""

from viz.exhibits.exhibit import Exhibit
from viz.exhibits.table import Cell, Column, Row, Table
from viz.labels import kind_title
from viz.state.page import Page, Pane


def exhibits(pane: Pane) -> dict[str, Exhibit]:
    """A row for each kind: its layers, its heads, and the largest weight of its first head."""
    kinds = pane.recording.attentions
    rows = [
        Row(
            Cell(kind_title(kind)),
            [
                Cell(str(each.n_layers), each.n_layers),
                Cell(str(each.n_heads), each.n_heads),
                Cell(f"{(most := float(each.weights(0, 0).max())):.3f}", most, most),
            ],
        )
        for kind, each in kinds.items()
    ]
    columns = [Column(title) for title in ("", "layers", "heads", "largest weight")]
    table = Table("Sizes", columns, rows, scale="share")
    return {"sizes": Exhibit("Sizes", table, f"The sizes of {len(kinds)} kinds of attention")}


PAGE = Page("sizes", "Sizes", "Look", 97, exhibits=exhibits)
