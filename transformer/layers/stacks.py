"""Stacks of layers: the encoder, and the decoder with what it carries between steps."""

from dataclasses import dataclass

from torch import Tensor, nn

from transformer.config import ModelConfig
from transformer.layers.blocks import DecoderLayer, EncoderLayer, LayerCache
from transformer.layers.norm import make_closing_norm, make_norm


class Encoder(nn.Module):
    """A stack of encoder layers: x [B, S, D], mask [B, 1, 1, S] -> memory [B, S, D]."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.embedding_norm = make_norm(config, config.embedding_norm)
        self.layers = nn.ModuleList(EncoderLayer(config) for _ in range(config.n_encoder_layers))
        self.norm = make_closing_norm(config, config.encoder_norm)

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        real = None if mask is None else mask[:, 0, 0]
        x = self.embedding_norm(x, real)
        for layer in self.layers:
            x = layer(x, mask)
        closed: Tensor = self.norm(x, real)
        return closed


@dataclass
class DecoderState:
    """What decoding carries from step to step."""

    caches: list[LayerCache]
    memory_mask: Tensor | None = None
    n_positions: int = 0

    def reorder(self, rows: Tensor) -> None:
        """Keep the given batch rows, in that order; rows may repeat or be missing."""
        for cache in self.caches:
            cache.reorder(rows)
        if self.memory_mask is not None:
            self.memory_mask = self.memory_mask[rows]


class Decoder(nn.Module):
    """A stack of decoder layers, each with its own cache: x [B, T, D] -> [B, T, D]."""

    def __init__(self, config: ModelConfig, has_memory: bool = True) -> None:
        super().__init__()
        self.embedding_norm = make_norm(config, config.embedding_norm)
        self.layers = nn.ModuleList(
            DecoderLayer(config, has_memory) for _ in range(config.n_decoder_layers)
        )
        self.norm = make_closing_norm(config, config.decoder_norm)

    def start(self, memory: Tensor) -> list[LayerCache]:
        """Empty caches that know the memory's keys and values. memory: [B, S, D]."""
        return [layer.start(memory) for layer in self.layers]  # type: ignore[operator]

    def forward(self, x: Tensor, state: DecoderState, real: Tensor | None = None) -> Tensor:
        """x: the positions that `state` has not seen; real: bool [B, T]. Moves the state."""
        state.n_positions += x.size(1)
        x = self.embedding_norm(x, real)
        for layer, cache in zip(self.layers, state.caches, strict=True):
            x = layer(x, state.memory_mask, cache, real)
        closed: Tensor = self.norm(x, real)
        return closed
