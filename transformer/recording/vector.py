"""The vector of a text that a model makes, which writes nothing and names no class."""

from collections.abc import Callable, Collection
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from transformer.field_docs import fields_in_help
from transformer.in_a_line import in_a_line

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

ACTIVATIONS: dict[str, Callable[[], nn.Module]] = {
    each.__name__: each
    for each in (
        *(nn.Identity, nn.Tanh, nn.ReLU, nn.GELU, nn.Sigmoid, nn.SiLU, nn.Mish, nn.ELU, nn.SELU),
        *(nn.LeakyReLU, nn.ReLU6, nn.Softplus, nn.Softsign, nn.Hardtanh, nn.LogSigmoid),
    )
}
"""Classes of torch's by their names; each is made without settings."""


@fields_in_help
@dataclass(frozen=True, eq=False)
@in_a_line
class Dense:
    """A layer that follows the pooling: f(W x + b) (Sentence Transformers' Dense)."""

    weight: Tensor
    """W [D_out, D_in]."""
    bias: Tensor | None
    """b [D_out]; None: it has none."""
    activation: str
    """The name of f: one of ACTIVATIONS."""

    def __call__(self, vector: Tensor) -> Tensor:
        """[D_in] -> [D_out]."""
        linear = torch.nn.functional.linear(vector, self.weight, self.bias)
        result: Tensor = ACTIVATIONS[self.activation]()(linear)
        return result

    @property
    def title(self) -> str:
        """Say in words what it does."""
        of = "" if self.activation == "Identity" else f" and {self.activation}"
        return f"through a dense layer of {len(self.weight):,}{of}"


@fields_in_help
@dataclass(frozen=True)
@in_a_line
class Pooling:
    """From one vector a token to one vector a text (Reimers and Gurevych 2019, section 3)."""

    modes: tuple[str, ...] = ("mean",)
    """Some of MODES; the results of several stand behind each other."""
    is_normalized: bool = False
    """True: the vector is divided by its length, at last."""
    layers: tuple[Dense, ...] = ()
    """The layers that follow, in their order."""

    def pooled(self, states: Tensor, hidden: Collection[int] = ()) -> Tensor:
        """states: [T, D] of all tokens, special ones too -> [D], or of m modes [m · D].

        hidden: places that are left out, as padding is.
        """
        left = torch.tensor([i for i in range(len(states)) if i not in hidden])
        return torch.cat([_pooled(states, left, mode) for mode in MODES if mode in self.modes])

    def __call__(self, states: Tensor, hidden: Collection[int] = ()) -> Tensor:
        """Pool states [T, D], and go through the layers that follow -> [D'], the text's vector."""
        vector = self.pooled(states, hidden)
        for layer in self.layers:
            vector = layer(vector)
        return torch.nn.functional.normalize(vector, dim=0) if self.is_normalized else vector

    @property
    def title(self) -> str:
        """Say in words what it takes."""
        names = " and ".join(TITLES[mode] for mode in MODES if mode in self.modes)
        last = ["of length 1"] if self.is_normalized else []
        return ", ".join([names, *(layer.title for layer in self.layers), *last])


def _pooled(states: Tensor, left: Tensor, mode: str) -> Tensor:
    """left: the places that are pooled; the first token's state is its own, hidden or not."""
    if mode == "cls":
        return states[0]
    some = states[left]
    if mode == "lasttoken":
        return some[-1]
    if mode == "max":
        return some.amax(0)
    if mode == "weightedmean":
        weights = (left + 1).to(some)
        return (weights / weights.sum()) @ some
    return some.sum(0) / (len(some) if mode == "mean" else len(some) ** 0.5)


MEAN = Pooling()
"""The pooling of a folder that names none."""


@fields_in_help
@dataclass(frozen=True, eq=False)
@in_a_line
class TextVector:
    """A vector a token, pooled to one of the whole text."""

    states: Tensor
    """The model's output [T, D], on the CPU in float32."""
    pooling: Pooling
    """The way from states to one vector."""
    is_named: bool
    """True: the folder names this pooling."""
    hidden: tuple[int, ...] = ()
    """The tokens that are left out of it, as padding is; "cls" takes the first one all the same."""

    @property
    def values(self) -> Tensor:
        """[D], or of several modes [m · D], or as wide as the last layer that follows."""
        return self.pooling(self.states, self.hidden)

    @property
    def pooled(self) -> Tensor:
        """[D], or of several modes [m · D]: before the layers that follow."""
        return self.pooling.pooled(self.states, self.hidden)


def cosine(a: Tensor, b: Tensor) -> float:
    """cos of the angle between two vectors [D], -1 to 1; not a number where one has no length."""
    a, b = a.double(), b.double()
    return float((a / a.norm()) @ (b / b.norm()))


def angle(a: Tensor, b: Tensor) -> float:
    """Compute the angle between two vectors [D] in degrees, 0 to 180, exact near 0 (Kahan)."""
    a, b = a.double() / a.double().norm(), b.double() / b.double().norm()
    return float(torch.rad2deg(2 * torch.atan2((a - b).norm(), (a + b).norm())))
