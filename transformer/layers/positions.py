"""Sinusoidal positional encodings (AIAYN, section 3.5)."""

import torch
from torch import Tensor, nn


def sinusoids(max_len: int, d_model: int) -> Tensor:
    """PE(pos, 2i) = sin(pos / 10000^(2i/d_model)), PE(pos, 2i+1) = cos(same) -> [max_len, D]."""
    positions = torch.arange(max_len, dtype=torch.float64)[:, None]
    even = torch.arange(0, d_model, 2, dtype=torch.float64)
    angles = positions / 10000 ** (even / d_model)  # [max_len, D/2]
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2).float()


class SinusoidalPositions(nn.Module):
    """The fixed encoding of positions 0 .. max_len-1, handed out as a slice."""

    table: Tensor

    def __init__(self, max_len: int, d_model: int) -> None:
        super().__init__()
        # Not saved: it follows from the configuration.
        self.register_buffer("table", sinusoids(max_len, d_model), persistent=False)

    def forward(self, n: int, start: int = 0) -> Tensor:
        """The encodings of positions start .. start+n-1: [n, D]."""
        return self.table[start : start + n]
