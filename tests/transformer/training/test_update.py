"""A step changes the weights as plain float32 training would, and in bfloat16 nearly so."""

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from transformer.config import ModelConfig
from transformer.models.encoder_decoder import EncoderDecoder
from transformer.training.batches import IGNORED, Batch, make_batch
from transformer.training.config import TrainingConfig
from transformer.training.update import Update, held_out_loss

CONFIG = ModelConfig(
    vocab_size=60, d_model=32, d_ff=64, n_heads=4, n_encoder_layers=1, n_decoder_layers=1, dropout=0
)
TRAINING = TrainingConfig(steps=30, tokens_per_batch=100, learning_rate=3e-3, warmup_steps=1)


def model(config: ModelConfig = CONFIG) -> EncoderDecoder:
    torch.manual_seed(1)
    return EncoderDecoder(config)


def batch() -> Batch:
    rows = [([*range(4 + i, 10 + i), 2], [*range(20 + i, 24 + 2 * i), 2]) for i in range(8)]
    return make_batch(rows, pad_id=0, bos_id=1)


def losses(update: Update, n: int = 30) -> list[float]:
    return [float(update(batch(), 1.0)) for _ in range(n)]


def test_a_step_is_that_of_torch() -> None:
    ours, theirs = model(), model()
    update = Update(ours, TRAINING)
    optimizer = torch.optim.AdamW(theirs.parameters(), 3e-3, betas=(0.9, 0.98), weight_decay=0.01)
    given = batch()
    for _ in range(3):
        loss = update(given, 1.0)
        optimizer.zero_grad()
        logits = theirs(*given.inputs).flatten(0, 1)
        expected = F.cross_entropy(
            logits, given.target_output.flatten(), ignore_index=IGNORED, label_smoothing=0.1
        )
        expected.backward()
        nn.utils.clip_grad_norm_(theirs.parameters(), 1.0)
        optimizer.step()
        torch.testing.assert_close(loss, expected.detach())
    # Not the weights themselves: keys' biases have no gradient but noise, which Adam makes large.
    logits = [each.eval()(*given.inputs) for each in (ours, theirs)]
    torch.testing.assert_close(*logits, rtol=0, atol=1e-3)


def test_the_factor_scales_the_step() -> None:
    still = model()
    before = {name: tensor.clone() for name, tensor in still.state_dict().items()}
    Update(still, TRAINING)(batch(), 0.0)
    assert all(torch.equal(before[name], tensor) for name, tensor in still.state_dict().items())


def test_judged_by_some_pieces_it_learns_as_well() -> None:
    few = TrainingConfig(**{**vars(TRAINING), "loss_pieces": 20})
    models = model(), model()
    for each, training in zip(models, (TRAINING, few), strict=True):
        torch.manual_seed(2)
        assert losses(Update(each, training))[-1] < 2.0
    whole, sampled = (held_out_loss(each, batch(), torch.device("cpu")) for each in models)
    assert sampled == pytest.approx(whole, abs=0.3)


def test_in_bfloat16_the_loss_stays_close_and_the_weights_float32(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def trained(half: bool) -> tuple[list[float], Update]:
        monkeypatch.setattr("transformer.training.update.is_faster", lambda: half)
        update = Update(model(), TRAINING)
        return losses(update), update

    (exact, single), (near, double) = trained(False), trained(True)
    assert single.half is None
    assert double.half is not None
    assert {p.dtype for p in double.half.model.parameters()} == {torch.bfloat16}
    assert {p.dtype for p in double.model.parameters()} == {torch.float32}
    assert near != exact
    assert near == pytest.approx(exact, abs=0.05)
    assert exact[-1] < exact[0] / 2


@pytest.mark.parametrize(("amx", "expected"), [(True, True), (False, False), (None, False)])
def test_only_matrix_instructions_make_bfloat16_worth_it(
    monkeypatch: pytest.MonkeyPatch, amx: bool | None, expected: bool
) -> None:
    from transformer.training.half import is_faster

    found: dict[str, bool] = {"avx512_bf16": True} | ({} if amx is None else {"amx_bf16": amx})
    capabilities: Callable[[], dict[str, bool]] = lambda: found  # noqa: E731
    monkeypatch.setattr("torch.cpu.get_capabilities", capabilities)
    assert is_faster() is expected


def test_batch_statistics_are_not_kept_in_half(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("transformer.training.update.is_faster", lambda: True)
    config = ModelConfig(**{**vars(CONFIG), "norm": "batch"})
    assert Update(model(config), TRAINING).half is None
