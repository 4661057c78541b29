"""The page: what the model wrote, step by step; or what it decided, where it writes nothing."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from transformer import Recording
from transformer.refusal import Refusal
from viz.app_packages import st
from viz.causes.parts import card_parts, drawer
from viz.components.decode_player.decode_player import DecodePlayer, looks_at_source
from viz.exhibits.exhibit import Actions, Exhibit, PictureAt
from viz.export import coverage_csv, decoding_csv
from viz.labels import literal
from viz.page_fields import DecodeFields
from viz.pages.decode.hypotheses import (
    HYPOTHESES,
    decoding_of,
    has_tree,
    search_csv,
    search_of,
    tree_exhibit,
    written,
)
from viz.pages.decode.reference import REFERENCE, second_sentence, similarity
from viz.pages.decode.side_by_side import LAYERS, METHODS
from viz.run.request import Answer
from viz.state.branching import go_on_from
from viz.state.focus import pin_step, pinned_step
from viz.state.page import Exhibits, Page, Pane
from viz.state.state import note
from viz.ui.branches import branch_fields, correction_exhibit, write_in_place
from viz.ui.changed_output import output_exhibit
from viz.ui.controls import choose_heads, choose_tokens
from viz.ui.experiment import offer_edit
from viz.ui.parts import Part, Parts, draw_part, exhibits_of
from viz.ui.picture import panel, view_exhibits, views_of_page
from viz.ui.save_menu import is_menu_open, offer_figures, offer_file
from viz.ui.showing import below, columns, show


def _step(pane: Pane) -> int:
    """The one that is shown."""
    pinned = pinned_step(pane)
    return min(pane.screen.step if pinned is None else pinned, len(decoding_of(pane).steps) - 1)


def _decoder(pane: Pane) -> Pane:
    """The same layer and head of the decoder, whatever kind other pages show."""
    return replace(pane, screen=replace(pane.screen, kind="decoder_self"))


# What was written, shown in four ways: its search, a step, the whole text, or a reference.


def _way(pane: Pane) -> str:
    chosen = pane.screen.of(DecodeFields).decode_as
    if not decoding_of(pane).steps:
        return "steps"
    return chosen or ("tree" if has_tree(search_of(pane)) else "steps")


def _tree(pane: Pane) -> dict[str, Exhibit]:
    return {"tree": tree_exhibit(pane, _step(pane))}


def _draw_tree(pane: Pane) -> None:
    """The tree, and the steps below it."""
    tree = _tree(pane)
    with st.container():
        branch_fields(pane, _step(pane))
        show(tree["tree"], "tree")
    below(partial(_draw_steps, above=tree), pane)


def _steps(pane: Pane) -> dict[str, Exhibit]:
    selection = _decoder(pane).selection
    head = None if pane.screen.mean else selection.head
    player = DecodePlayer(selection.layer, head, words=pane.reading.words)
    of_text: dict[str, Any] = {"step": _step(pane)}
    on: Actions = {
        "step": lambda step: pin_step(pane, step),
        "branch": go_on_from,
        "write": partial(write_in_place, pane.answer),
    }
    over = {"branches": True}
    content = PictureAt(player, over, of_text, typed=player, on=on, key="player")
    return {"steps": Exhibit("This step", content, pane=pane)}


def _draw_steps(pane: Pane, above: Mapping[str, Exhibit]) -> None:
    """The player; its files with those of what stands above it."""
    decoding, steps = decoding_of(pane), _steps(pane)
    with st.container():
        if decoding.steps and not above:  # else they stand there
            branch_fields(pane, _step(pane))
        show(steps["steps"], "player")
    if decoding.steps and is_menu_open():
        offer_figures(pane, {**above, **steps, **_changes(pane)})
    of = steps["steps"].title
    offer_file(
        "Steps as CSV",
        lambda: decoding_csv(decoding, pane.recording),
        "headscope-steps.csv",
        "Every step with its candidates and their probabilities",
        of,
    )
    if decoding.steps and looks_at_source(pane.recording):
        offer_file(
            "Coverage as CSV",
            partial(coverage_csv, pane.recording, _decoder(pane).selection.layer),
            "headscope-coverage.csv",
            "What each source token has received after each step, in the mean of heads",
            of,
        )
    offer_file(
        "Search as CSV",
        partial(search_csv, search_of(pane)),
        "headscope-search.csv",
        "Every token that the search looked at, with its score and why it was dropped",
        above["tree"].title if above else of,
    )
    offer_edit(pane)


def _changes(pane: Pane) -> dict[str, Exhibit]:
    """Compare the output with that without the edits, and with that before a correction."""
    return output_exhibit(pane) | correction_exhibit(pane)


def _choose_heads(pane: Pane) -> None:
    choose_heads(_decoder(pane))
    choose_tokens(pane, label_visibility="collapsed")


WAYS = Parts(
    "Show",
    "decode_as",
    {
        "tree": Part("Tree", _tree, _choose_heads, draw=_draw_tree),
        "steps": Part("Steps", _steps, _choose_heads, draw=partial(_draw_steps, above={})),
        "text": Part(
            "Text",
            lambda pane: {"text": written(pane.recording)},
            beside={"text": offer_edit},
        ),
        "reference": REFERENCE,
    },
    _way,
    has_labels=False,
)


# What stands below it: the card of the step's word, where it is pinned, and what buttons open.


CARD = card_parts(pinned_step)


def _card(pane: Pane) -> None:
    with drawer(pane, pinned_step):
        for part in CARD:
            draw_part(pane, part)


BELOW = (*HYPOTHESES, METHODS, LAYERS)


# What a model that writes nothing made of the text.


class Output(NamedTuple):
    """An output of a model that only reads a text."""

    is_there: Callable[[Recording], object]
    does: str
    n_columns: int = 2
    """The least number of columns, in which its views stand."""
    above: Callable[[Pane], None] | None = None
    """Drawn above them."""


OUTPUTS = (
    Output(lambda of: of.classification is not None, "it classifies it"),
    Output(lambda of: of.numbers, "it gives the text a number"),
    Output(lambda of: of.masked, "it predicts the masked tokens", 1),
    Output(lambda of: of.vector is not None, "it gives the text a vector", above=second_sentence),
)


def _draw_outputs(pane: Pane) -> None:
    views, n = views_of_page("decode", pane.recording), 1
    output = next((each for each in OUTPUTS if each.is_there(pane.recording)), None)
    if output is None:
        note(_nothing_written(pane.answer))
    else:
        n = output.n_columns
        st.caption(f"This model does not generate text: {literal(output.does)}.")
        if output.above is not None:
            output.above(pane)
    for column, name in zip(columns(max(n, len(views)), gap="large"), views, strict=False):
        with column:
            panel(name, pane)
    offer_edit(pane)


def _nothing_written(answer: Answer) -> str:
    mask = next((text for text in answer.checkpoint.about.examples if "MASK" in text.upper()), "")
    if mask:
        return f"This model fills masks: try “{mask}”."
    return "This model does not generate text; it only encodes it. Explore shows its attention."


# The page.


def draw(pane: Pane) -> None:
    """One of the ways with what stands below it, or what a model that writes nothing made."""
    if pane.answer.decoding is None:
        _draw_outputs(pane)
        return
    WAYS.draw_shown(pane)
    for part in BELOW:
        below(partial(draw_part, part=part), pane)
    for name in views_of_page("decode", pane.recording):
        panel(name, pane)


def _exhibits(pane: Pane) -> Exhibits:
    views = {**view_exhibits("decode", pane), **_changes(pane)}
    if pane.recording.vector is not None and (both := similarity(pane)) is not None:
        return {"similarity": both} | views
    if pane.answer.decoding is None or not pane.answer.decoding.steps:
        return views
    ways: dict[str, Any] = {}
    for part in WAYS.parts.values():
        with suppress(Refusal):  # the page says it, where that way is shown
            ways |= part.exhibits(pane)
    order = dict.fromkeys((WAYS.name_on(pane), "steps", *ways))  # steps: always there
    first, *others = [name for name in order if name in ways]
    beside = {**{name: ways[name] for name in others}, **views}
    not_main = {name: replace(it, is_main=False) for name, it in beside.items()}
    return {first: ways[first], **not_main, **exhibits_of((*CARD, *BELOW), pane)}


def _choices(pane: Pane) -> None:
    if pane.answer.decoding is not None:
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
            WAYS.choose(pane)


def _here(pane: Pane) -> str:
    decoding = pane.answer.decoding
    return f"How it was written, word by word: {decoding.text}" if decoding else f"{SUBJECT}."


SUBJECT = "How a Transformer writes word by word, and what it chose from"
PAGE = Page(
    "decode",
    "Decode",
    "Look",
    3,
    draw,
    choices=_choices,
    stands_alone=True,
    card=_card,
    exhibits=_exhibits,
    edits="shown",
    subject=SUBJECT,
    here=_here,
)
