"""The controls that views and methods declare as data, and the choice of a head."""

import html
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from transformer.analysis.selection import Selection
from transformer.decoding.method import Method
from transformer.recording import Attention
from transformer.visible import visible
from viz.app_packages import st
from viz.choice import with_entry
from viz.labels import kind_title, literal
from viz.screen import Screen, link
from viz.state.focus import turn_to_head
from viz.state.limits import offered
from viz.state.page import Pane, chosen_head
from viz.state.state import bound, bound_entry, change, session, widget
from viz.views.view import Amount, Control, Dimensions, HeadChoice

T = TypeVar("T")
MOST_BUTTONS = 8
"""Options beyond these are a list that opens."""


def choose_one(
    title: str,
    name: str,
    titles: Mapping[T, str],
    value: T | None,
    usual: T | None = None,
    as_list: bool = False,
    **look: Any,
) -> T:
    """One of a few values, by their titles; `usual`, or the first, where none of them is chosen.

    name: the field of the Screen; as_list: one that opens, not buttons; look: what else these take.
    """
    first = next(iter(titles)) if usual is None else usual
    chosen = value if value is not None and value in titles else first
    look |= bound(name, chosen, first)
    options = list(titles)
    if as_list:
        look["format_func"] = lambda option: visible(titles[option])
        st.selectbox(title, options, options.index(chosen), **look)
    else:
        look["format_func"] = lambda option: literal(titles[option])
        st.segmented_control(title, options, default=chosen, required=True, **look)
    return chosen


def draw_control(control: Control, pane: Pane) -> Any:
    """Draw one control and return what is chosen."""
    if isinstance(control, HeadChoice):
        return choose_head(pane)
    options = list(control.options(pane.recording))
    text = dict(pane.screen.controls).get(control.name, "")
    if isinstance(control, Dimensions):
        return _dimensions(control, options, text)
    chosen = next((option for option in options if str(option) == text), options[0])
    look = _named(control, chosen, options[0])
    if isinstance(control, Amount):
        least, most = min(options), max(options)
        return st.number_input(control.title, least, most, chosen, step=1, width=150, **look)
    if len(options) > MOST_BUTTONS:
        look["format_func"] = lambda option: visible(str(option).capitalize())
        return st.selectbox(control.title, options, options.index(chosen), width=260, **look)
    look["format_func"] = lambda option: literal(str(option).capitalize())
    return st.segmented_control(control.title, options, default=chosen, required=True, **look)


def value_on_screen(control: Control, pane: Pane) -> Any:
    """Return the value of a control on the Screen, without drawing it."""
    if isinstance(control, HeadChoice):
        return pane.selection
    options = list(control.options(pane.recording))
    text = dict(pane.screen.controls).get(control.name, "")
    if isinstance(control, Dimensions):
        offered = [dimension for (dimension,) in options[1:]]
        return tuple(each for each in offered if str(each) in text.split(",")) or options[0]
    return next((option for option in options if str(option) == text), options[0])


def _dimensions(control: Dimensions, options: list[tuple[int, ...]], text: str) -> tuple[int, ...]:
    usual, *single = options
    offered = [dimension for (dimension,) in single]
    chosen = [each for each in offered if str(each) in text.split(",")] or list(usual)
    picked = st.multiselect(
        control.title,
        offered,
        chosen,
        max_selections=8,
        width=380,
        **_named(control, chosen, list(usual)),
    )
    return tuple(picked) or usual


def _named(control: Control, chosen: Any, usual: Any) -> dict[str, Any]:
    """Bind a control as `bound_entry` does; the Screen keeps what views ask for as text."""

    def choose(new: Any) -> None:
        text = ",".join(map(str, new)) if isinstance(new, list) else str(new)
        entries = session().screen.controls
        change(controls=with_entry(entries, control.name, None if new in (usual, []) else text))

    return widget(control.name, chosen, choose)


def draw_link(text: str, screen: Screen) -> None:
    """Draw a link to another screen of the app, in small type."""
    look, address = "color: inherit; font-size: 0.875rem", html.escape(link(screen))
    st.html(
        f'<a data-state style="{look}" href="{address}">{html.escape(text)}</a>', width="content"
    )


def choose_head(
    pane: Pane, title: str = "", suffix: str | None = None, as_list: bool = False
) -> Selection:
    """Kind, layer and head. suffix: of other fields of the Screen than those of the pane.

    as_list: whether the kinds are a list that opens, not buttons.
    """
    suffix, default, recording = suffix or pane.suffix, pane.default, pane.recording
    chosen = chosen_head(pane.screen, recording, default, suffix)
    kinds, attention = list(recording.attentions), chosen.attention(recording)

    def turn(kind: str) -> None:
        if suffix:
            change(**{f"kind{suffix}": None if kind == default.kind else kind})
        else:
            turn_to_head(pane, kind, pane.screen.layer, pane.screen.head)

    with _row():
        if title:
            st.markdown(f"**{title}**", width=18)
        look = {
            "format_func": lambda kind: literal(kind_title(kind)),
            "label_visibility": "collapsed",
            **widget(f"kind{suffix}", chosen.kind, turn),
        }
        if as_list:
            look["format_func"] = lambda kind: visible(kind_title(kind))
            st.selectbox("Attention", kinds, kinds.index(chosen.kind), width=112, **look)
        else:
            st.segmented_control("Attention", kinds, default=chosen.kind, required=True, **look)
        _layer(attention, chosen.layer, default.layer, suffix)
        _number("Head", attention.n_heads, chosen.head, default.head, suffix)
    return chosen


def choose_heads(pane: Pane) -> None:
    """A layer of the decoder, and a head or the mean of its heads."""
    selection, default = pane.selection, pane.default
    attention = selection.attention(pane.recording)
    with _row():
        _layer(attention, selection.layer, default.layer)
        _number("Head", attention.n_heads, selection.head, default.head)
        st.toggle("Mean of heads", pane.screen.mean, **bound("mean", pane.screen.mean))


def _row() -> Any:
    look: Any = {"vertical_alignment": "center", "gap": "xxsmall", "width": "content"}
    return st.container(horizontal=True, **look)


def _layer(attention: Attention, chosen: int, usual: int, suffix: str = "") -> None:
    _number("Layer", attention.n_layers, chosen, usual, suffix, attention.number)


def _number(
    title: str,
    n: int,
    chosen: int,
    usual: int,
    suffix: str = "",
    called: Callable[[int], int] = int,
) -> None:
    """One of 0 .. n-1, and what it is called."""
    st.selectbox(
        title,
        range(n),
        chosen,
        format_func=lambda i: f"{title[0]}{called(i):d}",
        label_visibility="collapsed",
        width=72,
        **bound(f"{title.lower()}{suffix}", chosen, min(usual, n - 1)),
    )


def choose_options(method: Method, chosen: Mapping[str, float]) -> None:
    """Draw a field for each of them, in a row."""
    for option in map(offered, method.options):
        kind: Any = int if option.is_whole else float
        st.number_input(
            option.title,
            kind(option.least),
            kind(option.most),
            chosen[option.name],
            step=1 if option.is_whole else 0.05,
            help=option.explain or None,
            **bound_entry("options", option.name, chosen[option.name], kind(option.default)),
        )


def whole_number(
    title: str, name: str, value: int | None, least: int, most: int, usual: int, **look: Any
) -> int:
    """A field for a whole number within limits. look: what else `st.number_input` takes."""
    chosen = value if value is not None and least <= value <= most else usual
    return st.number_input(
        title, least, most, chosen, **{"step": 1} | look | bound(name, chosen, usual)
    )
