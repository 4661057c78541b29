"""The page: what the model wrote, step by step; or what it decided, where it writes nothing."""

from dataclasses import replace
from functools import partial
from typing import Any

from transformer import Decoding
from viz.app_packages import st
from viz.causes.card import why_word, word_exhibits
from viz.causes.of_word import of_word, of_word_exhibits
from viz.causes.right_word import right_word_exhibits, type_right_word
from viz.components.decode_player.decode_player import DecodePlayer, looks_at_source
from viz.exhibits.exhibit import Actions, Exhibit, PictureAt
from viz.export import coverage_csv, decoding_csv
from viz.page_fields import DecodeFields
from viz.pages.decode.hypotheses import (
    has_tree,
    hypotheses_exhibits,
    search_csv,
    search_of,
    tree_exhibit,
    why_this_one,
    written,
)
from viz.pages.decode.reference import (
    reference_exhibit,
    second_sentence,
    similarity,
    type_reference,
)
from viz.pages.decode.side_by_side import (
    encoder_layers,
    layers_exhibit,
    methods_side_by_side,
    side_by_side_exhibits,
)
from viz.run.request import Answer
from viz.state.branching import go_on_from
from viz.state.focus import pin_step, pinned_step
from viz.state.page import Exhibits, Page, Pane
from viz.state.requests import searched
from viz.state.state import note
from viz.talks.story_drafts import add_button
from viz.ui.branches import branch_fields, correction_exhibit, write_in_place
from viz.ui.changed_output import output_exhibit
from viz.ui.controls import choose_heads, choose_one, choose_tokens
from viz.ui.experiment import offer_edit
from viz.ui.picture import panel, view_exhibits
from viz.ui.saving import download, for_a_paper
from viz.ui.showing import below, columns, show, show_with_files
from viz.views.of_page import views_of_page


def draw(pane: Pane) -> None:
    """The steps, or what a model that writes nothing made of the text."""
    decoding = pane.answer.decoding
    if decoding is None:
        _read_only(pane)
    else:
        if _shows(pane) == "text":
            _text(pane)
        elif _shows(pane) == "reference":
            type_reference(pane)
        elif _shows(pane) == "tree":
            with st.container():
                branch_fields(pane, _step(pane))
                show(tree_exhibit(pane, _step(pane)), "tree")
            below(_steps, pane)
        else:
            _steps(pane)
        below(_why, pane)
        below(why_this_one, searched(pane))
        below(methods_side_by_side, pane)
        below(encoder_layers, pane)
        for name in views_of_page("decode", pane.recording):
            panel(name, pane)


def _why(pane: Pane) -> None:
    """The card of the step's word, where it is pinned."""
    why_word(pane, pinned_step)
    type_right_word(pane, pinned_step(pane))
    of_word(pane, pinned_step(pane))


def _shows(pane: Pane) -> str:
    """Name what is shown: the search, a step, the whole text, or a reference."""
    decoding, chosen = pane.answer.decoding, pane.screen.of(DecodeFields).decode_as
    if decoding is None or not decoding.steps:
        return "steps"
    return chosen or ("tree" if has_tree(search_of(pane)) else "steps")


def _text(pane: Pane) -> None:
    with show_with_files(pane, written(pane.recording), "text"):
        add_button("add to story")
        offer_edit(pane)


def _steps(pane: Pane) -> None:
    decoding, step, exhibit = _decoding(pane), _step(pane), _player(pane)
    with st.container():
        if decoding.steps and _shows(pane) == "steps":  # else they stand above the tree
            branch_fields(pane, step)
        show(exhibit, "player")
    with st.container(horizontal=True, vertical_alignment="center"):
        download(
            "Steps as CSV",
            lambda: decoding_csv(decoding, pane.recording),
            "headscope-steps.csv",
            "Every step with its candidates and their probabilities",
        )
        download(
            "Search as CSV",
            partial(search_csv, search_of(pane)),
            "headscope-search.csv",
            "Every token that the search looked at, with its score and why it was dropped",
        )
        if decoding.steps and looks_at_source(pane.recording):
            download(
                "Coverage as CSV",
                partial(coverage_csv, pane.recording, _decoder(pane).selection.layer),
                "headscope-coverage.csv",
                "What each source token has received after each step, in the mean of heads",
            )
        add_button("add to story")
        if decoding.steps:
            tree = {"tree": tree_exhibit(pane, step)} if _shows(pane) == "tree" else {}
            more = output_exhibit(pane) | correction_exhibit(pane)
            for_a_paper(pane, {**tree, "steps": exhibit} | more, "paper steps")
        offer_edit(pane)


def _decoding(pane: Pane) -> Decoding:
    """Only of a model that writes."""
    assert pane.answer.decoding is not None
    return pane.answer.decoding


def _step(pane: Pane) -> int:
    """The one that is shown."""
    pinned = pinned_step(pane)
    return min(pane.screen.step if pinned is None else pinned, len(_decoding(pane).steps) - 1)


def _player(pane: Pane) -> Exhibit:
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
    return Exhibit("This step", content, pane=pane)


def _exhibits(pane: Pane) -> Exhibits:
    views, decoding = view_exhibits("decode", pane) | output_exhibit(pane), pane.answer.decoding
    views |= correction_exhibit(pane)
    if pane.recording.vector is not None and (both := similarity(pane)) is not None:
        return {"similarity": both} | views
    if decoding is None or not decoding.steps:
        return views
    tree = tree_exhibit(pane, _step(pane))
    main: dict[str, Any] = {"steps": _player(pane), "tree": tree, "text": written(pane.recording)}
    main |= reference_exhibit(pane)
    first = _shows(pane) if _shows(pane) in main else "steps"
    below_it = {name: replace(it, is_main=False) for name, it in (main | views).items()}
    others = {name: it for name, it in below_it.items() if name != first}
    place = pinned_step(pane)
    of_word = word_exhibits(pane, place) | right_word_exhibits(pane, place)
    of_word |= of_word_exhibits(pane, place)
    further = hypotheses_exhibits(searched(pane)) | side_by_side_exhibits(pane)
    further |= layers_exhibit(pane)
    return {first: main[first], **others, **of_word, **further}


def _read_only(pane: Pane) -> None:
    views = views_of_page("decode", pane.recording)
    if pane.recording.classification is not None:
        st.caption("This model does not generate text: it classifies it.")
        places = columns(max(2, len(views)), gap="large")
    elif pane.recording.numbers:
        st.caption("This model does not generate text: it gives the text a number.")
        places = columns(max(2, len(views)), gap="large")
    elif pane.recording.masked:
        st.caption("This model does not generate text: it predicts the masked tokens.")
        places = columns(len(views), gap="large")
    elif pane.recording.vector is not None:
        st.caption("This model does not generate text: it gives the text a vector.")
        second_sentence(pane)
        places = columns(max(2, len(views)), gap="large")
    else:
        note(_nothing_written(pane.answer))
        places = columns(max(1, len(views)), gap="large")
    for column, name in zip(places, views, strict=False):
        with column:
            panel(name, pane)
    offer_edit(pane)


def _nothing_written(answer: Answer) -> str:
    mask = next((text for text in answer.checkpoint.about.examples if "MASK" in text.upper()), "")
    if mask:
        return f"This model fills masks: try “{mask}”."
    return "This model does not generate text; it only encodes it. Explore shows its attention."


def _decoder(pane: Pane) -> Pane:
    """The same layer and head of the decoder, whatever kind other pages show."""
    return replace(pane, screen=replace(pane.screen, kind="decoder_self"))


def _choices(pane: Pane) -> None:
    if pane.answer.decoding is None:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        titles = {"tree": "Tree", "steps": "Steps", "text": "Text", "reference": "Reference"}
        choose_one("Show", "decode_as", titles, _shows(pane), label_visibility="collapsed")
        if _shows(pane) in ("tree", "steps"):
            choose_heads(_decoder(pane))
            choose_tokens(pane, label_visibility="collapsed")


PAGE = Page(
    "decode",
    "Decode",
    "Look",
    3,
    draw,
    choices=_choices,
    stands_alone=True,
    has_card=True,
    exhibits=_exhibits,
    edits="shown",
    subject="How a Transformer writes word by word, and what it chose from",
)
