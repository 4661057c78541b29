"""Type the right word: below the card of a pinned word, what stands against it, and its repairs."""

from functools import partial
from itertools import product
from typing import Any

from transformer.analysis.needed import Head
from transformer.analysis.tables import words_of_sides
from transformer.causes.contrast import Contrast
from transformer.causes.pruning import pruning
from transformer.causes.repairs import Change, Repairs, other_methods
from transformer.refusal import Refusal, visible
from viz.app_packages import st
from viz.causes.needs import FindRepairs, Methods, RightWord
from viz.causes.right_word_tables import (
    ROWS,
    contrast_tables,
    contrast_text,
    forced_rows,
    repairs_table,
    right_word,
    row_cells,
    rows_chart,
    rows_cost,
    rows_text,
)
from viz.components.kit.picture import NothingLeft
from viz.components.kit.sync import guarded
from viz.exhibits.exhibit import Exhibit
from viz.export import rows_csv
from viz.labels import kind_name, kind_title, literal
from viz.run.work import Growth
from viz.screen import Screen, choose, link
from viz.state.branching import write_word
from viz.state.limits import check_text, may_read
from viz.state.page import Pane
from viz.state.requests import decoding_of_search, request_of
from viz.state.state import bound, change, note
from viz.ui.controls import choose_one
from viz.ui.progress import grow
from viz.ui.save_menu import offer_file
from viz.ui.showing import files_of, show, show_with_files

WRITE_HELP = "The output begins with all before it and this word, and is decoded from there."
TITLE, REPAIRS = "The right word", "Repairs"
HELP = (
    "The word, or words, that should stand here: how likely they are, and what speaks against them."
)
FIND_HELP = (
    "Other methods, words hidden, heads off, arrows cut and rows forced: each is decoded, and only "
    "what really writes the right word counts."
)


NO_ROWS = (
    "Rows that would have it written are found by gradients through a model that is built here; "
    "this one runs as its own code says, which gives no gradient of its attention."
)


def right_word_exhibits(pane: Pane, place: int | None) -> dict[str, Growth[Any]]:
    """The exhibits of the right word; none while none is typed, or no word is pinned.

    place: in the target, of a token of the pinned word.
    """
    typed = (pane.screen.instead or "").strip()
    if place is None or not typed or not may_read(pane.answer.request.text, typed):
        return {}
    at = pane.answer.request, pane.recording.target_words.at(place).number, typed
    study = RightWord(*at)
    result: dict[str, Growth[Any]] = {
        "right-word": Growth(TITLE, study, partial(_chances, pane), is_main=False),
        "contrast": Growth(TITLE, study, partial(_contrast, pane), is_main=False),
    }
    if pane.screen.repairs:
        heads = heads_of_rows(pane).get(pane.screen.repair_rows or "")
        repairs = FindRepairs(*at, _others(pane), heads[1] if heads else None)
        result["repairs"] = Growth(REPAIRS, repairs, partial(_repairs, pane), is_main=False)
        result["needed"] = Growth(ROWS, repairs, partial(_needed, pane), is_main=False)
    return result


def type_right_word(pane: Pane, place: int | None) -> None:
    """Draw the field below the card, and the exhibits of what is typed there."""
    if place is None or pane.request != pane.answer.request:
        return
    typed = pane.screen.instead or ""
    st.text_input(
        TITLE,
        typed,
        placeholder="Another word for this place",
        help=HELP,
        width=300,
        **bound("instead", typed, ""),
    )
    exhibits = right_word_exhibits(pane, place)
    try:
        check_text(pane.answer.request.text, typed)
        if not exhibits:
            return
        _draw_contrast(pane, place, exhibits)
        if "repairs" in exhibits:
            _draw_repairs(pane, exhibits["repairs"], exhibits["needed"])
    except (Refusal, NothingLeft) as reason:
        note(reason)


def _draw_contrast(pane: Pane, place: int, exhibits: dict[str, Growth[Any]]) -> None:
    def draw(contrast: Contrast) -> None:
        show(exhibits["right-word"].exhibit(contrast), "right-word")
        show(exhibits["contrast"].exhibit(contrast), "contrast")

    work = grow(exhibits["contrast"].study, draw)
    if work.is_whole:
        files_of(pane, exhibits["contrast"].exhibit(work.result()), "contrast")
        with st.container(horizontal=True):
            typed = pane.screen.instead or ""
            write = guarded(partial(write_word, pane.answer, place, typed))
            st.button("Write it here", icon=":material/edit:", help=WRITE_HELP, on_click=write)
            if "repairs" not in exhibits:
                ask: Any = {"on_click": change, "kwargs": {"repairs": True}}
                st.button("Find a repair", icon=":material/build:", help=FIND_HELP, **ask)


def _draw_repairs(pane: Pane, growth: Growth[Repairs], needed: Growth[Repairs]) -> None:
    """The repairs as they are found; then what heads would have to look at, where that is one."""
    work = grow(growth.study, lambda repairs: show(growth.exhibit(repairs), "repairs"))
    if not work.is_whole:
        return
    if work.result().repairs:
        files_of(pane, growth.exhibit(work.result()), "repairs")
    choices = heads_of_rows(pane)
    if not choices:
        st.caption(NO_ROWS)
        return
    titles = {name: title for name, (title, _) in choices.items()}
    of_rows: Any = {"as_list": True, "width": 300}
    chosen = pane.screen.repair_rows
    choose_one("Heads that may look elsewhere", "repair_rows", titles, chosen, **of_rows)
    rows = forced_rows(work.result(), pane.recording)
    if not rows:
        note(_needs_others(work.result()))
        return
    st.caption(literal(rows_cost(rows, work.result())))
    cells = partial(row_cells, rows, pane.recording)
    exhibit = needed.exhibit(work.result())
    show_with_files(pane, exhibit, "needed")
    name = "headscope-needed.csv"
    offer_file("Rows as CSV", lambda: rows_csv(cells()), name, ROWS, exhibit.title, name)


def _needs_others(repairs: Repairs) -> str:
    return f"No rows of these heads have “{visible(repairs.place.text)}” written."


def heads_of_rows(pane: Pane) -> dict[str, tuple[str, tuple[Head, ...]]]:
    """The heads whose rows a repair may change, each choice by its name, with its title.

    None of a model that runs as its own code says: that gives no gradient of its attention.
    """
    if pane.checkpoint.family.is_watched:
        return {}
    choices: dict[str, tuple[str, tuple[Head, ...]]] = {}
    layer, head = pane.selection.layer, pane.selection.head
    for kind in ("cross", "decoder_self"):
        attention = pane.recording.attentions.get(kind)
        if attention is None:
            continue
        places = product(range(attention.n_layers), range(attention.n_heads))
        every = tuple((kind, *place) for place in places)
        of_layer = tuple(it for it in every if it[1] == layer)
        name = f"{kind_title(kind)} L{attention.number(layer)}"
        choices[kind] = f"All heads of {kind_name(kind)}", every
        choices[f"{kind}_layer"] = name, of_layer
        choices[f"{kind}_head"] = f"{name} H{head}", ((kind, layer, head),)
    return choices


def _needed(pane: Pane, repairs: Repairs) -> Exhibit:
    """Raises NothingLeft where no rows make the decoding write the word."""
    rows = forced_rows(repairs, pane.recording)
    if not rows:
        raise NothingLeft(_needs_others(repairs))
    at = rows, pane.recording
    return Exhibit(ROWS, rows_chart(*at), rows_text(*at), is_main=False)


def _chances(pane: Pane, contrast: Contrast) -> Exhibit:
    decoding = pane.answer.decoding
    vocab_size = pane.checkpoint.config.vocab_size if decoding is None else decoding.vocab_size
    search = decoding_of_search(pane.answer)
    way = None if search is None else pruning(search.search, contrast.place, contrast.pieces)
    return Exhibit(TITLE, right_word(contrast, vocab_size, way), is_main=False)


def _contrast(pane: Pane, contrast: Contrast) -> Exhibit:
    content = contrast_tables(contrast, *words_of_sides(pane.recording))
    return Exhibit(content.lines[0][0].name, content, contrast_text(contrast), is_main=False)


def _repairs(pane: Pane, repairs: Repairs) -> Exhibit:
    address = partial(_address, pane, len(repairs.place.before))
    content = repairs_table(repairs, pane.recording, address)
    return Exhibit(content.name, content, repairs.text, is_main=False)


def _address(pane: Pane, step: int, change: Change) -> str:
    """The address where a change is made for good. step: the first one of the word."""
    # The screen where nothing from this step on is decided: repairs are decoded so.
    prefix = pane.answer.request.decided_before(step).get("prefix", ())
    screen = choose(pane.screen, prefix=prefix, branch=())
    if change.method:
        return link(_turned(screen, change.method))
    edits = (*screen.edits, *map(str, change.edits))
    return link(choose(screen, edits=edits))


def _turned(screen: Screen, method: str) -> Screen:
    """The screen of another method with its usual options: those in use are of this one."""
    return choose(screen, decoding=method, options=())


def _others(pane: Pane) -> Methods:
    """The options with which each other method writes where it is kept."""
    request = pane.answer.request
    of = request.checkpoint, request.text
    return tuple(
        (it.method, request_of(*of, _turned(pane.screen, it.method)).options)
        for it in other_methods(request.method)
    )
