"""Decoding step by step, played in the browser."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import ArrayLike
from torch import Tensor

from transformer.decoding import Candidate, Decoding, Step
from transformer.recording import Recording
from transformer.tokenizer import Token
from viz.components.kit.browser import Component, digest, envelope, pieces, script, style
from viz.components.kit.pack import pack
from viz.labels import label
from viz.theme import Theme

DECODE_PLAYER = Component(
    "decode_player",
    css=style("kit/page", "kit/playback", "decode_player/decode_player"),
    js=script(
        "kit/unpack",
        "kit/page",
        "kit/shade",
        "decode_player/overview",
        "kit/playback",
        "decode_player/index",
    ),
)
_COMPONENT = st.components.v2.component(
    DECODE_PLAYER.name, html=DECODE_PLAYER.html, css=DECODE_PLAYER.css, js=DECODE_PLAYER.js
)


def decode_player(
    payload: bytes,
    step: int,
    theme: Theme,
    key: str,
    on_move: Callable[[int], None] | None = None,
) -> int:
    """Show what `pack_player` packed; returns the step that is shown, counted from 0.

    The caller keeps the step and hands it in again. The browser moves by itself and tells where it
    stands once the user has rested for 300 ms, never while playing. on_move is called with that
    step before the script runs: the place to set the state of other widgets.
    """

    def moved() -> None:
        if on_move is not None and st.session_state[key].step is not None:
            on_move(int(st.session_state[key].step))

    result = _COMPONENT(
        key=key, data=decode_player_data(payload, theme, step), on_step_change=moved
    )
    return int(step) if result.step is None else int(result.step)


def decode_player_data(payload: bytes, theme: Theme, step: int = 0) -> bytes:
    """What the browser is given: a payload with the step that is shown."""
    return envelope(payload, theme, step=int(step))


def pack_decoding(
    decoding: Decoding, recording: Recording, layer: int, head: int | None = None
) -> bytes:
    """A decoding with one head of its recording, or with the mean of a layer's heads."""
    n_target = len(decoding.target)

    def rows(kind: str) -> Tensor:
        """One row a step [T, K]: of a generator's text the last ones."""
        weights = recording.attentions[kind].weights(layer, head)
        return (weights.mean(0) if head is None else weights)[-n_target:]

    cross = rows("cross") if "cross" in recording.attentions else None
    read = recording.attentions["decoder_self"].queries
    return pack_player(decoding, cross, rows("decoder_self"), read)


def pack_player(
    decoding: Decoding, cross: ArrayLike | None, own: ArrayLike, read: Sequence[Token]
) -> bytes:
    """A decoding with the exact weights of one head, or of a mean of heads.

    cross: [T, S] attention over the source; None for a generator, which reads source and target as
    one text. own: [T, R] attention over what was read; its row t may see the first R - T + t + 1.
    read: the R tokens that the decoder read: what it starts with (a token, or one more that names a
    language), or the source, and what was written.
    Raises ValueError when sizes differ.
    """
    own = np.asarray(own, "<f4")
    arrays = [own] if cross is None else [np.asarray(cross, "<f4"), own]
    n_source, n_target, n_read = len(decoding.source), len(decoding.target), len(read)
    n_before = n_source if cross is None else max(1, n_read - n_target + 1)
    shapes = [(n_target, n_read)] if cross is None else [(n_target, n_source), (n_target, n_read)]
    if [array.shape for array in arrays] != shapes or n_read != n_before + n_target - 1:
        raise ValueError(
            f"weights {[array.shape for array in arrays]} do not fit "
            f"{n_source} source, {n_target} target and {n_read} read tokens."
        )
    vocab_size = decoding.hypotheses[0].log_probs.shape[1]
    content = {
        "source": [] if cross is None else pieces(decoding.source),
        "prompt": pieces(decoding.source) if cross is None else [],
        "target": pieces(decoding.target),
        "read": pieces(read),
        "steps": [_step(step, vocab_size) for step in decoding.steps],
    }
    # Another head of the same decoding must not move the step that is shown.
    return pack({"decoding": digest(json.dumps(content).encode()), **content}, *arrays)


def _step(step: Step, vocab_size: int) -> dict[str, Any]:
    """One step; a chosen token that is not among the best is added below them."""
    ids = [candidate.token.id for candidate in step.candidates]
    candidates, rest = list(step.candidates), step.rest
    if step.chosen.token.id not in ids:
        candidates.append(step.chosen)
        rest = max(0.0, rest - step.chosen.prob)
    return {
        "candidates": [_candidate(candidate) for candidate in candidates],
        "chosen": [candidate.token.id for candidate in candidates].index(step.chosen.token.id),
        "rest": round(rest, 6),
        "n_rest": vocab_size - len(candidates),
        "entropy": round(step.entropy, 4),
    }


def _candidate(candidate: Candidate) -> tuple[str, int, float]:
    token = candidate.token
    return label(token), int(token.special), round(candidate.prob, 6)
