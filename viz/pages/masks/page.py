"""Masks: which cells are forbidden when two sentences of different length are one batch."""

import streamlit as st

from transformer.batch_masks import batch_masks
from viz.export import masks_csv
from viz.pages.masks.batch import (
    NOTE_ON_OTHERS,
    choose_kind,
    legend,
    note,
    offered_example,
    padded_side,
    record_second,
    second_text,
    show_sentence,
)
from viz.ui.page import Page, Pane
from viz.ui.request import recording_of_text
from viz.ui.saving import download


def draw(pane: Pane) -> None:
    """Both sentences, each with its masks."""
    shown, default = pane.answer, offered_example(pane.answer)
    field, kinds = st.columns([6, 3.4], vertical_alignment="bottom")
    with field:
        text = second_text(pane.screen.mask_text, default)
        second = record_second(shown.request.checkpoint, text, default)
    first = recording_of_text(shown.request)
    with kinds:
        kind = choose_kind(pane.screen.mask_kind, list(first.attentions))
    side = padded_side(first, kind)
    pad = shown.checkpoint.tokenizer.token(shown.checkpoint.config.pad_id)
    batch = batch_masks([each.attentions[kind] for each in (first, second)], pad)
    is_causal = batch[0].subsequent is not None
    for number, column in enumerate(st.columns(2, gap="large")):
        with column:
            show_sentence(number + 1, batch[number], kind, side)
    with st.container(horizontal=True, vertical_alignment="center"):
        legend(4 if is_causal else 2)
        download(
            "Masks as CSV",
            lambda: masks_csv(batch),
            f"headscope-masks-{kind}.csv",
            "Both sentences' masks, one row per cell",
        )
    is_ours = not shown.checkpoint.family.is_watched
    st.caption(note(side, is_causal) if is_ours else NOTE_ON_OTHERS)


PAGE = Page("masks", "Masks", 6, draw)
