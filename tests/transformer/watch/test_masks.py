"""A cell is closed where the softmax gave exactly 0 for a mask; no weight is put in its place."""

from collections.abc import Callable
from dataclasses import replace
from itertools import product

import pytest
import torch
from torch import Tensor, nn

from tests.representatives import cases
from tests.transformer.watch.hugging_face import FAMILIES, FEW, build, expected, inputs_of
from tests.transformer.watch.masked import (
    CAUSAL,
    HEADS,
    PADDED,
    STYLES,
    TOKENS,
    Added,
    AddedInPlace,
    D,
    Fused,
    Masked,
    mask,
)
from transformer import InputError, Recording, record
from transformer.recording import AttentionCall, WeightsCall
from transformer.watch.calls import by_hand, fused

x = torch.randn(1, TOKENS, D, generator=torch.Generator().manual_seed(1))
styles = pytest.mark.parametrize("style", STYLES, ids=lambda style: style.__name__)
NUMBERS = (-100.0, -999.5, -4999.0, -1e4, -1e9, float(torch.finfo(torch.float32).min), -torch.inf)


def right(model: Masked) -> Recording:
    """The recording, whose weights are the model's own in every row."""
    recording = record(model.eval(), x)
    (attention,) = recording.attentions.values()
    torch.testing.assert_close(
        attention.weights(0), model.wanted, rtol=0, atol=1e-5, equal_nan=True
    )
    closed = ~attention.allowed(0)
    assert not bool(attention.weights(0)[closed].any())
    checked = recording.checked
    assert checked.is_right
    assert checked.masked == 0
    return recording


@styles
@pytest.mark.parametrize("number", NUMBERS)
def test_a_mask_of_any_number_is_a_mask(style: type[Masked], number: float) -> None:
    recording = right(style(mask(CAUSAL, number)))
    assert list(recording.attentions) == ["decoder_self"] and not recording.biases
    allowed = recording.attentions["decoder_self"].allowed(0)
    assert bool(allowed[:, CAUSAL].all())
    assert number > -120 or torch.equal(allowed[0], CAUSAL)


@styles
@pytest.mark.parametrize("number", NUMBERS[:-1])
def test_a_row_that_a_finite_mask_covers_is_what_the_softmax_gave(
    style: type[Masked], number: float
) -> None:
    recording = right(style(mask(PADDED, number)))
    (attention,) = recording.attentions.values()
    assert attention.kind == "decoder_self"
    assert torch.allclose(attention.weights(0)[:, 0].sum(-1), torch.ones(HEADS))
    assert bool(attention.allowed(0)[:, 0].any(-1).all())


@styles
def test_a_row_of_bools_that_is_closed_is_what_the_softmax_gave(style: type[Masked]) -> None:
    model = style(PADDED)
    recording = record(model.eval(), x)
    (attention,) = recording.attentions.values()
    torch.testing.assert_close(attention.weights(0), model.wanted, equal_nan=True)
    is_fused = isinstance(attention.calls[0], AttentionCall) and attention.calls[0].knows_scores
    assert attention.kind == "decoder_self" and recording.checked.is_right
    assert bool(recording.checked.no_numbers) is not is_fused


@styles
@pytest.mark.parametrize(("by", "shift"), [(1.0, -64000.0), (1.0, -3e4), (3e3, 0.0), (1e5, -9e5)])
def test_low_or_sharp_scores_close_nothing(style: type[Masked], by: float, shift: float) -> None:
    recording = right(style(None, by, shift))
    (attention,) = recording.attentions.values()
    assert attention.kind == "encoder_self" and bool(attention.allowed(0).all())


@styles
def test_one_head_alone_may_be_closed_or_masked(style: type[Masked]) -> None:
    of_heads = mask(torch.stack([CAUSAL, CAUSAL, CAUSAL & False]), -1e9)
    recording = right(style(of_heads))
    (attention,) = recording.attentions.values()
    assert torch.equal(attention.allowed(0)[0], CAUSAL)
    assert bool(attention.allowed(0)[2].all())


@pytest.mark.parametrize("style", [Added, AddedInPlace, Fused])
def test_a_bias_beside_a_weak_mask_stays_a_bias(style: type[Masked]) -> None:
    slopes = -torch.arange(1.0, HEADS + 1)[:, None, None] * torch.arange(TOKENS).flip(0)
    recording = record(style(slopes + mask(CAUSAL, -1000.0)).eval(), x)
    assert list(recording.attentions) == ["decoder_self"] and recording.checked.is_right
    (bias,) = (each.bias for each in recording.biases.values())
    assert float(bias.min()) == float(slopes.min())


def _as_it_was(scores: Tensor) -> Tensor | None:
    closed = scores <= -5000
    return closed if bool(closed.any()) else None


def _zeros(call: WeightsCall) -> Tensor:
    return call.given if call.mask is None else call.given.masked_fill(~call.mask, 0.0)


def _all_closed(call: AttentionCall, low: Tensor | None) -> AttentionCall:
    return call if low is None else replace(call, mask=low == 0)


@pytest.mark.usefixtures("wrong_recordings")
@pytest.mark.parametrize(
    "make",
    [
        lambda: Added(None, 1.0, -64000.0),
        lambda: Added(mask(PADDED, -1e9)),
        lambda: Fused(mask(PADDED, -1e9)),
    ],
    ids=["low", "by hand", "fused"],
)
def test_the_check_notices_weights_that_were_overwritten(
    make: Callable[[], nn.Module], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it was before: a threshold, and 0 in all that lies below it."""
    monkeypatch.setattr(by_hand, "covered_by_scores", _as_it_was)
    monkeypatch.setattr(by_hand, "closed_cells", lambda uncovered, weights: ~uncovered)
    monkeypatch.setattr(WeightsCall, "weights", _zeros)
    monkeypatch.setattr(fused, "masked", _all_closed)
    assert record(make().eval(), x).checked.is_right is False


SIDES = {
    **{f"{what}, rows that read nothing": (family, "left") for what, family in FEW.items()},
    **{f"padding behind {family}": (family, "right") for family in ("Marian", "Llama", "BERT")},
}


@pytest.mark.parametrize(("family", "side"), cases(product(FAMILIES, ("left", "right")), SIDES))
def test_every_row_of_every_family_is_the_library_s_own(family: str, side: str) -> None:
    """Of eager models, in rows of padding as well: none is left out."""
    model = build(family, "eager")
    inputs = inputs_of(model)
    inputs["attention_mask"][:, slice(2) if side == "left" else slice(-2, None)] = 0
    try:
        recording = record(model, inputs)
    except InputError:
        return  # not understood: test_hugging_face says which
    wanted = expected(model, inputs)
    is_blank = side == "left" and family in ("DeBERTa-v2", "XLM")  # whose first row is all 0
    assert recording.checked.is_right is (None if is_blank else True)
    assert recording.checked.masked == 0
    for kind, attention in recording.attentions.items():
        for layer, weights in enumerate(wanted[kind]):
            n_keys = attention.calls[layer].k.size(1) - attention.n_added  # a sink has no column
            ours = attention.weights(layer)[..., :n_keys]
            torch.testing.assert_close(ours, weights[0], rtol=0, atol=1e-5)
            assert not bool(weights[0][~attention.allowed(layer)[..., :n_keys]].any())
