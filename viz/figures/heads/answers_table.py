"""The heads that do what is asked for: on one sentence, and how often on those of a survey."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from transformer.corpus.ask import Answer, Frequency
from transformer.corpus.atlas import Atlas, Place
from viz.exhibits.table import Cell, Column, Row, Table
from viz.figures.heads.names import head_name
from viz.labels import counted, number, percent

COLUMNS = ("head", "weight", "before the next", "looks there most", "query → key")


@dataclass(frozen=True)
class AnswerRow:
    """A head that does it on the sentence, in words, and where it is shown."""

    answer: Answer
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
    rows: Sequence[AnswerRow], rest: Sequence[Answer], others: Others, atlas: Atlas | None
) -> Table:
    """A row for each head, the strongest first. rest: the heads that are not listed."""
    has_counts = bool(rows) and not others.have_none
    columns = [Column(each) for each in COLUMNS]
    columns += [Column(f"over {others.name}")] * has_counts
    columns.append(Column("does", is_text=True))
    cells = [_row(each, others.counts, atlas, has_counts) for each in rows]
    foot = _rest(rows, rest)
    if others.have_none:
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


def _row(
    row: AnswerRow, counts: Mapping[Place, Frequency], atlas: Atlas | None, has_counts: bool
) -> Row:
    of = row.answer
    place = of.kind, of.layer, of.head
    count = counts.get(place)
    labels = () if atlas is None else atlas.labels.get(place, ())
    tip = f"{head_name(place)} on Explore, with both words pinned"
    cells = [
        Cell(number(of.weight, 3), of.weight),
        Cell(number(of.margin, 3), of.margin),
        Cell("yes" if of.is_largest else "no"),
        Cell(row.words),
        *[None if count is None or not count.n_rows else _count(count)] * has_counts,
        Cell(" · ".join(label.title for label in labels) or "its page", link=row.page),
    ]
    return Row(Cell(head_name(place), link=row.on_explore, tip=tip), cells)


def _count(count: Frequency) -> Cell:
    text = f"{percent(count.share, 0)} ({count.n_largest:,d} of {count.n_rows:,d})"
    return Cell(text, count.share)
