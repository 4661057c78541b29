"""A score as the sum of what made it: a row for what of the query meets a key."""

from collections.abc import Mapping
from dataclasses import dataclass

from viz.exhibits.shading import even
from viz.exhibits.table import Cell, Column, Row, Table
from viz.labels import signed


@dataclass(frozen=True)
class Part:
    """One of the terms at a cell."""

    value: float
    spread: float
    """Its standard deviation over the keys that this query may look at."""


def score_split(
    parts: Mapping[tuple[str, str], Part],
    named: Mapping[str, tuple[str, str]],
    more: Mapping[str, float],
    score: float,
    origins: tuple[Mapping[str, str], Mapping[str, str]] = ({}, {}),
) -> Table:
    """parts: of (query's, key's) "content" and "position"; named: what these are of query and key.

    more: what else is added, such as "biases"; origins: the tokens of query and key.
    """
    of = list(dict.fromkeys(name for name, _ in parts))
    to = list(dict.fromkeys(name for _, name in parts))
    largest = max((abs(part.value) for part in parts.values()), default=0.0)
    added = "".join(f" + {name} {signed(value, 3)}" for name, value in more.items())
    return Table(
        "Terms of the score",
        [Column(), *(Column(f"key’s {name}", named[name][1], origin=origins[1]) for name in to)],
        [
            Row(
                Cell(f"query’s {row}", small=named[row][0]),
                [_cell(parts[row, name], largest) for name in to],
                origin=origins[0],
            )
            for row in of
        ],
        kind="map",
        foot=f"these {len(parts)}{added} = score",
        result=signed(score, 3),
    )


def _cell(part: Part, largest: float) -> Cell:
    """The largest term has 2/3 of the way to the scale's end: its number stays easy to read."""
    shade = even(part.value, 1.5 * largest)
    return Cell(signed(part.value, 3), part.value, shade, f"± {part.spread:.2f} in this row")
