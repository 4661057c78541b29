"""Keys and values of earlier passes: all layers are seen, as a decoder's own, and stay as seen."""

import pytest
import torch

from tests.transformer.watch.cached import STYLES, Cached, D, Decoder
from transformer import record


@pytest.mark.parametrize("n_new", [1, 3])
@pytest.mark.parametrize("n_before", [0, 4])
@pytest.mark.parametrize("style", STYLES, ids=lambda style: style.__name__)
def test_a_cache_of_a_module_s_own(style: type[Cached], n_before: int, n_new: int) -> None:
    torch.manual_seed(2)
    model = Decoder(style).eval()
    with torch.no_grad():
        if n_before:
            model(torch.randn(1, n_before, D))
    recording = record(model, torch.randn(1, n_new, D))
    wanted = [layer.wanted for layer in model.layers]
    with torch.no_grad():
        model(torch.randn(1, 2, D))  # overwrites nothing that was recorded
        for layer in model.layers:
            for name in ("keys", "values"):
                getattr(layer, name).zero_()
    kind = "decoder_self" if n_before or n_new > 1 else "encoder_self"  # one token reads itself
    assert {name: each.n_layers for name, each in recording.attentions.items()} == {kind: 2}
    for layer, weights in enumerate(wanted):
        torch.testing.assert_close(recording.attentions[kind].weights(layer), weights)
        assert recording.attentions[kind].calls[layer].v.abs().sum() > 0
