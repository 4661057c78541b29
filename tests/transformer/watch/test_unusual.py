"""What few modules do: it is recorded as it was, or named as not understood; never wrong."""

import pytest
import torch
from torch import Tensor, nn

from tests.transformer.watch import unusual
from tests.transformer.watch.layers import HEADS, TOKENS, D, Layers, WithDot
from transformer import InputError, Recording, record

x, y = torch.randn(2, 1, TOKENS, D, generator=torch.Generator().manual_seed(1))


def recorded(module: nn.Module, *inputs: Tensor) -> Recording:
    torch.manual_seed(4)
    recording = record(module.eval(), inputs or (x,))
    is_unclear = any(isinstance(it, unusual.LearnedParts) for it in module.modules())
    assert recording.checked.is_right is (None if is_unclear else True)
    assert bool(recording.checked.unproven) == is_unclear
    assert recording.checked.n_checked == recording.checked.n_layers
    return recording


@pytest.mark.parametrize("style", unusual.EXACT, ids=lambda style: style.__name__)
def test_it_is_recorded_as_it_was(style: type[nn.Module]) -> None:
    torch.manual_seed(4)
    module = Layers([style(), style()])
    recording = recorded(module)
    (attention,) = recording.attentions.values()
    assert attention.kind == "encoder_self"
    assert bool(recording.unseen) == (style is unusual.AddedInPlace)
    for layer, each in enumerate(module.layers):
        torch.testing.assert_close(attention.weights(layer), each.wanted)


def test_what_is_added_in_place_is_not_what_the_heads_gave() -> None:
    (attention,) = recorded(unusual.AddedInPlace()).attentions.values()
    assert not attention.calls[0].has_output
    (attention,) = recorded(WithDot()).attentions.values()
    assert attention.calls[0].has_output


@pytest.mark.parametrize(
    ("style", "why"),
    [
        (unusual.Picking, "it picks queries or keys"),
        (unusual.Windowed, "reads one input as 2 of 4 positions"),
    ],
)
def test_rows_whose_positions_are_not_known_are_not_shown(style: type[nn.Module], why: str) -> None:
    with pytest.raises(InputError, match=why):
        record(style().eval(), x)


@pytest.mark.parametrize("style", [unusual.GlobalAndBlocks, unusual.TwoStreams])
def test_an_attention_beside_another_one_is_named(style: type[nn.Module]) -> None:
    recording = recorded(Layers([style(), style()]))
    assert [each.path for each in recording.unseen] == ["*"]
    (attention,) = recording.attentions.values()
    if style is unusual.GlobalAndBlocks:  # padding makes it no decoder
        assert attention.kind == "GlobalAndBlocks" and attention.role is None


def test_pooling_is_no_cross_attention() -> None:
    recording = recorded(nn.Sequential(Layers([WithDot()]), unusual.PoolingHead()))
    assert {kind: each.n_heads for kind, each in recording.attentions.items()} == {
        "encoder_self": HEADS,
        "attend": HEADS,
    }


def test_numbers_of_parameters_are_plain_numbers() -> None:
    (attention,) = recorded(unusual.LearnedParts()).attentions.values()
    assert attention.weights(0).numpy().shape == (HEADS, 4, TOKENS)


def test_keys_of_two_sequences_have_a_name_of_their_own() -> None:
    (attention,) = recorded(unusual.Merged(), x[:, :5], y).attentions.values()
    assert (attention.kind, attention.role) == ("Merged", None)
    assert len(attention.keys) == 5 + TOKENS
