"""Label smoothing at one position of the target on screen."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from transformer.analysis.tables import Side
from transformer.recording import Recording
from transformer.token import Token
from transformer.training.task import cross_entropy, divergence, entropy, smoothed_target
from viz.app_packages import pd, st
from viz.components.kit.picture import NothingLeft
from viz.exhibits.chart import Axis, Bars, Chart, Curve, Rule, values_of
from viz.exhibits.exhibit import Exhibit
from viz.labels import in_place, in_word, in_words, percent
from viz.page_fields import TrainingFields
from viz.state.page import Pane
from viz.state.state import bound
from viz.ui.controls import choose_one, help_of
from viz.ui.parts import Part, Rows

# Label smoothing at one position: the distribution that is asked for, and the one predicted.

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
    return None if recording.has_target_logits else NO_TARGET


def log_probs_at(recording: Recording, position: int) -> Tensor:
    """The prediction of the model for a position of the target: [V], in nats, float64."""
    return recording.require_logits()[position].cpu().double().log_softmax(-1)


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


def chart_label_smoothing(rows: Sequence[Row], position: int, tokens: Sequence[Token]) -> Chart:
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


def describe_label_smoothing(rows: Sequence[Row], position: int, tokens: Sequence[Token]) -> str:
    """Both probabilities of the target, in a sentence."""
    target = tokens[position]
    own = next(row for row in rows if row.token and row.token.id == target.id)
    best = rows[0]  # the rows are sorted by it; the others together stand last
    likeliest = in_place(tokens[:position], best.token or target)
    return (
        f"At position {position} the target is {in_word(tokens, position)}: the smoothed target "
        f"gives it {percent(own.smoothed)}, the model {percent(own.predicted)}; the likeliest "
        f"piece is {likeliest} with {percent(best.predicted)}."
    )


# The loss at one position over the smoothing: the entropy of the target and what lies above it.

SMOOTHING_PARTS_HEIGHT = 170
LARGEST, STEP = 0.5, 0.01
"""The largest smoothing that can be chosen, and its step."""


@dataclass(frozen=True)
class Parts:
    """One loss, in nats: cross_entropy = divergence + entropy, each computed by itself."""

    epsilon: float
    divergence: float
    """KL(smoothed target || prediction): what the model can still learn."""
    entropy: float
    """The entropy of the smoothed target: the lower bound of the loss."""
    cross_entropy: float


def parts(target: int, log_probs: Tensor, epsilon: float) -> Parts:
    """The loss of a prediction [V] against a smoothed target."""
    smoothed = smoothed_target(target, len(log_probs), epsilon)
    values = (
        divergence(smoothed, log_probs),
        entropy(smoothed),
        cross_entropy(smoothed, log_probs),
    )
    return Parts(epsilon, *map(float, values))


def all_parts(target: int, log_probs: Tensor) -> list[Parts]:
    """The same for every smoothing that can be chosen."""
    n = round(LARGEST / STEP)
    return [parts(target, log_probs, i / n * LARGEST) for i in range(n + 1)]


def chart_smoothing_parts(curve: list[Parts], chosen: Parts, position: int) -> Chart:
    """Entropy and divergence stacked, so that their upper edge is the cross-entropy."""
    epsilons, hover = [each.epsilon for each in curve], "{y:.4f} nats"
    parts = (
        ("entropy of the target", [each.entropy for each in curve], 1),
        ("KL divergence", [each.divergence for each in curve], 0),
    )
    areas = [
        Curve(name, epsilons, values, series, hover, width=1, fill="stack")
        for name, values, series in parts
    ]
    at = Rule(chosen.epsilon, ink="accent", dash="solid")
    x, y = Axis("ε", ends=(0, LARGEST), hover="{x:.2f}"), values_of("nats")
    title = ("The loss and its two parts", " over ε")
    return Chart(f"smoothing_parts {position}", *title, x, y, (*areas, at), SMOOTHING_PARTS_HEIGHT)


def describe_smoothing_parts(chosen: Parts) -> str:
    """The sum of the loss, in a sentence."""
    return (
        f"With a smoothing of {chosen.epsilon:.2f} the cross-entropy of "
        f"{chosen.cross_entropy:.4f} nats is a KL divergence of {chosen.divergence:.4f} nats and "
        f"an entropy of the target of {chosen.entropy:.4f} nats."
    )


# The part of the page: what is chosen for it, both figures, the sum of the loss, and files of rows.

DEFAULT = 0.1
"""AIAYN's, and that of most of our recipes."""
EXPLAIN = (
    "That ε is spread over all of the vocabulary is PyTorch's convention, and that of our "
    "training; the Annotated Transformer leaves out the target and padding. "
    "The entropy of the target is the least that the loss can be."
)


@dataclass(frozen=True)
class At:
    """The position of the target and the smoothing that the Screen names."""

    pane: Pane

    @cached_property
    def position(self) -> int:
        chosen = self.pane.screen.of(TrainingFields).position
        return chosen if chosen < len(self.pane.recording.target) else 0

    @cached_property
    def epsilon(self) -> float:
        chosen = self.pane.screen.of(TrainingFields).epsilon
        return chosen if chosen is not None and 0 <= chosen <= LARGEST else DEFAULT

    @cached_property
    def target(self) -> int:
        return self.pane.recording.target[self.position].id

    @cached_property
    def log_probs(self) -> Tensor:
        return log_probs_at(self.pane.recording, self.position)

    @cached_property
    def smoothed(self) -> Tensor:
        return smoothed_target(self.target, len(self.log_probs), self.epsilon)

    @cached_property
    def chosen(self) -> Parts:
        return parts(self.target, self.log_probs, self.epsilon)

    def rows(self, each: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Return rows of a file, after what names the token of the target."""
        origin = Side("target", self.pane.recording.target).at([self.position])
        return [dict(origin) | dict(row) for row in each]


def _exhibits(pane: Pane) -> dict[str, Exhibit]:
    if reason := why_not(pane.recording):
        raise NothingLeft(reason)
    at, target = At(pane), pane.recording.target
    bars = rows(at.target, at.smoothed, at.log_probs, pane.checkpoint.tokenizer.token)
    return {
        "label-smoothing": Exhibit(
            "Label smoothing",
            chart_label_smoothing(bars, at.position, target).in_words,
            describe_label_smoothing(bars, at.position, target),
        ),
        "smoothing-parts": Exhibit(
            "The loss and its two parts",
            chart_smoothing_parts(all_parts(at.target, at.log_probs), at.chosen, at.position),
            describe_smoothing_parts(at.chosen),
        ),
    }


def _choose(pane: Pane) -> None:
    titles = {t: f"{t} · {it}" for t, it in enumerate(in_words(pane.recording.target))}
    chosen = pane.screen.of(TrainingFields).position
    choose_one("Target position", "position", titles, chosen, as_list=True, width=180)
    epsilon, help = At(pane).epsilon, help_of("label_smoothing")
    look: Any = {"width": 280, "help": help, **bound("epsilon", epsilon, DEFAULT)}
    st.slider("Smoothing ε", 0.0, LARGEST, epsilon, STEP, **look)


def _draw_sum(pane: Pane) -> None:
    st.markdown("**The loss at this position**", help=help_of("kl_divergence", "nats", "bits"))
    chosen = At(pane).chosen
    st.table(_sum(chosen))


def _sum(chosen: Parts) -> "pd.DataFrame":
    """KL + entropy = cross-entropy. Each is rounded by itself."""
    lines = {
        "KL(smoothed target ‖ prediction)": chosen.divergence,
        "plus entropy of the smoothed target": chosen.entropy,
        "= cross-entropy: the loss": chosen.cross_entropy,
    }
    texts = {name: [f"{nats:.4f}", f"{nats / math.log(2):.4f}"] for name, nats in lines.items()}
    return pd.DataFrame.from_dict(texts, orient="index", columns=["nats", "bits"])


def _rows(pane: Pane) -> dict[str, Rows]:
    at, token = At(pane), pane.checkpoint.tokenizer.token

    def pieces() -> list[dict[str, Any]]:
        both = zip(at.smoothed.tolist(), at.log_probs.exp().tolist(), strict=True)
        return at.rows(
            [
                {"id": i, "piece": token(i).piece, "smoothed": target, "predicted": predicted}
                for i, (target, predicted) in enumerate(both)
            ]
        )

    return {
        "label-smoothing": Rows(
            "All pieces as CSV",
            "headscope-label-smoothing.csv",
            "Both probabilities of every piece of the vocabulary",
            pieces,
        ),
        "smoothing-parts": Rows(
            "Losses as CSV",
            "headscope-smoothing-parts.csv",
            "The loss and its two parts in nats, for every ε",
            lambda: at.rows([vars(each) for each in all_parts(at.target, at.log_probs)]),
        ),
    }


SMOOTHING = Part(
    "Label smoothing",
    _exhibits,
    _choose,
    _rows,
    above={"smoothing-parts": _draw_sum},
    below=lambda pane, value: EXPLAIN,
    widths=(6, 5),
)
