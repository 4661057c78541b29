"""Stacks of layers: the encoder, and the decoder with what it carries between steps."""

from dataclasses import dataclass

import torch
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
    """The state that decoding carries from step to step."""

    caches: list[LayerCache]
    memory_mask: Tensor | None = None
    n_positions: int | Tensor = 0
    """The number of tokens that were read: by all rows, or by each, [B]; see `joined`."""

    def reorder(self, rows: Tensor) -> None:
        """Keep the given batch rows, in that order; rows may repeat or be missing."""
        for cache in self.caches:
            cache.reorder(rows)
        if self.memory_mask is not None:
            self.memory_mask = self.memory_mask[rows]
        if isinstance(self.n_positions, Tensor):
            self.n_positions = self.n_positions[rows]

    def own_mask(self) -> Tensor | None:
        """[B, 1, 1, K], True at what each row has read itself; None where all have read as much."""
        if isinstance(self.n_positions, int):
            return None
        places = torch.arange(int(self.n_positions.max()), device=self.n_positions.device)
        return (places >= len(places) - self.n_positions[:, None])[:, None, None]


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
        state.n_positions = state.n_positions + x.size(1)
        own_mask = state.own_mask()
        x = self.embedding_norm(x, real)
        for layer, cache in zip(self.layers, state.caches, strict=True):
            x = layer(x, state.memory_mask, cache, real, own_mask)
        closed: Tensor = self.norm(x, real)
        return closed
