"""Rows shared among threads give the gradients of the whole batch, whatever thread is first."""

from collections.abc import Iterator

import pytest
import torch
from torch import Tensor

from tests.representatives import MARK
from transformer.config import ModelConfig
from transformer.models.encoder_decoder import EncoderDecoder
from transformer.training import step as shares
from transformer.training.batches import IGNORED, Batch, make_batch
from transformer.training.step import Shares, Update, pool_dropout, smoothed_loss
from transformer.training.task import TrainingConfig

CONFIG = ModelConfig(
    vocab_size=60, d_model=32, d_ff=64, n_heads=4, n_encoder_layers=1, n_decoder_layers=1
)


@pytest.fixture(autouse=True)
def small_shares(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shares, "LEAST", 1)


@pytest.fixture
def three() -> Iterator[Shares]:
    made = Shares(3)
    yield made
    if made.pool is not None:
        made.pool.shutdown()


def model() -> EncoderDecoder:
    torch.manual_seed(1)
    made = EncoderDecoder(CONFIG)
    pool_dropout(made)
    return made


def batch(n: int = 8) -> Batch:
    rows = [([*range(4 + i, 10 + i), 2], [*range(20 + i, 24 + 2 * i), 2]) for i in range(n)]
    return make_batch(rows, pad_id=0, bos_id=1)


def gradients(by: Shares, of: EncoderDecoder, given: Batch) -> list[Tensor]:
    def loss(rows: Batch) -> Tensor:
        return smoothed_loss(of(*rows.inputs).flatten(0, 1), rows.target_output.flatten(), 0.1)

    value, found = by.gradients(loss, list(of.parameters()), given)
    return [value, *(each for each in found if each is not None)]


@pytest.mark.parametrize("n_rows", [1, 2, 7, 8])
def test_shares_add_up_to_the_whole(three: Shares, n_rows: int) -> None:
    ours = model().eval()
    whole, shared = (gradients(by, ours, batch(n_rows)) for by in (Shares(1), three))
    assert (three.pool is None) == (n_rows == 1)
    torch.testing.assert_close(shared, whole, atol=1e-6, rtol=1e-4)


def test_the_seed_decides_what_each_thread_drops(three: Shares) -> None:
    ours = model().train()
    runs = []
    for seed in (2, 2, 3):
        torch.manual_seed(seed)
        runs.append([gradients(three, ours, batch()) for _ in range(5)])
    for first, again in zip(runs[0], runs[1], strict=True):
        assert all(map(torch.equal, first, again))
    assert not torch.equal(runs[0][0][0], runs[2][0][0])
    assert not torch.equal(runs[0][0][0], runs[0][1][0])


def test_small_batches_are_not_divided(three: Shares, monkeypatch: pytest.MonkeyPatch) -> None:
    given = batch()
    monkeypatch.setattr(shares, "LEAST", given.n_tokens // 2 + 1)
    gradients(three, model().eval(), given)
    assert three.pool is None


def test_the_threads_of_others_are_as_many_as_before(three: Shares) -> None:
    torch.set_num_threads(2)
    gradients(three, model().eval(), batch())
    assert torch.get_num_threads() == 2
    assert three.pool is not None
    assert {three.pool.submit(torch.get_num_threads).result() for _ in range(6)} == {1}


@pytest.mark.parametrize(
    "precision", ["bfloat16", pytest.param("float32", marks=MARK)], indirect=True
)
def test_a_step_takes_as_many_shares_as_torch_has_threads(precision: str) -> None:
    training = TrainingConfig(steps=9, tokens_per_batch=99, learning_rate=3e-3, warmup_steps=1)
    torch.set_num_threads(2)
    update = Update(model(), training)
    assert update.precision == precision
    losses = [float(update(batch(), 1.0)) for _ in range(30)]
    assert update.shares.n_threads == 2
    assert update.shares.pool is not None
    update.shares.pool.shutdown()
    assert losses[-1] < losses[0] / 1.5


def test_a_fault_in_a_share_is_raised(three: Shares) -> None:
    def loss(rows: Batch) -> Tensor:
        raise ValueError("unfit")

    with pytest.raises(ValueError, match="unfit"):
        three.gradients(loss, list(model().parameters()), batch())


def test_a_share_that_predicts_nothing_adds_nothing(three: Shares) -> None:
    ours, given = model().eval(), batch(9)
    given.target_output[3:6] = IGNORED
    whole, shared = (gradients(by, ours, given) for by in (Shares(1), three))
    torch.testing.assert_close(shared, whole, atol=1e-6, rtol=1e-4)


def test_frozen_weights_stay_as_they_are(precision: str) -> None:
    training = TrainingConfig(steps=9, tokens_per_batch=99, learning_rate=3e-3, warmup_steps=1)
    ours = model()
    ours.encoder.requires_grad_(False)
    before = {name: value.clone() for name, value in ours.state_dict().items()}
    torch.set_num_threads(2)
    update = Update(ours, training)
    assert update.precision == precision
    update(batch(), 1.0)
    assert update.shares.pool is not None
    update.shares.pool.shutdown()
    changed = {name for name, value in ours.state_dict().items() if not value.equal(before[name])}
    assert changed
    assert not any(name.startswith("encoder.") for name in changed)
