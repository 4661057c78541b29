"""The classifier: padding and training, by torch's own batch norm and row by row."""

import pytest
import torch
from torch import Tensor

from tests.conftest import random_checkpoint, random_model, tiny
from tests.presets import PRESETS
from transformer import InputError, decode, record
from transformer.config import ConfigError, ModelConfig
from transformer.models.encoder_classifier import EncoderClassifier

CONFIG = tiny(PRESETS["former-classifier"].config)
VARIANTS = (
    {"pooling": "max"},
    {"pooling": "mean"},
    {"norm": "batch", "pooling": "mean"},
    {"norm": "scalar", "norm_order": "sublayer"},
    {"norm_order": "pre", "positions": "sinusoidal"},
    {"positions": "concatenated"},
    {"d_key": None, "d_value": None, "projections": False, "attention_scale": "none"},
)


def batch() -> tuple[Tensor, tuple[int, ...]]:
    """Ids [4, 8], padded, and the rows' lengths."""
    ids = torch.randint(3, 20, (4, 8), generator=torch.Generator().manual_seed(0))
    lengths = (8, 5, 1, 3)
    for row, length in enumerate(lengths):
        ids[row, length:] = 0
    return ids, lengths


@pytest.mark.parametrize("changes", VARIANTS, ids=str)
def test_a_padded_batch_equals_its_texts_one_by_one(changes: dict[str, object]) -> None:
    model = random_model(tiny(CONFIG, **changes))
    ids, lengths = batch()
    alone = [model(ids[row : row + 1, :length]) for row, length in enumerate(lengths)]
    torch.testing.assert_close(model(ids), torch.cat(alone), rtol=0, atol=1e-5)


def test_what_padding_holds_never_reaches_the_statistics() -> None:
    """In training, more padding changes neither the logits nor the running statistics."""
    ids, _ = batch()
    wider = torch.cat([ids, torch.zeros(4, 5, dtype=torch.long)], dim=1)
    config = tiny(CONFIG, norm="batch", pooling="mean")
    models = [random_model(config).train() for _ in range(2)]
    torch.testing.assert_close(models[0](ids), models[1](wider), rtol=0, atol=1e-5)
    for (name, one), (_, other) in zip(
        models[0].named_buffers(), models[1].named_buffers(), strict=True
    ):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-5, msg=name)


def test_it_writes_nothing() -> None:
    checkpoint = random_checkpoint(CONFIG)
    with pytest.raises(InputError, match="writes nothing: there is nothing to decode"):
        decode(checkpoint, "3 4")
    with pytest.raises(InputError, match="writes nothing: leave the target out"):
        record(checkpoint, "3 4", "5")


@pytest.mark.parametrize("changes", [{"classes": ()}, {"n_encoder_layers": 0}])
def test_what_cannot_be_built(changes: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match=f"{next(iter(changes))} must not be"):
        EncoderClassifier(ModelConfig(**(CONFIG.to_dict() | changes)))
