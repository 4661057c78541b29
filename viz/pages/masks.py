"""Masks: which cells are forbidden when two sentences of different length are one batch."""

import streamlit as st

from transformer import InputError, Recording
from transformer.batch_masks import batch_masks
from viz.export import masks_csv
from viz.labels import KIND_TITLES, literal
from viz.ui.batch_masks import legend, show_sentence
from viz.ui.current import current
from viz.ui.panel import download
from viz.ui.request import make_request, recording_of_text

SECOND, OFFERED = "second", "second_offered"
"""The second sentence, and the example that was offered for it last."""
CAUSAL = (
    "Padding stands at the end, where the subsequent mask already hides it from every real "
    "token: this implementation therefore leaves the {side}'s padding mask out of decoder "
    "self-attention, and nothing real depends on it."
)
PADDED = (
    "Padding makes the sentences of a batch equally long: no query may attend to it. Rows of "
    "padding are computed like all others, and nothing real depends on them."
)


def second_text(default: str) -> str:
    """The text input; an example that nobody changed gives way to another checkpoint's."""
    if SECOND in st.session_state and st.session_state[SECOND] == st.session_state.get(OFFERED):
        st.session_state[SECOND] = default
    st.session_state[OFFERED] = default
    text = st.text_input("Second sentence", default, key=SECOND, bind="query-params")
    return text or ""


def record_second(checkpoint: str, text: str, default: str) -> Recording:
    """What the model makes of the text; of the default, with a word why, where it cannot."""
    try:
        return recording_of_text(make_request(checkpoint, text, "greedy"))
    except InputError as error:
        said = literal(f"{error} Shown: “{default}”.")
        st.warning(f"Second sentence: {said}", icon=":material/info:")
        return recording_of_text(make_request(checkpoint, default, "greedy"))


def choose_kind(kinds: list[str]) -> str:
    """The decoder first: there two masks meet."""
    return str(
        st.segmented_control(
            "Attention",
            kinds,
            default="decoder_self" if "decoder_self" in kinds else kinds[0],
            format_func=lambda kind: KIND_TITLES.get(kind, kind),
            key="attention",
            bind="query-params",
            required=True,
        )
    )


def padded_side(recording: Recording, kind: str) -> str:
    """Whose padding it is: where no source meets a target, all that is read is one text."""
    if "cross" not in recording.attentions:
        return "text"
    return "target" if kind == "decoder_self" else "source"


shown = current()
examples = shown.checkpoint.about.examples or (shown.request.text,)
# The one that pads most: of equal lengths there would be nothing to see.
default = max(examples, key=lambda example: abs(len(example) - len(shown.request.text)))
field, kinds = st.columns([6, 3.4], vertical_alignment="bottom")
with field:
    second = record_second(shown.request.checkpoint, second_text(default), default)
first = recording_of_text(shown.request)
with kinds:
    kind = choose_kind(list(first.attentions))
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
        "Both sentences' masks, a line a cell",
    )
st.caption(CAUSAL.format(side=side) if is_causal else PADDED)
