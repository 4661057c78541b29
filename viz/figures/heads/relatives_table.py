"""The heads whose footprints are most like that of one head."""

from collections.abc import Sequence

from transformer.corpus.atlas import Atlas
from transformer.corpus.shipped import Place
from viz.exhibits.table import Cell, Column, Row, Table
from viz.figures.heads.column_heads import DOES, FOOTPRINT
from viz.figures.heads.names import head_name, sparkline
from viz.labels import number

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
