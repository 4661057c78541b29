"""With a cache, step by step, a model gives what it gives in one pass; padding changes nothing."""

from typing import Any

import pytest
import torch
from torch import Tensor

from tests.conftest import random_checkpoint, random_model, tiny
from transformer import decode
from transformer.config import ModelConfig
from transformer.decoding.shared_batch import alone
from transformer.decoding.steps import forced
from transformer.layers.blocks import joined

close = {"rtol": 0.0, "atol": 1e-5}
VARIANTS: dict[str, dict[str, Any]] = {
    "paper": {},
    "pre-norm": {"norm_order": "pre"},
    "sublayer": {"norm_order": "sublayer", "decoder_feed_norm": False, "encoder_norm": True},
    "scalar": {"norm": "scalar", "norm_eps": 1e-6},
    "batch": {"norm": "batch"},
    "learned": {"positions": "learned"},
    "concatenated": {"positions": "concatenated"},
    "no positions": {"positions": "none"},
    "wide": {"d_key": 12, "d_value": 12, "attention_scale": "fourth_root"},
    "key and value": {"d_key": 5, "d_value": 7, "attention_bias": "output"},
    "plain": {"n_heads": 1, "projections": False, "attention_scale": "none"},
    "untied": {"tied": "none", "scaled_embeddings": False, "activation": "gelu_tanh"},
}
each = pytest.mark.parametrize("variant", VARIANTS)
FAMILIES = ("encoder_decoder", "decoder_only")
families = pytest.mark.parametrize("family", FAMILIES)


def config_of(variant: str, family: str) -> ModelConfig:
    n_encoder_layers = 2 if family == "encoder_decoder" else 0
    choices = VARIANTS[variant] | {"n_encoder_layers": n_encoder_layers}
    return tiny(ModelConfig(), family=family, **choices)


def ids(n_rows: int, length: int) -> Tensor:
    return torch.randint(3, 20, (n_rows, length), generator=torch.Generator().manual_seed(4))


def all_at_once(model, source: Tensor, target: Tensor) -> Tensor:
    """Logits for each of the target's tokens, in one forced pass."""
    read = torch.cat([model.first(source), target[:, :-1]], 1)
    if model.config.family == "encoder_decoder":
        return model(source, read)
    return model(torch.cat([source[:, :-1], read], 1))[:, source.size(1) - 1 :]


@families
@each
@pytest.mark.parametrize("n_source", [1, 5])
def test_one_by_one(variant: str, family: str, n_source: int) -> None:
    model, source, target = random_model(config_of(variant, family)), ids(3, n_source), ids(3, 6)
    state, last, steps = model.start(source), model.first(source), []
    for t in range(6):
        steps.append(model.advance(state, last))
        last = target[:, t : t + 1]
    expected = all_at_once(model, source, target)
    torch.testing.assert_close(torch.cat(steps, 1), expected, **close)


@families
@each
def test_several_at_once(variant: str, family: str) -> None:
    model, source, target = random_model(config_of(variant, family)), ids(3, 4), ids(3, 6)
    read = torch.cat([model.first(source), target[:, :-1]], 1)
    state = model.start(source)
    parts = [model.advance(state, read[:, part]) for part in (slice(0, 2), slice(2, 6))]
    expected = all_at_once(model, source, target)
    torch.testing.assert_close(torch.cat(parts, 1), expected, **close)


@families
@each
def test_reordered_rows_go_on_as_if_they_had_stood_there(variant: str, family: str) -> None:
    model, source, target = random_model(config_of(variant, family)), ids(3, 4), ids(3, 6)
    rows = torch.tensor([2, 0, 0, 1])
    read = torch.cat([model.first(source), target[:, :-1]], 1)
    state = model.start(source)
    model.advance(state, read[:, :3])
    state.reorder(rows)
    torch.testing.assert_close(
        model.advance(state, read[rows, 3:]),
        all_at_once(model, source[rows], target[rows])[:, 3:],
        **close,
    )


@families
@each
def test_a_later_token_changes_no_earlier_row(variant: str, family: str) -> None:
    model, source, target = random_model(config_of(variant, family)), ids(1, 4), ids(1, 6)
    before = all_at_once(model, source, target)
    target[:, 3] = 19 if int(target[0, 3]) != 19 else 3
    after = all_at_once(model, source, target)
    torch.testing.assert_close(after[:, :4], before[:, :4], **close)
    assert float((after[:, 4] - before[:, 4]).abs().max()) > 1e-4


@families
@each
def test_rows_of_a_padded_batch_equal_the_rows_alone(variant: str, family: str) -> None:
    model, source, target = random_model(config_of(variant, family)), ids(3, 7), ids(3, 6)
    n_source, n_target = (7, 4, 1), (6, 2, 5)
    for row in range(3):
        source[row, n_source[row] :] = target[row, n_target[row] :] = 0
    is_pair = family == "encoder_decoder"
    together = model(source, target) if is_pair else model(target)
    for row in range(3):
        alone = source[row : row + 1, : n_source[row]], target[row : row + 1, : n_target[row]]
        expected = model(*(alone if is_pair else alone[1:]))
        torch.testing.assert_close(together[row : row + 1, : n_target[row]], expected, **close)


@families
@each
def test_beam_search_judges_as_the_forced_pass(variant: str, family: str) -> None:
    model, source = random_model(config_of(variant, family)), ids(1, 4)
    checkpoint = random_checkpoint(model.config)
    text = " ".join(map(str, source[0].tolist()))
    decoding = decode(checkpoint, text, method="beam", beam_size=3, max_len=6)
    for hypothesis in decoding.hypotheses:
        search = forced(model, source, target_ids=hypothesis.ids)
        [again] = alone(model, search, source)
        torch.testing.assert_close(hypothesis.log_probs, again.log_probs, **close)
        assert hypothesis.log_prob == pytest.approx(again.log_prob, abs=1e-4)


@families
@pytest.mark.parametrize("norm_order", ["post", "pre"])
def test_padding_never_reaches_a_batch_norm_s_statistics(family: str, norm_order: str) -> None:
    """In training, more padding changes neither the real rows nor the running statistics."""
    config = tiny(config_of("batch", family), norm_order=norm_order)
    models = [random_model(config).train() for _ in range(2)]
    text = ids(3, 6)
    text[1, 4:] = text[2, 1:] = 0
    wider = torch.cat([text, torch.zeros(3, 4, dtype=torch.long)], dim=1)
    n_inputs = 2 if family == "encoder_decoder" else 1
    given, expected = models[0](*[wider] * n_inputs)[:, :6], models[1](*[text] * n_inputs)
    real = text.ne(0)
    torch.testing.assert_close(given[real], expected[real], **close)
    for name, buffer in models[0].named_buffers():
        torch.testing.assert_close(buffer, models[1].get_buffer(name), **close)


@families
@each
def test_rows_that_join_and_leave_a_batch_go_on_as_they_would_alone(
    variant: str, family: str
) -> None:
    """Sources of 4, 1 and 6 tokens, which join at steps 0, 2 and 2; the longest leaves after 4."""
    model, target = random_model(config_of(variant, family)), ids(3, 6)
    sources = [ids(1, n) for n in (4, 1, 6)]
    read = [torch.cat([model.first(s), target[i : i + 1, :-1]], 1) for i, s in enumerate(sources)]
    found: list[list[Tensor]] = [[], [], []]
    state, there = joined([model.start(sources[0])], [1]), [0]
    for step in range(6):
        if step == 2:
            state = joined([state, *(model.start(s) for s in sources[1:])], [1, 1, 1])
            there = [0, 1, 2]
        if step == 4:
            state.reorder(torch.tensor([1, 0]))
            state, there = joined([state], [2]), [1, 0]
            widths = {(pair[0].size(2)) for cache in state.caches for pair in [cache.own]}
            assert widths == {4 if family == "encoder_decoder" else 4 + 3}
            assert state.memory_mask is None or state.memory_mask.size(-1) == 4
        at = [len(found[row]) for row in there]
        last = torch.cat([read[row][:, t : t + 1] for row, t in zip(there, at, strict=True)])
        for row, logits in zip(there, model.advance(state, last), strict=True):
            found[row].append(logits)
    for row, source in enumerate(sources):
        expected = all_at_once(model, source, target[row : row + 1])[0, : len(found[row])]
        torch.testing.assert_close(torch.cat(found[row]), expected, rtol=0.0, atol=2e-5)
