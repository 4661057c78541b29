"""A step changes the weights as plain float32 training would, and in bfloat16 nearly so."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from transformer.__main__ import main
from transformer.config import ModelConfig
from transformer.models.encoder_decoder import EncoderDecoder
from transformer.refusal import quoted
from transformer.training.batches import IGNORED, Batch, make_batch
from transformer.training.step import Update, held_out_loss, precision
from transformer.training.task import TrainingConfig

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


CLOSE = {"float32": {"atol": 1e-5, "rtol": 1.3e-6}, "bfloat16": {"atol": 0.01, "rtol": 0}}
"""How far a loss may be from that of float32, in nats; in bfloat16 0.004 was seen."""


def test_a_step_is_that_of_torch(precision: str) -> None:
    ours, theirs = model(), model()
    update = Update(ours, TRAINING)
    assert update.precision == precision
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
        torch.testing.assert_close(loss, expected.detach(), **CLOSE[precision])
    # Not the weights themselves: keys' biases have no gradient but noise, which Adam makes large.
    logits = [each.eval()(*given.inputs) for each in (ours, theirs)]
    torch.testing.assert_close(*logits, rtol=0, atol=1e-3 if precision == "float32" else 0.1)


def test_the_factor_scales_the_step(precision: str) -> None:
    still = model()
    before = {name: tensor.clone() for name, tensor in still.state_dict().items()}
    Update(still, TRAINING)(batch(), 0.0)
    assert all(torch.equal(before[name], tensor) for name, tensor in still.state_dict().items())


def test_judged_by_some_pieces_it_learns_as_well(precision: str) -> None:
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
    def trained(half: str) -> tuple[list[float], Update]:
        monkeypatch.setenv("HEADSCOPE_HALF", half)
        update = Update(model(), TRAINING)
        return losses(update), update

    (exact, single), (near, double) = trained("no"), trained("yes")
    assert single.half is None
    assert double.half is not None
    assert {p.dtype for p in double.half.model.parameters()} == {torch.bfloat16}
    assert {p.dtype for p in double.model.parameters()} == {torch.float32}
    assert near != exact
    assert near == pytest.approx(exact, abs=0.05)
    assert exact[-1] < exact[0] / 2


@pytest.mark.parametrize(("amx", "expected"), [(True, True), (False, False), (None, False)])
@pytest.mark.parametrize("setting", ["auto", None])
def test_only_matrix_instructions_make_bfloat16_worth_it(
    monkeypatch: pytest.MonkeyPatch, setting: str | None, amx: bool | None, expected: bool
) -> None:
    capabilities = {"avx512_bf16": True} | ({} if amx is None else {"amx_bf16": amx})
    monkeypatch.setattr("torch.cpu.get_capabilities", lambda: capabilities)
    set_half(monkeypatch, setting)
    assert Update(model(), TRAINING).precision == ("bfloat16" if expected else "float32")


@pytest.mark.parametrize(
    ("processor", "able", "expected"),
    [
        ("AMD EPYC", True, "bfloat16"),
        ("AMD EPYC", False, "float32"),
        ("Intel(R) Xeon(R)", True, "float32"),
    ],
)
def test_of_vector_instructions_only_those_of_amd_do(
    monkeypatch: pytest.MonkeyPatch, processor: str, able: bool, expected: str
) -> None:
    capabilities = {"cpu_name": processor, "avx512_bf16": able, "amx_bf16": False}
    monkeypatch.setattr("torch.cpu.get_capabilities", lambda: capabilities)
    set_half(monkeypatch, None)
    assert Update(model(), TRAINING).precision == expected


@pytest.mark.parametrize("amx", [True, False])
def test_a_setting_counts_more_than_the_processor(
    monkeypatch: pytest.MonkeyPatch, amx: bool, precision: str
) -> None:
    monkeypatch.setattr("torch.cpu.get_capabilities", lambda: {"amx_bf16": amx})
    assert Update(model(), TRAINING).precision == precision


@pytest.mark.parametrize("setting", ["", "true", "bfloat16"])
def test_a_setting_that_cannot_be_read_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], setting: str
) -> None:
    set_half(monkeypatch, setting)
    assert main(["train", "copy", "--steps", "1"]) == 1
    said = f"HEADSCOPE_HALF must be yes, no or auto, not {quoted(setting)}."
    assert capsys.readouterr().err == f"error: {said}\n"


def set_half(monkeypatch: pytest.MonkeyPatch, setting: str | None) -> None:
    if setting is None:
        monkeypatch.delenv("HEADSCOPE_HALF", raising=False)
    else:
        monkeypatch.setenv("HEADSCOPE_HALF", setting)


def test_batch_statistics_are_not_kept_in_half(precision: str) -> None:
    config = ModelConfig(**{**vars(CONFIG), "norm": "batch"})
    assert Update(model(config), TRAINING).precision == "float32"


@pytest.mark.filterwarnings("ignore:.*CUDA is not available")
def test_a_gpu_attends_without_a_plan_for_each_length() -> None:
    before = torch.backends.cuda.cudnn_sdp_enabled()
    with precision(torch.device("cuda")):
        assert not torch.backends.cuda.cudnn_sdp_enabled()
        assert torch.backends.cuda.flash_sdp_enabled()
    assert torch.backends.cuda.cudnn_sdp_enabled() == before
