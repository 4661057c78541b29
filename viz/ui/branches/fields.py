"""Fields to branch by on Decode: another word here, a beginning, phrases forced and forbidden."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import partial
from typing import Any

from transformer.decoding import decoding_methods
from transformer.refusal import Refusal
from transformer.visible import visible
from transformer.words import Word, word_at, words_of
from viz.app_packages import st
from viz.components.kit.guarded import guarded
from viz.labels import literal
from viz.run.request import Answer
from viz.screen import Screen
from viz.state.branching import (
    Branching,
    begin_with,
    forbid_text,
    forbid_tokens,
    force_text,
    write_word,
)
from viz.state.note import warn
from viz.state.page import Pane
from viz.state.state import session
from viz.talks.stage import on_stage

WIDTH = 210
"""The width of a field, in pixels."""


@dataclass(frozen=True)
class Field:
    """A field of text: what is typed there is done at Enter."""

    name: str
    title: str
    act: Callable[[Answer, str], None]
    text: str = ""
    """The text that stands there at first."""
    of: Hashable = None
    """The step or the prefix that it belongs to: of another one it begins anew."""
    is_able: bool = True
    """False: the method in use cannot do it, and nobody types in vain."""


def branch_fields(pane: Pane, step: int) -> None:
    """Draw them for the step that is shown, in a line; nobody types on a wall."""
    if not pane.recording.target or on_stage():
        return
    is_ready = pane.request == pane.answer.request  # else it is being written, or cannot be read
    own, word = session().of(Branching), word_at(pane.recording.target, step)
    written = words_of(pane.recording.target)[word.number]
    with st.container(key="under branching", gap="small"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            for each in _fields(pane, step, written):
                key = f"branch {each.name} {own.n_made:d} {each.of}"
                _draw(each, key, pane.answer, disabled=not (is_ready and each.is_able))
            _forbid_button(word, written, pane.answer, disabled=not is_ready)
        if own.of != _place(session().screen):
            return
        if own.refused:
            warn(own.refused)
        elif own.pieces:
            st.caption(literal(own.pieces))


def _place(screen: Screen) -> Hashable:
    """All that a remark on what was typed is of."""
    return screen.checkpoint, screen.text, screen.prefix, screen.force, screen.forbid


def _draw(field: Field, key: str, answer: Answer, **look: Any) -> None:
    st.text_input(
        literal(field.title),
        field.text,
        placeholder=visible(field.title),
        label_visibility="collapsed",
        key=key,
        width=WIDTH,
        on_change=guarded(partial(_take, field, key, answer)),
        **look,
    )


def _forbid_button(word: Word, written: str, answer: Answer, **look: Any) -> None:
    if any(token.special for token in word.tokens):
        return
    ids = tuple(token.id for token in word.tokens)
    st.button(
        literal(f"Never “{written}”"),
        on_click=guarded(partial(_do, partial(forbid_tokens, answer, ids))),
        help="The output is decoded anew without the word of this step.",
        icon=":material/block:",
        key="forbid this",
        **look,
    )


def _fields(pane: Pane, step: int, written: str) -> list[Field]:
    checkpoint, prefix = pane.checkpoint, pane.screen.prefix
    is_known = prefix and pane.request == pane.answer.request
    begins = checkpoint.tokenizer.decode(prefix) if is_known else ""
    methods = decoding_methods()
    places = methods[pane.request.method].places
    able = next(it.title.lower() for it in methods.values() if it.places)
    must_have = "Must have …" if places else f"Must have ({able})"  # as long as a phone's field

    def write_here(answer: Answer, text: str) -> None:
        write_word(answer, step, text)

    return [
        Field("instead", f"In place of “{written}” …", write_here, of=step),
        Field("begin", "Begin with …", begin_with, begins, prefix),
        Field("force", must_have, force_text, is_able=places),
        Field("forbid", "Must not have …", forbid_text),
    ]


def _take(field: Field, key: str, answer: Answer) -> None:
    """Do what was typed; where that cannot be, it stays in its field below the reason."""
    text = st.session_state[key]
    if text != field.text and (text.strip() or field.text):
        _do(partial(field.act, answer, text))


def write_in_place(answer: Answer, news: Any) -> None:
    """Write a word that was typed where another one stood. news: as the player tells it."""
    ids, position, text = (news[name] for name in ("ids", "position", "text"))
    if 0 <= position < len(ids):
        _do(lambda: write_word(answer, position, str(text), ids))


def _do(act: Callable[[], None]) -> None:
    own = session().of(Branching)
    own.refused = own.pieces = ""
    try:
        act()
    except Refusal as reason:
        own.refused = str(reason)
    else:
        own.n_made += 1
    own.of = _place(session().screen)
