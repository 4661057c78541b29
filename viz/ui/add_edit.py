"""Add an edit: its kind, its place and its numbers, drawn from what the kind declares."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from transformer.analysis.reading import row_tokens
from transformer.editing.checking import side_read
from transformer.edits import EditError, EditKind, Value, edit_kinds, parse
from transformer.edits.edit import NUMBERS, spell
from transformer.recording import Attention
from transformer.refusal import visible
from viz.app_packages import st
from viz.components.kit.sync import guarded
from viz.labels import in_words, kind_title, literal
from viz.state.changing import add
from viz.state.focus import pinned_cell
from viz.state.page import Pane
from viz.state.state import session, warn

TITLE = "Add an edit"
MOST_WHOLE = 2**53 - 1
"""The largest number that a browser holds exactly."""


@dataclass
class NewEdit:
    """The edit that is put together in a session."""

    n_added: int = 0
    """The number of edits that were added: each has fields of its own, and a closed box."""
    refused: str = ""
    """The reason why the last one was not added; empty: it was."""


def add_edit(pane: Pane) -> None:
    """Draw what opens the fields of a new edit; they are drawn once it is open."""
    own = session().of(NewEdit)
    key = f"new edit {own.n_added}"
    box = st.popover(TITLE, icon=":material/add:", type="tertiary", key=key, on_change="rerun")
    if not box.open:
        return
    with box:
        kinds = {name: each for name, each in edit_kinds().items() if _places(each, pane)}
        name = _one_of("Edit", {name: kinds[name].title for name in kinds}, f"{key} kind")
        kind = kinds[name]
        st.caption(literal(kind.cited))
        spelled = _spelled(kind, pane, f"{key} {name}")
        st.button("Add it", key=f"{key} add", on_click=guarded(partial(_add, spelled)))
        if own.refused:
            warn(own.refused)


def _add(spelled: str) -> None:
    own = session().of(NewEdit)
    try:
        add(parse(spelled))
    except EditError as error:  # said until another one is added
        own.refused = str(error)
    else:
        own.refused, own.n_added = "", own.n_added + 1


def _spelled(kind: EditKind, pane: Pane, key: str) -> str:
    """The edit that the fields say, as `parse` reads it."""
    place = _one_of("Of", _places(kind, pane), f"{key} place")
    numbers = _numbers(kind, place, pane, f"{key} {place}")
    values = [
        spell(draw_value(each, each.default, key=f"{key} {each.title} {i}"))
        for i, each in enumerate(kind.values)
    ]
    if kind.further is not None:
        values.append(_further(kind.further, key))
    if kind.text != "none":
        values = [st.text_input("Another sentence", key=f"{key} text")]
    end = ",".join(values)
    return f"{kind.name}:{'.'.join((place, *numbers))}" + (f"={end}" if end else "")


def draw_value(value: Value, now: float, **look: Any) -> float:
    """A field for a number of an edit, within the limits that its kind declares."""
    of: Callable[[float], Any] = int if value.is_whole else float
    ends = (max(-MOST_WHOLE, value.least), min(MOST_WHOLE, value.most))
    least, most = map(of, ends)
    look |= {"step": 1} if value.is_whole else {"step": 0.1, "format": "%g"}
    return st.number_input(literal(value.title), least, most, of(now), **look)


def draw_slider(value: Value, now: float, **look: Any) -> float:
    """A slider for a number of an edit that is there: from 0 as far as its kind declares."""
    most = float(value.slider or value.most)
    return st.slider(literal(value.title), 0.0, most, now, most / 40, **look)


def _further(value: Value, key: str) -> str:
    """Numbers of which there may be any, as they are spelled."""
    limits = f"from {spell(value.least)} to {spell(value.most)}"
    title = f"{value.title}s, with commas between them"
    typed = st.text_input(
        literal(title), spell(value.default), help=literal(limits), key=f"{key} further"
    )
    return ",".join(part.strip() for part in typed.split(","))


def _places(kind: EditKind, pane: Pane) -> dict[str, str]:
    """Title the places of this kind of edit, the kind of attention on screen first."""
    if kind.closes is not None:
        there = {side_read(pane.checkpoint), *pane.recording.attentions}
        return {it: kind_title(it).capitalize() for it in kind.closes if it in there}
    if kind.of == "side":
        return {side: side.capitalize() for side in _sides(kind, pane)}
    attentions = pane.recording.attentions
    names = sorted(attentions, key=lambda name: name != pane.selection.kind)
    if kind.bias is not None:
        of_bias = {bias.kind for bias in pane.recording.biases.values()}
        names = [name for name in names if name in of_bias]
    if kind.same_sequence or kind.of == "word":
        names = [name for name in names if attentions[name].is_same]
    return {name: kind_title(name) for name in names}


def _sides(kind: EditKind, pane: Pane) -> list[str]:
    recording, read = pane.recording, side_read(pane.checkpoint)
    if kind.words is not None:
        return [read]
    if kind.frequencies is not None:
        return [read] if recording.rotary else []
    return list(recording.positions) or ([read] if recording.rotary else [])


def _numbers(kind: EditKind, place: str, pane: Pane, key: str) -> list[str]:
    """Layer, head, query and key, as many as the kind asks for; at first those that are shown."""
    if not NUMBERS[kind.of]:
        return []
    if kind.of == "read word":
        words = {str(i): f"{i} {it.text}" for i, it in enumerate(pane.recording.source_words)}
        return [_one_of("Word", words, f"{key} word")]
    attention, at = pane.recording.attentions[place], pane.selection
    cell = (pinned_cell(pane) if at.kind == place else None) or (0, 0)
    first = dict(zip(("query", "key"), cell, strict=True))
    if at.kind == place:
        first |= {"layer": at.layer, "head": at.head}
    offered = _offered(attention)
    with st.container(horizontal=True):
        return [
            _one_of(name.capitalize(), offered[name], f"{key} {name}", first.get(name, 0), 150)
            for name in NUMBERS[kind.of]
        ]


def _offered(attention: Attention) -> dict[str, dict[str, str]]:
    """Name of a number -> what it may be, as it is spelled, with its title."""
    words = {"query": in_words(row_tokens(attention)), "key": in_words(attention.keys)}
    titles: Mapping[str, Sequence[str]] = {
        "layer": [f"L{attention.number(i)}" for i in range(attention.n_layers)],
        "head": [f"H{i}" for i in range(attention.n_heads)],
        **{name: [f"{i} {word}" for i, word in enumerate(each)] for name, each in words.items()},
    }
    return {name: {str(i): it for i, it in enumerate(each)} for name, each in titles.items()}


def _one_of(
    title: str, titles: Mapping[str, str], key: str, first: int = 0, width: Any = "stretch"
) -> str:
    options = list(titles)
    return st.selectbox(
        literal(title),
        options,
        first,
        format_func=lambda it: visible(titles[it]),
        key=key,
        width=width,
    )
