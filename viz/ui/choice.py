"""The one choice that all pages share: which attention, which layer, which head."""

from dataclasses import dataclass

import streamlit as st

from transformer import Attention, Recording

KIND_TITLES = {"encoder_self": "Encoder", "decoder_self": "Decoder", "cross": "Cross"}


@dataclass(frozen=True)
class Choice:
    """One head of one layer of one kind of attention."""

    kind: str
    layer: int
    head: int

    @property
    def title(self) -> str:
        return f"L{self.layer} H{self.head}"


def choose(recording: Recording, default: Choice, suffix: str = "") -> Choice:
    """Draw the three controls, bound to the URL, and return what they say.

    suffix tells a second choice of the same page (Compare) from the first.
    """
    kinds = list(recording.attentions)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        kind = st.segmented_control(
            "Attention",
            kinds,
            default=default.kind if default.kind in kinds else kinds[0],
            format_func=lambda kind: KIND_TITLES.get(kind, kind),
            key=f"kind{suffix}",
            bind="query-params",
            required=True,
            width="content",
        )
        attention = recording.attentions[kind or kinds[0]]
        layer = _number("Layer", "L", attention.n_layers, default.layer, f"layer{suffix}")
        head = _number("Head", "H", attention.n_heads, default.head, f"head{suffix}")
    return Choice(attention.kind, layer, head)


def attention_of(recording: Recording, choice: Choice) -> Attention:
    return recording.attentions[choice.kind]


def _number(title: str, letter: str, n: int, default: int, key: str) -> int:
    """A choice of 0 .. n-1; Streamlit drops a value left over from a larger model."""
    chosen = st.selectbox(
        title,
        range(n),
        index=min(default, n - 1),
        format_func=lambda i: f"{letter}{i}",
        key=key,
        bind="query-params",
        width=92,
    )
    return int(chosen)
