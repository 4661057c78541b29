"""The input of the first layer: token embeddings, their positional encodings, and the sum."""

import torch
from torch import Tensor

from transformer.analysis.tables.origins import Side
from transformer.recording import PositionalEncoding, Recording
from viz.exhibits.chart import Axis, Chart
from viz.exhibits.shading import differences
from viz.figures.heat_map import heat_map
from viz.views.view import Choice, SideChoice, View

PARTS = ("embedding", "encoding", "sum")


def chart(recording: Recording, side: str, part: str) -> Chart:
    """One of the three [T, D], on the scale that all three share, so that they can be compared."""
    positions = recording.positions[side]
    return heat_map(
        f"token_vectors {side} {part}",
        (name_of(positions, part).capitalize(), ""),
        part_of(positions, part),
        Axis(
            f"token of the {side}",
            labels=positions.tokens,
            origins=Side("", positions.tokens).all,
        ),
        Axis("dimension"),
        differences("value", shared_bound(positions), is_clipped=True),
        "{y}, dimension {x}: {z:.4f}",
    )


def shared_bound(positions: PositionalEncoding) -> float:
    """The size that 99 % of each part's values stay below: a few outliers would fade the rest."""
    sizes = torch.stack([part_of(positions, part).abs().flatten() for part in PARTS])
    common = sizes.sort().values[:, int(0.99 * (sizes.size(1) - 1))]
    return float(common.max()) or 1.0


def name_of(positions: PositionalEncoding, part: str) -> str:
    """The part in words: where the two are set side by side and projected there is no sum."""
    is_projected = part == "sum" and positions.scheme == "concatenated"
    return "projection of both" if is_projected else part


def part_of(positions: PositionalEncoding, part: str) -> Tensor:
    """ "embedding", "encoding" or "sum" of a side [T, D]."""
    return {
        "embedding": positions.embeddings,
        "encoding": positions.encodings,
        "sum": positions.sum,
    }[part]


def describe(recording: Recording, side: str, part: str) -> str:
    positions = recording.positions[side]
    values = part_of(positions, part)
    length = float(values.norm(dim=-1).mean())
    return (
        f"The {name_of(positions, part)} of {values.size(0)} tokens of the {side} in "
        f"{values.size(1)} dimensions: the mean length of a row is {length:.1f}."
    )


VIEW = View(
    name="token_vectors",
    title="Embedding + encoding",
    explain=(
        "The embedding says which token it is, the encoding where it stands; the model reads "
        "their sum (or a projection of both). One scale for all three."
    ),
    needs="positions",
    content=chart,
    describe=describe,
    controls=(SideChoice(), Choice("part", "Part", PARTS)),
    beside="part",
)
