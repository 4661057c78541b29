"""The second row of every page: the tokens, and which heads the page below is about.

The choices are drawn here, before the page runs, because Streamlit forgets a page's own widgets,
and their part of the address, when another page opens.
"""

from dataclasses import replace

import streamlit as st

from viz.components.token_rows.token_rows import TokenRows, token_rows
from viz.labels import literal
from viz.ui.controls import choose_head, choose_heads
from viz.ui.current import SHOWN, current, current_theme, default_selection
from viz.ui.drafts import draft_address, preview
from viz.ui.frame import WIDTHS
from viz.ui.payloads import payload_of
from viz.ui.request import Answer
from viz.ui.second import SUFFIX, choose_second, has_second
from viz.ui.training_heads import is_open
from viz.views.view import Selection

TITLES = {
    "source": ("source", "target"),
    "prompt": ("prompt", "continuation"),
    "text": ("text", "target"),
}
"""What the two lines of tokens are, by how the model reads."""


def spine(page: str) -> None:
    """Draw the row for the page of this title."""
    if SHOWN not in st.session_state:  # Inspect reads files of models that cannot run
        return
    shown = current()
    tokens, choices = st.columns(WIDTHS)
    with tokens:
        rows, address = TokenRows(TITLES[shown.checkpoint.family.reads]), draft_address()
        data = rows.data(payload_of(shown, rows), current_theme(), drafts=address)
        token_rows(data, "tokens")
        preview(rows, drafts=address)
        if page == "Compare":
            choose_second()
    with choices:
        _choices(page)
        title = literal(shown.checkpoint.about.title)
        st.caption(
            f"{title} · {_languages(shown)}{shown.seconds:.2f} s on "
            f"{shown.checkpoint.device.type}{_end(shown)}"
        )


def _languages(shown: Answer) -> str:
    """Said of a model that is told them."""
    source, target = shown.request.languages
    told = literal(f"{source or '?'} → {target or '?'}")
    return f"{told} · " if source or target else ""


def _end(shown: Answer) -> str:
    """Said of a translation that found no end; a generator's text seldom has one."""
    decoding = shown.decoding
    if decoding is None or decoding.is_ended or shown.checkpoint.family.continues:
        return ""
    return f" · stopped at {len(decoding.target)} tokens, without an end"


def _choose_b(first: Selection) -> None:
    """Another checkpoint's head of the same place, or the head beside it."""
    recording = current(SUFFIX).recording
    kind = first.kind if first.kind in recording.attentions else next(iter(recording.attentions))
    n_heads = recording.attentions[kind].n_heads
    head = first.head if has_second() else first.head + 1
    choose_head(recording, replace(first, kind=kind, head=head % n_heads), SUFFIX, "B")


def _choices(page: str) -> None:
    shown = current()
    default = default_selection(shown.checkpoint)
    if page == "Explore" or (page == "Training" and is_open()):
        choose_head(shown.recording, default)
    if page == "Compare":
        choose_head(shown.recording, default, title="A")
        _choose_b(default)
    if page == "Decode" and shown.decoding is not None:
        choose_heads(shown.recording, default)
