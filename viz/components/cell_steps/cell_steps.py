"""Inside one cell: from q and k to this key's share of the head's output, with real numbers."""

import math
from collections.abc import Callable, Sequence

import numpy as np
import streamlit as st
from numpy.typing import NDArray
from torch import Tensor

from transformer.analysis.cell import Cell
from transformer.tokenizer import Token
from viz.components.kit.browser import Component, envelope, pieces, script, style
from viz.components.kit.pack import pack
from viz.labels import label
from viz.theme import Theme

N_COMPETITORS = 20
"""Of a longer row so many strongest keys are shown each by itself, and this one; the rest as one
bar."""
_READABLE = (0.0, 10.0)
"""Where the largest score of a row lies outside, scores are taken as their distance from it:
e^s would have too many digits, or none, before the point."""

CELL_STEPS = Component(
    "cell_steps",
    css=style("kit/page", "cell_steps/cell_steps"),
    js=script(
        "kit/unpack",
        "kit/page",
        "kit/drafts",
        "cell_steps/bars",
        "cell_steps/stages",
        "cell_steps/competitors",
        "cell_steps/index",
    ),
)
_COMPONENT = st.components.v2.component(
    CELL_STEPS.name, html=CELL_STEPS.html, css=CELL_STEPS.css, js=CELL_STEPS.js
)


def cell_steps(
    payload: bytes,
    theme: Theme,
    key: str,
    on_cell: Callable[[int, int], None] | None = None,
) -> tuple[int, int] | None:
    """Show what `pack_cell` packed; returns the (query, key) just asked for, else None.

    A competitor was clicked: on_cell is called with its cell before the script runs, the place to
    set the state of other widgets.
    """

    def asked() -> None:
        if on_cell is not None and st.session_state[key].cell:
            on_cell(*st.session_state[key].cell)

    result = _COMPONENT(key=key, data=cell_steps_data(payload, theme), on_cell_change=asked)
    return None if result.cell is None else (int(result.cell[0]), int(result.cell[1]))


def cell_steps_data(payload: bytes, theme: Theme) -> bytes:
    """What the browser is given: a payload with the colours of what is above and below 0."""
    return envelope(payload, theme, signs={"positive": theme.ink, "negative": theme.contrast})


def pack_cell(
    cell: Cell,
    query_token: Token,
    key_token: Token,
    keys: Sequence[Token],
    is_produced: bool = False,
) -> bytes:
    """All stages, as float32.

    keys: the tokens of the row's K keys. is_produced: query_token is what the row wrote.
    Arrays: q, k, products, running f4 [d_key]; value, part, output f4 [d_value]; scores, weights
    f4 [K]; allowed u1 [K]; shown i4: the keys that stand by themselves in the softmax.
    """
    shown = shown_keys(cell)
    shift = _shift(cell)
    header = {
        "place": f"L{cell.layer} H{cell.head}",
        "cell": [cell.query, cell.key],
        "query_token": pieces([query_token])[0],
        "key_token": pieces([key_token])[0],
        "is_produced": is_produced,
        "labels": pieces(keys[i] for i in shown),
        "rest": _rest(cell, shown),
        "dot": cell.dot,
        "scale": cell.scale,
        "scale_name": _scale_name(cell),
        "bias": cell.bias,
        "score": cell.score,
        "is_masked": cell.is_masked,
        "n_allowed": cell.n_allowed,
        "shift": shift,
        "exp": 0.0 if cell.is_masked else math.exp(cell.score - shift),
        "exp_sum": float((cell.scores[cell.allowed].double() - shift).exp().sum()),
        "weight": cell.weight,
        "share": cell.share,
        "percent": _percent(cell.share),
        "share_sum": float(cell.shares.double().sum()),
        "norms": cell.norms,
        "sentence": sentence(cell, query_token, key_token, is_produced),
    }
    vectors = (cell.q, cell.k, cell.products, cell.running, cell.value, cell.part, cell.output)
    return pack(
        header,
        *map(_array, (*vectors, cell.scores, cell.weights)),
        cell.allowed.numpy().astype("|u1"),
        np.array(shown, "<i4"),
    )


def sentence(cell: Cell, query_token: Token, key_token: Token, is_produced: bool = False) -> str:
    """What the picture says, for those who do not see it."""
    row = ("writing " if is_produced else "") + _word(query_token)
    start = f"L{cell.layer} H{cell.head}: {row} asks {_word(key_token)}"
    bias = f" + bias {_signed(cell.bias)}" if cell.bias else ""
    dot = f"q·k {_signed(cell.dot)} × {cell.scale:.4f}{bias} = {_signed(cell.score)}"
    if cell.is_masked:
        return f"{start}: {dot}, but the mask forbids this key: weight 0"
    rank = "the largest" if cell.rank == 1 else f"rank {cell.rank}"
    place = f"{rank} of {cell.n_allowed} scores" if cell.n_allowed > 1 else "the only score"
    share = f"{_percent(cell.share)} of the head's output"
    return f"{start}: {dot}, {place}, weight {cell.weight:.4f}, {share}"


def shown_keys(cell: Cell) -> list[int]:
    """The keys that the softmax names, in their order: allowed ones, and this one in any case."""
    competitors = cell.allowed.nonzero().flatten().tolist()
    if len(competitors) > N_COMPETITORS + 1:
        by_weight = sorted(competitors, key=lambda i: -float(cell.weights[i]))
        competitors = by_weight[:N_COMPETITORS]
    return sorted({*competitors, cell.key})


def _rest(cell: Cell, shown: list[int]) -> tuple[int, float]:
    """How many allowed keys are not shown, and their weights together."""
    others = cell.allowed.clone()
    others[shown] = False
    return int(others.sum()), float(cell.weights[others].double().sum())


def _shift(cell: Cell) -> float:
    """What is taken from every score before e^s; the softmax stays the same."""
    if cell.n_allowed == 0:
        return 0.0
    largest = float(cell.scores[cell.allowed].max())
    return 0.0 if _READABLE[0] <= largest <= _READABLE[1] else largest


def _scale_name(cell: Cell) -> str:
    """1/√d where the scale is that; empty otherwise."""
    d_key = len(cell.q)
    return f"1/√{d_key}" if math.isclose(cell.scale, d_key**-0.5, rel_tol=1e-6) else ""


def _word(token: Token) -> str:
    text = label(token)
    return text[1:] if text.startswith("▁") and len(text) > 1 else text


def _signed(number: float) -> str:
    return f"{number:.2f}".replace("-", "−")


def _percent(share: float) -> str:
    return f"{round(100 * share)} %".replace("-", "−")


def _array(tensor: Tensor) -> NDArray[np.float32]:
    array: NDArray[np.float32] = tensor.numpy()
    return array
