"""The masks of a padded batch, against loops; and what a model makes of target padding."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tests.conftest import random_checkpoint
from tests.transformer.watch.hugging_face import build
from transformer import Checkpoint, decode, load_checkpoint, record
from transformer.batch_masks import SentenceMasks, batch_masks, pad_token, told_apart, used_masks
from transformer.config import ModelConfig
from transformer.discover import discover
from transformer.layers.attention import combined_mask, padding_mask, subsequent_mask
from transformer.recording import Attention
from transformer.token import Token

PAD = Token(0, "<pad>", special=True)
CONFIG = ModelConfig(
    vocab_size=31, d_model=24, d_ff=40, n_heads=3, n_encoder_layers=2, n_decoder_layers=3
)
GENERATOR = replace(CONFIG, family="decoder_only", n_encoder_layers=0)


def attention(kind: str, n_queries: int, n_keys: int) -> Attention:
    """As much of a recording as masks ask for."""
    tokens = [Token(i, str(i)) for i in range(3, 20)]
    return Attention(kind, tuple(tokens[:n_queries]), tuple(tokens[:n_keys]), ())


@pytest.mark.parametrize("kind", ["encoder_self", "decoder_self", "cross"])
@pytest.mark.parametrize("lengths", [(6, 4), (4, 6), (5, 5), (1, 3)])
def test_masks_equal_two_loops(kind: str, lengths: tuple[int, int]) -> None:
    spare = 2 if kind == "cross" else 0
    longest = max(lengths)
    batch = batch_masks([attention(kind, n + spare, n) for n in lengths], PAD)
    for n_real, masks in zip(lengths, batch, strict=True):
        assert len(masks.keys) == longest and len(masks.queries) == longest + spare
        assert masks.n_padding == longest - n_real
        assert masks.keys[n_real:] == (PAD,) * masks.n_padding
        for i in range(longest + spare):
            for j in range(longest):
                is_later = kind == "decoder_self" and j > i
                assert bool(masks.padding[i, j]) == (j < n_real)
                assert bool(masks.combined[i, j]) == (j < n_real and not is_later)
                if masks.subsequent is not None:
                    assert bool(masks.subsequent[i, j]) == (j <= i)
        assert (masks.subsequent is not None) == (kind == "decoder_self")
        assert not masks.combined[:, n_real:].any()


def test_a_combination_is_open_where_all_are() -> None:
    torch.manual_seed(0)
    masks = torch.rand(3, 5, 5) < 0.7
    assert torch.equal(combined_mask(*masks), masks.all(0))
    assert torch.equal(combined_mask(masks[0]), masks[0])


def run_encoder_decoder(model: nn.Module, target: Tensor) -> Tensor:
    source = torch.randint(3, 31, (2, 6), generator=torch.Generator().manual_seed(4))
    source[1, 4:] = PAD.id
    return model(source, target)


def run_generator(model: nn.Module, target: Tensor) -> Tensor:
    return model(target)


Run = Callable[[nn.Module, Tensor], Tensor]


@pytest.mark.parametrize(
    ("config", "run"), [(CONFIG, run_encoder_decoder), (GENERATOR, run_generator)]
)
def test_nothing_real_depends_on_the_padding_mask_of_the_decoder(
    config: ModelConfig, run: Run
) -> None:
    torch.manual_seed(0)
    model = discover("transformer.models", "FAMILY")[config.family].build(config)
    model.eval().requires_grad_(False)
    target = torch.randint(3, 31, (2, 7))
    target[1, 4:] = PAD.id
    real = target.ne(PAD.id)
    as_it_is = run(model, target)
    with_the_mask = run_with_padding_mask(model, target, run)
    torch.testing.assert_close(with_the_mask[real], as_it_is[real], rtol=0, atol=1e-5)
    assert not torch.allclose(with_the_mask[~real], as_it_is[~real], atol=1e-3)  # it was applied
    other = run(model, target.masked_fill(~real, 9))
    torch.testing.assert_close(other[real], as_it_is[real], rtol=0, atol=1e-5)


def run_with_padding_mask(model: nn.Module, target: Tensor, run: Run) -> Tensor:
    """The same pass with padding masked in the decoder's self-attention as well."""
    mask = combined_mask(padding_mask(target, PAD.id), subsequent_mask(target.size(1)))

    def masked(module: nn.Module, args: tuple[object, ...]) -> tuple[object, ...]:
        assert args[3:] == (None, True)  # what it hands on: no mask but causality
        return (*args[:3], mask, False)

    hooks = [
        module.register_forward_pre_hook(masked)
        for name, module in model.named_modules()
        if name.startswith("decoder.") and name.endswith("self_attention.dot_product")
    ]
    assert len(hooks) == model.config.n_decoder_layers
    logits = run(model, target)
    for hook in hooks:
        hook.remove()
    return logits


def test_padding_is_a_place_whatever_stands_there() -> None:
    """Marian and T5 begin with the token that they pad with."""
    starts = Attention("decoder_self", (PAD, Token(5, "5")), (PAD, Token(5, "5")), ())
    longer = attention("decoder_self", 4, 4)
    short, long = batch_masks([starts, longer], PAD)
    assert short.keys == (PAD, Token(5, "5"), PAD, PAD)
    assert short.padding[0].tolist() == [True, True, False, False]
    assert bool(long.padding.all())


def used(checkpoint: Checkpoint, *texts: str) -> dict[str, list[SentenceMasks]]:
    """What a model closes when these are one batch, by kind."""
    needs_target = checkpoint.family.target == "needed"
    recordings = [
        record(
            checkpoint, text, decode(checkpoint, text, "greedy").target if needs_target else None
        )
        for text in texts
    ]
    found = {kind: used_masks(checkpoint, recordings, kind) for kind in recordings[0].attentions}
    return {kind: masks for kind, masks in found.items() if masks is not None}


def test_a_model_of_ours_leaves_target_padding_open_and_closes_that_of_the_source() -> None:
    masks = used(random_checkpoint(replace(CONFIG, eos_id=None)), "5 9 12 3 7", "5 9")
    assert set(masks) == {"encoder_self", "decoder_self", "cross"}
    for kind, (long, short) in masks.items():
        assert long.n_padding == 0 and short.n_padding > 0
        assert short.combined.shape == (len(short.queries), len(short.keys))
        n_queries, n_keys = short.combined.shape
        if kind == "decoder_self":
            assert bool(short.padding.all())
            assert torch.equal(short.combined, torch.ones(n_queries, n_keys).tril().bool())
        else:
            assert short.subsequent is None
            real = torch.arange(n_keys) < short.n_keys
            assert torch.equal(short.combined, real.expand(n_queries, -1))
        assert short.other is None and not short.varies


@pytest.mark.parametrize(
    ("family", "kind", "hides_padding", "is_causal", "has_another"),
    [
        ("BERT", "encoder_self", True, False, False),
        ("T5", "encoder_self", True, False, False),
        ("T5", "cross", True, False, False),
        ("T5", "decoder_self", False, True, False),  # begins with its pad token, as Marian does
        ("Marian", "decoder_self", False, True, False),
        ("Marian", "cross", True, False, False),
        ("GPT-2", "decoder_self", True, True, False),
        ("Mistral", "decoder_self", True, True, True),  # a window of 4
    ],
)
def test_what_a_watched_model_closes_is_recorded(
    family: str, kind: str, hides_padding: bool, is_causal: bool, has_another: bool, tmp_path: Path
) -> None:
    model: Any = build(family)
    model.save_pretrained(tmp_path)
    _, short = used(load_checkpoint(tmp_path, "cpu"), "5 9 12 33 7 7 41", "5 9 8")[kind]
    assert short.n_padding > 0
    assert bool(short.padding.all()) != hides_padding
    assert (short.subsequent is not None) == is_causal
    assert (short.other is not None) == has_another


def test_masks_are_told_apart_by_what_they_close() -> None:
    textbook = batch_masks([attention("decoder_self", n, n) for n in (4, 6)], PAD)[0]
    later = torch.ones(6, 6).triu(1).bool()
    window = torch.ones(6, 6).tril(-3).bool()
    both = told_apart(textbook, ~(later | window))
    assert bool(both.padding.all()) and both.other is not None
    assert torch.equal(~both.other, window) and torch.equal(both.combined, ~(later | window))
    nothing = told_apart(textbook, torch.ones(6, 6).bool())
    assert nothing.subsequent is None and nothing.other is None and bool(nothing.combined.all())


def test_a_model_without_a_token_for_padding_pads_by_name() -> None:
    generator = random_checkpoint(replace(GENERATOR, pad_id=7))
    assert pad_token(generator) == Token(7, "<pad>", special=True)
