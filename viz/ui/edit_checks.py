"""Proof on screen: what must hold of a run with edits, with the numbers of this very run."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from transformer import Recording
from transformer.analysis.proofs import Proof, proofs
from transformer.edits import edits_of
from transformer.refusal import Refusal
from viz.app_packages import st
from viz.labels import counted, kind_title, literal, number
from viz.run.batches import Runner
from viz.run.request import Request, answer
from viz.run.study import Study
from viz.state.page import Pane
from viz.ui.progress import is_written, whole

MARKS = {True: "✓", False: "✗"}


@dataclass(frozen=True)
class Proofs(Study[tuple[Proof, ...]]):
    """Checks of the output without the edits, read without them and with them."""

    request: Request

    def run(self, before: tuple[Proof, ...] | None, runner: Runner) -> Iterator[tuple[Proof, ...]]:
        request = self.request
        plain = after = answer(replace(request, edits=()), runner)
        if request.edits:
            is_read = plain.decoding is None
            after = answer(request if is_read else request.made_to_read(plain.request), runner)
        edits, both = edits_of(request.edits), (plain.recording, after.recording)
        with runner.turn(after.checkpoint.model):
            results = proofs(after.checkpoint, request.text, *both, edits)
        yield results


def proof_button(pane: Pane) -> None:
    """Draw the button that opens them; nothing is computed before."""
    box = st.popover(
        "Proof",
        icon=":material/fact_check:",
        type="tertiary",
        key="proofs",
        on_change="rerun",
    )
    with box, st.container(key="proof"):  # as high as what comes: it opens where there is room
        st.caption("Whether the edits do what they say, with the numbers of this run:")
        if not box.open:
            return
        if not is_written(pane, "The proof follows"):
            return
        try:
            results = whole(Proofs(pane.answer.request), st.empty())
        except Refusal as error:
            st.caption(literal(str(error)))
            return
        lines = [literal(f"{_mark(each)} {_line(each, pane.recording)}") for each in results or ()]
        st.markdown("\n\n".join(lines))


def _mark(proof: Proof) -> str:
    return "–" if proof.value is None else MARKS[proof.is_right]


def _line(proof: Proof, recording: Recording) -> str:
    """The claim, and the number that was found; or why there is none."""
    claim = {
        "sum": "What the heads give through W_O, and its bias, sum to what the layer gives",
        "factor": "A factor of 1 at every head changes no logit",
        "rows": "Each row of weights sums to 1",
        "before": "Up to the first edit both runs are the same",
    }[proof.name]
    if proof.value is None:
        return f"{claim}: not checkable, {proof.why}."
    error = number(proof.value, 0, "e").replace("e−0", "e−") if proof.value else "0"
    return f"{claim}: {_measured(proof, error)}.{_first(proof, recording)}"


def _measured(proof: Proof, error: str) -> str:
    if proof.name == "sum":
        return f"largest error {error} of the largest value ({counted(proof.n, 'layer', 'layers')})"
    if proof.name == "factor":
        return f"largest difference {error} ({counted(proof.n, 'head', 'heads')})"
    if proof.name == "rows":
        return f"largest deviation {error} ({counted(proof.n, 'row', 'rows')})"
    return f"largest difference {error} (attentions read: {proof.n:,})"


def _first(proof: Proof, recording: Recording) -> str:
    if proof.name != "before":
        return ""
    if proof.first is None:
        return " Nothing differs after it either."
    kind, layer = proof.first
    number = recording.attentions[kind].number(layer)
    return f" The first that differs is {kind_title(kind)} L{number}."
