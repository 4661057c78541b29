"""The strip of what a person decided of the decoding: a chip for each, and what it costs."""

from collections.abc import Sequence
from typing import Any

from transformer.analysis.output_change import log_probabilities
from transformer.recording import Recording
from viz.app_packages import st
from viz.components.kit.guarded import guarded
from viz.labels import in_words, literal, number
from viz.state.branching import Ids, take_all_back, take_back
from viz.state.page import Pane
from viz.talks.stage import on_stage
from viz.ui.branches.correction import correction
from viz.ui.branches.decisions import decision_text, decisions
from viz.ui.progress import paid
from viz.ui.showing import show_words

HELP = {
    "prefix": "The output begins with this, and is decoded from there.",
    "force": "The output has this somewhere (lexically constrained beam search).",
    "forbid": "The output has this nowhere, nor a longer word that begins with it: whether a word "
    "goes on is decided after these tokens, too late to write others.",
    "branch": "All pictures show this hypothesis in place of the one that won.",
}
MOST_PRICED = 48
"""Tokens of a chip whose prices it says."""


def branches(pane: Pane) -> None:
    """Draw the strip, where anything is decided and the model writes."""
    of = decisions(pane.request)
    if not of or not pane.is_of_asked_checkpoint or pane.answer.decoding is None:
        return
    with st.container(key="branches", gap="small"):
        if not on_stage():
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                for i, (name, ids) in enumerate(of):
                    _chip(i, name, ids, pane)
                if len(of) > 1:
                    look: Any = {"type": "tertiary", "key": "branches off"}
                    st.button("All off", on_click=guarded(take_all_back), **look)
        if pane.answer.request == pane.request:
            _cost(pane)


def _chip(i: int, name: str, ids: Ids, pane: Pane) -> None:
    """A button that takes one of them back."""
    price = _price(pane.recording, ids) if name in ("prefix", "force") else ""
    st.button(
        literal(decision_text(pane.checkpoint, name, ids)),
        key=f"branch {i:d}",
        icon=":material/close:",
        icon_position="right",
        help=literal(f"{HELP[name]} {price} Press to take it back.".replace("  ", " ")),
        on_click=guarded(lambda: take_back(name, ids)),
    )


def _price(recording: Recording, ids: Sequence[int]) -> str:
    """The price of each of these tokens where they stand first; empty: they do not."""
    written, n = tuple(token.id for token in recording.target), len(ids)
    starts = (i for i in range(len(written) - n + 1) if written[i : i + n] == tuple(ids))
    start = next(starts, None)
    if start is None or n > MOST_PRICED:
        return ""
    values = log_probabilities(recording)[start : start + n].tolist()
    words = in_words(recording.target)[start : start + n]
    each = ", ".join(f"{it} {number(value)}" for it, value in zip(words, values, strict=True))
    return f"In nats: {each}."


def _cost(pane: Pane) -> None:
    """Both outputs below each other, and what the difference costs."""
    request = pane.answer.request
    before = request.unconstrained
    if before == request:
        return
    plain = paid(before, st.empty(), "before")
    if plain is not None and plain.decoding is not None:
        show_words(correction(plain, pane.answer))
