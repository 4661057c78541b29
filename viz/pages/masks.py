"""Masks: which cells are forbidden when two sentences of different length are one batch."""

from collections.abc import Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from typing import Any

from transformer import InputError, Recording
from transformer.batch_masks import SentenceMasks, batch_masks, pad_token, used_masks
from viz.app_packages import DeltaGenerator, st
from viz.exhibits.chart import Chart
from viz.exhibits.exhibit import Exhibit
from viz.export import masks_csv
from viz.figures import masks as figures
from viz.figures.masks import STATES, Picture, Which, states_of
from viz.labels import counted, kind_name, kind_title, literal
from viz.page_fields import MasksFields
from viz.run.request import Answer, make_request, recording_of_text
from viz.state.limits import charge, check_text, limited
from viz.state.page import Page, Pane
from viz.state.state import bound, current_theme, warn
from viz.ui.controls import choose_one
from viz.ui.save_menu import offer_figures, offer_file
from viz.ui.showing import columns, explain, show

WIDTHS = (2, 5)
"""The widths of the single masks, and of their combination."""
USUAL = "decoder_self"
SOURCES = {"used": "Used by this model", "textbook": "Textbook"}
WHAT_FOR = (
    "A mask closes keys to a query. The sentences of a batch are padded to one length, and nothing "
    "real may depend on padding."
)
WHAT_FOR_DECODER = (
    " A decoder must not see words that it has still to write: in training it would copy them."
)


@dataclass(frozen=True, eq=False)
class Batch:
    """Two sentences as one batch, and the masks of one kind of attention in it."""

    texts: tuple[str, str]
    kind: str
    side: str
    """The side of the padding."""
    masks: Sequence[SentenceMasks]
    is_used: bool
    """True: they are the model's own; else the textbook's."""


def draw(pane: Pane) -> None:
    """Say what masks are for and what the model does; then draw each sentence with its masks."""
    with st.container():
        _draw(pane, pane.screen.of(MasksFields), st.container(key="under words"))


def _draw(pane: Pane, own: MasksFields, words: DeltaGenerator) -> None:
    with st.container(key="under masks"):
        field, kinds, which = st.columns([6, 3.4, 3.4], vertical_alignment="bottom")
    with field:
        default = offered_example(pane.answer)
        text = default if own.mask_text is None else own.mask_text
        st.text_input("Second sentence", text, **bound("mask_text", text, default))
        batch = _batch(pane)
    with kinds:
        titles = {kind: kind_title(kind) for kind in pane.recording.attentions}
        usual = USUAL if USUAL in titles else None
        choose_one("Attention", "mask_kind", titles, own.mask_kind, usual)
    with which:
        choose_one("Masks", "masks", SOURCES, own.masks)
    with words:
        what_for = WHAT_FOR + (WHAT_FOR_DECODER if batch.kind == "decoder_self" else "")
        explain(what_for, literal(what_is_done(pane, batch)))
    exhibits = _exhibits_of(batch)
    with st.container(key="under legend"):
        legend(batch.masks)
    offer_file(
        "Masks as CSV",
        lambda: masks_csv(batch.masks),
        f"headscope-masks-{batch.kind}.csv",
        "Both sentences' masks, one row per cell",
        "Both sentences",
    )
    offer_figures(pane, exhibits)
    for number, column in enumerate(columns(2, gap="large"), 1):
        of_one = [each for name, each in exhibits.items() if name.startswith(f"mask-{number}-")]
        with column:
            show_sentence(number, batch.masks[number - 1], of_one)


def _batch(pane: Pane) -> Batch:
    """Make the batch that the Screen names; usually of the decoder: there two masks meet."""
    answer, own = pane.answer, pane.screen.of(MasksFields)
    text, second = record_second(answer, own.mask_text, offered_example(answer))
    recordings = (recording_of_text(answer.request), second)
    kinds = list(recordings[0].attentions)
    kind = next(it for it in (own.mask_kind, USUAL, *kinds) if it in kinds)
    used = None
    if own.masks != "textbook":
        with suppress(InputError):  # what cannot be seen is not said to be used
            used = used_masks(answer.checkpoint, recordings, kind)
    attentions = [each.attentions[kind] for each in recordings]
    masks = used or batch_masks(attentions, pad_token(answer.checkpoint))
    side = "target" if kind == "decoder_self" else "source"
    side = side if "cross" in kinds else "text"  # where no source meets a target, all is one text
    return Batch((answer.request.text, text), kind, side, masks, used is not None)


def what_is_done(pane: Pane, batch: Batch) -> str:
    """Say which masks the pictures show, in a sentence about what is closed in them."""
    if pane.screen.of(MasksFields).masks == "textbook":
        causal = batch.masks[0].subsequent is not None
        both = "the subsequent mask closes every later key, and the padding mask all padding"
        return f"In the textbook, {both if causal else 'the padding mask closes all padding'}."
    if not batch.is_used:
        return (
            f"What {pane.checkpoint.name} does with padding could not be recorded: these are the "
            "textbook's masks."
        )
    return f"{pane.checkpoint.name} {in_use(batch.masks)}"


def in_use(batch: Sequence[SentenceMasks]) -> str:
    """Say what a model's masks close in a padded batch; the subject stands before it."""
    padded = [masks for masks in batch if masks.n_padding]
    hides = [masks for masks in padded if not bool(masks.padding.all())]
    closed = ["every later key"] if any(masks.subsequent is not None for masks in batch) else []
    closed += ["all padding"] if hides else []
    others = sum(int((~masks.other).sum()) for masks in batch if masks.other is not None)
    closed += [f"{others} more cells"] if others else []
    *most, last = closed or ["nothing"]
    sentence = f"closes {' and '.join([*filter(None, [', '.join(most)]), last])} here"
    if padded and not hides:
        # An encoder of a model without such a mask would let real tokens read padding.
        is_read = any(
            bool(masks.combined[: masks.n_queries, masks.n_keys :].any()) for masks in padded
        )
        sentence += ", and leaves padding open" + (
            ": real tokens read it."
            if is_read
            else " to padding only: it stands at the end, where no real token sees it."
        )
    else:
        sentence += "."
    if any(masks.varies for masks in batch):
        sentence += " Its layers or heads differ: this is layer 0, head 0."
    return sentence


def offered_example(answer: Answer) -> str:
    """The example that pads most beside what is shown: of equal lengths nothing would be seen."""
    examples = answer.checkpoint.about.examples or (answer.request.text,)
    return max(examples, key=lambda example: abs(len(example) - len(answer.request.text)))


def record_second(answer: Answer, typed: str | None, default: str) -> tuple[str, Recording]:
    """The text and what the model makes of it; another one, with a word why, where it cannot."""
    text = default if typed is None else typed
    for other in (default, answer.request.text):
        try:
            check_text(text)
            own = answer.request
            request = make_request(own.checkpoint, text, "greedy", pair=own.pair)
            if text != default:
                charge(request)
            return text, recording_of_text(limited(request))
        except InputError as error:
            warn(f"Second sentence: {error} Shown: “{other}”.")
            text = other
    return answer.request.text, recording_of_text(answer.request)


def legend(batch: Sequence[SentenceMasks]) -> None:
    """Explain the colours in words; only those that a mask of the batch may have."""
    theme, inline = current_theme(), "display:inline-block"
    square = f"{inline};width:.8em;height:.8em;margin-right:.4em;border:1px solid var(--dim)"
    states = [int(state) for masks in batch for state in states_of(masks).unique()]
    entries = (
        f'<span style="{inline};margin-right:1.4em">'
        f'<span style="{square};background:{theme.mask_colours[state]}"></span>{STATES[state]}'
        "</span>"
        for state in sorted({0, *states})
    )
    st.html(f'<div class="mask-legend" style="font-size:.875rem">{"".join(entries)}</div>')


def show_sentence(number: int, masks: SentenceMasks, exhibits: Sequence[Exhibit]) -> None:
    """The masks of one sentence of the batch: each by itself and together, or as one picture."""
    n_keys = counted(masks.n_keys, "key", "keys")
    st.markdown(f"**Sentence {number:d}** · {n_keys}, {masks.n_padding:d} of padding")
    *single, last = exhibits
    places: Sequence[Any] = columns(WIDTHS) if single else [nullcontext(), nullcontext()]
    for place, several in zip(places, (single, [last]), strict=True):
        with place:
            for each in several:
                chart = each.small or each.content
                assert isinstance(chart, Chart)
                # The buttons of a small figure would lie on its cells.
                bar = "hover" if chart.y.is_labelled else False
                show(each, chart.name, displayModeBar=bar)


def pictures(batch: Batch, number: int) -> list[Picture]:
    """One mask of a sentence; or padding, subsequent and both."""
    masks, kind = batch.masks[number - 1], batch.kind
    whose = "used by the model" if batch.is_used else "as in the textbook"
    text, other = batch.texts[number - 1], batch.texts[2 - number]
    of = f"of {kind_name(kind)} over “{text}” in a batch with “{other}”, {whose}"
    names: list[tuple[Which, str]] = [("padding", f"{batch.side.capitalize()} padding mask")]
    if batch.is_used:
        names = [("combined", "Mask")]
    elif masks.subsequent is not None:
        names += [("subsequent", "Subsequent mask"), ("combined", "Both together")]
    return [
        Picture(masks, which, title, f"masks {kind} {number} {which}", of) for which, title in names
    ]


def _exhibits_of(batch: Batch) -> dict[str, Exhibit]:
    """Each mask of each sentence; of several, those by themselves are small on a screen."""
    exhibits = {}
    for number in (1, 2):
        several = pictures(batch, number)
        for each in several:
            make = figures.beside_small if each.which == "combined" else figures.small
            exhibits[f"mask-{number}-{each.which}"] = Exhibit(
                f"Sentence {number}: {each.title}",
                figures.chart(each).in_words,
                each.describe(),
                about="checkpoint",
                small=make(each).in_words if len(several) > 1 else None,
            )
    return exhibits


PAGE = Page(
    "masks",
    "Masks",
    "Learn",
    11,
    draw,
    exhibits=lambda pane: _exhibits_of(_batch(pane)),
    lesson="masks",
    invites="Play with the masks of two sentences of your own",
    subject="Which cells of attention are masked when sentences of different length are one batch",
)
