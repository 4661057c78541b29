"""What stands between heads and W_O is named: then no one matrix joins them."""

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tests.transformer.watch.inline import HEADS, D, split
from transformer import record
from transformer.watch.calls import layer
from transformer.watch.kinds import roles

pytestmark = pytest.mark.usefixtures("each_way")
x = torch.randn(1, 5, D, generator=torch.Generator().manual_seed(1))


class Layer(nn.Module):
    """An attention whose heads something meets before its W_O."""

    def __init__(self, between: Callable[["Layer", Tensor, Tensor], Tensor]) -> None:
        super().__init__()
        torch.manual_seed(3)
        self.q, self.k, self.v, self.gate, self.out = (nn.Linear(D, D) for _ in range(5))
        self.of_heads, self.norm = nn.Linear(D, HEADS), nn.LayerNorm(D)
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
    "group norm": (_groups, layer.NORM),
    "dropout": (lambda model, heads, x: F.dropout(join(heads), 0.3, True), layer.DROPOUT),
    "function": (lambda model, heads, x: F.silu(join(heads)), layer.FUNCTION),
}


@pytest.mark.parametrize(("between", "why"), BETWEEN.values(), ids=BETWEEN)
def test_it_is_named(between: Callable[..., Tensor], why: str) -> None:
    recording = record(Layer(between).eval(), x)
    assert [each.why for each in recording.unseen] == [why]
    assert recording.checked.is_right and recording.checked.n_projected == 0


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
    assert recording.checked.is_right


@pytest.mark.usefixtures("wrong_recordings")
def test_a_learned_query_that_is_called_a_decoder_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As it was before: one query beside several keys was a step with a cache."""
    monkeypatch.setattr(roles, "_asks_others", lambda call: False)
    recording = record(Asking().eval(), x)
    assert list(recording.attentions) == ["decoder_self"]
    assert recording.checked.is_right is None and recording.checked.unproven
