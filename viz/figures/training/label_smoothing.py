"""Label smoothing at one position: the distribution that is asked for, and the one predicted."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from transformer.analysis.tables.origins import Side
from transformer.recording import Recording
from transformer.token import Token
from viz.exhibits.chart import Axis, Bars, Chart
from viz.labels import in_place, in_word, percent

N_TOP = 10
"""Pieces with a row of their own; all others share the last one."""
ROW = 40
"""Pixels a row."""
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
    """Say why a recording has no target pieces to smooth; None where it has."""
    n = len(recording.target)
    return None if n and recording.logits.dim() == 2 and len(recording.logits) == n else NO_TARGET


def log_probs_at(recording: Recording, position: int) -> Tensor:
    """The prediction of the model for a position of the target: [V], in nats, float64."""
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


def chart(rows: Sequence[Row], position: int, tokens: Sequence[Token]) -> Chart:
    """Two bars per piece, with their numbers beside them. tokens: of the target."""
    origin = Side("target", tokens).at([position])
    # Room on the right for the number beside the longest bar.
    x = Axis(
        "probability",
        ends=(0, 1.18),
        has_grid=True,
        ticks=[(share / 4, f"{25 * share} %") for share in range(5)],
    )
    y = Axis(
        "",
        labels=[row.token or f"{row.n_pieces:,} others" for row in rows],
        origins=[origin] * len(rows),
    )
    marks = [
        _bars("smoothed target", [row.smoothed for row in rows], 1),
        _bars("prediction", [row.predicted for row in rows], 0),
    ]
    more = f" at position {position}: {in_word(tokens, position)}"
    name, height = f"label_smoothing {position}", ROW * len(rows)
    return Chart(name, "Asked for and predicted", more, x, y, marks, height)


def _bars(name: str, probs: list[float], series: int) -> Bars:
    return Bars(
        name,
        range(len(probs)),
        probs,
        (series,),
        f"{{y}}\n{name} {{x:.6g}}",
        is_level=True,
        width=0.8,
        texts=[percent(prob) for prob in probs],
    )


def describe(rows: Sequence[Row], position: int, tokens: Sequence[Token]) -> str:
    target = tokens[position]
    own = next(row for row in rows if row.token and row.token.id == target.id)
    best = rows[0]  # the rows are sorted by it; the others together stand last
    likeliest = in_place(tokens[:position], best.token or target)
    return (
        f"At position {position} the target is {in_word(tokens, position)}: the smoothed target "
        f"gives it {percent(own.smoothed)}, the model {percent(own.predicted)}; the likeliest "
        f"piece is {likeliest} with {percent(best.predicted)}."
    )
