"""What a classifier's pooling took from each position, and what that did to the answer."""

import textwrap
from collections.abc import Sequence

import plotly.graph_objects as go
from torch import Tensor

from transformer.recording import Recording
from transformer.recording.decisions import PooledClassification
from transformer.tokenizer import Token
from viz.figures.layout import MAX_LABELS, axis, layout, rows_height, token_axis
from viz.labels import figure_text, label, percent
from viz.theme import Theme
from viz.views.class_probabilities import predicted
from viz.views.view import Choice, View

CONTRIBUTION, SHARE = "contribution", "share"
TOP, BOTTOM, LINE = 44, 40, 15
"""Pixels for the title, for the axis with a title of one line, and for each further line."""
WRAP = 42
"""Characters of a line of the axis' title: more would not fit a narrow figure."""


def pooled_of(recording: Recording) -> PooledClassification:
    """The part that this view draws. Raises ValueError where there is none."""
    if not isinstance(recording.classification, PooledClassification):
        raise ValueError("nothing was pooled here: View.applies_to says so")
    return recording.classification


def draw(recording: Recording, theme: Theme, shown: str) -> go.Figure:
    """A bar a position, the first on top: its contribution to the answer, or its share."""
    found = pooled_of(recording)
    n = len(recording.source)
    if shown == SHARE:
        bars, lines = _shares(found, theme), ["share of the pooled vector"]
        title = f"<b>Taken by {found.pooling} pooling</b>"
    else:
        bars, lines = _contributions(found, theme), [*_wrapped(found), _total(found)]
        title = "<b>Contributions</b> to the answer"
    bars.update(y=list(range(n)), orientation="h")
    margin = {"t": TOP, "l": 8, "r": 16, "b": BOTTOM + LINE * len(lines)}
    height = rows_height(n) + margin["t"] + margin["b"]
    frame = {"height": height, "margin": margin, "hovermode": "y"}  # a bar of 0 can be hovered
    figure = go.Figure(layout=layout(theme, f"pooled_positions {shown}", title, **frame))
    zero = {"zeroline": True, "zerolinecolor": theme.dim, "rangemode": "tozero"}
    figure.update_xaxes(axis(theme, "<br>".join(lines), grid=True, nticks=5, **zero))
    _label_rows(figure, bars, recording.source, theme)
    figure.add_trace(bars)
    return figure


def _label_rows(figure: go.Figure, bars: go.Bar, tokens: Sequence[Token], theme: Theme) -> None:
    """A piece a row; of many rows every second, third, ... has its piece, the others on hover."""
    n, every = len(tokens), -(-len(tokens) // MAX_LABELS)
    rows = token_axis(theme, "", tokens, range=[n - 0.5, -0.5])
    if every > 1:
        bars.update(text=rows["ticktext"], textposition="none")
        bars.hovertemplate = "%{text}: " + bars.hovertemplate
        shown = {name: rows[name][::every] for name in ("tickvals", "ticktext")}
        rows |= {"showticklabels": True, **shown}
    figure.update_yaxes(rows)
    figure.update_layout(bargap=0.35 if every == 1 else 0)


def effects(found: PooledClassification) -> tuple[Tensor, float, str]:
    """What each position adds [T], what the bias adds, and to what, in words.

    With two classes only the difference of their logits counts: predicted minus other.
    """
    best, contributions = predicted(found), found.contributions()
    if len(found.classes) != 2:
        return contributions[:, best], float(found.bias[best]), f"logit({found.classes[best]})"
    other = 1 - best
    words = f"logit({found.classes[best]}) − logit({found.classes[other]})"
    bias = float(found.bias[best] - found.bias[other])
    return contributions[:, best] - contributions[:, other], bias, words


def _contributions(found: PooledClassification, theme: Theme) -> go.Bar:
    added = effects(found)[0].tolist()
    against, *_, towards = theme.difference_scale
    return go.Bar(
        x=added,
        marker={"color": [towards if value >= 0 else against for value in added]},
        hovertemplate="%{x:+.4f}<extra></extra>",
    )


def _shares(found: PooledClassification, theme: Theme) -> go.Bar:
    shares, d_model = found.taken(), found.outputs.size(1)
    hover = "%{x:.4f} (%{customdata[0]})"
    if found.pooling == "max":
        hover += f"<br>won %{{customdata[1]}} of {d_model} dimensions"
    return go.Bar(
        x=shares.tolist(),
        marker={"color": theme.difference_scale[-1]},
        customdata=[(percent(share), round(share * d_model)) for share in shares.tolist()],
        hovertemplate=hover + "<extra></extra>",
    )


def _wrapped(found: PooledClassification) -> list[str]:
    """What the contributions are added to, in lines that fit a narrow figure."""
    _, _, words = effects(found)
    return [figure_text(line) for line in textwrap.wrap(f"added to {words}", WRAP)]


def _total(found: PooledClassification) -> str:
    added, bias, _ = effects(found)
    total = float(added.sum())
    return f"sum {_signed(total)}, bias {_signed(bias)}: {_signed(total + bias)}"


def _signed(value: float) -> str:
    """A number with its sign.

    >>> _signed(-0.5)
    '−0.500'
    """
    return f"{value:+.3f}".replace("-", "−")


def describe(recording: Recording, shown: str) -> str:
    found = pooled_of(recording)
    n_positions, d_model = found.outputs.shape
    if shown == CONTRIBUTION:
        return _contributions_said(recording, found)
    if found.pooling == "mean":
        share = percent(1 / n_positions)
        return f"The mean takes the same share of each of {n_positions} positions: {share}."
    won = found.winners().bincount(minlength=n_positions)
    top = int(won.argmax())
    return (
        f"Of {d_model} dimensions {int(won[top])} have their largest value at "
        f"{label(recording.source[top])}; no position has more. "
        f"{int(won.gt(0).sum())} of {n_positions} positions gave something."
    )


def _contributions_said(recording: Recording, found: PooledClassification) -> str:
    added, bias, words = effects(found)
    total, top = float(added.sum()), int(added.abs().argmax())
    return (
        f"The contributions of {len(added)} positions add up to {_signed(total)}; with the bias of "
        f"{_signed(bias)} they are {words}, {_signed(total + bias)}. The largest is "
        f"{_signed(float(added[top]))}, of {label(recording.source[top])}."
    )


VIEW = View(
    name="pooled_positions",
    title="Pooled positions",
    explain=(
        "The class is read from one vector that is pooled over positions. Contributions: what each "
        "position adds to the answer; with the bias they add up to it exactly. Shares: how "
        "much of that vector came from where; 1/T each for the mean, and for the maximum the "
        "dimensions that a position won."
    ),
    needs="classification",
    draw=draw,
    describe=describe,
    controls=(Choice("shown", "Show", (CONTRIBUTION, SHARE)),),
    applies=lambda recording: isinstance(recording.classification, PooledClassification),
)
