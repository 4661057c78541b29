"""What met the values is the attention, whatever happens between softmax and values."""

import pytest
import torch
from torch import nn

from tests.transformer.watch.between import (
    CHANGES,
    EXTRA_KEYS,
    HEADS,
    TOKENS,
    Causal,
    D,
    KeyFirst,
)
from transformer import Recording, record


def recorded(style: type[nn.Module]) -> tuple[nn.Module, Recording, torch.Tensor]:
    """Two layers of it, recorded, and what the last one gave."""
    torch.manual_seed(5)
    model = nn.Sequential(style(), style()).eval()
    recording = record(model, torch.randn(1, TOKENS, D), list("abcdefg"))
    return model, recording, recording.logits


@pytest.mark.parametrize("style", CHANGES, ids=lambda style: style.__name__)
def test_what_met_the_values_is_recorded_and_the_softmax_beside_it(style: type[Causal]) -> None:
    model, recording, output = recorded(style)
    assert list(recording.attentions) == ["decoder_self", "decoder softmax"]
    attention, softmax = recording.attentions.values()
    for layer, module in enumerate(model.children()):
        torch.testing.assert_close(attention.weights(layer), module.wanted)
        torch.testing.assert_close(softmax.weights(layer), module.softmax[0])
        assert torch.equal(attention.allowed(layer)[0], torch.ones(TOKENS, TOKENS).tril().bool())
        assert attention.n_heads == HEADS and softmax.n_heads == module.n_maps
    call = attention.calls[1].heads(slice(None))
    assert call.output is not None
    torch.testing.assert_close((call.weights() @ call.v @ call.output).sum(0), output)


def test_without_a_change_there_is_one_attention() -> None:
    assert list(recorded(Causal)[1].attentions) == ["decoder_self"]


@pytest.mark.parametrize("style", [*CHANGES, Causal], ids=lambda style: style.__name__)
def test_rows_that_do_not_sum_to_one_are_said(style: type[Causal]) -> None:
    model, recording, _ = recorded(style)
    sums = torch.stack([layer.wanted.sum(-1) for layer in model.children()])
    ends = [f"{end:.2f}" for end in (float(sums.min()), float(sums.max()))]
    if ends == ["1.00", "1.00"]:
        assert not recording.notes
    else:
        (note,) = recording.notes
        assert all(end in note for end in ("decoder_self", *ends))


@pytest.mark.parametrize("style", EXTRA_KEYS, ids=lambda style: style.__name__)
def test_a_key_that_is_not_a_token_has_a_column_of_its_own(style: type[KeyFirst]) -> None:
    model, recording, _ = recorded(style)
    (attention,) = recording.attentions.values()
    assert attention.kind == ("decoder_self" if style.is_causal else "encoder_self")
    torch.testing.assert_close(attention.weights(1), model[1].wanted)
    pieces = [token.piece for token in attention.keys]
    assert [token.piece for token in attention.queries] == list("abcdefg")
    at = 0 if "First" in style.__name__ else TOKENS
    assert pieces[at] == "unnamed" and attention.keys[at].special
    assert [piece for piece in pieces if piece != "unnamed"] == list("abcdefg")
