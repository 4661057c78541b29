"""Token embeddings and positions on the way in (AIAYN, sections 3.4 and 3.5), and pooling on
the way out.
"""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer.config import ModelConfig, Pooling
from transformer.layers.attention import project

# Token embeddings (AIAYN, section 3.4).


def normal(shape: tuple[int, int], std: float) -> Tensor:
    """Draw a table around 0, where numbers are kept at all.

    On the meta device torch would import its compiler to do nothing: 2 s of every start.
    """
    table = torch.empty(shape)
    return table if table.is_meta else nn.init.normal_(table, std=std)


class TokenEmbedding(nn.Module):
    """Embeddings, scaled by sqrt(d_model); the same matrix, unscaled, can project to the pieces."""

    def __init__(self, vocab_size: int, d_model: int, is_scaled: bool = True) -> None:
        super().__init__()
        self.scale = math.sqrt(d_model) if is_scaled else 1.0
        # Unscaled ones start as small as GPT-2's: large ones learn slowly, being mostly noise.
        std = 1 / math.sqrt(d_model) if is_scaled else 0.02
        self.weight = nn.Parameter(normal((vocab_size, d_model), std))

    def forward(self, ids: Tensor) -> Tensor:
        """ids: [B, T] -> [B, T, D]."""
        return F.embedding(ids, self.weight) * self.scale

    def logits(self, x: Tensor) -> Tensor:
        """x: [..., D] -> [..., V]."""
        return project(x, self.weight)


# Positional encodings (fixed; AIAYN, section 3.5) and positional embeddings (learned).


def sinusoids(max_len: int, d_model: int) -> Tensor:
    """PE(pos, 2i) = sin(pos / 10000^(2i/d_model)), PE(pos, 2i+1) = cos(same) -> [max_len, D]."""
    if torch.get_default_device().type == "meta":  # as `normal`
        return torch.empty(max_len, (d_model + 1) // 2 * 2)
    positions = torch.arange(max_len, dtype=torch.float64)[:, None]
    even = torch.arange(0, d_model, 2, dtype=torch.float64)
    angles = positions / 10000 ** (even / d_model)  # [max_len, D/2]
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2).float()


def sinusoids_in_halves(max_len: int, d_model: int) -> Tensor:
    """All sines, then all cosines: sin(pos / 10000^(i / (d_model/2 - 1))), ... -> [max_len, D].

    As tensor2tensor and Marian have it (`inits::sinusoidalPositionEmbeddings`): the wavelengths
    end at 10000 * 2 pi itself, where AIAYN's stop one short of it.
    """
    if torch.get_default_device().type == "meta":  # as `normal`
        return torch.empty(max_len, (d_model + 1) // 2 * 2)
    positions = torch.arange(max_len, dtype=torch.float64)[:, None]
    steps = torch.arange(d_model // 2, dtype=torch.float64) / (d_model // 2 - 1)
    angles = positions / 10000**steps  # [max_len, D/2]
    return torch.cat([angles.sin(), angles.cos()], dim=-1).float()


class SinusoidalPositions(nn.Module):
    """The fixed encoding of positions 0 .. max_len-1, handed out as a slice."""

    table: Tensor

    def __init__(self, table: Tensor) -> None:
        """table: [max_len, D]."""
        super().__init__()
        # Not saved: it follows from the configuration.
        self.register_buffer("table", table, persistent=False)

    def forward(self, n: int, start: int | Tensor = 0) -> Tensor:
        """The encodings of positions start .. start+n-1: [n, D]; of rows' own starts [B, n, D]."""
        return _rows(self.table, n, start)


class LearnedPositions(nn.Module):
    """A vector a position, learned like any other weight."""

    def __init__(self, max_len: int, d_model: int) -> None:
        super().__init__()
        self.table = nn.Parameter(normal((max_len, d_model), 0.02))

    def forward(self, n: int, start: int | Tensor = 0) -> Tensor:
        """The embeddings of positions start .. start+n-1: [n, D]; of rows' own starts [B, n, D]."""
        return _rows(self.table, n, start)


def _rows(table: Tensor, n: int, start: int | Tensor) -> Tensor:
    """table: [max_len, D]; start: one for all rows of a batch, or one for each, [B]."""
    if isinstance(start, int):
        return table[start : start + n]
    return table[start[:, None] + torch.arange(n, device=start.device)]


class Sum(nn.Module):
    """Token embeddings and encodings added up."""

    def forward(self, embedded: Tensor, encoded: Tensor) -> Tensor:
        """embedded: [B, T, D]; encoded: [T, D] or [B, T, D] -> [B, T, D]."""
        return embedded + encoded


class Concatenated(nn.Module):
    """Token embeddings and encodings side by side, projected back to d_model."""

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.project = nn.Linear(2 * d_model, d_model)

    def forward(self, embedded: Tensor, encoded: Tensor) -> Tensor:
        """embedded: [B, T, D]; encoded: [T, D] or [B, T, D] -> [B, T, D]."""
        joined: Tensor = self.project(torch.cat([embedded, encoded.expand_as(embedded)], dim=-1))
        return joined


def make_positions(config: ModelConfig) -> tuple[nn.Module | None, nn.Module]:
    """The encodings that a configuration names, if any, and how they meet the embeddings."""
    size = config.max_len, config.d_model
    if config.positions == "sinusoidal":
        make = sinusoids if config.sinusoids == "interleaved" else sinusoids_in_halves
        return SinusoidalPositions(make(*size)), Sum()
    if config.positions == "learned":
        return LearnedPositions(*size), Sum()
    if config.positions == "concatenated":
        return LearnedPositions(*size), Concatenated(config.d_model)
    return None, Sum()


# From one vector a position to one vector a text.


class Pool(nn.Module):
    """The mean, or each dimension's largest value, over positions that are not padding."""

    def __init__(self, pooling: Pooling) -> None:
        super().__init__()
        self.pooling = pooling

    def forward(self, x: Tensor, real: Tensor) -> Tensor:
        """x: [B, T, D]; real: bool [B, T] -> [B, D]."""
        if self.pooling == "max":
            return x.masked_fill(~real[..., None], -torch.inf).amax(1)
        real_states = x.masked_fill(~real[..., None], 0.0)
        return real_states.sum(1) / real.sum(1, keepdim=True)
