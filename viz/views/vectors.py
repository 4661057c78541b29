"""Views of vectors: queries and keys, tokens with their positions, a whole text."""

import math

import torch
from torch import Tensor

from transformer.analysis.reading import Selection, row_tokens
from transformer.analysis.score_terms import JointMap, joint_map
from transformer.analysis.tables import Side
from transformer.recording import PositionalEncoding, Recording
from transformer.recording.vector import TextVector, cosine
from viz.exhibits.chart import Axis, Bars, Chart, Curve, Point, differences, nothing
from viz.figures.tables import heat_map
from viz.labels import in_word, in_words, number
from viz.views.view import Choice, HeadChoice, SideChoice, View

# Queries and keys of a head on one map, where the nearest key is the most attended one.

HEIGHT = 420
MOST_NAMED = 40
"""Keys whose words stand beside them; of more, they are under the pointer."""
WHY_NOT = (
    "The scores of this head are more than products of queries and keys, so there is no such map."
)


def chart_joint_map(recording: Recording, selection: Selection) -> Chart:
    """Queries as rings, keys as points, and a line from each query to its most attended key."""
    attention, title = selection.attention(recording), f"{selection.name(recording)}, one map"
    name = f"joint_map {selection.kind} {selection}"
    of = _map(recording, selection)
    if of is None:
        return nothing(name, title, WHY_NOT)
    keys = in_words(attention.keys)
    queries = in_words(row_tokens(attention))
    firsts = [keys[int(at)] if at >= 0 else "nothing" for at in of.first]
    near, far = _lines(of, True), _lines(of, False)
    lines = [
        Curve("first key is nearest here", *near, "accent", width=1.0, dash="solid", opacity=0.7),
        Curve("another key is nearer here", *far, "dim", width=1.0, dash="dot", opacity=0.7),
    ]
    (x, y), (across, up) = of.query_points.T.tolist(), of.key_points.T.tolist()
    marks: list[Curve | Point] = [
        *lines,
        Curve("key", across, up, "text", "{0}", width=0, point=7, more=[keys]),
        Curve(
            "query",
            x,
            y,
            0,
            "{0} looks most at {1}",
            width=0,
            point=7,
            is_ring=True,
            more=[queries, firsts],
        ),
    ]
    if len(keys) <= MOST_NAMED:
        middle = (min(across) + max(across)) / 2
        marks += [
            Point(i, j, key, "left" if i > middle else "right", "text")
            for i, j, key in zip(across, up, keys, strict=True)
        ]
    more = f" · {_words(of)}\nThe plane keeps {100 * of.variance:.0f} % of the variance."
    x_axis, y_axis = (Axis(f"{which} direction of both") for which in ("first", "second"))
    return Chart(name, title, more, x_axis, y_axis, marks, HEIGHT)


def _lines(of: JointMap, is_kept: bool) -> tuple[list[float], list[float]]:
    """From each query to its first key, with gaps between them."""
    x, y = list[float](), list[float]()
    for query, key in enumerate(of.first.tolist()):
        if key < 0 or bool(of.is_kept[query]) != is_kept:
            continue
        ends = of.query_points[query], of.key_points[key]
        x += [*(float(end[0]) for end in ends), math.nan]
        y += [*(float(end[1]) for end in ends), math.nan]
    return x, y


def _map(recording: Recording, selection: Selection) -> JointMap | None:
    call = selection.attention(recording).calls[selection.layer].only(selection.head)
    try:
        return joint_map(call)
    except ValueError:
        return None


def _words(of: JointMap) -> str:
    n = int((of.first >= 0).sum())
    return f"the nearest key is the most attended one for {int(of.is_kept.sum())} of {n} queries"


def describe_joint_map(recording: Recording, selection: Selection) -> str:
    of = _map(recording, selection)
    if of is None:
        return WHY_NOT
    return (
        f"Queries and keys of {selection.name(recording)} on one map: {_words(of)}; in all "
        f"{of.queries.size(1)} dimensions it is for every query."
    )


JOINT_MAP_VIEW = View(
    name="joint_map",
    title="Queries and keys, one map",
    explain=(
        "With one dimension more, √(M² − |k|²) for a key k and 0 for a query, distances order "
        "exactly as scores do: the nearest key is the most attended one. Projected to a plane some "
        "of that is lost, and the chart says for how many queries it still holds."
    ),
    needs="attentions",
    content=chart_joint_map,
    describe=describe_joint_map,
    controls=(HeadChoice(),),
    place="positions",
)


# The input of the first layer: token embeddings, their positional encodings, and the sum.

PARTS = ("embedding", "encoding", "sum")


def chart_token_vectors(recording: Recording, side: str, part: str) -> Chart:
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


def describe_token_vectors(recording: Recording, side: str, part: str) -> str:
    positions = recording.positions[side]
    values = part_of(positions, part)
    length = float(values.norm(dim=-1).mean())
    return (
        f"The {name_of(positions, part)} of {values.size(0)} tokens of the {side} in "
        f"{values.size(1)} dimensions: the mean length of a row is {length:.1f}."
    )


TOKEN_VECTORS_VIEW = View(
    name="token_vectors",
    title="Embedding + encoding",
    explain=(
        "The embedding says which token it is, the encoding where it stands; the model reads "
        "their sum (or a projection of both). One scale for all three."
    ),
    needs="positions",
    content=chart_token_vectors,
    describe=describe_token_vectors,
    controls=(SideChoice(), Choice("part", "Part", PARTS)),
    beside="part",
)


# The vector of a text: which tokens' vectors lie close to it.


def vector_of(recording: Recording) -> TextVector:
    """The part that this view draws. Raises ValueError where there is none."""
    if recording.vector is None:
        raise ValueError("no vector was made here: View.applies_to says so")
    return recording.vector


def cosines(recording: Recording) -> list[float]:
    """The cosine of each token's vector with the pooled one; of several modes, with the closest."""
    vector = vector_of(recording)
    parts = vector.pooled.view(-1, vector.states.size(1))
    return [max(cosine(part, state) for part in parts) for state in vector.states]


def chart_text_vector(recording: Recording) -> Chart:
    """A bar a token, the first on top: its vector's cosine with the text's vector."""
    values = cosines(recording)
    bars = Bars("", range(len(values)), values, ("above",), "{x:.4f}", is_level=True)
    x = Axis(f"cosine with {_compared(recording)}", from_zero=True, has_grid=True)
    y = Axis("", labels=recording.source, origins=Side("", recording.source).all)
    return Chart("text_vector", "Vector of the text", "", x, y, (bars,))


def describe_text_vector(recording: Recording) -> str:
    vector, values = vector_of(recording), cosines(recording)
    size = f"{vector.values.numel():,} numbers, {vector.pooling.title}"
    of = "" if vector.is_named else " (its folder names no pooling)"
    top = max(range(len(values)), key=lambda i: values[i])
    closest, length = in_word(recording.source, top), number(vector.values.norm())
    return (
        f"The text's vector has {size}{of}; its length is {length}. Closest to "
        f"{_compared(recording)} is the vector of {closest}, with a cosine of {values[top]:.4f}."
    )


def _compared(recording: Recording) -> str:
    """Name the vector that tokens' are compared with: a dense layer gives one of another space."""
    layers = vector_of(recording).pooling.layers
    return "the pooled vector, before the dense layer" if layers else "the text's vector"


TEXT_VECTOR_VIEW = View(
    name="text_vector",
    title="Vector of the text",
    explain=(
        "The model gives each token a vector and pools them to one, the sentence's embedding. A "
        "bar is the cosine of a token's vector with it: 1 where both point the same way. A "
        "hidden word's vector is not pooled."
    ),
    needs="vector",
    content=chart_text_vector,
    describe=describe_text_vector,
    controls=(),
)


VIEW = (
    JOINT_MAP_VIEW,
    TOKEN_VECTORS_VIEW,
    TEXT_VECTOR_VIEW,
)
