"""What stands between heads and W_O is named: then no one matrix joins them."""

from collections.abc import Callable
from itertools import product

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tests.representatives import cases
from tests.transformer.watch.inline import HEADS, D, split
from transformer import record
from transformer.watch.calls import layer
from transformer.watch.kinds import kind as roles

x = torch.randn(1, 5, D, generator=torch.Generator().manual_seed(1))


class Layer(nn.Module):
    """An attention whose heads something meets before its W_O."""

    def __init__(self, between: Callable[["Layer", Tensor, Tensor], Tensor]) -> None:
        super().__init__()
        torch.manual_seed(3)
        self.q, self.k, self.v, self.gate, self.out = (nn.Linear(D, D) for _ in range(5))
        self.of_heads, self.norm = nn.Linear(D, HEADS), nn.LayerNorm(D)
        self.within, self.of_each = (
            nn.Linear(D // HEADS, D // HEADS),
            nn.Parameter(torch.randn(HEADS)),
        )
        self.conv = nn.Conv1d(D, D, 1)
        self.of_columns, self.one = nn.Parameter(torch.randn(D)), nn.Parameter(torch.tensor(0.3))
        self.mask = torch.tensor([False, True, False, False, False])[:, None]
        self.between = between

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = (split(f(x)) for f in (self.q, self.k, self.v))
        heads = F.scaled_dot_product_attention(q, k, v)
        return x + self.out(self.between(self, heads, x))  # type: ignore[no-any-return]


def join(heads: Tensor) -> Tensor:
    return heads.transpose(1, 2).flatten(-2)


def _rms(model: Layer, heads: Tensor, x: Tensor) -> Tensor:
    joined = join(heads)
    return joined * torch.rsqrt(joined.pow(2).mean(-1, keepdim=True) + 1e-6)


def _centred(model: Layer, heads: Tensor, x: Tensor) -> Tensor:
    joined = join(heads)
    return (joined - joined.mean(-1, keepdim=True)) / joined.std(-1, keepdim=True)


def _emptied(model: Layer, heads: Tensor, x: Tensor) -> Tensor:
    joined = join(heads).clone()
    joined[:, 1] = 0
    return joined


def _groups(model: Layer, heads: Tensor, x: Tensor) -> Tensor:
    joined = join(heads)
    return F.group_norm(joined.view(-1, D), HEADS).view_as(joined)


def _headwise(model: Layer, heads: Tensor, x: Tensor) -> Tensor:
    return join(heads * model.of_heads(x).sigmoid().mT[..., None])


BETWEEN = {
    "gate": (lambda model, heads, x: join(heads) * model.gate(x).sigmoid(), layer.GATE),
    "gate of heads": (_headwise, layer.GATE),
    "layer norm": (lambda model, heads, x: model.norm(join(heads)), layer.NORM),
    "RMS norm by hand": (_rms, layer.NORM),
    "norm by hand": (_centred, layer.NORM),
    "group norm": (_groups, layer.NORM),
    "dropout": (lambda model, heads, x: F.dropout(join(heads), 0.3, True), layer.DROPOUT),
    "function": (lambda model, heads, x: F.silu(join(heads)), layer.FUNCTION),
    "what it is divided by": (lambda model, heads, x: 1.5 / join(heads).exp(), layer.FUNCTION),
    "clamp": (lambda model, heads, x: join(heads).clamp(-0.1, 0.1), layer.FUNCTION),
    "residual": (lambda model, heads, x: join(heads) + x, layer.ADDEND),
    "bias": (lambda model, heads, x: join(heads) - model.of_columns, layer.ADDEND),
    "matrix of each head": (lambda model, heads, x: join(model.within(heads)), layer.MATRIX),
    "mean": (lambda model, heads, x: join(heads.mean(1, True).expand_as(heads)), layer.MEAN),
    "sum": (lambda model, heads, x: join(heads).sum(1, True).expand_as(x), layer.MEAN),
    "convolution": (lambda model, heads, x: model.conv(join(heads).mT).mT, layer.CONVOLUTION),
    "other order": (lambda model, heads, x: heads.permute(0, 2, 3, 1).flatten(-2), layer.UNMET),
    "other heads first": (lambda model, heads, x: join(heads.flip(1)), layer.UNMET),
    "later rows": (lambda model, heads, x: join(heads).roll(1, 1), layer.UNMET),
    "sums of rows": (lambda model, heads, x: join(heads).cumsum(1), layer.UNMET),
    "number, elsewhere": (
        lambda model, heads, x: join((heads.permute(0, 3, 1, 2) * 0.5).permute(0, 2, 3, 1)),
        layer.UNMET,
    ),
    "covered in place": (_emptied, layer.UNMET),
    "mask": (lambda model, heads, x: join(heads).masked_fill(model.mask, 0.0), layer.MASK),
    "choice": (lambda model, heads, x: torch.where(model.mask, x, join(heads)), layer.MASK),
}
FACTORS: dict[str, Callable[[Layer, Tensor], Tensor]] = {
    "number": lambda model, heads: join(heads * 0.5),
    "number first": lambda model, heads: join(0.3 * heads),
    "joined": lambda model, heads: join(heads) * 0.3,
    "divided": lambda model, heads: join(heads) / 3,
    "in place": lambda model, heads: join(heads.mul_(0.5)),
    "joined in place": lambda model, heads: join(heads).div_(0.3),
    "learned number": lambda model, heads: join(heads) * model.one,
    "less than nothing": lambda model, heads: join(-heads),
    "of each head": lambda model, heads: join(heads * model.of_each[:, None, None]),
    "of heads in rows": lambda model, heads: (
        heads.transpose(1, 2) * model.of_each[:, None]
    ).flatten(-2),
    "of columns": lambda model, heads: join(heads) / model.of_columns,
    "of both": lambda model, heads: join(0.7 * heads / model.of_each[:, None, None]) * 3,
    "turned over": lambda model, heads: join((0.5 * heads.mT).mT),
    "turned over and less": lambda model, heads: join((-heads.mT).mT),
    "on the side": lambda model, heads: (heads * 0.5, join(heads))[1],
    "another on the side": lambda model, heads: (heads * 0.5, join(heads * 2))[1],
    "after a view": lambda model, heads: 0.25 * heads.transpose(1, 2).contiguous().view(1, 5, D),
}
"""What is the same for all rows is a part of W_O."""
TYPES = (torch.float32, torch.bfloat16, torch.float64)
FEW = {
    **{factor: (factor, torch.float32) for factor in FACTORS},
    **{f"{dtype}": ("number", dtype) for dtype in TYPES},
}
"""A factor is the same in each type of numbers."""


@pytest.mark.parametrize(("between", "why"), BETWEEN.values(), ids=BETWEEN)
def test_it_is_named(between: Callable[..., Tensor], why: str) -> None:
    recording = record(Layer(between).eval(), x)
    assert [each.why for each in recording.unseen] == [why]
    is_right = None if recording.varies else True  # dropout that is not switched off
    assert recording.checked.is_right is is_right and recording.checked.n_projected == 0
    assert bool(recording.varies) == (why == BETWEEN["dropout"][1])


@pytest.mark.parametrize(("factor", "dtype"), cases(product(FACTORS, TYPES), FEW))
def test_a_factor_is_a_part_of_w_o(factor: str, dtype: torch.dtype) -> None:
    model = Layer(lambda model, heads, x: FACTORS[factor](model, heads)).eval().to(dtype)
    outputs: list[Tensor] = []
    model.out.register_forward_hook(lambda module, given, output: outputs.append(output[0]))
    recording = record(model, x.to(dtype))
    assert not recording.unseen
    assert recording.checked.is_right and recording.checked.n_projected == 1
    (call,) = (attention.calls[0] for attention in recording.attentions.values())
    assert call.projection is not None
    joined = call.heads_given().transpose(0, 1).flatten(1)
    wanted = (outputs[0] - model.out.bias).detach().float()
    result = joined @ call.projection.detach().float().mT
    torch.testing.assert_close(
        result, wanted, rtol=0, atol=1e-5 if dtype != torch.bfloat16 else 0.1
    )


def test_factors_of_heads_in_modules_of_their_own() -> None:
    """Each head by itself, times a number that its module has learned."""
    recording = record(Apart().eval(), x)
    assert not recording.unseen
    assert recording.checked.is_right and recording.checked.n_projected == 1
    (attention,) = recording.attentions.values()
    assert attention.n_heads == HEADS


EQUATIONS = {
    "heads, then queries": ("bhqd,hdo->bqo", (HEADS, 4, D), (0, 1, 2, 3)),
    "queries, then heads": ("bqhd,ohd->bqo", (D, HEADS, 4), (0, 2, 1, 3)),
    "without a batch": ("qhd, hod -> qo", (HEADS, D, 4), (1, 0, 2)),
    "XLNet's": ("ibnd,hnd->ibh", (D, HEADS, 4), (2, 0, 1, 3)),
}
"""Equation, shape of the matrix, and the axes of [1, H, Q, d] or [H, Q, d] in its order."""


@pytest.mark.parametrize("is_first", [False, True])
@pytest.mark.parametrize(("equation", "shape", "axes"), EQUATIONS.values(), ids=EQUATIONS)
def test_w_o_with_an_axis_for_the_heads(
    equation: str, shape: tuple[int, ...], axes: tuple[int, ...], is_first: bool
) -> None:
    recording = record(ByEinsum(equation, shape, axes, is_first).eval(), x)
    (attention,) = recording.attentions.values()
    assert not recording.unseen and attention.n_heads == HEADS
    assert recording.checked.is_right and recording.checked.n_projected == 1


class ByEinsum(nn.Module):
    """Nothing puts the heads side by side: one sum is over them and their numbers."""

    def __init__(
        self, equation: str, shape: tuple[int, ...], axes: tuple[int, ...], is_first: bool
    ) -> None:
        super().__init__()
        torch.manual_seed(3)
        self.q, self.k, self.v = (nn.Linear(D, D) for _ in range(3))
        self.matrix, self.axes, self.is_first = nn.Parameter(torch.randn(shape)), axes, is_first
        both, _, out = equation.replace(" ", "").partition("->")
        self.equation = f"{','.join(both.split(',')[::-1])}->{out}" if is_first else equation

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = (split(f(x)) for f in (self.q, self.k, self.v))
        heads = F.scaled_dot_product_attention(q, k, v)
        heads = (heads if len(self.axes) == 4 else heads[0]).permute(self.axes)
        pair = (self.matrix, heads) if self.is_first else (heads, self.matrix)
        return x + torch.einsum(self.equation, *pair).reshape(x.shape)


class Head(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(D, D // HEADS) for _ in range(3))
        self.factor = nn.Parameter(torch.rand(()) + 0.5)

    def forward(self, x: Tensor) -> Tensor:
        weights = (self.q(x) @ self.k(x).mT).softmax(-1)
        return weights @ self.v(x) * self.factor  # type: ignore[no-any-return]


class Apart(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(3)
        self.heads, self.out = nn.ModuleList(Head() for _ in range(HEADS)), nn.Linear(D, D)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.out(torch.cat([head(x) for head in self.heads], -1))  # type: ignore[no-any-return]


class Bare(nn.Module):
    """An attention without W_O, whose residual is added outside."""

    def __init__(self) -> None:
        super().__init__()
        self.head, self.feed = Head(), nn.Linear(D // HEADS, D)
        self.narrow = nn.Linear(D, D // HEADS)

    def forward(self, x: Tensor) -> Tensor:
        return self.feed((self.narrow(x) + self.head(x)).relu())  # type: ignore[no-any-return]


def test_what_meets_it_outside_is_no_news() -> None:
    recording = record(Bare().eval(), x)
    assert not recording.unseen and recording.checked.is_right


def test_where_nothing_stands_there_w_o_is_found() -> None:
    recording = record(Layer(lambda model, heads, x: join(heads)).eval(), x)
    assert not recording.unseen and recording.checked.n_projected == 1


class Prefixed(nn.Module):
    """An attention that puts a learned prefix before what keys are made of."""

    def __init__(self) -> None:
        super().__init__()
        self.q, self.k, self.v, self.out = (nn.Linear(D, D) for _ in range(4))
        self.prefix = nn.Parameter(torch.randn(1, 2, D))

    def forward(self, z: Tensor, x: Tensor) -> Tensor:
        y = torch.cat([self.prefix, x], 1)
        q, k, v = (split(f(it)) for f, it in ((self.q, z), (self.k, y), (self.v, y)))
        return self.out(join(F.scaled_dot_product_attention(q, k, v)))  # type: ignore[no-any-return]


class Asking(nn.Module):
    """One query, which is learned, reads a text."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(3)
        self.attention, self.query = Prefixed(), nn.Parameter(torch.randn(1, 1, D))

    def forward(self, x: Tensor) -> Tensor:
        return self.attention(self.query, x)  # type: ignore[no-any-return]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_one_learned_query_is_no_decoder(dtype: torch.dtype) -> None:
    recording = record(Asking().eval().to(dtype), x.to(dtype))
    assert [each.role for each in recording.attentions.values()] == [None]
    assert recording.checked.is_right is None and recording.checked.unproven


@pytest.mark.usefixtures("wrong_recordings")
def test_a_learned_query_that_is_called_a_decoder_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As it was before: one query beside several keys was a step with a cache."""
    monkeypatch.setattr(roles, "_asks_others", lambda call: False)
    recording = record(Asking().eval(), x)
    assert list(recording.attentions) == ["decoder_self"]
    assert recording.checked.is_right is None and recording.checked.unproven
