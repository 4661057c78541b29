"""One encoder layer and one decoder layer (AIAYN, section 3.1 and figure 1)."""

from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor, nn

from transformer.config import ModelConfig
from transformer.layers.attention import MultiHeadAttention
from transformer.layers.feed_forward import FeedForward
from transformer.layers.masks import subsequent_mask
from transformer.layers.residual import Residual

KeysValues = tuple[Tensor, Tensor]
"""Keys [B, H, K, d_key] and values [B, H, K, d_value]."""


@dataclass
class LayerCache:
    """The keys and values that one decoder layer keeps between steps."""

    cross: KeysValues | None = None
    own: KeysValues | None = None

    def extend(self, k: Tensor, v: Tensor) -> KeysValues:
        """Append the new positions' keys and values; returns all of them."""
        if self.own is not None:
            k, v = torch.cat([self.own[0], k], dim=2), torch.cat([self.own[1], v], dim=2)
        self.own = (k, v)
        return self.own

    def reorder(self, rows: Tensor) -> None:
        """Keep the given batch rows, in that order (a beam that forks or dies)."""
        self.cross = self.cross and (self.cross[0][rows], self.cross[1][rows])
        self.own = self.own and (self.own[0][rows], self.own[1][rows])


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.self_attention = MultiHeadAttention(config)
        self.feed_forward = FeedForward(config.d_model, config.d_ff, config.activation)
        self.self_residual = Residual(config)
        self.feed_residual = Residual(config)

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        """x: [B, S, D]; mask: [B, 1, 1, S] -> [B, S, D]."""
        real = None if mask is None else mask[:, 0, 0]

        def attend(x: Tensor) -> Tensor:
            return self.self_attention(x, self.self_attention.keys_values(x), mask)

        return self.feed_residual(self.self_residual(x, attend, real), self.feed_forward, real)


class DecoderLayer(nn.Module):
    """Causal self-attention, cross-attention over the memory if there is one, feed-forward."""

    def __init__(self, config: ModelConfig, has_memory: bool = True) -> None:
        super().__init__()
        self.self_attention = MultiHeadAttention(config)
        self.cross_attention = MultiHeadAttention(config) if has_memory else None
        self.feed_forward = FeedForward(config.d_model, config.d_ff, config.activation)
        self.self_residual = Residual(config)
        self.cross_residual = Residual(config) if has_memory else None
        self.feed_residual = Residual(config, config.decoder_feed_norm)

    def start(self, memory: Tensor) -> LayerCache:
        """memory: [B, S, D] -> an empty cache that knows its keys and values."""
        cross = self.cross_attention
        return LayerCache() if cross is None else LayerCache(cross=cross.keys_values(memory))

    def forward(
        self,
        x: Tensor,
        memory_mask: Tensor | None,
        cache: LayerCache,
        real: Tensor | None = None,
        own_mask: Tensor | None = None,
    ) -> Tensor:
        """x: [B, T, D], positions not yet in the cache; memory_mask: [B, 1, 1, S]; real: [B, T].

        own_mask: [B, 1, 1, K] for T = 1, where rows have read different numbers of tokens.
        """

        def attend_own(x: Tensor) -> Tensor:
            k, v = cache.extend(*self.self_attention.keys_values(x))
            if own_mask is not None:
                return self.self_attention(x, (k, v), own_mask)
            if x.size(1) > 1 and k.size(2) > x.size(1):
                mask = subsequent_mask(x.size(1), k.size(2)).to(x.device)
                return self.self_attention(x, (k, v), mask)
            return self.self_attention(x, (k, v), is_causal=x.size(1) > 1)

        x = self.self_residual(x, attend_own, real)
        if self.cross_attention is not None and self.cross_residual is not None:
            attend = partial(self.cross_attention, keys_values=cache.cross, mask=memory_mask)
            x = self.cross_residual(x, attend, real)
        return self.feed_residual(x, self.feed_forward, real)
