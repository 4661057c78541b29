"""Modules as people write them: each is recorded as it was, in part, or refused in a sentence."""

import math
from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tests.transformer.watch.layers import HEADS, TOKENS, D, Layers, Projected, split, weights_of
from transformer import InputError, record

SIZE = D // HEADS
x = torch.randn(1, TOKENS, D, generator=torch.Generator().manual_seed(1))


def join(heads: Tensor) -> Tensor:
    """[1, H, T, d] -> [1, T, H * d]"""
    return heads.transpose(1, 2).flatten(-2)


class Stranger(Projected):
    """Queries, keys and values, by hand unless another one says how."""

    def made(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        return split(self.q(x)), split(self.k(x)), split(self.v(x))

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.made(x)
        weights = weights_of(q, k)
        self.wanted = weights[0]
        return self.out(join(weights @ v))  # type: ignore[no-any-return]


class Talking(Stranger):
    """Talking heads: scores and weights are mixed; the weights are what meets the values."""

    def __init__(self) -> None:
        super().__init__()
        self.before, self.after = (nn.Parameter(torch.randn(HEADS, HEADS)) for _ in range(2))

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.made(x)
        scores = torch.einsum("bhqk,hg->bgqk", q @ k.mT, self.before)
        weights = torch.einsum("bhqk,hg->bgqk", scores.softmax(-1), self.after)
        self.wanted = weights[0]
        return self.out(join(weights @ v))  # type: ignore[no-any-return]


class Latent(Stranger):
    """Multi-head latent attention: queries, keys and values are made of short states."""

    def __init__(self) -> None:
        super().__init__()
        self.down_q, self.down_kv = nn.Linear(D, 5), nn.Linear(D, 6)
        self.q, self.k, self.v = nn.Linear(5, D), nn.Linear(6, D), nn.Linear(6, D)

    def made(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        c = F.layer_norm(self.down_kv(x), (6,))
        return split(self.q(self.down_q(x))), split(self.k(c)), split(self.v(c))


class Einsum(Stranger):
    def forward(self, x: Tensor) -> Tensor:
        q, k, v = (f(x).unflatten(-1, (HEADS, SIZE)) for f in (self.q, self.k, self.v))
        weights = (torch.einsum("bqhd,bkhd->bhqk", q, k) / math.sqrt(SIZE)).softmax(-1)
        self.wanted = weights[0]
        return self.out(torch.einsum("bhqk,bkhd->bqhd", weights, v).flatten(-2))  # type: ignore[no-any-return]


class Loop(Stranger):
    """A head after the other."""

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.made(x)
        weights = [weights_of(q[:, h], k[:, h]) for h in range(HEADS)]
        self.wanted = torch.cat(weights)
        return self.out(torch.cat([w @ v[:, h] for h, w in enumerate(weights)], -1))  # type: ignore[no-any-return]


class Compiled(Stranger):
    def __init__(self) -> None:
        super().__init__()
        self.attend = torch.compile(F.scaled_dot_product_attention, backend="eager")

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.made(x)
        self.wanted = weights_of(q, k)[0]
        return self.out(join(self.attend(q, k, v)))  # type: ignore[no-any-return]


class Top(Stranger):
    """The two largest scores of a row."""

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.made(x)
        scores = q @ k.mT
        least = scores.topk(2, -1).values[..., -1:]
        weights = scores.masked_fill(scores < least, -torch.inf).softmax(-1)
        self.wanted = weights[0]
        return self.out(join(weights @ v))  # type: ignore[no-any-return]


class Gated(Stranger):
    """A gate on the heads, before W_O."""

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.made(x)
        self.wanted = weights_of(q, k)[0]
        return self.out(join(F.scaled_dot_product_attention(q, k, v)) * self.q(x).sigmoid())  # type: ignore[no-any-return]


class Normed(Stranger):
    """A norm of the heads, before W_O."""

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.made(x)
        self.wanted = weights_of(q, k)[0]
        return self.out(F.layer_norm(join(F.scaled_dot_product_attention(q, k, v)), (D,)))  # type: ignore[no-any-return]


class Linear(Stranger):
    """Linear attention: there are no weights."""

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.made(x)
        q, k = F.elu(q) + 1, F.elu(k) + 1
        return self.out(join(q @ (k.mT @ v) / (q @ k.sum(2)[..., None])))  # type: ignore[no-any-return]


class Sigmoid(Stranger):
    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.made(x)
        return self.out(join((q @ k.mT).sigmoid() @ v))  # type: ignore[no-any-return]


class Unfolded(Stranger):
    """Windows of three keys, an axis of their own."""

    def forward(self, x: Tensor) -> Tensor:
        q, *both = self.made(x)
        k, v = (F.pad(z, (0, 0, 1, 1)).unfold(2, 3, 1) for z in both)
        weights = torch.einsum("bhqd,bhqdw->bhqw", q, k).softmax(-1)
        return self.out(join(torch.einsum("bhqw,bhqdw->bhqd", weights, v)))  # type: ignore[no-any-return]


def model(style: Callable[[], nn.Module]) -> Layers:
    torch.manual_seed(4)
    return Layers([style(), style()]).eval()


@pytest.mark.parametrize(
    "style",
    [Talking, Latent, Einsum, Loop, Compiled, Top, Gated, Normed],
    ids=lambda it: it.__name__,
)
@pytest.mark.parametrize("n", [TOKENS, 2])
def test_weights_are_those_that_meet_the_values(style: type[Stranger], n: int) -> None:
    module = model(style)
    words = [f"w{i}" for i in range(n)]
    recording = record(module, x[:, :n], words)
    attention = recording.attentions["encoder_self"]
    for layer, each in enumerate(module.layers):
        torch.testing.assert_close(attention.weights(layer), each.wanted, rtol=0, atol=1e-6)
    assert attention.n_layers == 2 and recording.checked.is_right
    assert [each.piece for each in attention.keys] == words
    is_joined = style not in (Gated, Normed)
    assert all(call.has_output is is_joined for call in attention.calls)


@pytest.mark.parametrize("style", [Linear, Sigmoid, Unfolded], ids=lambda it: it.__name__)
def test_what_has_no_weights_is_refused_and_named(style: type[Stranger]) -> None:
    with pytest.raises(InputError, match=r"Layers: \*: [a-z].*\.$"):
        record(model(style), x)
