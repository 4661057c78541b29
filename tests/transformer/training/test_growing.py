"""A deeper encoder says what the shallower one said, and its new layers can learn."""

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from tests.conftest import SENTENCES
from transformer import Checkpoint
from transformer.config import ModelConfig
from transformer.models.encoder_decoder import EncoderDecoder
from transformer.training.batches import make_batch
from transformer.training.step import Update
from transformer.training.task import TrainingConfig
from transformer.training.warm_start import deepened

CONFIG = ModelConfig(
    vocab_size=300, d_model=64, d_ff=96, n_heads=4, n_encoder_layers=2, n_decoder_layers=1
)


@pytest.fixture
def old() -> dict[str, Tensor]:
    """Random weights whose norms are not those that every model begins with."""
    torch.manual_seed(1)
    weights = EncoderDecoder(CONFIG).state_dict()
    for name, value in weights.items():
        if ".norm.weight" in name:
            value.copy_(0.3 + 0.2 * torch.rand(len(value)))
        elif ".norm.bias" in name:
            value.normal_(std=0.1)
    return weights


def model(weights: dict[str, Tensor], n_layers: int) -> EncoderDecoder:
    made = EncoderDecoder(replace(CONFIG, n_encoder_layers=n_layers))
    made.load_state_dict(weights)
    return made


@torch.no_grad()
def memory(made: EncoderDecoder, n_layers: int) -> Tensor:
    """What the encoder's first layers make of a source: [1, S, D]."""
    x = made.embed(torch.arange(10, 30)[None])
    for layer in list(made.encoder.layers)[:n_layers]:
        x = layer(x, None)
    return x


@pytest.mark.parametrize("n_layers", [3, 4, 7])
def test_new_layers_change_next_to_nothing(old: dict[str, Tensor], n_layers: int) -> None:
    before = memory(model(old, 2).eval(), 2)
    after = memory(model(deepened(old, n_layers), n_layers).eval(), n_layers)
    assert (after - before).norm() < 0.1 * before.norm()
    without = memory(model(old, 2).eval(), 1)
    assert (without - before).norm() > 0.5 * before.norm()


def test_every_old_layer_is_there_in_its_order(old: dict[str, Tensor]) -> None:
    new = deepened(old, 5)
    for name, value in old.items():
        name = name.replace("encoder.layers.1.", "encoder.layers.4.")
        assert torch.equal(new[name], value)
    inner = "encoder.layers.{}.feed_forward.inner.weight"
    for layer, source in ((1, 0), (2, 1), (3, 0)):
        assert torch.equal(new[inner.format(layer)], old[inner.format(source)])


@pytest.mark.parametrize("n_layers", [1, 2])
def test_no_fewer_layers_are_made(old: dict[str, Tensor], n_layers: int) -> None:
    new = deepened(old, n_layers)
    assert new.keys() == old.keys()
    assert all(torch.equal(new[name], value) for name, value in old.items())


def test_weights_without_an_encoder_stay(text_checkpoint: Checkpoint) -> None:
    weights = {"embedding.weight": torch.zeros(3, 2)}
    assert deepened(weights, 4) == weights


def test_new_layers_learn(old: dict[str, Tensor], text_checkpoint: Checkpoint) -> None:
    grown = model(deepened(old, 4), 4)
    ids = [text_checkpoint.tokenizer.encode(text) for text in SENTENCES]
    batch = make_batch([(each, each) for each in ids], pad_id=0, bos_id=1)
    training = TrainingConfig(9, tokens_per_batch=100, learning_rate=1e-3, warmup_steps=1)
    update = Update(grown, training)
    first = float(update(batch, 1.0))
    for _ in range(3):
        last = float(update(batch, 1.0))
    assert last < first
    for layer in (1, 2):
        for part in ("self_attention.output", "feed_forward.outer"):
            assert grown.state_dict()[f"encoder.layers.{layer}.{part}.weight"].abs().max() > 0
