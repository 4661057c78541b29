"""A recording of a tiny model with random weights, for everything that draws or exports."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

import pytest
import torch

from transformer.checkpoint import About, Checkpoint
from transformer.config import ModelConfig
from transformer.decoding import Decoding, decode
from transformer.discover import discover
from transformer.recorder import record
from transformer.recording import Recording
from transformer.tokenizer import NumberTokenizer, Token

NASTY = (
    "<b>x</b>",
    "</script><script>alert(1)</script>",
    "$x_1$",
    "a\nb",
    "`*_~`",
    '",;',
    "\u202e",
)
"""Pieces that Plotly, Markdown, HTML, LaTeX or CSV would read as something else than text."""


@pytest.fixture(scope="session")
def checkpoint() -> Checkpoint:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    config = ModelConfig(
        vocab_size=40,
        d_model=16,
        d_ff=32,
        n_heads=2,
        n_encoder_layers=2,
        n_decoder_layers=2,
        max_len=256,
        eos_id=None,
    )
    family = discover("transformer.models", "FAMILY")["encoder_decoder"]
    model = family.build(config).eval().requires_grad_(False)
    about = About("Random", "none", "numbers")
    return Checkpoint(
        Path("random"), about, config, family, model, NumberTokenizer(40), torch.device("cpu")
    )


@dataclass(frozen=True)
class Recorder:
    checkpoint: Checkpoint

    def __call__(self, n_source: int, n_target: int) -> Recording:
        numbers = [str(2 + i % 30) for i in range(max(n_source, n_target))]
        source, target = " ".join(numbers[:n_source]), " ".join(numbers[:n_target])
        return record(self.checkpoint, source, target)


@pytest.fixture(scope="session")
def recorder(checkpoint: Checkpoint) -> Callable[[int, int], Recording]:
    """(source tokens, target tokens) -> a recording of that size."""
    return Recorder(checkpoint)


@pytest.fixture(scope="session")
def recording(recorder: Recorder) -> Recording:
    return recorder(7, 5)


@pytest.fixture(scope="session")
def nasty(recording: Recording) -> Recording:
    """The same recording with pieces that must all show literally."""
    tokens = tuple(Token(i, piece) for i, piece in enumerate(NASTY))
    attentions = {
        kind: replace(
            attention,
            queries=tokens[: len(attention.queries)],
            keys=tokens[: len(attention.keys)],
            produced=attention.produced and tokens[: len(attention.produced)],
        )
        for kind, attention in recording.attentions.items()
    }
    positions = {
        side: replace(encoding, tokens=tokens[: len(encoding.tokens)])
        for side, encoding in recording.positions.items()
    }
    return replace(
        recording,
        attentions=MappingProxyType(attentions),
        positions=MappingProxyType(positions),
    )


@pytest.fixture(scope="session")
def decoding(checkpoint: Checkpoint) -> Decoding:
    return decode(checkpoint, "3 7 2 9")
