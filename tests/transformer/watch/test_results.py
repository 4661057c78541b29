"""Passes that do not repeat, and outputs that are no logits, are said or told apart."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer import Checkpoint, InputError, evidence, from_module, record, survey
from transformer.analysis.ablation import sweep

LETTERS = "abcdefghijkl"
TEXT = "abcdef"
SAME = ["head-scale:decoder_self.0.0=1"]
"""An edit that changes nothing."""


class Tailed(nn.Module):
    """A causal attention whose logits go through a function of its author's."""

    def __init__(self, tail: Callable[..., Any]) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.embed, self.qkv = nn.Embedding(12, 16), nn.Linear(16, 48)
        self.out, self.norm, self.tail = nn.Linear(16, 12), nn.BatchNorm1d(12), tail
        self.n_passes, self.kept = 0, torch.zeros(1, 0, 12)

    def forward(self, ids: Tensor) -> Any:
        q, k, v = self.qkv(self.embed(ids)).chunk(3, -1)
        heads = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.tail(self, self.out(heads))


def counted(module: Tailed, y: Tensor) -> Tensor:
    module.n_passes += 1
    return y + torch.sin(torch.arange(12) * module.n_passes)


def cached(module: Tailed, y: Tensor) -> Tensor:
    module.kept = torch.cat([module.kept, y], 1)
    return y + module.kept.sum(1, keepdim=True)


def failing(module: Tailed, y: Tensor) -> Tensor:
    """A cache that takes one text."""
    module.kept = torch.cat([module.kept, y], 1)
    return y + module.kept


def averaged(module: Tailed, y: Tensor) -> Tensor:
    """A mean that runs on from pass to pass."""
    module.norm.running_mean.lerp_(y.mean((0, 1)), 0.5)
    return module.norm(y[0])[None]


def picked(module: Tailed, y: Tensor) -> Tensor:
    return y + torch.multinomial(y[0].softmax(-1), 1)


DRAWN = {
    "dropout": lambda m, y: F.dropout(y, 0.3),
    "dropout in place": lambda m, y: F.dropout(y.clone(), 0.3, inplace=True),
    "a mask": lambda m, y: y * torch.bernoulli(torch.full_like(y, 0.5)),
    "noise": lambda m, y: y + torch.randn_like(y),
    "uniform": lambda m, y: y + torch.rand(12),
    "written in place": lambda m, y: y + torch.empty(12).normal_(),
    "a generator": lambda m, y: y + torch.randn(12, generator=torch.Generator().manual_seed(1)),
    "an order": lambda m, y: y[..., torch.randperm(12)],
    "sampling": picked,
    "gumbel": lambda m, y: y + F.gumbel_softmax(y, hard=True),
}
IN_ATTENTION = {
    "fused": lambda m, y: y + F.scaled_dot_product_attention(y, y, y, dropout_p=0.5),
    "by hand": lambda m, y: y + F.dropout((y @ y.mT).softmax(-1), 0.5) @ y,
}
KEPT = {
    "a counter": counted,
    "a cache": cached,
    "a cache of one size": failing,
    "running means": averaged,
    "another library": lambda m, y: y + float(np.random.default_rng().random()),
}


def opened(tail: Callable[..., Any], **named: Any) -> Checkpoint:
    options = {"writes": "continuation"} | named
    return from_module(
        Tailed(tail), lambda text: [*map(LETTERS.index, text)], [*LETTERS], TEXT, **options
    )


@pytest.mark.parametrize("tail", [*DRAWN.values(), *KEPT.values()], ids=[*DRAWN, *KEPT])
def test_passes_that_differ_are_no_ground_for_an_effect(tail: Any) -> None:
    for edits in ((), SAME):
        if edits and tail is failing:  # which says so itself
            continue
        recording = record(opened(tail), TEXT, edits=edits)
        assert recording.varies in recording.notes and recording.checked.is_right is None
    for measure in (sweep, evidence):
        with pytest.raises(InputError):
            measure(opened(tail), TEXT)
    with pytest.raises(InputError):
        survey(opened(tail), [TEXT])


@pytest.mark.parametrize("tail", (DRAWN | IN_ATTENTION).values(), ids=DRAWN | IN_ATTENTION)
def test_one_pass_shows_what_is_drawn(tail: Any) -> None:
    ids = torch.arange(6)[None]
    recording = record(Tailed(tail).eval(), ids)
    assert recording.varies in recording.notes and recording.checked.is_right is None


@pytest.mark.parametrize("tail", [each for each in KEPT.values() if each is not failing])
def test_a_module_with_edits_is_run_twice_without_them(tail: Any) -> None:
    recording = record(Tailed(tail).eval(), torch.arange(6)[None], edits=SAME)
    assert recording.varies in recording.notes and recording.checked.is_right is None


SAME_EACH_TIME = {
    "plain": lambda m, y: y,
    "rests": lambda m, y: F.dropout(y, 0.3, m.training),
    "of nothing": lambda m, y: F.dropout(y, 0.0),
    "means": lambda m, y: m.norm(y[0])[None],
    "not a number": lambda m, y: y.masked_fill(y > 0, torch.nan),
}


@pytest.mark.parametrize("tail", SAME_EACH_TIME.values(), ids=SAME_EACH_TIME)
def test_passes_that_repeat_need_no_word(tail: Any) -> None:
    for edits in ((), SAME):
        assert not record(opened(tail), TEXT, edits=edits).varies
        assert not record(Tailed(tail).eval(), torch.arange(6)[None], edits=edits).varies


def test_a_module_in_training_is_said_to_be_once() -> None:
    checkpoint = opened(lambda m, y: F.dropout(y, 0.3, m.training))
    checkpoint.model.train()
    assert len(record(checkpoint, TEXT).notes) == 1


def test_probabilities_become_logits() -> None:
    wanted = record(opened(lambda m, y: y), TEXT)
    given = record(opened(lambda m, y: y.softmax(-1)), TEXT)
    assert not wanted.notes and given.notes and given.checked.is_right
    torch.testing.assert_close(given.logits.log_softmax(-1), wanted.logits.log_softmax(-1))


def test_numbers_of_a_sigmoid_may_be_meant() -> None:
    assert record(opened(lambda m, y: y.sigmoid()), TEXT).notes


def test_a_classifier_may_give_probabilities_too() -> None:
    def of(last: Callable[[Tensor], Tensor]) -> Any:
        named = {"writes": "nothing", "classes": ("no", "perhaps", "yes")}
        return record(opened(lambda m, y: last(y.mean(1)[:, :3]), **named), TEXT)

    wanted, given = of(lambda y: y), of(lambda y: y.softmax(-1))
    assert given.notes and not wanted.notes
    torch.testing.assert_close(given.classification.probs, wanted.classification.probs)
    with pytest.raises(InputError):
        of(lambda y: y[:, :2])


@pytest.mark.parametrize(
    "tail",
    [
        lambda m, y: y.sum(),
        lambda m, y: (y.sum(), y),
        lambda m, y: {"out": y},
        lambda m, y: y.argmax(-1),
        lambda m, y: y.mT,
        lambda m, y: y[..., :5],
        lambda m, y: None,
        lambda m, y: y[0].tolist(),
    ],
)
def test_what_is_no_logits_is_refused(tail: Any) -> None:
    with pytest.raises(InputError, match="logits"):
        record(opened(tail), TEXT)
