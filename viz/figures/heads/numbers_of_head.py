"""Every number of a head over its survey: mean, interval, and what is had by chance."""

from transformer.corpus.atlas import Atlas, title_of
from transformer.corpus.shipped import Place
from transformer.corpus.surveyed import Estimate
from viz.exhibits.table import Cell, Column, Row, Table
from viz.figures.heads.column_heads import BY_CHANCE, INTERVAL
from viz.figures.heads.names import ends_text, sentences, text_of

COLUMNS = (
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
            rows.append(_row(name, estimate, chance, atlas.shipped.unit))
    foot = f"Over {sentences(atlas.survey.n_sentences)}."
    return Table("Numbers", COLUMNS, rows, foot=foot, n_sentences=fewest)


def _row(name: str, of: Estimate, chance: Estimate | None, unit: str) -> Row:
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
