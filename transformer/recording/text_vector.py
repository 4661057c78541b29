"""The vector of a text that a model makes, which writes nothing and names no class."""

from dataclasses import dataclass

import torch
from torch import Tensor

MODES = ("cls", "max", "mean", "mean_sqrt_len", "weightedmean", "lasttoken")
"""Ways of pooling, in the order in which several are joined (Sentence Transformers' Pooling)."""
TITLES = {
    "cls": "the first token's",
    "max": "the largest of each dimension",
    "mean": "the mean of all tokens",
    "mean_sqrt_len": "the sum of all tokens by the root of their number",
    "weightedmean": "the mean of all tokens, later ones weighing more",
    "lasttoken": "the last token's",
}


@dataclass(frozen=True)
class Pooling:
    """From one vector a token to one vector a text (Reimers and Gurevych 2019, section 3)."""

    modes: tuple[str, ...] = ("mean",)
    """Some of MODES; the results of several stand behind each other."""
    is_normalized: bool = False
    """True: the vector is divided by its length."""

    def __call__(self, states: Tensor) -> Tensor:
        """states: [T, D] of all tokens, special ones too -> [D], or of m modes [m · D]."""
        vector = torch.cat([_pooled(states, mode) for mode in MODES if mode in self.modes])
        return torch.nn.functional.normalize(vector, dim=0) if self.is_normalized else vector

    @property
    def title(self) -> str:
        """Say in words what it takes."""
        names = " and ".join(TITLES[mode] for mode in MODES if mode in self.modes)
        return f"{names}, of length 1" if self.is_normalized else names


def _pooled(states: Tensor, mode: str) -> Tensor:
    n = len(states)
    if mode == "cls":
        return states[0]
    if mode == "lasttoken":
        return states[-1]
    if mode == "max":
        return states.amax(0)
    if mode == "weightedmean":
        weights = torch.arange(1, n + 1, dtype=states.dtype)
        return (weights / weights.sum()) @ states
    return states.sum(0) / (n if mode == "mean" else n**0.5)


MEAN = Pooling()
"""The pooling of a folder that names none."""


@dataclass(frozen=True, eq=False)
class TextVector:
    """A vector a token, pooled to one of the whole text."""

    states: Tensor
    """The model's output [T, D], on the CPU in float32."""
    pooling: Pooling
    is_named: bool
    """True: the folder names this pooling."""

    @property
    def values(self) -> Tensor:
        """[D], or of several modes [m · D]."""
        return self.pooling(self.states)


def cosine(a: Tensor, b: Tensor) -> float:
    """cos of the angle between two vectors [D], -1 to 1; not a number where one has no length."""
    a, b = a.double(), b.double()
    return float((a / a.norm()) @ (b / b.norm()))


def angle(a: Tensor, b: Tensor) -> float:
    """Compute the angle between two vectors [D] in degrees, 0 to 180, exact near 0 (Kahan)."""
    a, b = a.double() / a.double().norm(), b.double() / b.double().norm()
    return float(torch.rad2deg(2 * torch.atan2((a - b).norm(), (a + b).norm())))
