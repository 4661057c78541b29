"""The controls that views declare as data, drawn with Streamlit and bound to the URL."""

from typing import Any

import streamlit as st

from transformer import Recording
from transformer.decoding.method import Method, Option
from viz.labels import kind_title
from viz.ui.address import carry
from viz.ui.whole_number import whole_number
from viz.views.view import Amount, Control, Dimensions, HeadChoice, Selection

MOST_BUTTONS = 8
"""Options beyond these are a list that opens."""


def draw_control(control: Control, recording: Recording, default: Selection) -> Any:
    """Draw one control and return what is chosen."""
    if isinstance(control, HeadChoice):
        return choose_head(recording, default)
    options = list(control.options(recording))
    if isinstance(control, Amount):
        return _amount(control, options)
    if isinstance(control, Dimensions):
        return _dimensions(control, options)
    if len(options) > MOST_BUTTONS:
        return st.selectbox(
            control.title,
            options,
            format_func=lambda option: str(option).capitalize(),
            key=control.name,
            bind="query-params",
            width=260,
        )
    return st.segmented_control(
        control.title,
        options,
        default=options[0],
        format_func=lambda option: str(option).capitalize(),
        key=control.name,
        bind="query-params",
        required=True,
    )


def _amount(control: Amount, options: list[int]) -> int:
    least, most = min(options), max(options)
    return whole_number(control.title, least, most, options[0], control.name, width=150)


def _dimensions(control: Dimensions, options: list[tuple[int, ...]]) -> tuple[int, ...]:
    default, *single = options
    chosen = st.multiselect(
        control.title,
        [dimension for (dimension,) in single],
        default,
        key=control.name,
        bind="query-params",
        max_selections=8,
        width=380,
    )
    return tuple(chosen) or default


def choose_head(
    recording: Recording, default: Selection, suffix: str = "", title: str = ""
) -> Selection:
    """Kind, layer and head. suffix tells a second choice of a page (Compare) from the first."""
    kinds = list(recording.attentions)
    with _row():
        if title:
            st.markdown(f"**{title}**", width=18)
        kind = st.segmented_control(
            "Attention",
            kinds,
            default=default.kind if default.kind in kinds else kinds[0],
            format_func=kind_title,
            key=f"kind{suffix}",
            bind="query-params",
            required=True,
            label_visibility="collapsed",
        )
        attention = recording.attentions[str(kind)]
        layer = _number("Layer", "L", attention.n_layers, default.layer, f"layer{suffix}")
        head = _number("Head", "H", attention.n_heads, default.head, f"head{suffix}")
    return Selection(attention.kind, layer, head)


def choose_heads(recording: Recording, default: Selection) -> None:
    """A layer of the decoder, and a head or the mean of its heads."""
    attention = recording.attentions["decoder_self"]
    with _row():
        _number("Layer", "L", attention.n_layers, default.layer, "layer")
        _number("Head", "H", attention.n_heads, default.head, "head")
        st.toggle("Mean of heads", key="mean", bind="query-params")


def choose_options(method: Method) -> tuple[tuple[str, float], ...]:
    """What a decoding method may be given, as (name, value) pairs; drawn in a row."""
    carry(*(option.name for option in method.options))
    return tuple((option.name, _option(option)) for option in method.options)


def _option(option: Option) -> float:
    if option.is_whole:
        return whole_number(
            option.title,
            int(option.least),
            int(option.most),
            int(option.default),
            option.name,
            help=option.explain,
        )
    return st.number_input(
        option.title,
        float(option.least),
        float(option.most),
        float(option.default),
        0.05,
        key=option.name,
        bind="query-params",
        help=option.explain,
    )


def _row() -> Any:
    return st.container(horizontal=True, vertical_alignment="center", gap="xxsmall")


def _number(title: str, letter: str, n: int, default: int, key: str) -> int:
    """One of 0 .. n-1; Streamlit drops a value left over from a larger model."""
    chosen = st.selectbox(
        title,
        range(n),
        index=min(default, n - 1),
        format_func=lambda i: f"{letter}{i}",
        key=key,
        bind="query-params",
        label_visibility="collapsed",
        width=72,
    )
    return int(chosen or 0)
