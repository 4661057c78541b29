"""Which layer is which: heads, maps and blocks are not layers, and no name is guessed."""

import pytest
import torch
from torch import Tensor, nn

from tests.transformer.watch import layers
from tests.transformer.watch.layers import BLOCKS, HEADS, TOKENS, WHOLE, D, Layers, Wrapped
from transformer import InputError, record

x, y = torch.randn(2, 1, TOKENS, D, generator=torch.Generator().manual_seed(1))


def two_of(style: type[nn.Module]) -> Layers:
    torch.manual_seed(4)
    return Layers(style() for _ in range(2)).eval()


def shapes(module: nn.Module, *inputs: Tensor) -> dict[str, tuple[int, int]]:
    """kind -> its layers and heads."""
    found = record(module.eval(), inputs or (x,)).attentions
    return {kind: (each.n_layers, each.n_heads) for kind, each in found.items()}


@pytest.mark.parametrize("style", WHOLE, ids=lambda style: style.__name__)
def test_one_layer_of_three_heads(style: type[nn.Module]) -> None:
    model, outputs = two_of(style), []
    for layer in model.layers:
        layer.register_forward_hook(lambda module, inputs, output: outputs.append(output[0]))
    recording = record(model, x)
    (attention,) = recording.attentions.values()
    assert (attention.kind, attention.n_layers, attention.n_heads) == ("encoder_self", 2, HEADS)
    for i, layer in enumerate(model.layers):
        torch.testing.assert_close(attention.weights(i), layer.wanted)
        call = attention.calls[i].heads(slice(None))
        assert call.output is not None
        added = (call.weights() @ call.v @ call.output).sum(0)
        torch.testing.assert_close(added, outputs[i], rtol=0, atol=1e-5)
        one = call.only(1)
        torch.testing.assert_close(one.weights()[0], layer.wanted[1])


def test_layers_without_a_module_each() -> None:
    model = layers.Functional().eval()
    recording = record(model, x)
    (attention,) = recording.attentions.values()
    assert attention.n_layers == 2
    for i, wanted in enumerate(model.wanted):
        torch.testing.assert_close(attention.weights(i), wanted)


def test_a_layer_that_runs_twice_is_two() -> None:
    assert shapes(layers.SharedLayer()) == {"encoder_self": (2, HEADS)}


def test_a_helper_that_all_layers_share() -> None:
    dot = layers.Dot()
    assert shapes(Layers(layers.WithDot(dot) for _ in range(3))) == {"encoder_self": (3, HEADS)}


def test_two_maps_of_a_layer_are_two_kinds() -> None:
    assert shapes(two_of(layers.TwoCalls)) == {
        "TwoCalls 1/2": (2, HEADS),
        "TwoCalls 2/2": (2, HEADS),
    }
    assert shapes(two_of(layers.TwoModules)) == {"near": (2, HEADS), "far": (2, HEADS)}


def test_layers_of_two_sorts_that_alternate_are_one_stack() -> None:
    class Near(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.near = layers.WithDot()

        def forward(self, x: Tensor) -> Tensor:
            return self.near(x)

    class Far(Near):
        def __init__(self) -> None:
            super().__init__()
            self.far = self._modules.pop("near")

        def forward(self, x: Tensor) -> Tensor:
            return self.far(x)

    assert shapes(Layers([Near(), Far(), Near(), Far()])) == {"encoder_self": (4, HEADS)}


@pytest.mark.parametrize("style", BLOCKS, ids=lambda style: style.__name__)
def test_blocks_are_not_layers(style: type[nn.Module]) -> None:
    with pytest.raises(InputError, match="runs over blocks of the sequence"):
        record(two_of(style), x)


@pytest.mark.parametrize("style", BLOCKS, ids=lambda style: style.__name__)
def test_what_was_not_understood_is_named_and_takes_no_name(style: type[nn.Module]) -> None:
    torch.manual_seed(4)
    model = Wrapped(layers.EncoderDecoder(style)).eval()
    recording = record(model, (x, y), {"source": list("abcdefgh"), "target": list("ijklmnop")})
    assert {kind: each.n_layers for kind, each in recording.attentions.items()} == {
        "decoder_self": 2,
        "cross": 2,
    }
    assert "".join(token.piece for token in recording.attentions["cross"].keys) == "abcdefgh"
    assert [each.path.removesuffix(".attend") for each in recording.unseen] == ["encoder.layers.*"]
    assert "blocks of the sequence" in recording.unseen[0].why


def test_layers_have_the_numbers_that_the_model_gives_them() -> None:
    layer, other = layers.WithDot, layers.Convolution
    (attention,) = record(Layers([other(), layer(), other(), layer()]), x).attentions.values()
    assert attention.numbers == (1, 3)
    (attention,) = record(two_of(layer), x).attentions.values()
    assert attention.numbers == (0, 1)


class Pooling(nn.Module):
    """A few learned queries read the sequence, and nothing says so by name."""

    def __init__(self) -> None:
        super().__init__()
        self.asking = nn.Parameter(torch.randn(1, 4, D))
        self.k, self.v = nn.Linear(D, D), nn.Linear(D, D)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = map(layers.split, (self.asking, self.k(x), self.v(x)))
        return nn.functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(-2)


def test_what_cannot_be_told_keeps_a_short_name_of_its_own() -> None:
    model = Wrapped(nn.Sequential(two_of(layers.WithDot), Pooling())).eval()
    assert shapes(model) == {"encoder_self": (2, HEADS), "Pooling": (1, HEADS)}
    assert shapes(Wrapped(Pooling())) == {"Pooling": (1, HEADS)}
