"""Label smoothing at one position: the distribution that is asked for, and the one predicted."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go
import torch
from torch import Tensor

from transformer.recording import Recording
from transformer.tokenizer import Token
from viz.figures.curve import curve_layout
from viz.figures.layout import SMALL, axis
from viz.labels import figure_label, label, percent
from viz.theme import SERIES, Theme

N_TOP = 10
"""Pieces with a row of their own; all others share the last one."""
ROW, FRAME = 40, 110
"""Pixels a row, and of everything around the rows."""
NO_TARGET = "This model writes no target, so no label can be smoothed."


@dataclass(frozen=True)
class Row:
    """One piece, or all that have no row of their own, in both distributions."""

    token: Token | None
    """None: the others together."""
    n_pieces: int
    smoothed: float
    predicted: float


def why_not(recording: Recording) -> str | None:
    """Why a recording has no target pieces to smooth; None where it has."""
    n = len(recording.target)
    return None if n and recording.logits.dim() == 2 and len(recording.logits) == n else NO_TARGET


def log_probs_at(recording: Recording, position: int) -> Tensor:
    """What the model predicted for a position of the target: [V], in nats, float64."""
    return recording.logits[position].cpu().double().log_softmax(-1)


def rows(
    target: int, smoothed: Tensor, log_probs: Tensor, token: Callable[[int], Token]
) -> list[Row]:
    """The likeliest pieces, the target always among them, then the others together.

    smoothed and log_probs: [V]. token: id -> token.
    """
    probs = log_probs.exp()
    top = probs.topk(min(N_TOP, len(probs))).indices.tolist()
    if target not in top:
        top = [*top[:-1], target]
    own = [Row(token(i), 1, float(smoothed[i]), float(probs[i])) for i in top]
    others = torch.ones(len(probs), dtype=torch.bool)
    others[top] = False
    n = int(others.sum())
    rest = Row(None, n, float(smoothed[others].sum()), float(probs[others].sum()))
    return [*own, rest] if n else own


def draw(shown: Sequence[Row], position: int, target: Token, theme: Theme) -> go.Figure:
    """Two bars per piece, with their numbers beside them."""
    title = f"<b>Asked for and predicted</b> at position {position}: "
    title += figure_label(target, theme.dim)
    height = FRAME + ROW * len(shown)
    groups = {"barmode": "group", "bargap": 0.2, "bargroupgap": 0, "hovermode": "closest"}
    id = f"label_smoothing {position}"
    figure = go.Figure(layout=curve_layout(theme, id, title, height, **groups))
    figure.add_trace(_bars("smoothed target", [row.smoothed for row in shown], SERIES[1], theme))
    figure.add_trace(_bars("prediction", [row.predicted for row in shown], SERIES[0], theme))
    # Room on the right for the number beside the longest bar.
    figure.update_xaxes(
        axis(theme, "probability", range=[0, 1.18], dtick=0.25, tickformat=".0%", grid=True)
    )
    figure.update_yaxes(
        axis(
            theme,
            "",
            range=[len(shown) - 0.5, -0.5],
            tickmode="array",
            tickvals=list(range(len(shown))),
            ticktext=[_name(row, theme) for row in shown],
        )
    )
    return figure


def _bars(name: str, probs: list[float], colour: str, theme: Theme) -> go.Bar:
    return go.Bar(
        x=probs,
        y=list(range(len(probs))),
        orientation="h",
        name=name,
        marker={"color": colour, "line": {"width": 0}},
        text=[percent(prob) for prob in probs],
        textposition="outside",
        textfont={"size": SMALL, "color": theme.dim},
        constraintext="none",
        cliponaxis=False,
        hovertemplate="%{y}<br>" + name + " %{x:.6g}<extra></extra>",
    )


def _name(row: Row, theme: Theme) -> str:
    if row.token is None:
        return f'<span style="color:{theme.dim}">{row.n_pieces:,} others</span>'
    return figure_label(row.token, theme.dim)


def describe(shown: Sequence[Row], position: int, target: Token) -> str:
    own = next(row for row in shown if row.token and row.token.id == target.id)
    best = shown[0]  # the rows are sorted by it; the others together stand last
    return (
        f"At position {position} the target is {label(target)}: the smoothed target gives it "
        f"{percent(own.smoothed)}, the model {percent(own.predicted)}; the likeliest piece is "
        f"{label(best.token or target)} with {percent(best.predicted)}."
    )
