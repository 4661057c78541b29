"""The decisions about a decoding, on every page: their chips, their fields, and what they cost."""

from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from transformer.analysis.scored import log_probabilities
from transformer.decoding import decoding_methods
from transformer.recording import Recording
from transformer.refusal import Refusal, visible
from transformer.words import Word, words_of
from viz.app_packages import st
from viz.components.kit.sync import guarded
from viz.exhibits.exhibit import Exhibit, Line, Span, Words
from viz.labels import in_words, literal, number
from viz.run.request import Answer, answer
from viz.screen import Screen
from viz.state.branching import (
    Branching,
    Ids,
    begin_with,
    decision_text,
    decisions,
    forbid_text,
    forbid_tokens,
    force_text,
    take_all_back,
    take_back,
    write_word,
)
from viz.state.page import Pane
from viz.state.state import session, warn
from viz.talks.stage import on_stage
from viz.ui.changed_output import probable_words, roles_of
from viz.ui.progress import paid
from viz.ui.showing import show_words

# The output that the model writes by itself, the one that was decided, and what that costs.

BEFORE, NOW = "before", "now"


def correction_exhibit(pane: Pane) -> dict[str, Exhibit]:
    """The output before a correction and now, by the name of the figure; nothing without one."""
    with suppress(Refusal):
        request = pane.answer.request
        if pane.answer.decoding is not None and request != request.unconstrained:
            words = correction(answer(request.unconstrained), pane.answer)
            title = "Output before the correction and now"
            return {"correction": Exhibit(title, words, is_main=False)}
    return {}


def cost(before: Recording, now: Recording, n: int | None = None) -> float:
    """The cost of a correction, in nats: the log-probability of the target before less that of now.

    Both are of a forced pass, so that what was forced has its true price; negative where the
    search had missed a more probable text. n: of so many tokens of the target before.
    """
    return float(log_probabilities(before)[:n].sum() - log_probabilities(now).sum())


def correction(before: Answer, now: Answer) -> Words:
    """Compare two answers to one text, the second with something decided."""
    a, b = before.recording, now.recording
    old, new = words_of(a.target), words_of(b.target)
    lines = [
        Line(probable_words(a, roles_of(old, new, "gone")), BEFORE),
        Line(probable_words(b, roles_of(new, old, "new")), NOW),
    ]
    is_branch, has_end = bool(now.request.branch), now.decoding is None or now.decoding.is_ended
    n = len(b.target) if is_branch and not has_end else None  # a part is as probable as a part
    nats = cost(a, b, n)
    begins, ends = _price_correction(nats, is_branch)
    foot = [
        Span("Below each word: its probability, given all before it."),
        Span(begins),
        Span(number(abs(nats)), value=nats, measure="cost, in nats"),
        Span(f"{ends}{_remark(before, now, n)}"),
    ]
    return Words(lines, foot)


def _price_correction(nats: float, is_branch: bool) -> tuple[str, str]:
    """The words before and behind the cost."""
    if is_branch:
        return "This hypothesis is", f"nats {'less' if nats > -0.005 else 'more'} probable"
    return f"This correction {'costs' if nats > -0.005 else 'gains'}", "nats"


def _remark(before: Answer, now: Answer, n: int | None) -> str:
    if n is not None:
        start = "first token" if n == 1 else f"first {n:d} tokens"
        return f" than the {start} of the output before."
    if before.recording.target == now.recording.target:
        return ": the same is written."
    if now.decoding is not None and not now.decoding.is_ended:
        return " so far: the text has no end."
    a, b = (float(log_probabilities(it.recording).sum()) for it in (before, now))
    return f": the text has {number(b)}, before it had {number(a)}."


# The strip of what a person decided of the decoding: a chip for each, and what it costs.

HELP = {
    "prefix": "The output begins with this, and is decoded from there.",
    "force": "The output has this somewhere (lexically constrained beam search).",
    "forbid": "The output has this nowhere, in whatever pieces, nor a longer word that begins with "
    "it.",
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
    price = _price_chips(pane.recording, ids) if name in ("prefix", "force") else ""
    st.button(
        literal(decision_text(pane.checkpoint, name, ids)),
        key=f"branch {i:d}",
        icon=":material/close:",
        icon_position="right",
        help=literal(f"{HELP[name]} {price} Press to take it back.".replace("  ", " ")),
        on_click=guarded(lambda: take_back(name, ids)),
    )


def _price_chips(recording: Recording, ids: Sequence[int]) -> str:
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


# Fields to branch by on Decode: another word here, a beginning, phrases forced and forbidden.

FORCE = "branch-force"
"""The anchor of a link that leads into the field of phrases that are forced."""
FORCE_HINT = "Enter what the output is to say: it is written anew, with that in it."
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
    own, word = session().of(Branching), pane.recording.target_words.at(step)
    with st.container(key="under branching", gap="small"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            for each in _fields(pane, step, word.text):
                key = f"branch {each.name} {own.n_made:d} {each.of}"
                _draw(each, key, pane.answer, disabled=not (is_ready and each.is_able))
            _forbid_button(word, pane.answer, disabled=not is_ready)
        st.html(f'<p class="force-hint">{FORCE_HINT}</p>')
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


def _forbid_button(word: Word, answer: Answer, **look: Any) -> None:
    if any(token.special for token in word.tokens):
        return
    ids = tuple(token.id for token in word.tokens)
    st.button(
        literal(f"Never “{word.text}”"),
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
