"""All heads as rows: labels, worth with its interval, footprint, and every number of a survey."""

from collections.abc import Sequence

from transformer.corpus.atlas import Atlas
from transformer.corpus.labels import Label
from transformer.corpus.shipped import Place
from transformer.corpus.surveyed import Estimate
from viz.exhibits.table import Cell, Column, Row, Table
from viz.figures.heads.column_heads import DOES, FOOTPRINT, WORTH, of_number
from viz.figures.heads.names import head_name, score_text, sparkline, text_of
from viz.labels import signed

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
