"""All heads as marks and as rows, and heads in words."""

import re
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from zlib import crc32

import numpy as np

from transformer.corpus.ask import Answer, Frequency
from transformer.corpus.labels import Atlas, Label, place_of, title_of
from transformer.corpus.measured import metrics, roles
from transformer.corpus.shipped import Place
from transformer.corpus.surveyed import Estimate
from transformer.recording import Recording
from viz.exhibits.chart import Axis, Chart, Curve, Ink, Mark, Point, nothing
from viz.exhibits.table import Cell, Column, Row, Table
from viz.labels import counted, kind_name, kind_title, number, percent, signed
from viz.words import WORDS

# A head in words: its name, its label with interval and baseline, its footprint in a line.

BLOCKS = "▁▂▃▄▅▆▇█"
_LINK = re.compile(r"\[([^\]]*)\]\(([^)]*)\)")
"""A link in Markdown, which a card of somebody else's is not read as."""


def head_name(place: Place, of: Atlas | Recording) -> str:
    """Such as "Cross L2 H3", where layers have the model's own numbers."""
    kind, layer, head = place
    number = of.layer(place) if isinstance(of, Atlas) else of.attentions[kind].number(layer)
    return f"{kind_title(kind)} L{number:d} H{head:d}"


def sentences(n: int) -> str:
    """The number of them that a figure is of.

    >>> sentences(320)
    '320 sentences'
    """
    return counted(n, "sentence", "sentences")


def count_labelled(atlas: Atlas) -> str:
    """Say how many of all heads have a label, and over how many sentences."""
    n = sum(bool(labels) for labels in atlas.labels.values())
    of_all = counted(len(atlas.heads), "head", "heads")
    return f"{n:d} of {of_all} have a label, over {sentences(atlas.survey.n_sentences)}."


def about_sentences(atlas: Atlas) -> list[str]:
    """The paragraphs of a survey's card: whose sentences these are, and when they were read."""
    about = _LINK.sub(r"\1 (\2)", atlas.shipped.about).replace("`", "")
    return [" ".join(paragraph.lstrip("# ").split()) for paragraph in about.split("\n\n")]


def label_text(label: Label) -> str:
    """Such as "Previous token: 81 % (78 to 84), by chance 12 %"."""
    return f"{label.title}: {score_text(label)}, by chance {percent(label.baseline, 0)}"


def score_text(label: Label) -> str:
    """The score with its interval; of one sentence there is none."""
    if label.low is None or label.high is None:
        return percent(label.score, 0)
    ends = f"{percent(label.low, 0).removesuffix(' %')} to {percent(label.high, 0)}"
    return f"{percent(label.score, 0)} ({ends})"


def sparkline(shares: Sequence[float]) -> str:
    """A footprint in a line of blocks, its largest share as high as the line.

    >>> sparkline([0.0, 0.1, 0.4])
    '▁▃█'
    """
    most = max(shares, default=0.0) or 1.0
    return "".join(BLOCKS[round((len(BLOCKS) - 1) * max(0.0, each) / most)] for each in shares)


def ends_text(name: str, low: float, high: float, unit: str) -> str:
    """An interval of such a number, its unit once: "24 to 27 %".

    >>> ends_text("worth", -0.5, 0.25, "nats")
    '−0.500 to +0.250 nats'
    """
    first, last = (text_of(name, end, unit) for end in (low, high))
    return f"{first.rpartition(' ')[0] or first} to {last}"


def text_of(name: str, value: float, unit: str) -> str:
    """A number of a head with its unit; a role's score is a share. unit: that of its worth."""
    if name == "worth":
        return f"{signed(value, 3)} {unit}"
    metric = metrics().get(name)
    return percent(value, 0) if metric is None else metric.text(value)


# Heads of columns that several tables of heads have, and what they mean.

DOES = Column(
    "does", is_text=True, explain=f"The labels of the head. {WORDS['head_label'].sentence}"
)
FOOTPRINT = Column("footprint", explain=WORDS["footprint"].sentence)
INTERVAL = Column(
    "95 % interval",
    explain="Where the mean lies in 95 % of all draws of as many sentences from these, with "
    "replacement (percentile bootstrap, Efron 1979).",
)
BY_CHANCE = "The same of a head that looks at all keys alike."
WORTH = WORDS["head_worth"].sentence


def of_number(name: str, is_marked: bool = False) -> Column:
    """The head of a column with a metric of heads, or the score of a role."""
    explain = (metrics() | roles())[name].explain
    return Column(title_of(name).lower(), is_marked=is_marked, explain=explain)


# All heads as rows: labels, worth with its interval, footprint, and every number of a survey.

NONE = "—"
SCORE = "The score of the first label, with its 95 % interval over sentences."


def heads_table(
    atlas: Atlas, places: Sequence[Place], numbers: Sequence[str], links: Sequence[str], order: str
) -> Table:
    """A row for each of these heads, in this order; order: the column that they are sorted by.

    numbers: names of the columns; links: to the page of each head.
    """
    worths = [atlas.shipped.worth.get(place) for place in places]
    axis = _axis(worths)
    unit = atlas.shipped.unit
    names = [name for name in numbers if name != "worth"]
    columns = [Column("head"), DOES, Column("score", explain=SCORE), FOOTPRINT]
    if any(worths):
        least, most = (signed(end, 3) for end in axis)
        columns += [Column("worth", is_marked=order == "worth", explain=WORTH)]
        columns += [Column(f"{least} to {most} {unit}", axis=axis)]
    columns += [of_number(name, name == order) for name in names]

    def row(place: Place, worth: Estimate | None, link: str, before: Place | None) -> Row:
        cells: list[Cell | None] = [*_label(atlas, place)]
        cells.append(Cell(sparkline(atlas.heads[place].footprint)))
        if any(worths):
            cells += _worth(worth)
        cells += [_number(atlas, place, name) for name in names]
        is_first = order == "layer" and before is not None and before[:2] != place[:2]
        return Row(Cell(head_name(place, atlas), link=link), cells, is_first=is_first)

    pairs = zip(places, worths, links, [None, *places], strict=False)
    foot = "" if places else "No head is listed here."
    rows = [row(*each) for each in pairs]
    return Table("Heads", columns, rows, foot=foot, n_sentences=_fewest(atlas, places))


def _fewest(atlas: Atlas, places: Sequence[Place]) -> int:
    """The fewest sentences that an interval of these heads is over."""
    labels = [label for place in places for label in atlas.labels.get(place, ())[:1]]
    worths = [worth for place in places if (worth := atlas.shipped.worth.get(place))]
    of: list[Label | Estimate] = [*labels, *worths]
    return min((each.n_sentences for each in of if each.low is not None), default=0)


def _label(atlas: Atlas, place: Place) -> tuple[Cell, Cell]:
    """All labels of a head, and the score of the first one, with its interval."""
    labels = atlas.labels.get(place, ())
    titles = " · ".join(label.title for label in labels)
    first = labels[0] if labels else None
    score = Cell()
    if first is not None:
        score = Cell(score_text(first), first.score, ends=_ends(first))
    return Cell(titles), score


def _worth(worth: Estimate | None) -> tuple[Cell | None, Cell | None]:
    if worth is None:
        return None, None
    value = Cell(signed(worth.mean, 3), worth.mean, ends=_ends(worth))
    return value, Cell(interval=(worth.low, worth.mean, worth.high))


def _ends(of: Label | Estimate) -> tuple[float, float] | None:
    return None if of.low is None or of.high is None else (of.low, of.high)


def _number(atlas: Atlas, place: Place, name: str) -> Cell:
    estimate = atlas.number(place, name)
    if estimate is None:
        return Cell(NONE)
    return Cell(text_of(name, estimate.mean, atlas.shipped.unit), estimate.mean)


def _axis(worths: Sequence[Estimate | None]) -> tuple[float, float]:
    ends = [0.0]
    for each in worths:
        if each is not None:
            ends += [it for it in (each.mean, each.low, each.high) if it is not None]
    return min(ends), max(ends)


# The look of heads by their labels: a colour each, and no two labels of a checkpoint share one.

ROLES = (
    "previous",
    "next",
    "same",
    "first",
    "end",
    "induction",
    "duplicate",
    "alignment",
    "rare",
    "uniform",
    "copy",
)
"""Roles with colours of their own, the same in every chart and checkpoint."""
N_INKS = 16
"""Colours of heads that a theme has."""
OTHERS = "another label"
"""In place of the titles that no colour is left for."""


def inks_of(labels: Iterable[Label]) -> Mapping[str, Ink]:
    """Give the title of each of these labels a colour, none twice.

    Relations of syntax take the colours that no role has, then those of roles that no head plays.
    Where there are more labels than colours, the rarest are not there: `OTHERS` has the last one.
    """
    role_of, counts = dict[str, str](), Counter[str]()
    for label in labels:
        role_of[label.title] = label.role
        counts[label.title] += 1
    titles = sorted(counts, key=lambda title: (-counts[title], title))
    if len(titles) > N_INKS:
        titles = [*titles[: N_INKS - 1], OTHERS]
    titles.sort(key=lambda title: role_of.get(title) not in ROLES)
    result = dict[str, int]()
    for title in titles:
        own, others = range(len(ROLES)), range(len(ROLES), N_INKS)
        role = role_of.get(title)
        wanted = ROLES.index(role) if role in ROLES else others[crc32(title.encode()) % len(others)]
        free = (ink for ink in (wanted, *others, *own) if ink not in result.values())
        result[title] = next(free)
    return {title: ("head", ink) for title, ink in result.items()}


# All heads of a kind as marks: by likeness of their footprints, or any number against another.

LIKENESS = "likeness"
"""In place of a number: both axes are those of the map by likeness."""
SMALLEST, LARGEST, USUAL = 7.0, 30.0, 12.0
"""Pixels across the mark of a head that is worth nothing or harms, of the one that is worth most,
and where nobody knows."""
HOVER = "{0}\n{1}\n{2}\n{3}"
NO_LABEL = "no label"
HEIGHT = 300


def chart(atlas: Atlas, kind: str, x: str, y: str, chosen: Place | None = None) -> Chart:
    """The heads of a kind; colour: the label, size: what the head is worth to the output."""
    heads = [place_of(each) for each in atlas.of_kind(kind)]
    name, title = f"heads {kind}", kind_title(kind)
    if len(heads) < 2:
        return nothing(name, title, "There is only one head of this kind: a map needs two.")
    places = _places(atlas, kind, heads, x, y)
    if np.isnan(places).any(-1).all():
        return nothing(name, title, _why_nothing(atlas, kind, x, y))
    inks = inks_of(labels[0] for labels in atlas.labels.values() if labels)
    sizes = _sizes(atlas, heads)
    marks: list[Mark] = []
    for label, some in _by_label(atlas, heads, inks).items():
        at = [heads.index(place) for place in some]
        marks.append(
            Curve(
                label or NO_LABEL,
                places[at, 0],
                places[at, 1],
                inks[label] if label else "dim",
                HOVER,
                width=0,
                sizes=[sizes[i] for i in at],
                names=[head_name(place, atlas) for place in some],
                more=[_card(atlas, place) for place in some],
            )
        )
    if chosen in heads:
        a, b = places[heads.index(chosen)].tolist()
        marks.append(Point(a, b, head_name(chosen, atlas)))
    across, up, more = _axes(atlas, kind, x, y)
    return Chart(name, title, more, across, up, marks, HEIGHT, is_for_choice=True)


def describe(atlas: Atlas, kind: str) -> str:
    """Say how many heads there are, and how many of them have a label."""
    heads = [place_of(each) for each in atlas.of_kind(kind)]
    n = sum(atlas.label(place) is not None for place in heads)
    return f"{counted(len(heads), 'head', 'heads')} of {kind_name(kind)}, {n} with a label."


def _places(atlas: Atlas, kind: str, heads: Sequence[Place], x: str, y: str) -> np.ndarray:
    if LIKENESS in (x, y):
        return atlas.likeness[kind].places
    estimates = [[atlas.number(place, name) for name in (x, y)] for place in heads]
    return np.array([[np.nan if it is None else it.mean for it in pair] for pair in estimates])


def _why_nothing(atlas: Atlas, kind: str, x: str, y: str) -> str:
    """Say which of the numbers the heads of a kind lack."""
    there = atlas.numbers(kind)
    lacking = [title_of(each).lower() for each in dict.fromkeys((x, y)) if each not in there]
    what = " and no ".join(lacking)
    if not what:
        return f"No head of {kind_name(kind)} has both numbers: choose another one."
    return f"Heads of {kind_name(kind)} have no {what}: choose another number."


def _axes(atlas: Atlas, kind: str, x: str, y: str) -> tuple[Axis, Axis, str]:
    if LIKENESS in (x, y):
        stress = number(atlas.likeness[kind].stress, 2)
        more = f": like footprints are near (stress {stress})"
        return Axis("", is_labelled=False), Axis("", is_labelled=False), more
    across, up = (Axis(_with_unit(atlas, name), has_grid=True) for name in (x, y))
    return across, up, ""


def _with_unit(atlas: Atlas, name: str) -> str:
    """The title of a number, with the unit in which an axis has it."""
    return f"{title_of(name)} ({atlas.shipped.unit})" if name == "worth" else title_of(name)


def _sizes(atlas: Atlas, heads: Sequence[Place]) -> list[float]:
    worth = [atlas.number(place, "worth") for place in heads]
    if not any(worth):
        return [USUAL] * len(heads)
    means = [max(0.0, each.mean) if each else 0.0 for each in worth]
    most = max(means) or 1.0
    return [SMALLEST + (LARGEST - SMALLEST) * (mean / most) ** 0.5 for mean in means]


def _by_label(
    atlas: Atlas, heads: Sequence[Place], titles: Container[str]
) -> dict[str, list[Place]]:
    """Heads by the label that names them; those without one first, below all others."""
    result: dict[str, list[Place]] = {}
    for place in heads:
        label = atlas.label(place)
        title = "" if label is None else label.title if label.title in titles else OTHERS
        result.setdefault(title, []).append(place)
    return dict(sorted(result.items()))


def _card(atlas: Atlas, place: Place) -> list[str]:
    """The lines of a head under the pointer, and its name for whoever asks which were chosen."""
    label, worth = atlas.label(place), atlas.number(place, "worth")
    says = NO_LABEL if label is None else label_text(label)
    is_worth = "" if worth is None else f"worth: {text_of('worth', worth.mean, atlas.shipped.unit)}"
    shares = sparkline(atlas.heads[place].footprint)
    # Its name for whoever asks which marks were chosen.
    return [head_name(place, atlas), says, is_worth, shares, ".".join(map(str, place))]


# The heads that do what is asked for: on one sentence, and how often on those of a survey.

COLUMNS = (
    Column("head"),
    Column(
        "weight",
        explain="The share of the query’s weight that is on the key: where the query is a word the "
        "largest, else the mean over all words that have such a key.",
    ),
    Column("by chance", explain="The same weight of a head that looks at all keys alike."),
    Column(
        "elsewhere at most",
        explain="The largest weight on any other word; of a place, the mean over its words.",
    ),
    Column("before the next", explain="The weight less that of the next head in the ranking."),
    Column("query → key", explain="The words of the largest weight."),
)
OVER = "The share of the words that could do it there and do: none of their weights is larger."


@dataclass(frozen=True)
class AnswerRow:
    """A head that does it on the sentence, in words, and where it is shown."""

    answer: Answer
    name: str
    """The head's."""
    words: str
    """The query, an arrow, and the key."""
    on_explore: str
    """The address with both words pinned."""
    page: str
    """The address of the head's page."""


@dataclass(frozen=True)
class Others:
    """The same heads on other sentences, as far as those are read."""

    counts: Mapping[Place, Frequency]
    name: str
    """Their number and their file."""
    are_all: bool
    """No more follow."""

    @property
    def have_none(self) -> bool:
        """None of them has what is asked for."""
        return self.are_all and not any(count.n_rows for count in self.counts.values())


def answers_table(
    rows: Sequence[AnswerRow], rest: Sequence[Answer], others: Others | None, atlas: Atlas | None
) -> Table:
    """A row for each head, the strongest first.

    rest: the heads that are not listed; others: None where it is nothing that others could have.
    """
    counts = others.counts if rows and others and not others.have_none else None
    columns = list(COLUMNS)
    if others and counts is not None:
        columns.append(Column(f"over {others.name}", explain=OVER))
    columns.append(DOES)
    cells = [_row(each, counts, atlas) for each in rows]
    foot = _rest(rows, rest)
    if others and others.have_none:
        foot.append(f"Of {others.name} none has what is asked for.")
    return Table("Answers", columns if rows else [Column()], cells, foot=" ".join(foot))


def _rest(rows: Sequence[AnswerRow], rest: Sequence[Answer]) -> list[str]:
    """Say what the heads do that are not listed, on the sentence: the others are counted beside."""
    n = sum(each.looks_there for each in rest)
    if n:
        return [f"{counted(n, 'more head looks', 'more heads look')} there in this sentence."]
    other = "other " if rows else ""
    if not rest:
        return []
    return [f"In this sentence no {other}head puts more than {number(rest[0].weight)} there."]


def _row(row: AnswerRow, counts: Mapping[Place, Frequency] | None, atlas: Atlas | None) -> Row:
    of = row.answer
    place = of.kind, of.layer, of.head
    count = None if counts is None else counts.get(place)
    labels = () if atlas is None else atlas.labels.get(place, ())
    tip = f"{row.name} on Explore, with both words pinned"
    cells = [
        Cell(number(of.weight, 3), of.weight),
        Cell(number(of.chance, 3), of.chance),
        Cell(number(of.elsewhere, 3), of.elsewhere),
        Cell(number(of.margin, 3), of.margin),
        Cell(row.words),
        *[_count(count) if count and count.n_rows else None] * (counts is not None),
        Cell(" · ".join(label.title for label in labels) or "its page", link=row.page),
    ]
    return Row(Cell(row.name, link=row.on_explore, tip=tip), cells)


def _count(count: Frequency) -> Cell:
    text = f"{percent(count.share, 0)} ({count.n_largest:,d} of {count.n_rows:,d})"
    return Cell(text, count.share)
