"""A recording says how far it is from what its model computed, and says so where it is wrong."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tests.conftest import random_checkpoint
from tests.transformer.watch import between, cached, invented, layers, sinks
from tests.transformer.watch.hugging_face import build
from transformer import Recording, decode, load_checkpoint, record
from transformer.config import ModelConfig
from transformer.recording.check import check
from transformer.recording.hooks import plain_difference

STYLES = (
    *(*invented.STYLES, *between.CHANGES, *sinks.SINKS, *between.EXTRA_KEYS, *cached.STYLES),
    *(*layers.WHOLE, layers.Functional, layers.SharedLayer, layers.TwoModules, layers.TwoCalls),
)
CONFIG = ModelConfig(vocab_size=31, d_model=24, d_ff=40, n_heads=3, eos_id=None)


@pytest.mark.parametrize("style", STYLES, ids=lambda style: style.__name__)
def test_every_module_of_the_suite_is_right(style: type[nn.Module]) -> None:
    """Weights times values, through W_O where one is known, are what the module gave."""
    torch.manual_seed(1)
    checked = record(style().eval(), torch.randn(1, 7, 12)).checked
    assert checked.error is not None and checked.error < 1e-5 and checked.is_right
    assert checked.n_checked == checked.n_layers and not checked.unknown
    assert checked.masked == 0
    is_projected = style not in (invented.Bare, layers.TwoCalls)
    assert checked.n_projected == (checked.n_layers if is_projected else 0)


@pytest.mark.parametrize("family", ["encoder_decoder", "decoder_only"])
def test_models_of_ours_are_right(family: str) -> None:
    n_encoder_layers = 2 if family == "encoder_decoder" else 0
    config = replace(CONFIG, family=family, n_encoder_layers=n_encoder_layers)
    checkpoint = random_checkpoint(config)
    target = decode(checkpoint, "5 9 12 3", "greedy", max_len=40).target
    recording = record(checkpoint, "5 9 12 3", target)
    checked = recording.checked
    assert checked.error is not None and 0 < checked.error < 1e-5
    assert checked.n_checked == checked.n_projected == checked.n_layers
    assert checked.row_sums == pytest.approx((1, 1))
    assert str(checked) == f"{checked.error:.0e}".replace("e-0", "e-")
    assert plain_difference(checkpoint, recording) == 0


def test_models_of_the_library_are_unchanged(tmp_path: Path) -> None:
    model: Any = build("Marian")
    model.save_pretrained(tmp_path)
    checkpoint = load_checkpoint(tmp_path, "cpu")
    recording = record(checkpoint, "5 9 8", "7 7")
    assert plain_difference(checkpoint, recording) == 0
    assert recording.checked.is_right and recording.checked.n_projected == 6


def changed(recording: Recording, **what: Any) -> Recording:
    """The same with another second layer."""
    (kind,) = recording.attentions
    first, second = recording.attentions[kind].calls
    attention = replace(recording.attentions[kind], calls=(first, replace(second, **what)))
    return replace(recording, attentions={kind: attention})


def test_what_is_wrong_is_said_to_be() -> None:
    torch.manual_seed(1)
    model = layers.Layers([layers.WithDot(), layers.WithDot()]).eval()
    recording = record(model, torch.randn(1, 40, 12))
    call: Any = recording.attentions["encoder_self"].calls[1]
    assert len(call.sample.queries) == 40
    wrong = changed(recording, given=call.weights().roll(1, -1)).checked
    assert not wrong.is_right and wrong.error is not None and wrong.error > 0.01
    assert not changed(recording, v=call.v + 0.01).checked.is_right
    assert not changed(recording, projection=call.projection.mT).checked.is_right
    closed = torch.ones(1, 40, 40).tril().bool()
    assert changed(recording, mask=closed).checked.masked > 0


class Dropping(layers.Projected):
    """Dropout inside the fused call, which shows nobody what it dropped."""

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = (layers.split(f(x)) for f in (self.q, self.k, self.v))
        heads = F.scaled_dot_product_attention(q, k, v, dropout_p=0.5)
        return self.out(heads.transpose(1, 2).flatten(-2))  # type: ignore[no-any-return]


def test_what_cannot_be_checked_says_why() -> None:
    checked = record(Dropping(), torch.randn(1, 7, 12)).checked
    assert checked.error is None and checked.is_right is None
    assert "not checkable: 1 layer of encoder_self, dropout" in str(checked)


class OneClosed(nn.Module):
    """torch's own attention, one head of which may read nothing: what it gives is NaN."""

    def __init__(self, needs_weights: bool) -> None:
        super().__init__()
        self.attend = nn.MultiheadAttention(12, 2, batch_first=True)
        self.needs_weights = needs_weights

    def forward(self, x: Tensor) -> Tensor:
        mask = torch.zeros(2, 7, 7).bool()
        mask[1] = True
        return self.attend(x, x, x, attn_mask=mask, need_weights=self.needs_weights)[0]  # type: ignore[no-any-return]


@pytest.mark.usefixtures("wrong_recordings")
@pytest.mark.parametrize("needs_weights", [True, False])
def test_rows_are_compared_in_all_heads_or_not_called_right(needs_weights: bool) -> None:
    module, x = OneClosed(needs_weights).eval(), torch.randn(1, 7, 12)
    recording = record(module, x)
    (attention,) = recording.attentions.values()
    assert bool(module(x).isnan().all()) is needs_weights
    assert bool(attention.weights(0)[1].isnan().all()) is needs_weights
    wrong = check({"x": [replace(attention.calls[0], q=attention.calls[0].q * 50)]})
    if needs_weights:  # nothing is left to compare
        assert recording.checked.is_right is None and recording.checked.error is None
        assert recording.checked.n_checked == 0 and recording.checked.unknown
        assert wrong.is_right is None
    else:  # the closed head gives 0
        assert recording.checked.is_right and not recording.checked.no_numbers
        assert wrong.is_right is False
    unsafe = check({"x": [replace(attention.calls[0], is_safe=not attention.calls[0].is_safe)]})
    assert unsafe.is_right is False  # 0 is not NaN


def test_any_row_that_is_wrong_is_noticed() -> None:
    torch.manual_seed(1)
    recording = record(layers.Layers([layers.WithDot()]).eval(), torch.randn(1, 200, 12))
    call: Any = recording.attentions["encoder_self"].calls[0]
    for row in (0, 63, 64, 131, 199):
        wrong = call.given.clone()
        wrong[1, row] = wrong[1, row].roll(1)
        assert check({"x": [replace(call, given=wrong)]}).is_right is False


def test_training_mode_and_its_dropout_are_told() -> None:
    model = nn.TransformerEncoderLayer(12, 2, 20, 0.25, batch_first=True)
    x = torch.randn(1, 7, 12)
    recording = record(model, x)
    assert recording.checked.is_right is None and "dropout" in str(recording.checked)
    (note,) = recording.notes
    assert "training mode" in note and "0.25" in note and note.endswith(".")
    assert not record(model.eval(), x).notes
