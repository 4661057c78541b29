"""The worth of each head to each word: a row a head that is off, a column a word."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from viz.exhibits.shading import Scale, rooted
from viz.exhibits.table import WIDE, Cell, Change, Column, Legend, Row, Table
from viz.labels import decimals_of, signed

LEAST = 0.05
"""Nats below which a cell has a shade, and no number."""
TITLED = 5000
"""Cells up to which each says its number to a pointer."""


@dataclass(frozen=True)
class Measure:
    """The words for a kind of change."""

    unit: str
    says: str
    legend: str
    less: str
    more: str
    result: str
    """The heading over what came of the output."""
    same: str
    scale: Scale = "signed"
    """With "share" every change is below 0, or 0."""


_LOG = "the change of each word's log-probability"
_ADDS = (
    "In each row one head is off: what that adds to the log-probability of each word of the output."
)
_LESS = ("less likely", "more likely")
WORDS = Measure("nats", _LOG, _ADDS, *_LESS, "words that change", "the same words")
CLASSES = Measure("nats", _LOG, _ADDS, *_LESS, "class", "the same class")
TURNED = Measure(
    "degrees",
    "minus the angle by which the text's vector turns",
    "In each row one head is off: minus the angle by which the text's vector turns.",
    "",
    "",
    "",
    "",
    "share",
)
COSINE = Measure(
    "cosine",
    "the change of the cosine of both sentences' vectors",
    "In each row one head is off, for both sentences: the change of their vectors' cosine.",
    "less alike",
    "more alike",
    "",
    "",
)
NUMBERS = Measure(
    "units",
    "the change of the number that the model gives the text",
    "In each row one head is off: what that adds to each number that the model gives the text.",
    "less",
    "more",
    "",
    "",
)
MEASURES = {"degrees": TURNED, "cosine": COSINE, "units": NUMBERS}
"""Unit of a change of a text's vector, or of its number -> its words."""


@dataclass(frozen=True)
class Order:
    """The column by which the rows are sorted, and links that lead to the other orders."""

    at: int
    """0 is the head, layer by layer; 1 the total; then the words."""
    links: Sequence[str] = ()
    """A link for each of these columns."""

    def of(self, column: int) -> dict[str, Any]:
        """The fields of a column that say so."""
        link = self.links[column] if column < len(self.links) else ""
        return {"link": link, "is_sorted": column == self.at}


@dataclass(frozen=True)
class HeadOff:
    """One change of the model, and what came of it."""

    title: str
    """Such as "Cross L2 H3"."""
    address: str
    """A link to it on another page."""
    changes: Sequence[float]
    """Changes of each word's log-probability, in nats; of a vector minus its angle, in degrees."""
    total: float
    """The same of the whole output."""
    is_first: bool = False
    """It begins a new layer, where rows stand layer by layer."""
    written: tuple[Change, ...] | None = None
    """The words when the text was written again; None: not known."""


def sweep_table(
    rows: Sequence[HeadOff],
    words: Sequence[str],
    measure: Measure = WORDS,
    origins: Sequence[Mapping[str, str]] = (),
    total: str = "total",
    order: Order | None = None,
) -> Table:
    """words: of the output, or the classes; origins: the tokens that each is made of.

    total: the heading of what each row does to the whole. order: None where nobody can choose it.
    """
    by: Callable[[int], dict[str, Any]] = (lambda _: {}) if order is None else order.of
    largest = max((abs(change) for row in rows for change in row.changes), default=0.0)
    decimals = decimals_of(max((row.total for row in rows), key=abs, default=0.0))
    is_titled = len(rows) * len(words) <= TITLED

    def row_of(row: HeadOff) -> Row:
        pairs = zip(row.changes, words, strict=True)
        changes = [
            _cell(change, word if is_titled else "", largest, len(words) > WIDE, measure.scale)
            for change, word in pairs
        ]
        text = measure.same if row.written == () else ""
        cells = [
            Cell(signed(row.total, decimals), row.total),
            *changes,
            Cell(text, changes=row.written or ()),
        ]
        return Row(Cell(row.title, link=row.address), cells, row.is_first)

    return Table(
        "Sweep",
        [
            Column("off", **by(0)),
            Column(total, **by(1)),
            *(
                Column(word, is_word=True, origin=origin, **by(i))
                for i, (word, origin) in enumerate(
                    zip(words, origins or [{}] * len(words), strict=True), 2
                )
            ),
            Column(measure.result, is_text=True),
        ],
        list(map(row_of, rows)),
        scale=measure.scale,
        legend=_legend(largest, measure),
    )


def _cell(change: float, word: str, largest: float, is_wide: bool, scale: Scale) -> Cell:
    has_number = not is_wide and abs(change) >= LEAST
    text = signed(change, 1 if abs(change) >= 9.95 else 2) if has_number else ""
    tip = f"{word} {signed(change, max(3, decimals_of(largest)))}" if word else ""
    return Cell(text, change, rooted(abs(change) if scale == "share" else change, largest), tip=tip)


def _legend(largest: float, measure: Measure) -> Legend:
    n, hint = decimals_of(largest), "A click on a head opens Explore with it off."
    if measure.scale == "share":
        ends = ("0", f"{signed(-largest, n)} {measure.unit} (square-root scale).")
        return Legend(measure.scale, *ends, measure.legend, hint)
    more = f"{signed(largest, n)} {measure.unit}" + (f", {measure.more}." if measure.more else ".")
    return Legend(
        "signed",
        f"{measure.less} {signed(-largest, n)}",
        more,
        measure.legend,
        hint,
    )
