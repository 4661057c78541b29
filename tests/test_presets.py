"""Every preset is a model that can be built, trained, saved; its sizes are those published."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor

from tests.conftest import random_checkpoint, random_model, tiny
from tests.presets import PRESETS
from transformer.config import ModelConfig
from transformer.discover import discover
from transformer.formats.headscope import save_checkpoint
from transformer.formats.opening import load_checkpoint

each = pytest.mark.parametrize("name", PRESETS)


def inputs_of(config: ModelConfig) -> tuple[Tensor, ...]:
    """Two padded rows for each input of the family."""
    torch.manual_seed(5)
    length = min(config.max_len, 7)
    ids = torch.randint(3, config.vocab_size, (2, 2, length))
    ids[:, 1, -2:] = config.pad_id
    return tuple(ids) if config.family == "encoder_decoder" else (ids[0],)


def n_parameters(config: ModelConfig) -> int:
    with torch.device("meta"):
        model = discover("transformer.models", "FAMILY")[config.family].build(config)
    return sum(parameter.numel() for parameter in model.parameters())


@each
def test_it_says_what_it_is(name: str) -> None:
    preset = PRESETS[name]
    assert preset.name == name
    assert preset.explain.endswith(".") and "\n" not in preset.explain
    values = json.loads(json.dumps(preset.config.to_dict()))
    assert ModelConfig.from_dict(values) == preset.config
    assert n_parameters(preset.config) > 0


@each
def test_every_weight_gets_a_finite_gradient(name: str) -> None:
    config = tiny(PRESETS[name].config)
    model = random_model(config).train().requires_grad_(True)
    logits = model(*inputs_of(config))
    assert bool(logits.isfinite().all())
    logits.square().mean().backward()
    for parameter_name, parameter in model.named_parameters():
        assert parameter.grad is not None, parameter_name
        assert bool(parameter.grad.isfinite().all()), parameter_name


@each
def test_it_is_saved_and_loaded(name: str, tmp_path: Path) -> None:
    checkpoint = random_checkpoint(tiny(PRESETS[name].config))
    model, inputs = checkpoint.model, inputs_of(checkpoint.config)
    model.load_state_dict({n: t.half().float() for n, t in model.state_dict().items()})
    save_checkpoint(
        tmp_path, checkpoint.about, checkpoint.config, model.state_dict(), checkpoint.tokenizer
    )
    before = torch.get_rng_state()
    loaded = load_checkpoint(tmp_path, "cpu")
    assert torch.equal(torch.get_rng_state(), before)  # no first values are drawn for nothing
    assert loaded.config == checkpoint.config
    assert torch.equal(loaded.model(*inputs), model(*inputs))


def test_the_paper_s_sizes() -> None:
    """Table 3 rounds, and its vocabulary has "about 37,000" pieces."""
    assert n_parameters(PRESETS["aiayn-base"].config) == pytest.approx(65e6, rel=0.04)
    assert n_parameters(PRESETS["aiayn-big"].config) == pytest.approx(213e6, rel=0.01)


def test_the_copy_task_s_sizes() -> None:
    config = PRESETS["copy-task"].config
    assert (config.vocab_size, config.pad_id, config.bos_id, config.max_len) == (12, 0, 1, 7)
    assert (config.d_model, config.d_ff, config.n_heads) == (512, 256, 8)
    assert (config.n_encoder_layers, config.n_decoder_layers) == (6, 6)


def test_the_default_is_post_norm() -> None:
    assert PRESETS["post-norm"].config == ModelConfig()
    assert replace(PRESETS["pre-norm"].config, norm_order="post") == ModelConfig()


def test_gpt2_is_what_hugging_face_builds() -> None:
    from transformers import GPT2Config, GPT2LMHeadModel

    ours, theirs = PRESETS["gpt2"].config, GPT2Config()
    with torch.device("meta"):
        reference = GPT2LMHeadModel(theirs)
    assert n_parameters(ours) == sum(p.numel() for p in reference.parameters()) == 124_439_808
    assert (ours.n_heads, ours.max_len) == (theirs.n_head, theirs.n_positions)
    assert (ours.norm_eps, ours.dropout) == (theirs.layer_norm_epsilon, theirs.resid_pdrop)
    assert (ours.bos_id, ours.eos_id) == (theirs.bos_token_id, theirs.eos_token_id)
    assert (ours.activation, theirs.activation_function) == ("gelu_tanh", "gelu_new")


def test_marian_is_what_hugging_face_builds() -> None:
    from transformers import MarianConfig

    ours, theirs = PRESETS["marian"].config, MarianConfig()
    assert ours == replace(
        ours,
        vocab_size=theirs.vocab_size,
        d_model=theirs.d_model,
        d_ff=theirs.encoder_ffn_dim,
        n_heads=theirs.encoder_attention_heads,
        n_encoder_layers=theirs.encoder_layers,
        n_decoder_layers=theirs.decoder_layers,
        dropout=theirs.dropout,
        max_len=theirs.max_position_embeddings,
        activation=theirs.activation_function,
        scaled_embeddings=theirs.scale_embedding,
        tied="all" if theirs.share_encoder_decoder_embeddings else "none",
        pad_id=theirs.pad_token_id,
        bos_id=theirs.decoder_start_token_id,
        eos_id=theirs.eos_token_id,
    )
