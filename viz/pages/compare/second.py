"""The second checkpoint of Compare: which it is, and what it makes of the same sentence."""

from dataclasses import dataclass, replace
from pathlib import Path

import streamlit as st

from transformer import Checkpoint, CheckpointError, Recording
from transformer.decoding import default_method
from transformer.files.foreign_text import shown as cut
from transformer.refusal import Refusal
from transformer.visible import visible
from viz.labels import literal
from viz.ui.cpu_instead import why_on_cpu
from viz.ui.focus import moved
from viz.ui.limits import charge, limited
from viz.ui.opened import checkpoint_names, load, open_linked, title
from viz.ui.page import Pane
from viz.ui.request import (
    Answer,
    Request,
    answer,
    answer_at_hand,
    make_answer,
    make_request,
    open_checkpoint,
)
from viz.ui.state import bound, change, session, widget
from viz.views.view import Selection

SAME, SUFFIX = "same checkpoint", "_b"


def choose_second(first: Pane) -> None:
    """Draw the picker, and say where what was chosen cannot be shown."""
    problem = None
    try:
        open_linked(first.screen.checkpoint_b)
    except CheckpointError as error:
        problem = str(error)
    names = [name for name in checkpoint_names() if name != first.answer.request.checkpoint]
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption("Compare **A** with **B** of", width="content")
        chosen = _name(first) or SAME
        st.selectbox(
            "Checkpoint of B",
            [SAME, *names],
            [SAME, *names].index(chosen),
            format_func=lambda name: visible(title(name)),
            label_visibility="collapsed",
            width=260,
            **widget("checkpoint_b", chosen, lambda name: _turn_to(name, first)),
        )
        if chosen != SAME:
            is_same = first.screen.same_head
            st.toggle("Same head in A and B", is_same, **bound("same_head", is_same))
    try:
        shown = _answer(first)
        if shown is not None:
            _say_how(shown.request)
        elif problem is None and _is_missing(first):
            problem = _missing(first)
    except Refusal as error:
        problem = str(error)
    if problem:
        st.warning(literal(f"B cannot be shown: {problem}"), icon=":material/info:")


def _say_how(request: Request) -> None:
    """That B's files were written since it was shown before, or that the CPU computed it."""
    if why := why_on_cpu(request.checkpoint, request.text):
        st.info(literal(f"B: {why}"), icon=":material/info:")
    before, session().second = session().second, request
    is_same = before is not None and before.checkpoint == request.checkpoint
    if before is not None and is_same and before.version != request.version:
        said = f"B: {title(request.checkpoint)} was saved anew since it was shown: this is the "
        st.info(literal(f"{said}new one."), icon=":material/info:")


def _is_missing(first: Pane) -> bool:
    name = first.screen.checkpoint_b
    return name is not None and name not in checkpoint_names()


def _missing(first: Pane) -> str:
    """That what was chosen for B is not there, or is not there any more."""
    name, before = first.screen.checkpoint_b or "", session().second
    if before is not None and before.checkpoint == name:
        return f"{Path(name).name} is not here any more."
    return f"there is no checkpoint {cut(name)} here."


def _turn_to(name: str, first: Pane) -> None:
    """Another checkpoint is first looked at where A is."""
    at = first.selection
    chosen = None if name == SAME else name
    change(checkpoint_b=chosen, kind_b=at.kind, layer_b=at.layer, head_b=at.head)


def second(first: Pane) -> Pane:
    """B: another checkpoint's head of the same place, or the head beside that of A."""
    try:
        shown = _answer(first) or first.answer
    except Refusal:
        shown = first.answer
    at, attentions = first.default, shown.recording.attentions
    kind = at.kind if at.kind in attentions else next(iter(attentions))
    head = at.head + (shown is first.answer)
    opens_at = Selection(kind, at.layer, head % attentions[kind].n_heads)
    name = _name(first) if shown is not first.answer else None
    of = None if name is None else Second(name)
    own = Pane(first.screen, shown.request, shown, opens_at, of, first, SUFFIX)
    if own.is_locked:  # an address may name two heads nevertheless
        at = first.selection
        locked = replace(own.screen, kind_b=at.kind, layer_b=at.layer, head_b=at.head)
        own = replace(own, screen=locked)
    return replace(own, screen=replace(own.screen, pins=moved(first, own)))


@dataclass(frozen=True)
class Second:
    """What the checkpoint of this name makes of the text of another answer."""

    name: str

    def request(self, first: Answer) -> Request:
        """B by itself, or made to read what A wrote, where both split the text alike."""
        own = _own_request(first, self.name)
        if first.decoding is None or not _reads_alike(first, open_checkpoint(own)):
            return own
        return replace(own, method="none", options=(), follows=first.request)

    def __call__(self, first: Answer) -> Answer:
        return make_answer(self.request(first), followed=first)


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


def _name(first: Pane) -> str | None:
    """Of the checkpoint that was chosen for B; None: the same as that of A."""
    name = first.screen.checkpoint_b
    is_other = name in checkpoint_names() and name != first.answer.request.checkpoint
    return name if is_other else None


def _answer(first: Pane) -> Answer | None:
    """Of B, where it is of another checkpoint. Raises Refusal."""
    name = _name(first)
    if name is None:
        return None
    load(make_request(name, first.answer.request.text, "none"))
    second = Second(name)
    request = second.request(first.answer)
    if answer_at_hand(request) is None:
        charge(request)
    return answer(request, lambda _: second(first.answer))


def _own_request(first: Answer, name: str) -> Request:
    """What B would be asked by itself: the same, or what suits it where it is of another sort."""
    checkpoint = open_checkpoint(make_request(name, first.request.text, "none"))
    reads, decodes = checkpoint.family.reads, checkpoint.family.decodes
    if decodes and reads == first.checkpoint.family.reads and first.decoding is not None:
        options = first.request.options
        return limited(make_request(name, first.request.text, first.request.method, options))
    method = default_method(reads) if decodes else "none"
    return limited(make_request(name, first.request.text, method))


def _reads_alike(first: Answer, second: Checkpoint) -> bool:
    """Whether both split this text and what was written into the same tokens."""
    family = second.family
    if not family.decodes or family.reads != first.checkpoint.family.reads:
        return False
    tokens = (*first.recording.source, *first.recording.target)
    if max(token.id for token in tokens) >= second.config.vocab_size:
        return False
    return all(second.tokenizer.token(token.id) == token for token in tokens)
