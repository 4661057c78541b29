"""W_O is what really joins the heads: one matrix, made of several or not, or none."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tests.representatives import cases
from tests.transformer.watch import layers
from tests.transformer.watch.hugging_face import FAMILIES, FEW, build, inputs_of
from tests.transformer.watch.layers import TOKENS, D, Layers, WithDot
from tests.transformer.watch.second import SEVERAL, SUMS, LoRA, Second
from transformer import InputError, Recording, record
from transformer.watch.calls.output import Output, Term

x = torch.randn(1, TOKENS, D, generator=torch.Generator().manual_seed(1))
sums = pytest.mark.parametrize("second", SUMS, ids=lambda it: it.__name__)
several = pytest.mark.parametrize("second", SEVERAL, ids=lambda it: it.__name__)


class Bare(Layers):
    """Layers without residual or norm: what one gives the next one reads."""

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x)
        return x


class Inline(nn.Module):
    """The residual is added where the attention is."""

    def __init__(self, layer: WithDot) -> None:
        super().__init__()
        self.layer = layer
        self.out = layer.out

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = (layers.split(f(x)) for f in (self.layer.q, self.layer.k, self.layer.v))
        heads = layers.weights_of(q, k) @ v
        return x + self.out(heads.transpose(1, 2).flatten(-2))  # type: ignore[no-any-return]


def modules(second: type[Second] | None, shape: str) -> tuple[nn.Module, list[nn.Module]]:
    """Two layers, and what joins the heads of each."""
    torch.manual_seed(4)
    inner: list[Any] = [WithDot(), WithDot()]
    for each in inner if second is not None else ():
        each.out = second(nn.Linear(D, D), D, D)
    outs = [each.out for each in inner]
    if shape == "inline":
        inner = [Inline(each) for each in inner]
        return nn.Sequential(*inner).eval(), outs
    return (Bare(inner) if shape == "bare" else Layers(inner)).eval(), outs


def given(recording: Recording, layer: int) -> Tensor:
    """What the heads add, by the recording, with the bias."""
    (attention,) = recording.attentions.values()
    call = attention.calls[layer]
    assert call.projection is not None and call.sample is not None
    joined = call.heads_given().transpose(0, 1).flatten(1) @ call.projection.mT
    return joined if call.sample.bias is None else joined + call.sample.bias


@pytest.mark.parametrize("shape", ["residual", "bare", "inline"])
@sums
def test_what_is_added_and_scaled_is_one_matrix(second: type[Second], shape: str) -> None:
    model, outs = modules(second, shape)
    outputs: list[Tensor] = []
    for out in outs:
        out.register_forward_hook(lambda module, inputs, output: outputs.append(output[0].detach()))
    recording = record(model, x)
    assert recording.checked.is_right and recording.checked.n_projected == 2
    assert not any("W_O" in each.why for each in recording.unseen)
    for layer, wanted in enumerate(outputs):
        torch.testing.assert_close(given(recording, layer), wanted, rtol=0, atol=1e-5)


@pytest.mark.parametrize("shape", ["residual", "inline"])
@several
def test_what_is_no_matrix_is_named_and_not_shown(second: type[Second], shape: str) -> None:
    model, _ = modules(second, shape)
    recording = record(model, x)
    (attention,) = recording.attentions.values()
    assert attention.n_layers == 2
    assert all(call.projection is None and not call.has_output for call in attention.calls)
    assert recording.checked.is_right and recording.checked.n_projected == 0
    if second.__name__ != "Glu":  # two matrices put side by side are not followed
        assert any("W_O" in each.why for each in recording.unseen)


@pytest.mark.usefixtures("wrong_recordings")
@pytest.mark.parametrize("second", [*SUMS, *SEVERAL], ids=lambda it: it.__name__)
def test_the_check_notices_a_matrix_that_is_not_all(
    second: type[Second], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it was before: the first matrix that the heads met."""

    def first(output: Output) -> Term:
        return output._terms[0]

    monkeypatch.setattr(Output, "joining", first)
    assert record(modules(second, "residual")[0], x).checked.is_right is False


def _path_of(model: nn.Module, projection: Tensor) -> str:
    """Of the module whose weight is a W_O; "" where none is."""
    place = projection.untyped_storage().data_ptr()
    for path, module in model.named_modules():
        weight = module._parameters.get("weight")
        if weight is not None and weight.untyped_storage().data_ptr() == place:
            return path
    return ""


@pytest.mark.parametrize("family", cases(FAMILIES, FEW))
def test_lora_beside_the_w_o_of_every_family(family: str) -> None:
    model = build(family)
    try:
        recording = record(model, inputs_of(model))
    except InputError:
        return
    wanted, made = {}, dict[str, LoRA]()
    for kind, attention in recording.attentions.items():
        for layer, call in enumerate(attention.calls):
            path = "" if call.projection is None else _path_of(model, call.projection)
            if call.projection is None or not path:
                continue
            before = call.projection.detach()
            made.setdefault(path, LoRA(model.get_submodule(path), before.size(1), before.size(0)))
            delta = made[path].up.weight @ made[path].down.weight
            wanted[kind, layer] = before + delta.detach()
    for path, lora in made.items():
        above, _, name = path.rpartition(".")
        setattr(model.get_submodule(above), name, lora)
    model.eval()
    again = record(model, inputs_of(model))
    assert list(again.attentions) == list(recording.attentions)
    assert again.checked.is_right
    for (kind, layer), matrix in wanted.items():
        call = again.attentions[kind].calls[layer]
        assert call.projection is not None
        torch.testing.assert_close(call.projection.detach(), matrix)
