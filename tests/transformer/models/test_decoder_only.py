"""The generator of pbloem/former by its formulas; how much room a prompt leaves."""

from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from tests.conftest import random_checkpoint, random_model, tiny
from tests.presets import PRESETS
from transformer import InputError, decode, record

CONFIG = tiny(PRESETS["former-generator"].config)
D, H = CONFIG.d_model, CONFIG.n_heads


def block(x: Tensor, weights: dict[str, Tensor], layer: str, is_causal: bool) -> Tensor:
    """One post-norm block whose heads are each as wide as the model. x: [T, D] -> [T, D]."""

    def w(name: str) -> Tensor:
        return weights[f"{layer}.{name}"]

    heads = []
    for h in range(H):
        own = slice(h * D, (h + 1) * D)
        q, k, v = (x @ w(f"self_attention.{p}.weight")[own].T for p in ("query", "key", "value"))
        dot = (q / D**0.25) @ (k / D**0.25).T
        if is_causal:
            dot[torch.ones_like(dot).triu(1).bool()] = -torch.inf
        heads.append(dot.softmax(1) @ v)
    united = F.linear(
        torch.cat(heads, 1), w("self_attention.output.weight"), w("self_attention.output.bias")
    )
    x = F.layer_norm(x + united, (D,), w("self_residual.norm.weight"), w("self_residual.norm.bias"))
    inner = F.linear(x, w("feed_forward.inner.weight"), w("feed_forward.inner.bias")).relu()
    outer = F.linear(inner, w("feed_forward.outer.weight"), w("feed_forward.outer.bias"))
    return F.layer_norm(
        x + outer, (D,), w("feed_residual.norm.weight"), w("feed_residual.norm.bias")
    )


def embedded(weights: dict[str, Tensor], ids: Tensor) -> Tensor:
    return weights["embedding.weight"][ids] + weights["positions.table"][: len(ids)]


def test_the_generator_of_former() -> None:
    model = random_model(CONFIG)
    weights, ids = model.state_dict(), torch.tensor([3, 9, 4, 4, 17, 5])
    x = embedded(weights, ids)
    for layer in range(CONFIG.n_decoder_layers):
        x = block(x, weights, f"decoder.layers.{layer}", is_causal=True)
    expected = x @ weights["output.weight"].T + weights["output.bias"]
    torch.testing.assert_close(model(ids[None])[0], expected, rtol=0, atol=1e-5)
    assert not [name for name in weights if "decoder.norm" in name]


def test_the_classifier_of_former() -> None:
    model = random_model(tiny(PRESETS["former-classifier"].config))
    weights, ids = model.state_dict(), torch.tensor([3, 9, 4, 4, 17, 5])
    x = embedded(weights, ids)
    for layer in range(model.config.n_encoder_layers):
        x = block(x, weights, f"encoder.layers.{layer}", is_causal=False)
    expected = x.max(0).values @ weights["classify.weight"].T + weights["classify.bias"]
    torch.testing.assert_close(model(ids[None])[0], expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize(("n_prompt", "room"), [(1, 16), (10, 7), (16, 1)])
def test_prompt_and_continuation_share_the_length(n_prompt: int, room: int) -> None:
    checkpoint = random_checkpoint(CONFIG)
    prompt = " ".join(["5"] * n_prompt)
    for method in ("greedy", "beam", "sample"):
        decoding = decode(checkpoint, prompt, method=method)
        assert len(decoding.source) == n_prompt
        assert len(decoding.target) == room
        assert len(record(checkpoint, prompt, decoding.target).target) == room
    with pytest.raises(InputError, match=f"has {room + 1} tokens; random takes at most {room}"):
        record(checkpoint, prompt, " ".join(["5"] * (room + 1)))
    assert "source" not in record(checkpoint, prompt).positions


def test_an_end_token_ends_the_text() -> None:
    checkpoint = random_checkpoint(replace(CONFIG, eos_id=2))
    checkpoint.model.output.bias[2] += 1e3
    decoding = decode(checkpoint, "5 6 7")
    assert [token.id for token in decoding.target] == [2]
    assert decoding.is_ended
