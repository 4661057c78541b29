"""Queries and keys of a head on one map, where the nearest key is the most attended one."""

import math

from transformer.analysis.joint_map import JointMap, joint_map
from transformer.analysis.reading import row_tokens
from transformer.analysis.selection import Selection
from transformer.recording import Recording
from viz.exhibits.chart import Axis, Chart, Curve, Point, nothing
from viz.labels import in_words
from viz.views.view import HeadChoice, View

HEIGHT = 420
MOST_NAMED = 40
"""Keys whose words stand beside them; of more, they are under the pointer."""
WHY_NOT = (
    "The scores of this head are more than products of queries and keys, so there is no such map."
)


def chart(recording: Recording, selection: Selection) -> Chart:
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
            Point(i, j, key, "left" if i > middle else "right")
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


def describe(recording: Recording, selection: Selection) -> str:
    of = _map(recording, selection)
    if of is None:
        return WHY_NOT
    return (
        f"Queries and keys of {selection.name(recording)} on one map: {_words(of)}; in all "
        f"{of.queries.size(1)} dimensions it is for every query."
    )


VIEW = View(
    name="joint_map",
    title="Queries and keys, one map",
    explain=(
        "With one dimension more, √(M² − |k|²) for a key k and 0 for a query, distances order "
        "exactly as scores do: the nearest key is the most attended one. Projected to a plane some "
        "of that is lost, and the chart says for how many queries it still holds."
    ),
    needs="attentions",
    content=chart,
    describe=describe,
    controls=(HeadChoice(),),
    place="positions",
)
