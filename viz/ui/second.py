"""The second checkpoint of Compare: which it is, and what it makes of the same sentence."""

from dataclasses import replace

import streamlit as st

from transformer import Checkpoint, CheckpointError, InputError, Recording
from viz.labels import literal
from viz.ui.current import SHOWN, current
from viz.ui.defaults import DEFAULT_METHODS
from viz.ui.opened import checkpoint_names, open_from_address, title, write_address
from viz.ui.request import Answer, Request, answer, make_request, open_checkpoint

SAME, SUFFIX = "same checkpoint", "_b"
PICKER = f"checkpoint{SUFFIX}"


def choose_second() -> None:
    """Draw the picker and settle what B is; nothing but another head of A, where it is the same."""
    problem = None
    try:
        linked = open_from_address(SUFFIX)
        if linked and PICKER not in st.session_state:
            st.session_state[PICKER] = linked
    except CheckpointError as error:
        problem = str(error)
    names = [name for name in checkpoint_names() if name != current().request.checkpoint]
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption("**B** is of", width="content")
        chosen = st.selectbox(
            "Checkpoint of B",
            [SAME, *names],
            format_func=title,
            key=PICKER,
            bind="query-params",
            on_change=_follow,
            label_visibility="collapsed",
            width=260,
        )
    write_address(str(chosen), SUFFIX)
    st.session_state.pop(SHOWN + SUFFIX, None)
    try:
        if chosen != SAME:
            st.session_state[SHOWN + SUFFIX] = _second_answer(current(), str(chosen))
    except (CheckpointError, InputError) as error:
        problem = str(error)
    if problem:
        st.warning(literal(f"B cannot be shown: {problem}"), icon=":material/info:")


def has_second() -> bool:
    """Whether B is of another checkpoint."""
    return SHOWN + SUFFIX in st.session_state


def follows() -> bool:
    """Whether B was made to read what A wrote."""
    return current(SUFFIX).request.follows is not None


def beside(first: Recording, second: Recording) -> Recording:
    """One recording that holds the attentions of both, B's under names of their own."""
    renamed = {f"{kind}{SUFFIX}": each for kind, each in second.attentions.items()}
    return Recording(
        source=first.source,
        target=first.target,
        attentions={**first.attentions, **renamed},
        positions={},
        logits=first.logits,
    )


def _follow() -> None:
    """Another checkpoint is first looked at where A is."""
    for name in ("kind", "layer", "head"):
        if name in st.session_state:
            st.session_state[f"{name}{SUFFIX}"] = st.session_state[name]


def _second_answer(first: Answer, name: str) -> Answer:
    own = _own_request(first, name)
    if first.decoding is None or not _reads_alike(first, open_checkpoint(own)):
        return answer(own)
    return answer(replace(own, method="none", options=(), follows=first.request))


def _own_request(first: Answer, name: str) -> Request:
    """What B would be asked by itself: the same, or what suits it where it is of another sort."""
    checkpoint = open_checkpoint(make_request(name, first.request.text, "none"))
    reads, decodes = checkpoint.family.reads, checkpoint.family.decodes
    if decodes and reads == first.checkpoint.family.reads and first.decoding is not None:
        return make_request(name, first.request.text, first.request.method, first.request.options)
    return make_request(name, first.request.text, DEFAULT_METHODS[reads] if decodes else "none")


def _reads_alike(first: Answer, second: Checkpoint) -> bool:
    """Whether both split this text and what was written into the same tokens."""
    family = second.family
    if not family.decodes or family.reads != first.checkpoint.family.reads:
        return False
    tokens = (*first.recording.source, *first.recording.target)
    if max(token.id for token in tokens) >= second.config.vocab_size:
        return False
    return all(second.tokenizer.token(token.id) == token for token in tokens)
