"""Figures of Sweep: the worth of each head, alone, in pairs and over sentences, and
patches.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from transformer.analysis.ablation import Ablation
from transformer.analysis.scored import Output, exchanged
from transformer.edits import Edit
from transformer.recording import Recording
from viz.exhibits.chart import Scale, even, rooted
from viz.exhibits.table import WIDE, Cell, Change, Column, Legend, Row, Table, Tables
from viz.figures.heads.all_heads import INTERVAL, head_name
from viz.labels import decimals_of, percent, signed

# The worth of each head to each word: a row a head that is off, a column a word.

SWEEP_TABLE_LEAST = 0.05
"""Nats below which a cell has a shade, and no number."""
HINT = "A click on a head opens Explore with it off."
NAME, OFF, TOTAL = "Sweep", "off", "total"
LINE_BREAK = "⏎"
"""Stands for a word that is nothing but a line break."""
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


def measure_of(output: Output) -> Measure:
    """Return the words for what is judged of an output."""
    return MEASURES.get(output.unit) or (CLASSES if output.classes else WORDS)


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


def rows_of_heads(
    ablation: Ablation,
    recording: Recording,
    kinds: Sequence[str],
    sort: str,
    address: Callable[[Edit], str],
) -> list[HeadOff]:
    """A row for each head of these kinds: layer by layer, or the one that loses most first.

    sort: "layer", "change" or a word, as "word 3"; a word's change is the sum over its pieces.
    address: a link to a head that is off.
    """
    sweep, plain = ablation.sweep, ablation.plain
    by_word = [
        [sum(changes[i] for i in group) for group in sweep.output.groups]
        for changes in sweep.changes.tolist()
    ]
    every = zip(sweep.edits, by_word, sweep.totals.tolist(), strict=True)
    rows = [row for row in every if row[0].place in kinds]
    if sort == "change":
        rows.sort(key=lambda row: row[2])
    elif sort != "layer":
        word = int(sort.removeprefix("word "))
        rows.sort(key=lambda row: row[1][word])
    before = [None, *((edit.place, edit.layer) for edit, _, _ in rows)]

    def written(edit: Edit) -> tuple[Change, ...] | None:
        if (words := ablation.written.get(edit)) is None:
            return None
        return tuple(Change(" ".join(old), " ".join(new)) for old, new in exchanged(plain, words))

    return [
        HeadOff(
            head_name(edit.at_head, recording),
            address(edit),
            changes,
            total,
            is_first=sort == "layer" and last is not None and last != (edit.place, edit.layer),
            written=written(edit),
        )
        for (edit, changes, total), last in zip(rows, before, strict=False)
    ]


def sweep_table(
    rows: Sequence[HeadOff],
    words: Sequence[str],
    measure: Measure = WORDS,
    origins: Sequence[Mapping[str, str]] = (),
    total: str = TOTAL,
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
        NAME,
        [
            Column(OFF, **by(0)),
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
    has_number = not is_wide and abs(change) >= SWEEP_TABLE_LEAST
    text = signed(change, 1 if abs(change) >= 9.95 else 2) if has_number else ""
    tip = f"{word} {signed(change, max(3, decimals_of(largest)))}" if word else ""
    return Cell(text, change, rooted(abs(change) if scale == "share" else change, largest), tip=tip)


def _legend(largest: float, measure: Measure) -> Legend:
    n, hint = decimals_of(largest), HINT
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


# A head off, over many sentences: the mean change, how sure it is, and how often words change.

MEAN = Column(
    "mean", explain="The mean change of the whole output over all sentences, while the head is off."
)
OTHERS = {
    "words": "The share of sentences in which another token becomes the most probable.",
    "tokens": "The share of sentences in which another token becomes the most probable.",
    "classes": "The share of sentences in which another class becomes the most probable.",
}
"""A name of what may become another one -> the words of its column."""


@dataclass(frozen=True)
class MeanOff:
    """A head off, over many sentences: the change of the whole output, in nats, or in degrees."""

    title: str
    address: str
    mean: float
    low: float | None
    high: float | None
    share_other: float
    """The share of sentences in which another token, or class, becomes the most probable."""


def means_table(
    means: Sequence[MeanOff], unit: str = "nats", n_sentences: int = 0, others: str = "words"
) -> Table:
    """A row per head: the mean as a dot, its interval as a line, over one scale with 0.

    others: what may become another one; empty: the model chooses nothing.
    """
    ends = [
        0.0,
        *(it for each in means for it in (each.mean, each.low, each.high) if it is not None),
    ]
    least, most = min(ends), max(ends)
    n = decimals_of(max(-least, most))

    def row_of(each: MeanOff) -> Row:
        cells = [
            Cell(signed(each.mean, n), each.mean),
            _interval(each, n),
            *([Cell(percent(each.share_other, 0), each.share_other)] if others else []),
            Cell(interval=(each.low, each.mean, each.high)),
        ]
        return Row(Cell(each.title, link=each.address), cells)

    scale = Column(f"{signed(least, n)} to {signed(most, n)} {unit}", axis=(least, most))
    other = [Column(f"other {others}", explain=OTHERS[others])] if others else []
    columns = [Column("off"), MEAN, INTERVAL, *other, scale]
    return Table("Means", columns, list(map(row_of, means)), n_sentences=n_sentences)


def _interval(each: MeanOff, decimals: int) -> Cell:
    if each.low is None or each.high is None:
        return Cell("of one sentence")
    text = f"{signed(each.low, decimals)} to {signed(each.high, decimals)}"
    return Cell(text, each.mean, ends=(each.low, each.high))


# Two heads off at once: what they do together, one by one, and their synergy.

COLUMNS = (
    Column("off"),
    Column("together", explain="The change of the whole output while both heads are off."),
    Column("one by one", explain="The sum of the changes while only one of the two is off."),
    Column(
        "synergy",
        explain="Together less one by one: 0 where neither head needs or replaces the other.",
    ),
)


@dataclass(frozen=True)
class PairOff:
    """Two heads off at once, in nats of the whole output."""

    title: str
    address: str
    together: float
    apart: float
    """The sum of what each of them does by itself."""

    @property
    def synergy(self) -> float:
        return self.together - self.apart


def pairs_table(pairs: Sequence[PairOff]) -> Table:
    """A row per pair, with the shade of its synergy."""
    largest = max((abs(pair.synergy) for pair in pairs), default=0.0)
    n = decimals_of(max((abs(pair.together) for pair in pairs), default=0.0))

    def row_of(pair: PairOff) -> Row:
        synergy = Cell(signed(pair.synergy, n), pair.synergy, rooted(pair.synergy, largest))
        both = [Cell(signed(value, n), value) for value in (pair.together, pair.apart)]
        return Row(Cell(pair.title, link=pair.address), [*both, synergy])

    return Table("Pairs", COLUMNS, list(map(row_of, pairs)))


# Effects of patches: layers are rows; words, or heads, are columns. A click keeps a patch.

PATCH_MAPS_LEAST = 0.05
"""Effects below have a shade, and no number."""
REACHED = 0.1
"""Effects from which on the Tab key leads to a cell; all others are for a pointer."""


def patch_cell(address: str, title: str, effect: float | None, is_kept: bool) -> Cell | None:
    """One patch, with a link that puts it in force or takes it back.

    title: what is put where; effect: None where it is not tried yet.
    """
    if effect is None:
        return None
    return Cell(
        signed(effect) if abs(effect) >= PATCH_MAPS_LEAST or is_kept else "",
        effect,
        even(effect),
        link=address,
        tip=f"{title}: effect {signed(effect, 4)}",
        is_marked=is_kept,
        is_reached=abs(effect) >= REACHED or is_kept,
    )


def patch_map(
    title: str,
    columns: Sequence[tuple[str, str]],
    rows: Sequence[tuple[str, Sequence[Cell | None]]],
    origins: Sequence[Mapping[str, str]] = (),
) -> Table:
    """The patches of one kind of attention.

    columns: what stands above, of A and of B, which differ where A has another word; origins: the
    tokens that they are.
    """
    is_two = any(a != b for a, b in columns)
    above = [
        [
            Column(both[i], is_marked=both[0] != both[1], origin=origin)
            for both, origin in zip(columns, origins or [{}] * len(columns), strict=True)
        ]
        for i in (0, 1)
    ]
    return Table(
        title,
        [Column("B" if is_two else ""), *above[1]],
        [Row(Cell(name), cells) for name, cells in rows],
        kind="map",
        heads=[[Column("A"), *above[0]]] if is_two else (),
        title=title,
    )


def patch_maps(lines: Sequence[Sequence[Table]]) -> Tables:
    """Lines of maps, on a scale from -1 over 0 to 1; effects beyond have its ends."""
    return Tables(
        lines,
        Legend(
            "signed",
            "Effect −1",
            "1.",
            "0: the patch changes nothing; 1: B is answered as A is.",
            "A click keeps a patch and shows the output with it.",
        ),
    )
