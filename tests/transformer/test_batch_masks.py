"""The masks of a padded batch, against loops; and what a model makes of target padding."""

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn

from transformer.batch_masks import batch_masks
from transformer.config import ModelConfig
from transformer.discover import discover
from transformer.layers.masks import combined_mask, padding_mask, subsequent_mask
from transformer.recording import Attention
from transformer.tokenizer import Token

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
