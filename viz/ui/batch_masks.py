"""The masks of a batch on the page: a legend, and the pictures of each sentence."""

import streamlit as st

from transformer.batch_masks import SentenceMasks
from viz.export import CONFIG
from viz.ui.current import current_theme
from viz.views.masks import STATES, Picture, Which, draw, draw_small

WIDTHS = (2, 5)
"""Of the single masks, and of their combination."""


def legend(n_states: int) -> None:
    """What the colours mean, in words."""
    theme, inline = current_theme(), "display:inline-block"
    square = f"{inline};width:.8em;height:.8em;margin-right:.4em;border:1px solid {theme.dim}"
    entries = (
        f'<span style="{inline};margin-right:1.4em">'
        f'<span style="{square};background:{colour}"></span>{words}</span>'
        for words, colour in zip(STATES[:n_states], theme.mask_colours, strict=False)
    )
    st.html(f'<div class="mask-legend" style="font-size:.875rem">{"".join(entries)}</div>')


def show_sentence(number: int, masks: SentenceMasks, kind: str, side: str) -> None:
    """The masks of one sentence of the batch and, where there are two, their combination."""

    def picture(which: Which, title: str) -> Picture:
        return Picture(masks, which, title, f"masks {kind} {number} {which}")

    n_real = len(masks.keys) - masks.n_padding
    st.markdown(f"**Sentence {number}** · keys: {n_real} tokens, {masks.n_padding} of padding")
    padding = picture("padding", f"{side.capitalize()} padding mask")
    if masks.subsequent is None:
        _show(padding)
        return
    single, together = st.columns(WIDTHS)
    with single:
        _show(padding, small=True)
        _show(picture("subsequent", "Subsequent mask"), small=True)
    with together:
        _show(picture("combined", "Both together"))


def _show(picture: Picture, small: bool = False) -> None:
    figure = (draw_small if small else draw)(picture, current_theme())
    # The buttons of a small figure would lie on its cells.
    config = CONFIG | {"displayModeBar": False} if small else CONFIG
    st.plotly_chart(figure, key=picture.id, theme=None, config=config, alt=picture.describe())
