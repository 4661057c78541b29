"""The heads that do what is asked for: on one sentence, and how often on those of a survey."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from transformer.corpus.ask import Answer, Frequency
from transformer.corpus.atlas import Atlas
from transformer.corpus.shipped import Place
from viz.exhibits.table import Cell, Column, Row, Table
from viz.figures.heads.column_heads import DOES
from viz.labels import counted, number, percent

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
