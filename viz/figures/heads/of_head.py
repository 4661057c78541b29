"""A head by itself: its labels, numbers, footprint, rows, circuits and relatives."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from transformer.analysis.corpus_sweep import caution
from transformer.corpus.labels import Atlas, Label, title_of
from transformer.corpus.shipped import Place
from transformer.corpus.surveyed import Estimate, HeadSummary
from transformer.inspection.circuits import Composition
from transformer.models.family import Family
from viz.exhibits.chart import Axis, Bars, Chart, values_of
from viz.exhibits.exhibit import Line, Span, Words
from viz.exhibits.table import Cell, Column, Row, Table
from viz.figures.heads.all_heads import (
    BY_CHANCE,
    DOES,
    FOOTPRINT,
    INTERVAL,
    ends_text,
    head_name,
    sentences,
    sparkline,
    text_of,
)
from viz.labels import number, percent

# The labels of a head with their evidence: score, interval, baseline and corrected p.

LABELS_TABLE_COLUMNS = (
    Column("label"),
    Column(
        "score",
        explain="The share of the head’s weight that does this, over all sentences; of a relation, "
        "the share of its arcs.",
    ),
    INTERVAL,
    Column(
        "by chance",
        explain=f"{BY_CHANCE} Of a relation, what its best fixed offset has.",
    ),
    Column(
        "p, corrected",
        explain="How likely so much is where the head does no more than a label asks for, "
        "corrected for all heads, roles and relations that were tried (Holm 1979).",
    ),
    Column("sentences", explain="Those where a head can do it at all."),
)


def labels_table(labels: Sequence[Label]) -> Table:
    """A row for each label, the surest first."""
    rows = [
        Row(
            Cell(each.title),
            [
                Cell(percent(each.score, 0), each.score),
                _interval(each),
                Cell(percent(each.baseline, 0), each.baseline),
                Cell(_p(each.p), each.p),
                Cell(f"{each.n_sentences:,d}", each.n_sentences),
            ],
        )
        for each in labels
    ]
    fewest = min((each.n_sentences for each in labels), default=0)
    return Table("Labels", LABELS_TABLE_COLUMNS, rows, n_sentences=fewest)


def _interval(label: Label) -> Cell:
    text = f"{percent(label.low, 0).removesuffix(' %')} to {percent(label.high, 0)}"
    return Cell(text, label.score, ends=(label.low, label.high))


def _p(p: float) -> str:
    return "< .0001" if p < 1e-4 else number(p, 4)


# Every number of a head over its survey: mean, interval, and what is had by chance.

NUMBERS_OF_HEAD_COLUMNS = (
    Column("number"),
    Column("mean", explain="The mean over all sentences that have it."),
    INTERVAL,
    Column("by chance", explain=BY_CHANCE),
)


def numbers_of_head(atlas: Atlas, place: Place) -> Table:
    """A row for each number: what the head is worth first."""
    rows, fewest = [], atlas.survey.n_sentences
    for name in atlas.numbers(place[0]):
        estimate = atlas.number(place, name)
        if estimate is not None:
            chance = atlas.heads[place].numbers.get(f"{name}_chance")
            if estimate.low is not None:
                fewest = min(fewest, estimate.n_sentences)
            rows.append(_row_numbers_of_head(name, estimate, chance, atlas.shipped.unit))
    foot = f"Over {sentences(atlas.survey.n_sentences)}."
    return Table("Numbers", NUMBERS_OF_HEAD_COLUMNS, rows, foot=foot, n_sentences=fewest)


def _row_numbers_of_head(name: str, of: Estimate, chance: Estimate | None, unit: str) -> Row:
    def text(value: float) -> str:
        return text_of(name, value, unit)

    interval = Cell("of one sentence")
    if of.low is not None and of.high is not None:
        ends = ends_text(name, of.low, of.high, unit)
        interval = Cell(ends, of.mean, ends=(of.low, of.high))
    return Row(
        Cell(title_of(name)),
        [
            Cell(text(of.mean), of.mean),
            interval,
            None if chance is None else Cell(text(chance.mean), chance.mean),
        ],
    )


# The footprint of a head: where its weight lies, by offset, or by place in the text.

HEIGHT = 150
SHARE = "{y:.1%} of the weight"


def chart(head: HeadSummary) -> Chart:
    """A bar for each offset of the key from the query; of cross-attention for each place."""
    n, shares = len(head.footprint), list(head.footprint)
    is_cross = head.kind == "cross"
    name = f"footprint {head.kind} {head.layer} {head.head}"
    if is_cross:
        places = [(2 * i + 1) / n - 1 for i in range(n)]
        title = "the key's place, less the query's, as shares of the text"
        ends = [(-1.0, "−1"), (-0.5, "−0.5"), (0.0, "0"), (0.5, "+0.5"), (1.0, "+1")]
        x, hover = Axis(title, ticks=ends), "{x:+.2f}: " + SHARE
    else:
        middle = n // 2
        places = [float(i - middle) for i in range(n)]
        labels = [(at, f"{at:+.0f}" if at else "0") for at in places]
        labels[0] = places[0], f"≤ {places[0]:.0f}".replace("-", "−")
        labels[-1] = places[-1], f"≥ +{places[-1]:.0f}"
        labels = [(at, text.replace("-", "−")) for at, text in labels]
        x = Axis("the key's place, less the query's, in tokens", ticks=labels[::2])
        hover = "{x:+d}: " + SHARE
    bars = Bars("", places, shares, ["accent"], hover, width=0.8)
    more = ": where its weight lies on average"
    return Chart(name, "Footprint", more, x, values_of("share of the weight"), [bars], HEIGHT)


def describe(head: HeadSummary) -> str:
    """Say where most of the weight lies."""
    n = len(head.footprint)
    at = max(range(n), key=lambda i: head.footprint[i])
    share = percent(head.footprint[at], 0)
    if head.kind == "cross":
        return f"Most weight, {share}, lies in part {at + 1} of {n} of the relative places."
    offset = at - n // 2
    tokens = "token" if abs(offset) == 1 else "tokens"
    return f"Most weight, {share}, lies {offset:+d} {tokens} from the query."


# The heads whose footprints are most like that of one head.

DISTANCE = (
    "How unlike the two footprints are: the root of their Jensen-Shannon divergence, from 0, the "
    "same, to 0.833, no place in common."
)


def relatives_table(
    atlas: Atlas, near: Sequence[tuple[Place, float]], links: Sequence[str]
) -> Table:
    """A row for each, the most alike first."""
    rows = [
        Row(
            Cell(head_name(place, atlas), link=link),
            [
                Cell(number(distance, 3), distance),
                Cell(sparkline(atlas.heads[place].footprint)),
                Cell(" · ".join(label.title for label in atlas.labels.get(place, ()))),
            ],
        )
        for (place, distance), link in zip(near, links, strict=True)
    ]
    columns = [
        Column("head"),
        Column("distance", explain=DISTANCE),
        FOOTPRINT,
        DOES,
    ]
    return Table("Relatives", columns, rows)


# Rows of a head in their sentences: the query, the key and its weight, grouped by decile.

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


# The heads that one head reads, and those that read it: its composition with others.

MOST = 5
"""Rows of each direction."""
CIRCUITS_TABLE_COLUMNS = (
    Column("head"),
    Column("how", explain="The side of the reading head, by whose matrix it reads the other."),
    Column(
        "strength",
        explain="How much of what the one head writes the other reads, by the norms of their "
        "matrices, from 0 to 1 (Elhage et al. 2021).",
    ),
    Column(
        "by chance", explain="The strength of matrices that have nothing to do with each other."
    ),
    DOES,
)


def circuits_table(
    name: str,
    before: Sequence[Composition],
    after: Sequence[Composition],
    atlas: Atlas,
    link_of: Callable[[Place], str],
) -> Table:
    """The strongest in each direction."""
    rows = [
        *(
            _row_circuits_table(each, each.writer, "writes to its", atlas, link_of)
            for each in before[:MOST]
        ),
        *(
            _row_circuits_table(each, each.reader, "reads it by", atlas, link_of)
            for each in after[:MOST]
        ),
    ]
    rows = [replace(row, is_first=at == len(before[:MOST]) > 0) for at, row in enumerate(rows)]
    return Table(name, CIRCUITS_TABLE_COLUMNS, rows)


def _row_circuits_table(
    of: Composition,
    other: Place,
    how: str,
    atlas: Atlas,
    link_of: Callable[[Place], str],
) -> Row:
    cells = [
        Cell(f"{how} {of.side}"),
        Cell(number(of.strength, 3), of.strength),
        Cell(number(of.chance, 3), of.chance),
        Cell(" · ".join(label.title for label in atlas.labels.get(other, ()))),
    ]
    return Row(Cell(head_name(other, atlas), link=link_of(other)), cells)


# A head in a few lines: what it does, by the surest of its labels, and what it is worth.

LOSSES = {
    "nats": "what the log-probability of {} loses without this head",
    "degrees": "the angle by which the text's vector turns without this head",
    "units": "what the number loses without this head",
}
"""Unit of what a head is worth -> what its number says of what is judged."""
NO_LABEL = (
    "None of the roles that are looked for is far enough from chance. What it does may "
    "be something else, or several things: the sentences say more."
)


def words_of_head(atlas: Atlas, place: Place, family: Family) -> Words:
    """Its name with its surest label, and below it what is lost without it."""
    label, name = atlas.label(place), head_name(place, atlas)
    over = f"over {sentences(atlas.survey.n_sentences)}"
    if label is None:
        line, foot = f"{name} has no label {over}.", [NO_LABEL]
    else:
        others = len(atlas.labels[place]) - 1
        more = f", and {others:d} more" if others else ""
        line, foot = f"{name}: {label.title}{more}, {over}", []
    foot += _worth(atlas, place, family)
    return Words([Line([Span(line)])], [Span(each) for each in foot])


def _worth(atlas: Atlas, place: Place, family: Family) -> list[str]:
    worth = atlas.number(place, "worth")
    if worth is None:
        return []
    unit = atlas.shipped.unit
    text = text_of("worth", worth.mean, unit)
    if worth.low is not None and worth.high is not None:
        text += f" ({ends_text('worth', worth.low, worth.high, unit)})"
    harms = "; below 0, it harms" if worth.mean < 0 else ""
    over = sentences(worth.n_sentences)
    worth_text = f"Its worth over {over} is {text}: {loss_of(family, unit)}{harms}."
    return [*filter(None, (worth_text, caution(worth.n_sentences)))]


def loss_of(family: Family, unit: str) -> str:
    """Say what is lost without a head: models that continue a text are judged by that text."""
    judged = "a token of the given text" if family.continues else "a token of the output"
    if not family.decodes:
        judged = "the output"
    return LOSSES.get(unit, LOSSES["units"]).format(judged)
