"""The heads that do what is asked for: on one sentence, and how often on those of a survey."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from transformer.corpus.ask import Answer, Frequency
from transformer.corpus.atlas import Atlas, Place
from viz.exhibits.table import Cell, Column, Row, Table
from viz.figures.heads.names import head_name
from viz.labels import number, percent

COLUMNS = ("", "weight", "before the next", "looks there most", "query → key")


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
    rows: Sequence[AnswerRow],
    counts: Mapping[Place, Frequency],
    atlas: Atlas | None,
    others: str,
    are_all: bool,
) -> Table:
    """A row for each head, the strongest first.

    counts: on other sentences, as far as they are; others: how many those are, and of which file;
    are_all: no more follow, so that a sentence says it where none of them has what is asked for.
    """
    have_some = any(count.n_rows for count in counts.values())
    has_counts = have_some or not are_all
    columns = [Column(each) for each in COLUMNS]
    columns += [Column(f"over {others}")] * has_counts
    columns.append(Column("does", is_text=True))
    cells = [_row(each, counts, atlas, has_counts) for each in rows]
    foot = "" if has_counts else f"Of {others} none has what is asked for."
    return Table("Answers", columns, cells, foot=foot)


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
