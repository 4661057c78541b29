"""Label smoothing at one position of the target on screen."""

import math
from dataclasses import dataclass
from functools import cached_property

from torch import Tensor

from transformer.analysis.tables import Columns, Side
from transformer.token import Token
from transformer.training.task import smoothed_target
from viz.app_packages import DeltaGenerator, pd, st
from viz.exhibits.exhibit import Exhibit
from viz.export import rows_csv
from viz.fields.fields import TrainingFields
from viz.figures import training
from viz.figures.training import LARGEST, STEP, Parts
from viz.labels import in_words
from viz.state.page import Pane
from viz.state.state import bound, note
from viz.ui.controls import choose_one, help_of
from viz.ui.saving import download
from viz.ui.showing import columns, show_with_files

DEFAULT = 0.1
"""AIAYN's, and that of most of our recipes."""
EXPLAIN = (
    "That ε is spread over all of the vocabulary is PyTorch's convention, and that of our "
    "training; the Annotated Transformer leaves out the target and padding. "
    "The entropy of the target is the least that the loss can be."
)


def smoothing(pane: Pane, top: DeltaGenerator) -> None:
    """The target and the prediction at one position, and what the loss makes of them."""
    recording = pane.recording
    if reason := training.why_not(recording):
        note(reason)
        return
    with top:
        _choose_position(pane)
        _choose_epsilon(pane)
    at = _at(pane)
    bars, loss = columns([6, 5], gap="large")
    with bars:
        _distributions(at)
    with loss:
        _loss(at)
    st.caption(EXPLAIN)


def smoothing_exhibits(pane: Pane) -> dict[str, Exhibit]:
    """Declare the exhibits of label smoothing."""
    if training.why_not(pane.recording):
        return {}
    at = _at(pane)
    return {"label-smoothing": at.distributions, "smoothing-parts": at.parts}


@dataclass(frozen=True, eq=False)
class At:
    """One position of the target, and how much its label is smoothed."""

    pane: Pane
    position: int
    epsilon: float

    @cached_property
    def target(self) -> Token:
        return self.pane.recording.target[self.position]

    @cached_property
    def origin(self) -> Columns:
        """The columns of files that name the token of the target."""
        return Side("target", self.pane.recording.target).at([self.position])

    @cached_property
    def log_probs(self) -> Tensor:
        return training.log_probs_at(self.pane.recording, self.position)

    @cached_property
    def smoothed(self) -> Tensor:
        return smoothed_target(self.target.id, len(self.log_probs), self.epsilon)

    @cached_property
    def chosen(self) -> Parts:
        return training.parts(self.target.id, self.log_probs, self.epsilon)

    @cached_property
    def curve(self) -> list[Parts]:
        return training.all_parts(self.target.id, self.log_probs)

    @property
    def distributions(self) -> Exhibit:
        token = self.pane.checkpoint.tokenizer.token
        rows = training.rows(self.target.id, self.smoothed, self.log_probs, token)
        return Exhibit(
            "Label smoothing",
            training.chart_label_smoothing(
                rows, self.position, self.pane.recording.target
            ).in_words,
            training.describe_label_smoothing(rows, self.position, self.pane.recording.target),
        )

    @property
    def parts(self) -> Exhibit:
        return Exhibit(
            "The loss and its two parts",
            training.chart_smoothing_parts(self.curve, self.chosen, self.position),
            training.describe_smoothing_parts(self.chosen),
        )


def _at(pane: Pane) -> At:
    """The position and the smoothing that the Screen names."""
    chosen = pane.screen.of(TrainingFields).position
    return At(pane, chosen if chosen < len(pane.recording.target) else 0, _epsilon(pane))


def _choose_position(pane: Pane) -> None:
    titles = {t: f"{t} · {it}" for t, it in enumerate(in_words(pane.recording.target))}
    chosen = pane.screen.of(TrainingFields).position
    choose_one("Target position", "position", titles, chosen, as_list=True, width=180)


def _epsilon(pane: Pane) -> float:
    chosen = pane.screen.of(TrainingFields).epsilon
    return chosen if chosen is not None and 0 <= chosen <= LARGEST else DEFAULT


def _choose_epsilon(pane: Pane) -> None:
    epsilon = _epsilon(pane)
    st.slider(
        "Smoothing ε",
        0.0,
        LARGEST,
        epsilon,
        STEP,
        width=280,
        help=help_of("label_smoothing"),
        **bound("epsilon", epsilon, DEFAULT),
    )


def _distributions(at: At) -> None:
    """Both distributions as bars, and all pieces as a file."""
    token = at.pane.checkpoint.tokenizer.token
    probs = list(zip(at.smoothed.tolist(), at.log_probs.exp().tolist(), strict=True))
    with show_with_files(at.pane, at.distributions, "label-smoothing"):
        download(
            "All pieces as CSV",
            lambda: rows_csv(
                [
                    at.origin
                    | {"id": i, "piece": token(i).piece}
                    | {"smoothed": target, "predicted": predicted}
                    for i, (target, predicted) in enumerate(probs)
                ]
            ),
            "headscope-label-smoothing.csv",
            "Both probabilities of every piece of the vocabulary",
        )


def _loss(at: At) -> None:
    """The loss as a sum, now and for every smoothing."""
    st.markdown("**The loss at this position**", help=help_of("kl_divergence", "nats", "bits"))
    chosen = at.chosen
    st.table(_sum(chosen))
    with show_with_files(at.pane, at.parts, "smoothing-parts"):
        download(
            "Losses as CSV",
            lambda: rows_csv([at.origin | vars(each) for each in at.curve]),
            "headscope-smoothing-parts.csv",
            "The loss and its two parts in nats, for every ε",
        )


def _sum(chosen: Parts) -> "pd.DataFrame":
    """KL + entropy = cross-entropy. Each is rounded by itself."""
    rows = {
        "KL(smoothed target ‖ prediction)": chosen.divergence,
        "plus entropy of the smoothed target": chosen.entropy,
        "= cross-entropy: the loss": chosen.cross_entropy,
    }
    texts = {name: [f"{nats:.4f}", f"{nats / math.log(2):.4f}"] for name, nats in rows.items()}
    return pd.DataFrame.from_dict(texts, orient="index", columns=["nats", "bits"])
