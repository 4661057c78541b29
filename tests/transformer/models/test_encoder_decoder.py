"""Ours computes what two implementations that others wrote compute from the same weights."""

from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn

from tests.conftest import random_model
from tests.transformer.models.marian_twin import marian_twin
from transformer.config import ModelConfig
from transformer.models.encoder_decoder import EncoderDecoder

CONFIG = ModelConfig(
    vocab_size=31,
    d_model=24,
    d_ff=40,
    n_heads=3,
    n_encoder_layers=2,
    n_decoder_layers=3,
    max_len=20,
)
PAD = CONFIG.pad_id


def batch() -> tuple[Tensor, Tensor]:
    """Sources and targets of different lengths, padded."""
    torch.manual_seed(3)
    source, target = torch.randint(3, 31, (4, 9)), torch.randint(3, 31, (4, 7))
    source[1, 6:] = source[2, 2:] = target[1, 4:] = PAD
    return source, target


def torch_reference(ours: EncoderDecoder) -> nn.Transformer:
    config = ours.config
    theirs = nn.Transformer(
        config.d_model,
        config.n_heads,
        config.n_encoder_layers,
        config.n_decoder_layers,
        config.d_ff,
        dropout=0.0,
        batch_first=True,
        norm_first=config.norm_order == "pre",
    )
    if config.norm_order == "post":  # ours has no second norm at the end (AIAYN, figure 1)
        theirs.encoder.norm = theirs.decoder.norm = None
    theirs.load_state_dict(torch_names(ours.state_dict()))
    return theirs.eval().requires_grad_(False)


def torch_names(weights: dict[str, Tensor]) -> dict[str, Tensor]:
    """Our weights under torch.nn.Transformer's names."""
    named = {}
    for name, tensor in weights.items():
        if name.startswith("embedding"):
            continue
        stem, _, kind = name.rpartition(".")
        if stem.endswith(".key") or stem.endswith(".value"):
            continue
        if stem.endswith(".query"):
            parts = [
                weights[f"{stem.removesuffix('query')}{p}.{kind}"]
                for p in ("query", "key", "value")
            ]
            name, tensor = f"{stem.removesuffix('.query')}.in_proj_{kind}", torch.cat(parts)
        decoder = name.startswith("decoder")
        for ours, theirs in (
            ("self_attention", "self_attn"),
            ("cross_attention", "multihead_attn"),
            (".output.", ".out_proj."),
            ("feed_forward.inner", "linear1"),
            ("feed_forward.outer", "linear2"),
            ("self_residual.norm", "norm1"),
            ("cross_residual.norm", "norm2"),
            ("feed_residual.norm", "norm3" if decoder else "norm2"),
        ):
            name = name.replace(ours, theirs)
        named[name] = tensor
    return named


@pytest.mark.filterwarnings("ignore:enable_nested_tensor is True:UserWarning")  # says pre-norm
@pytest.mark.parametrize("norm_order", ["post", "pre"])
def test_equals_torch_nn_transformer(norm_order: str) -> None:
    ours = random_model(replace(CONFIG, norm_order=norm_order))
    source, target = batch()
    padding = source.eq(PAD)
    hidden = torch_reference(ours)(
        ours.embed(source),
        ours.embed(target),
        tgt_mask=torch.ones(target.size(1), target.size(1), dtype=torch.bool).triu(1),
        src_key_padding_mask=padding,
        memory_key_padding_mask=padding,
        tgt_is_causal=True,
    )
    theirs = hidden @ ours.embedding.weight.T
    torch.testing.assert_close(ours(source, target), theirs, rtol=0, atol=1e-5 * theirs.abs().max())


def test_equals_hugging_face_marian(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    ours = random_model(CONFIG)
    theirs = marian_twin(ours)
    source, target = batch()
    logits = theirs(
        input_ids=source, attention_mask=source.ne(PAD).long(), decoder_input_ids=target
    ).logits
    torch.testing.assert_close(ours(source, target), logits, rtol=0, atol=1e-4)


@pytest.mark.parametrize("norm_order", ["post", "pre"])
def test_steps_with_the_cache_equal_the_forced_pass(norm_order: str) -> None:
    model = random_model(replace(CONFIG, norm_order=norm_order))
    source, target = batch()
    state = model.start(source)
    steps = [model.advance(state, target[:, t : t + 1]) for t in range(target.size(1))]
    torch.testing.assert_close(torch.cat(steps, 1), model(source, target), rtol=0, atol=1e-4)


def test_a_row_of_a_padded_batch_equals_the_row_alone() -> None:
    model = random_model(CONFIG)
    source, target = batch()
    alone = model(source[1:2, :6], target[1:2, :4])
    torch.testing.assert_close(model(source, target)[1:2, :4], alone, rtol=0, atol=1e-4)


def test_several_tokens_at_once_equal_one_by_one() -> None:
    model = random_model(CONFIG)
    source, target = batch()
    state = model.start(source)
    parts = [model.advance(state, target[:, part]) for part in (slice(0, 1), slice(1, 4))]
    torch.testing.assert_close(
        torch.cat(parts, dim=1), model(source, target)[:, :4], rtol=0, atol=1e-5
    )


def test_the_embedding_is_shared_three_ways() -> None:
    vocabulary_matrices = [
        name for name, p in random_model(CONFIG).named_parameters() if CONFIG.vocab_size in p.shape
    ]
    assert vocabulary_matrices == ["embedding.weight"]
