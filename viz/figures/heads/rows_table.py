"""Rows of a head in their sentences: the query, the key and its weight, grouped by decile."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from viz.exhibits.table import Cell, Column, Row, Table
from viz.labels import number

MEANINGS = {
    "decile": "A tenth of all rows of the head, by their largest weight: the flattest first.",
    "weight": "The largest weight of the row, which is on this key.",
}


@dataclass(frozen=True)
class RowInSentence:
    """A row of a head: where its query looks, in a sentence."""

    weight: float
    query: str
    key: str
    text: str
    parts: tuple[tuple[int, int], ...]
    """Parts of the text that are query and key: first letter, and the one behind the last."""
    link: str
    """Opens the sentence with this head, where there is a text to open."""
    group: str = ""
    """The decile that it is drawn from; empty where rows are not grouped."""
    origin: Mapping[str, str] = field(default_factory=dict)
    """Position, piece and word of query and key, for a file."""


def rows_table(name: str, rows: Sequence[RowInSentence]) -> Table:
    """A line for each row, headed by its query and key; where rows are grouped, the first of a
    group by the name of that.
    """
    is_grouped = any(each.group for each in rows)
    pair = "query → key"  # of a head a file has its name alone: the weight is a cell
    names = ["decile", "weight", pair] if is_grouped else [pair, "weight"]
    names.append("sentence")
    columns = [
        Column(each, is_text=each == "sentence", explain=MEANINGS.get(each, "")) for each in names
    ]

    def row(each: RowInSentence, before: RowInSentence | None) -> Row:
        is_new = before is None or each.group != before.group
        weight, pair = Cell(number(each.weight), each.weight), Cell(f"{each.query} → {each.key}")
        text = Cell(each.text, parts=each.parts, link=each.link)
        if not is_grouped:
            return Row(pair, [weight, text], origin=each.origin)
        head = Cell(each.group if is_new else "")
        is_first = is_new and before is not None
        return Row(head, [weight, pair, text], is_first, {"decile": each.group, **each.origin})

    pairs = zip(rows, [None, *rows], strict=False)
    return Table(name, columns, [row(*each) for each in pairs])
