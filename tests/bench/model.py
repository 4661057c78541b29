"""The model that benches run: the shipped one, else a random one of its size."""

from pathlib import Path

import torch
from torch import nn

from transformer.checkpoint import About, Checkpoint
from transformer.config import ModelConfig
from transformer.discover import discover
from transformer.formats.opening import load_checkpoint
from transformer.tokenizer import NumberTokenizer

SHIPPED = Path(__file__).parents[2] / "checkpoints" / "en-de"
CONFIG = ModelConfig(d_model=256, d_ff=1024, n_encoder_layers=3, n_decoder_layers=3)


def bench_checkpoint() -> Checkpoint:
    """The shipped checkpoint where there is one. Nobody has recorded with it yet."""
    if SHIPPED.is_dir():
        return load_checkpoint(SHIPPED, "cpu")
    return random_checkpoint(CONFIG)


def random_checkpoint(config: ModelConfig) -> Checkpoint:
    """A model of this size, whose tokens are numbers."""
    torch.manual_seed(0)
    family = discover("transformer.models", "FAMILY")[config.family]
    model = family.build(config).eval().requires_grad_(False)
    tokenizer = NumberTokenizer(config.vocab_size)
    about = About("Random weights", "none", tokenizer.kind)
    return Checkpoint(Path("random"), about, config, family, model, tokenizer, torch.device("cpu"))


def unwatched(checkpoint: Checkpoint) -> nn.Module:
    """The same model on the same weights, without the hooks that recording installs."""
    model = checkpoint.family.build(checkpoint.config).eval().requires_grad_(False)
    model.load_state_dict(checkpoint.model.state_dict(), assign=True)
    return model


def sentence(checkpoint: Checkpoint, n: int) -> str:
    """A text of exactly n tokens."""
    for word in ("house", "7"):
        for length in range(1, 2 * n):
            text = " ".join([word] * length)
            try:
                if len(checkpoint.tokenizer.encode(text)) == n:
                    return text
            except ValueError:
                break
    raise ValueError(f"no text of {n} tokens")
