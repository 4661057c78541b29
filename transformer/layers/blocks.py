"""One encoder layer and one decoder layer (AIAYN, section 3.1 and figure 1)."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from transformer.config import ModelConfig
from transformer.layers.attention import MultiHeadAttention
from transformer.layers.feed_forward import FeedForward
from transformer.layers.residual import Residual


@dataclass
class LayerCache:
    """What one decoder layer keeps between steps: keys and values, each [B, H, K, d_head]."""

    cross: tuple[Tensor, Tensor]
    own: tuple[Tensor, Tensor] | None = None

    def extend(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Append the new positions' keys and values; returns all of them."""
        if self.own is not None:
            k, v = torch.cat([self.own[0], k], dim=2), torch.cat([self.own[1], v], dim=2)
        self.own = (k, v)
        return self.own

    def reorder(self, rows: Tensor) -> None:
        """Keep the given batch rows, in that order (a beam that forks or dies)."""
        self.cross = (self.cross[0][rows], self.cross[1][rows])
        if self.own is not None:
            self.own = (self.own[0][rows], self.own[1][rows])


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.self_attention = MultiHeadAttention(config.d_model, config.n_heads)
        self.feed_forward = FeedForward(config.d_model, config.d_ff)
        self.self_residual = _residual(config)
        self.feed_residual = _residual(config)

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        """x: [B, S, D]; mask: [B, 1, 1, S] -> [B, S, D]."""

        def attend(x: Tensor) -> Tensor:
            return self.self_attention(x, self.self_attention.keys_values(x), mask)

        return self.feed_residual(self.self_residual(x, attend), self.feed_forward)


class DecoderLayer(nn.Module):
    """Causal self-attention, cross-attention over the memory, then feed-forward."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.self_attention = MultiHeadAttention(config.d_model, config.n_heads)
        self.cross_attention = MultiHeadAttention(config.d_model, config.n_heads)
        self.feed_forward = FeedForward(config.d_model, config.d_ff)
        self.self_residual = _residual(config)
        self.cross_residual = _residual(config)
        self.feed_residual = _residual(config)

    def start(self, memory: Tensor) -> LayerCache:
        """memory: [B, S, D] -> an empty cache that knows its keys and values."""
        return LayerCache(cross=self.cross_attention.keys_values(memory))

    def forward(self, x: Tensor, memory_mask: Tensor | None, cache: LayerCache) -> Tensor:
        """x: [B, T, D], the positions not yet in the cache; memory_mask: [B, 1, 1, S]."""

        def attend_own(x: Tensor) -> Tensor:
            keys_values = cache.extend(*self.self_attention.keys_values(x))
            # Several positions come only at the start, when the cache was empty.
            return self.self_attention(x, keys_values, is_causal=x.size(1) > 1)

        def attend_memory(x: Tensor) -> Tensor:
            return self.cross_attention(x, cache.cross, memory_mask)

        x = self.self_residual(x, attend_own)
        x = self.cross_residual(x, attend_memory)
        return self.feed_residual(x, self.feed_forward)


def _residual(config: ModelConfig) -> Residual:
    return Residual(config.d_model, config.dropout, config.norm_order)
