"""Encoder and decoder layers, their sublayers and stacks (AIAYN, section 3.1 and figure 1)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer.config import Activation, ModelConfig
from transformer.layers.attention import Linear, MultiHeadAttention, subsequent_mask
from transformer.layers.norm import make_closing_norm, make_norm

# The residual sum around a sublayer, with its dropout and normalisation.


class Residual(nn.Module):
    """One of three orders, f being the sublayer.

    "post": norm(x + dropout(f(x))) (AIAYN, section 3.1); "pre": x + dropout(f(norm(x)));
    "sublayer": x + dropout(norm(f(x))).
    """

    def __init__(self, config: ModelConfig, has_norm: bool = True) -> None:
        super().__init__()
        self.norm_order = config.norm_order
        self.norm = make_norm(config, has_norm)
        self.dropout = nn.Dropout(config.dropout)

    def forward(
        self, x: Tensor, sublayer: Callable[[Tensor], Tensor], real: Tensor | None = None
    ) -> Tensor:
        """x: [B, T, D]; sublayer keeps that shape; real: bool [B, T], None where all are."""
        if self.norm_order == "pre":
            return x + self.dropout(sublayer(self.norm(x, real)))
        if self.norm_order == "sublayer":
            return x + self.dropout(self.norm(sublayer(x), real))
        normed: Tensor = self.norm(x + self.dropout(sublayer(x)), real)
        return normed


# The position-wise feed-forward network (AIAYN, section 3.3).

_ACTIVATIONS: dict[Activation, Callable[[Tensor], Tensor]] = {
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu_tanh": partial(F.gelu, approximate="tanh"),
    "swish": F.silu,
}


class FeedForward(nn.Module):
    """activation(x W1 + b1) W2 + b2, the same at every position."""

    def __init__(self, d_model: int, d_ff: int, activation: Activation = "relu") -> None:
        super().__init__()
        self.inner = Linear(d_model, d_ff)
        self.activation = _ACTIVATIONS[activation]
        self.outer = Linear(d_ff, d_model)

    def forward(self, x: Tensor) -> Tensor:
        """x: [B, T, D] -> [B, T, D]."""
        return self.outer(self.activation(self.inner(x)))


# One encoder layer and one decoder layer (AIAYN, section 3.1 and figure 1).

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


# Stacks of layers: the encoder, and the decoder with what it carries between steps.


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


# One state of decoding from several: rows that began at different times go on as one batch.


def joined(states: Sequence[DecoderState], n_rows: Sequence[int]) -> DecoderState:
    """The rows of all of these, one state after the other. n_rows: of each of them.

    Each row's own keys and values end in the last column, so that its next token stands beside
    those of the others: shorter rows are padded at their beginning, and shorter memories at their
    end. It is as narrow as its rows allow, and has no mask where none is needed.
    """
    device = _device(states)
    positions = torch.cat([_positions(*each, device) for each in zip(states, n_rows, strict=True)])
    n_own = int(positions.max())
    n_memory = max(_n_memory(each) for each in states)
    caches = [
        LayerCache(
            cross=_cat([each.cross for each in layer], n_rows, n_memory, at_end=True),
            own=_cat([each.own for each in layer], n_rows, n_own, at_end=False),
        )
        for layer in zip(*(each.caches for each in states), strict=True)
    ]
    masks = [_mask(*each, n_memory, device) for each in zip(states, n_rows, strict=True)]
    mask = torch.cat(masks)
    return DecoderState(
        caches,
        memory_mask=None if bool(mask.all()) else mask,
        n_positions=n_own if bool((positions == n_own).all()) else positions,
    )


def _device(states: Sequence[DecoderState]) -> torch.device | None:
    """None where nothing was read yet."""
    pairs = (pair for each in states for pair in (each.caches[0].cross, each.caches[0].own))
    return next((pair[0].device for pair in pairs if pair is not None), None)


def _positions(state: DecoderState, n_rows: int, device: torch.device | None) -> Tensor:
    """[B]"""
    n = state.n_positions
    return n if isinstance(n, Tensor) else torch.full((n_rows,), n, device=device)


def _n_memory(state: DecoderState) -> int:
    """Return the number of places of the longest memory of its rows; 0 without any."""
    cross = state.caches[0].cross
    if cross is None:
        return 0
    return cross[0].size(2) if state.memory_mask is None else int(state.memory_mask.sum(-1).max())


def _mask(state: DecoderState, n_rows: int, width: int, device: torch.device | None) -> Tensor:
    """bool [B, 1, 1, width], False at padding."""
    mask = state.memory_mask
    if mask is None:
        mask = torch.ones(n_rows, 1, 1, _n_memory(state), dtype=torch.bool, device=device)
    return F.pad(mask, (0, width - mask.size(-1)))


def _cat(
    pairs: Sequence[KeysValues | None], n_rows: Sequence[int], width: int, at_end: bool
) -> KeysValues | None:
    """All rows with so many places, padded or cut at their end, or else at their beginning."""
    first = next((pair for pair in pairs if pair is not None), None)
    if first is None:
        return None

    def side(i: int) -> Tensor:
        parts = []
        for pair, n in zip(pairs, n_rows, strict=True):
            part = first[i][:1, :, :0].expand(n, -1, -1, -1) if pair is None else pair[i]
            lacking = width - part.size(2)  # below 0: places that no row needs
            parts.append(F.pad(part, (0, 0, 0, lacking) if at_end else (0, 0, lacking, 0)))
        return torch.cat(parts)

    return side(0), side(1)
