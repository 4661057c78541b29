"""Repairs of a written word: what is changed, what that costs, and the sentence written then."""

from collections.abc import Callable

from transformer.causes.changes import Change
from transformer.causes.repairs import Repair, Repairs
from transformer.decoding import decoding_methods
from transformer.recording import Recording
from transformer.visible import visible
from viz.edit_words import edits_text
from viz.exhibits.table import Cell, Column, Row, Table
from viz.labels import number

MOST = 12
"""Repairs that have a row."""
FOOT = (
    "Cost: what all other written words together lose in the changed model; below 0 they gain. "
    "Another method changes no model."
)


def repairs_table(
    repairs: Repairs, recording: Recording, address: Callable[[Change], str]
) -> Table:
    """The cheapest repairs. address: the link that keeps one."""
    rows = [_row(it, recording, address(it.change)) for it in repairs.repairs[:MOST]]
    return Table(
        f"Repairs after which “{visible(repairs.place.text)}” is written",
        [
            Column("Change"),
            Column(),
            Column("Cost, nats", explain="What all other written words together lose then."),
            Column("Written then", is_text=True),
        ],
        rows,
        foot=f"{visible(repairs.text)} {FOOT}" if rows else visible(repairs.text),
    )


def _row(repair: Repair, recording: Recording, address: str) -> Row:
    name = change_text(repair.change, recording)
    cells = [
        Cell("Keep", link=address, tip=f"Keep: {name}"),
        Cell(number(repair.cost), repair.cost),
        Cell(visible(repair.text)),
    ]
    return Row(Cell(name), cells)


def change_text(change: Change, recording: Recording) -> str:
    """A change as a button says it: "Method: Greedy", "Cross L2 H3 off", "9 rows forced"."""
    if change.method:
        return f"Method: {decoding_methods()[change.method].title}"
    return edits_text(change.edits, recording)
