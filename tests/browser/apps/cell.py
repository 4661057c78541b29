"""A cell of random vectors, of sizes that the address names, drawn by cell_steps alone."""

from types import MappingProxyType

import streamlit as st
import torch

from transformer.analysis.cell import inside
from transformer.analysis.reading import Selection
from transformer.recording import Attention, AttentionCall, Recording
from transformer.token import Token
from viz.components.cell_steps.cell_steps import CellSteps, cell_steps, pack_cell
from viz.sentence import weight_wording
from viz.theme import theme


def recording(d_key: int, d_value: int, n_keys: int, mask: str) -> Recording:
    """One head whose scores reach from about -3 to 3; mask: "none", "one" or "all"."""
    random = torch.Generator().manual_seed(d_key)
    q, k, v = (torch.randn(1, n_keys, d, generator=random) for d in (d_key, d_key, d_value))
    allowed = torch.ones(1, n_keys, n_keys, dtype=torch.bool)
    if mask == "one":
        allowed[:, :, 1] = False
    if mask == "all":
        allowed[:] = False
    call = AttentionCall(1.5 * q, k, v, allowed, d_key**-0.5, is_causal=False)
    tokens = tuple(Token(i, f"▁token{i}") for i in range(n_keys))
    attention = Attention("encoder_self", tokens, tokens, (call,))
    return Recording(tokens, (), MappingProxyType({"encoder_self": attention}), {}, torch.zeros(1))


def number(name: str, default: int) -> int:
    return int(st.query_params.get(name, default))


def choose(cell: list[int]) -> None:
    st.session_state.chosen = tuple(cell)


def main() -> None:
    recorded = recording(
        number("d_key", 16),
        number("d_value", 24),
        number("keys", 8),
        st.query_params.get("mask", "none"),
    )
    query, key = st.session_state.get("chosen", (2, number("key", 0)))
    cell = inside(recorded, "encoder_self", 0, 0, query, key)
    tokens = recorded.attentions["encoder_self"].keys
    payload = pack_cell(cell, tokens[query], tokens[key], tokens, weight_wording("encoder_self"))
    picture = CellSteps(Selection("encoder_self", 0, 0), (query, key))
    cell_steps(picture.data(payload, theme(st.context.theme.type)), "cell", on_cell=choose)
    st.html(f'<p id="asked">{st.session_state.get("chosen")}</p>')


if __name__ == "__main__":  # a test imports what this draws
    main()
