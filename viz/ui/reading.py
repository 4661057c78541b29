"""How attention is read: the lens, and what rows and columns stand for."""

from dataclasses import replace

import streamlit as st

from transformer.reading import Reading, lenses, writes
from viz.ui.current import current

ROWS = {"produced": "while producing", "read": "while reading"}
ROWS_EXPLAINED = (
    "A row of cross-attention is one step of the decoder, which has just read one token and is "
    "about to produce the next. *While producing* names the row by the token that the step wrote, "
    "*while reading* by the one it had read. The weights are the same, the names are off by one: "
    "alignments are read off *while producing*."
)
SPECIAL = {"shown": "Shown", "hidden": "Hidden", "renormalised": "Renormalised"}
SPECIAL_EXPLAINED = (
    "Tokens such as `</s>` often collect attention that has no better place to go. *Hidden* leaves "
    "their rows and columns out, so that rows sum to less than 1; *Renormalised* also divides each "
    "row by what remains of it."
)


def choose_rows(kind: str) -> None:
    """The switch that names the rows of cross-attention; drawn where it changes something."""
    if writes(current().recording.attentions[kind]):
        st.segmented_control(
            "Rows",
            list(ROWS),
            default="produced",
            format_func=ROWS.__getitem__,
            key="rows",
            bind="query-params",
            required=True,
            label_visibility="collapsed",
            help=ROWS_EXPLAINED,
        )


def choose_reading() -> None:
    """Lens, words and special tokens, behind one button."""
    found = lenses()
    with st.popover("Reading", icon=":material/visibility:", help="What a cell says, and of what"):
        lens = st.selectbox(
            "Lens",
            ["weight", *(name for name in found if name != "weight")],
            format_func=lambda name: found[name].title,
            key="lens",
            bind="query-params",
        )
        st.markdown(f"`{found[lens].formula}`")
        st.caption(found[lens].explain)
        st.toggle("Whole words", key="words", bind="query-params", help="Pieces merged to words")
        st.segmented_control(
            "Special tokens",
            list(SPECIAL),
            default="shown",
            format_func=SPECIAL.__getitem__,
            key="special",
            bind="query-params",
            required=True,
            help=SPECIAL_EXPLAINED,
        )


def usable_reading(kind: str) -> Reading:
    """What is chosen; through the plain weights, in a sentence, where the lens refuses."""
    reading = current_reading()
    refusal = lenses()[reading.lens].why_not(current().recording, kind)
    if refusal is None:
        return reading
    st.info(f"{refusal} Shown: the weights.", icon=":material/info:")
    return replace(reading, lens="weight")


def current_reading() -> Reading:
    """What is chosen; the defaults where no control was drawn yet."""
    chosen = st.session_state
    return Reading(
        lens=chosen.get("lens", "weight"),
        rows=chosen.get("rows") or "produced",
        words=bool(chosen.get("words", False)),
        special=chosen.get("special") or "shown",
    )
