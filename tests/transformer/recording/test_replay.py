"""In half precision and behind norms, too, a wrong name is noticed, or nothing is claimed."""

from collections.abc import Callable
from itertools import product

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tests.representatives import cases, part
from tests.transformer.recording.test_contradictions import by_length, one_stack
from tests.transformer.watch.inline import HEADS, D, Layer, Translator, by_hand, fused
from transformer import Recording, record
from transformer.recording import origin
from transformer.watch.kinds import stacks

pytestmark = pytest.mark.usefixtures("wrong_recordings")
WIDTH = D // HEADS
TYPES = (torch.float32, torch.bfloat16, torch.float16)


class OfHeads(Layer):
    """Qwen3: an RMS norm of each head, with one weight for all."""

    def __init__(self, attend: Callable[..., Tensor]) -> None:
        super().__init__(attend)
        self.norm = nn.RMSNorm(WIDTH)
        nn.init.uniform_(self.norm.weight, 0.5, 2)

    def turned(self, x: Tensor) -> Tensor:
        return self.norm(x)  # type: ignore[no-any-return]


class Around0(OfHeads):
    """Gemma: weights around 0."""

    def turned(self, x: Tensor) -> Tensor:
        return F.rms_norm(x, (WIDTH,)) * (1 + self.norm.weight)


class Centred(OfHeads):
    """ViT-22B: a layer norm of each head."""

    def __init__(self, attend: Callable[..., Tensor]) -> None:
        super().__init__(attend)
        self.norm = nn.LayerNorm(WIDTH)
        nn.init.uniform_(self.norm.weight, 0.5, 2)
        nn.init.normal_(self.norm.bias)


class EachHead(Layer):
    """Cohere: a layer norm of each head with weights of its own."""

    def __init__(self, attend: Callable[..., Tensor]) -> None:
        super().__init__(attend)
        self.scale = nn.Parameter(torch.rand(HEADS, 1, WIDTH) + 0.5)

    def turned(self, x: Tensor) -> Tensor:
        return F.layer_norm(x, (WIDTH,)) * self.scale


class OfRows(Layer):
    """OLMo 2: an RMS norm of all heads together."""

    def __init__(self, attend: Callable[..., Tensor]) -> None:
        super().__init__(attend)
        self.norm = nn.RMSNorm(D)
        nn.init.uniform_(self.norm.weight, 0.5, 2)

    def turned(self, x: Tensor) -> Tensor:
        return self.norm(x.transpose(1, 2).flatten(-2)).unflatten(-1, (HEADS, -1)).transpose(1, 2)  # type: ignore[no-any-return]


class Lengths(Layer):
    """Swin 2: queries and keys of one length, times a number."""

    def turned(self, x: Tensor) -> Tensor:
        return 3 * F.normalize(x, dim=-1)


NORMS = (Layer, OfHeads, Around0, Centred, EachHead, OfRows, Lengths)
FEW = {
    **{f"{it.__name__}, {n} words": (it, fused, torch.float32, n) for it in NORMS for n in (4, 5)},
    **{f"by hand, in {it}": (Layer, by_hand, it, 4) for it in TYPES},
    **{f"a norm, in {it}": (OfHeads, fused, it, 4) for it in TYPES},
}
"""What is done to queries and keys, and what rounding leaves of it in each type."""
norms = pytest.mark.parametrize("layer", NORMS, ids=lambda it: it.__name__)
types = pytest.mark.parametrize("dtype", TYPES, ids=str)
attends = pytest.mark.parametrize("attend", [by_hand, fused])


def translated(
    layer: type[Layer], attend: Callable[..., Tensor], dtype: torch.dtype, n: int = 4
) -> Recording:
    generator = torch.Generator().manual_seed(1)
    inputs = tuple(torch.randn(1, size, D, generator=generator).to(dtype) for size in (n, 4))
    return record(Translator(layer, attend).eval().to(dtype), inputs)


@pytest.mark.parametrize(
    ("layer", "attend", "dtype", "n"),
    cases(product(NORMS, (by_hand, fused), TYPES, (4, 5)), FEW),
    ids=lambda it: getattr(it, "__name__", str(it)),
)
def test_it_is_proved(
    layer: type[Layer], attend: Callable[..., Tensor], dtype: torch.dtype, n: int
) -> None:
    recording = translated(layer, attend, dtype, n)
    assert {each.n_layers for each in recording.attentions.values()} == {2}
    assert recording.checked.is_right and not recording.checked.unproven


@pytest.mark.parametrize(
    ("layer", "attend", "dtype"),
    part(product(NORMS, (by_hand, fused), TYPES), {it: few[:3] for it, few in FEW.items()}),
    ids=lambda it: getattr(it, "__name__", str(it)),
)
def test_a_wrong_role_is_noticed(
    layer: type[Layer],
    attend: Callable[..., Tensor],
    dtype: torch.dtype,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(stacks, "kind_of", by_length)
    checked = translated(layer, attend, dtype).checked
    assert checked.is_right is False and checked.contradictions


@norms
@types
def test_without_a_replay_nothing_is_claimed(
    layer: type[Layer], dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it was before, when such a recording was called right whatever it said."""
    monkeypatch.setattr(origin, "are_along", lambda heads, *_: torch.zeros(len(heads)).bool())
    monkeypatch.setattr(stacks, "kind_of", by_length)
    is_exact = dtype == torch.float32 and layer is Layer
    checked = translated(layer, fused, dtype).checked
    assert checked.is_right is (False if is_exact else None)
    assert bool(checked.unproven) is not is_exact


@types
def test_states_that_are_read_twice_are_no_two_layers(
    dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Beside(OfHeads):
        def forward(self, x: Tensor, y: Tensor | None = None) -> Tensor:
            near = self.attended(x, x, 0, False)
            return x + near + self.attended(x, x, 4, False) + self.w[0](near.tanh())  # type: ignore[no-any-return]

    monkeypatch.setattr("transformer.watch.module.by_kind", one_stack)
    torch.manual_seed(6)
    model = nn.Sequential(Beside(fused), Beside(fused)).eval().to(dtype)
    assert record(model, torch.randn(1, 4, D).to(dtype)).checked.is_right is False


class Changed(Layer):
    """Something that nobody follows."""

    def turned(self, x: Tensor) -> Tensor:
        return torch.linalg.qr(x.float()).Q.to(x.dtype)


@types
def test_what_nothing_proves_is_not_called_right(dtype: torch.dtype) -> None:
    checked = translated(Changed, fused, dtype).checked
    assert checked.is_right is None and len(checked.unproven) == 3
    assert checked.error is not None and not checked.contradictions
