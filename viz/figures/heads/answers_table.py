"""The heads that do what is asked for: on one sentence, and how often on those of a survey."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from transformer.corpus.ask import Answer, Frequency
from transformer.corpus.atlas import Atlas, Place
from viz.exhibits.table import Cell, Column, Row, Table
from viz.figures.heads.names import head_name
from viz.labels import number, percent

COLUMNS = ("", "weight", "before the next", "looks there most", "query → key", "over the survey")


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


def answers_table(
    rows: Sequence[AnswerRow], counts: Mapping[Place, Frequency], atlas: Atlas | None
) -> Table:
    """A row for each head, the strongest first; counts: on other sentences, as far as they are."""
    columns = [Column(each) for each in COLUMNS] + [Column("does", is_text=True)]
    return Table("Answers", columns, [_row(each, counts, atlas) for each in rows])


def _row(row: AnswerRow, counts: Mapping[Place, Frequency], atlas: Atlas | None) -> Row:
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
        None if count is None or not count.n_rows else _count(count),
        Cell(" · ".join(label.title for label in labels) or "its page", link=row.page),
    ]
    return Row(Cell(head_name(place), link=row.on_explore, tip=tip), cells)


def _count(count: Frequency) -> Cell:
    text = f"{percent(count.share, 0)} ({count.n_largest:,d} of {count.n_rows:,d})"
    return Cell(text, count.share)
