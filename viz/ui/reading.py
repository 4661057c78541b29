"""How attention is read: the lens, and what rows and columns stand for."""

from dataclasses import replace
from typing import Any, Literal

import streamlit as st

from transformer.analysis.reading import Reading, lenses, writes
from transformer.words import RULE
from viz.ui.address import keep, kept
from viz.ui.current import current

ROWS = {"produced": "producing", "read": "reading"}
ROWS_EXPLAINED = (
    "A row of cross-attention is one step of the decoder, which has just read one token and is "
    "about to produce the next. *producing* names the row by the token that the step wrote: while "
    "producing this token, it looked there. *reading* names it by the one it had just read. The "
    "weights are the same, the names are off by one: alignments are read off *producing*."
)
WORDS = {"no": "pieces", "yes": "words"}
SPECIAL = {"shown": "shown", "hidden": "hidden", "renormalised": "renormalised"}
SPECIAL_EXPLAINED = (
    "Tokens such as `</s>` often collect attention that has no better place to go. *hidden* leaves "
    "their rows and columns out, so that rows sum to less than 1; *renormalised* also divides each "
    "row by what remains of it."
)
READING = "reading"
"""What these choices belong to: the session, whatever it looks at."""


def choose_rows(kind: str) -> None:
    """The switch that names the rows of cross-attention; drawn where it changes something."""
    if writes(current().recording.attentions[kind]):
        _choose("rows", "Rows", ROWS, ROWS_EXPLAINED, "collapsed")


def choose_reading() -> None:
    """Lens, words and special tokens, behind one button; every picture says what is chosen."""
    box = st.popover(
        "Reading",  # always: under another name it would be another one, and closed
        icon=":material/visibility:",
        help="Through which lens, and which rows and columns",
        key=READING,
        on_change="rerun",
    )
    if not box.open:  # its contents are no burden while nobody looks at them
        return
    with box:
        _choose_lens()
        _choose("words", "Tokens as", WORDS, RULE)
        _choose("special", "Special tokens", SPECIAL, SPECIAL_EXPLAINED)


def _choose_lens() -> None:
    found = lenses()
    names = ["weight", *(name for name in found if name != "weight")]
    st.session_state["choose_lens"] = current_reading().lens
    name = st.selectbox(
        "Lens",
        names,
        format_func=lambda name: found[name].title,
        key="choose_lens",
        on_change=lambda: keep("lens", READING, st.session_state["choose_lens"]),
    )
    st.code(found[name].formula, language=None)
    st.caption(found[name].explain)


def _choose(
    name: str,
    title: str,
    options: dict[str, str],
    explain: str,
    label: Literal["visible", "collapsed"] = "visible",
) -> None:
    """A switch between named values; the choice is kept like those of the components."""
    key = f"choose_{name}"
    st.session_state[key] = _value(name, options)
    st.segmented_control(
        title,
        list(options),
        format_func=options.__getitem__,
        key=key,
        required=True,
        help=explain,
        on_change=lambda: keep(name, READING, st.session_state[key]),
        label_visibility=label,
    )


def _value(name: str, options: dict[str, str]) -> str:
    first = next(iter(options))
    return kept(name, READING, first, lambda value: value if value in options else first)


def usable_reading(kind: str, suffix: str = "") -> Reading:
    """What is chosen; through the plain weights, in a sentence, where the lens refuses."""
    reading = current_reading()
    refusal = lenses()[reading.lens].why_not(current(suffix).recording, kind)
    if refusal is None:
        return reading
    st.info(f"{refusal} Shown: the weights.", icon=":material/info:")
    return replace(reading, lens="weight")


def current_reading() -> Reading:
    """What is chosen."""
    names = {name: name for name in ["weight", *lenses()]}  # the first is the default
    special: Any = _value("special", SPECIAL)
    return Reading(
        lens=_value("lens", names),
        rows="read" if _value("rows", ROWS) == "read" else "produced",
        words=_value("words", WORDS) == "yes",
        special=special,
    )
