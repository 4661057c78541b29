"""Masks: which cells are forbidden when two sentences of different length are one batch."""

import streamlit as st

from transformer import InputError, Recording
from transformer.batch_masks import SentenceMasks, batch_masks
from viz.export import masks_csv
from viz.figures import masks as figures
from viz.figures.masks import STATES, Picture, Which
from viz.labels import kind_title, literal
from viz.ui.controls import choose_one
from viz.ui.page import Page, Pane
from viz.ui.panel import plot
from viz.ui.request import Answer, make_request, recording_of_text
from viz.ui.saving import download
from viz.ui.state import bound, current_theme

WIDTHS = (2, 5)
"""Of the single masks, and of their combination."""
CAUSAL = (
    "Padding stands at the end, where the subsequent mask already hides it from every real "
    "token: this implementation therefore leaves the {side}'s padding mask out of decoder "
    "self-attention, and nothing real depends on it."
)
PADDED = (
    "Padding makes the sentences of a batch equally long: no query may attend to it. Rows of "
    "padding are computed like all others, and nothing real depends on them."
)

NOTE_ON_OTHERS = (
    "These are the masks that a batch of both texts needs, padded at its end; how this model "
    "itself masks is up to the library that it comes from."
)


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


def offered_example(shown: Answer) -> str:
    """The example that pads most beside what is shown: of equal lengths nothing would be seen."""
    examples = shown.checkpoint.about.examples or (shown.request.text,)
    return max(examples, key=lambda example: abs(len(example) - len(shown.request.text)))


def second_text(said: str | None, default: str) -> str:
    """The text input."""
    text = default if said is None else said
    st.text_input("Second sentence", text, **bound("mask_text", text, default))
    return text


def record_second(checkpoint: str, text: str, default: str) -> Recording:
    """What the model makes of the text; of the default, with a word why, where it cannot."""
    try:
        return recording_of_text(make_request(checkpoint, text, "greedy"))
    except InputError as error:
        said = literal(f"{error} Shown: “{default}”.")
        st.warning(f"Second sentence: {said}", icon=":material/info:")
        return recording_of_text(make_request(checkpoint, default, "greedy"))


def choose_kind(said: str | None, kinds: list[str]) -> str:
    """The decoder first: there two masks meet."""
    usual = "decoder_self" if "decoder_self" in kinds else None
    titles = {kind: kind_title(kind) for kind in kinds}
    return choose_one("Attention", "mask_kind", titles, said, usual)


def padded_side(recording: Recording, kind: str) -> str:
    """Whose padding it is: where no source meets a target, all that is read is one text."""
    if "cross" not in recording.attentions:
        return "text"
    return "target" if kind == "decoder_self" else "source"


def note(side: str, is_causal: bool) -> str:
    """What the masks mean for what is real."""
    return CAUSAL.format(side=side) if is_causal else PADDED


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
    draw_masks = figures.draw_small if small else figures.draw
    figure = draw_masks(picture, current_theme())
    # The buttons of a small figure would lie on its cells.
    plot(figure, picture.describe(), picture.id, displayModeBar=not small and "hover")


PAGE = Page("masks", "Masks", 6, draw)
