"""Proof on screen: what must hold of a run with edits, with the numbers of this very run."""

from dataclasses import replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from transformer import Recording
from transformer.analysis.proofs import Proof, proofs
from transformer.edits import edits_of
from transformer.refusal import Refusal
from viz.labels import kind_title, literal
from viz.run.kept import KEPT, bytes_of
from viz.run.request import Answer
from viz.state.page import Pane
from viz.ui.in_line import in_line, turn_in_line

MARKS = {True: "✓", False: "✗"}


def proof_button(pane: Pane) -> None:
    """What opens them; nothing is computed before."""
    box = st.popover(
        "Proof",
        icon=":material/fact_check:",
        type="tertiary",
        key="proofs",
        help="Whether the edits do what they say, with the numbers of this run",
        on_change="rerun",
    )
    if not box.open:
        return
    with box:
        if pane.asked != pane.answer.request:
            st.caption("The proof follows once the text is written.")
            return
        try:
            place = st.empty()
            with st.spinner("Running the model twice more"):
                found = _proofs(pane.answer, place)
        except Refusal as error:
            st.caption(literal(str(error)))
            return
        lines = [literal(f"{_mark(each)} {_said(each, pane.recording)}") for each in found]
        st.markdown("\n\n".join(lines))


def _proofs(shown: Answer, place: DeltaGenerator) -> tuple[Proof, ...]:
    """Of the output without the edits, read without them and with them. Raises Refusal.

    place: says how many are before it.
    """

    def prove() -> tuple[Proof, ...]:
        request = shown.request
        before = after = in_line(replace(request, edits=()), place)
        if request.edits and before.decoding is None:
            after = shown
        elif request.edits:
            read = replace(request, method="none", options=(), follows=before.request)
            after = in_line(read, place)
        edits, both = edits_of(request.edits), (before.recording, after.recording)
        with turn_in_line(shown.checkpoint.model, place):
            return proofs(shown.checkpoint, request.text, *both, edits)

    return KEPT.get(("proofs", shown.request), prove, bytes_of)


def _mark(proof: Proof) -> str:
    return "–" if proof.value is None else MARKS[proof.is_right]


def _said(proof: Proof, recording: Recording) -> str:
    """The claim, and the number that was found; or why there is none."""
    claim = {
        "sum": "What the heads give through W_O, and its bias, sum to what the layer gives",
        "factor": "A factor of 1 at every head changes no logit",
        "rows": "Each row of weights sums to 1",
        "before": "Up to the first edit both runs are the same",
    }[proof.name]
    if proof.value is None:
        return f"{claim}: not checkable, {proof.why}."
    error = f"{proof.value:.0e}".replace("e-0", "e-") if proof.value else "0"
    return f"{claim}: {_measured(proof, error)}.{_first(proof, recording)}"


def _measured(proof: Proof, error: str) -> str:
    n = f"{proof.n:,}"
    if proof.name == "sum":
        return f"largest error {error} of the largest value ({n} layers)"
    if proof.name == "factor":
        return f"largest difference {error} ({n} heads)"
    if proof.name == "rows":
        return f"largest deviation {error} ({n} rows)"
    return f"largest difference {error} (attentions read: {n})"


def _first(proof: Proof, recording: Recording) -> str:
    if proof.name != "before":
        return ""
    if proof.first is None:
        return " Nothing differs after it either."
    kind, layer = proof.first
    number = recording.attentions[kind].number(layer)
    return f" The first that differs is {kind_title(kind)} L{number}."
