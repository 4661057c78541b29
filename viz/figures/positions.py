"""Figures of positions: their likeness, weight by offset, dependence, and a score's parts."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from torch import Tensor

from transformer.positions.relative_bias import ByDistance
from viz.exhibits.chart import Axis, Chart, Curve, Dash, Ink, differences, even, rooted, values_of
from viz.exhibits.table import Cell, Column, Legend, Row, Table, Tables
from viz.figures.tables import heat_map
from viz.labels import number, signed

# The likeness of learned positions: the cosine between any two.


def chart_position_similarity(cosines: Tensor) -> Chart:
    """cosines: [P, P]."""
    title, hover = ("Cosine", " between learned positions"), "positions {y} and {x}: {z:.4f}"
    side, shading = Axis("position"), differences("cosine")
    return heat_map("position_similarity", title, cosines, side, side, shading, hover)


def describe_position_similarity(cosines: Tensor) -> str:
    n = len(cosines)
    next_to = cosines.diagonal(1)
    near = f"; neighbours have {number(next_to.mean(), 4)} on average" if n > 1 else ""
    return f"Cosines between {n} learned positions, least {number(cosines.min(), 4)}{near}."


# A head's mean weight by offset, in two runs: how far back and ahead it looks.

HEIGHT = 130
MARKED = 80
"""Offsets beyond which points have no marks."""
LOOKS: tuple[tuple[Ink, Dash], ...] = (("dim", "dot"), ("accent", "solid"))
"""The looks of the run before and of the one after."""


def chart_offset_curves(
    before: ByDistance, after: ByDistance, names: tuple[str, str], head: str
) -> Chart:
    """names: of both runs; head: "Encoder L0 H3"."""
    point = 5 if len(before.distances) <= MARKED else 0
    marks = [
        Curve(
            name,
            run.distances.tolist(),
            run.mean[0].tolist(),
            ink,
            "{y:.4f} (mean of {0})",
            dash=dash,
            point=point,
            more=run.count.T.tolist(),
        )
        for run, name, (ink, dash) in zip((before, after), names, LOOKS, strict=True)
    ]
    title = "position of the key − position of the query"
    x, y = Axis(title, format="+d", hover="offset {x:+d}"), values_of("mean of open cells")
    return Chart(f"offset_curves {head}", head, ": mean weight by offset", x, y, marks, HEIGHT)


def describe_offset_curves(
    before: ByDistance, after: ByDistance, names: tuple[str, str], head: str
) -> str:
    """Say in a sentence where each run looks most."""
    parts = []
    for run, name in zip((before, after), names, strict=True):
        best = int(run.mean[0].argmax())
        offset, mean = int(run.distances[best]), float(run.mean[0, best])
        parts.append(f"{name} most at offset {signed(offset, 0)} ({number(mean, 3)})")
    return f"Mean weight of {head} by offset: {', '.join(parts)}."


# A number for every head: layers are rows, heads are columns. A click chooses a head.


def dependence_cell(address: str, title: str, bits: float, is_chosen: bool) -> Cell:
    """One head. bits: NaN where nothing is known of it."""
    if math.isnan(bits):
        return Cell("—", None, 0.0, link=address, tip=f"{title}: not known", is_marked=is_chosen)
    return Cell(
        f"{bits:.2f}",
        bits,
        rooted(max(0.0, bits)),
        link=address,
        tip=f"{title}: {bits:.4f} bits",
        is_marked=is_chosen,
    )


def dependence_table(title: str, rows: Sequence[tuple[str, Sequence[Cell]]]) -> Table:
    """The heads of one kind of attention. rows: a layer's name, and its heads."""
    n_heads = max((len(cells) for _, cells in rows), default=0)
    return Table(
        title,
        [Column(), *(Column(f"H{head}") for head in range(n_heads))],
        [Row(Cell(name), cells) for name, cells in rows],
        kind="map",
        scale="share",
        title=title,
    )


def dependence_tables(tables: Sequence[Table], says: str) -> Tables:
    """Side by side, shaded by the root of a share of 1 bit. says: what the numbers are."""
    hint = "A click chooses a head."
    return Tables([tables], Legend("share", "0", "1 bit (square-root scale).", says, hint))


# A score as the sum of what made it: a row for what of the query meets a key.


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
