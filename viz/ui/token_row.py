"""The second row of every page: the tokens, and what is chosen for the page below."""

from typing import Any

import streamlit as st

from transformer.hugging_face.chat import chatting
from viz.components.token_rows.token_rows import TITLES, TokenRows, token_rows
from viz.labels import counted, literal
from viz.run.causes import is_quick
from viz.run.payloads import payload_of
from viz.run.request import Answer
from viz.state.focus import pin_token, pinned_tokens
from viz.state.live_preview import preview, preview_address
from viz.state.page import Page, Pane
from viz.state.requests import is_first
from viz.state.state import change, current_theme
from viz.talks.stage import on_stage
from viz.ui.header import WIDTHS
from viz.ui.recording_check import badge, missing, numbering
from viz.ui.why_word import signs

TINT = "log_prob"
"""The tint of written words where none is chosen."""


def token_row(page: Page, pane: Pane, previews: bool = True) -> Pane:
    """Draw the row for this page; all of it for the tokens where nothing is chosen beside them.
    Return the pane for what follows.

    previews: whether the tokens follow a text that is being typed; those of a checkpoint that
    stands in for the chosen one wait until it is entered.
    """
    if page.choices is None or on_stage():
        return _tokens(page, pane, previews)
    tokens, choices = st.columns(WIDTHS)
    with tokens:
        pane = _tokens(page, pane, previews)
    with choices:
        page.choices(pane)
    return pane


def _tokens(page: Page, pane: Pane, previews: bool) -> Pane:
    answer = pane.answer
    rows = TokenRows(TITLES[answer.checkpoint.family.reads], pane.reading.words)
    address = preview_address()
    own = signs(pane)
    look: dict[str, Any] = {"pinned": pinned_tokens(pane), "signs": own}
    look["is_awaited"] = own is None and _comes_by_itself(answer)
    every: dict[str, Any] = {"address": address, "tint": _tint(pane)}
    every["alignment"] = pane.screen.alignment
    data = rows.data(payload_of(answer, rows), current_theme(), **every, **look)
    token_rows(
        data,
        "tokens",
        on_pin=lambda news: pin_token(pane, news["side"], news["position"], news["key"]),
        on_tint=lambda tint: change(tint=None if tint == TINT else tint),
        on_alignment=lambda is_on: change(alignment=is_on),
    )
    if previews:
        preview("tokens", rows, leads=False, **every)
    if on_stage():
        return pane
    badge(answer)
    layers = [*numbering(answer.recording), *missing(answer.recording)]
    if remarks := [*_languages(answer), *_twice(answer), *_end(answer), *layers]:
        st.caption(" · ".join(remarks))
    return page.below_tokens(pane)


def _comes_by_itself(answer: Answer) -> bool:
    """Tell whether the browser asks for the marks, though nobody points at a word."""
    is_read = bool(answer.recording.target) and is_quick(answer)
    return is_read and is_first(answer.request) and not on_stage()


def _tint(pane: Pane) -> str:
    """The measure by which written words are tinted; a wall has none unasked."""
    return pane.screen.tint or ("off" if on_stage() else TINT)


def _languages(answer: Answer) -> list[str]:
    """Said of a model that is told them."""
    source, target = answer.request.languages
    return [literal(f"{source or '?'} → {target or '?'}")] if source or target else []


def _twice(answer: Answer) -> list[str]:
    """Special tokens that are typed and added too."""
    return [literal(each) for each in chatting.remarks(answer.checkpoint, answer.request.text)]


def _end(answer: Answer) -> list[str]:
    """Said of a translation that found no end; a generator's text seldom has one."""
    decoding = answer.decoding
    if decoding is not None and decoding.ended_by:
        n = counted(len(decoding.target), "token", "tokens")
        return [literal(f"stopped after {n}: {decoding.ended_by.rstrip('.')}")]
    if decoding is None or decoding.is_ended or answer.checkpoint.family.continues:
        return []
    if answer.request.branch:  # it goes as far as somebody pinned it
        return []
    return [f"stopped at {counted(len(decoding.target), 'token', 'tokens')}, without an end"]
