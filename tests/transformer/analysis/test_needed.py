"""Rows that a step needs for another token: the least by brute force, and in a real run."""

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from typing import Any

import pytest
import torch
from torch import Tensor

from tests.conftest import random_checkpoint
from tests.representatives import cases, part
from tests.transformer.own_module.test_from_module import PIECES, Generator, tokenize
from tests.transformer.recording.test_families import CONFIGS, FEW
from transformer import Checkpoint, InputError, decode, from_module, record
from transformer.analysis.needed import MARGIN, Head, Needed, RowPass, needed
from transformer.inputs import source_ids

SOURCE, TARGET = "3 9 11 4", "5 6 7 8"
WRITERS = ("post-norm", "pre-norm", "encoder_decoder, wide", "encoder_decoder, untied", "gpt2")


def lively(name: str = "post-norm", seed: int = 0) -> Checkpoint:
    """A random model in which what heads look at decides."""
    checkpoint = random_checkpoint(CONFIGS[name], seed)
    for path, weight in checkpoint.model.named_parameters():
        if path.endswith("attention.output.weight"):
            weight.mul_(0.1 if path.startswith("encoder") else 6)
        elif path.endswith(("norm.bias", "shift", "output_bias")):
            weight.zero_()
        elif path.endswith("embedding.weight"):
            weight.normal_()
    return checkpoint


def reachable(name: str = "post-norm", **named: Any) -> tuple[Checkpoint, Needed]:
    """A model and, at step 2, one of its likeliest tokens that is not on top and can be."""
    for seed in range(20):
        checkpoint = lively(name, seed)
        logits = record(checkpoint, SOURCE, TARGET, named.get("edits", ())).logits[2]
        for token in logits.argsort(descending=True)[1:3].tolist():
            found = needed(checkpoint, SOURCE, TARGET, 2, token, **named)
            if found.reached:
                return checkpoint, found
    raise AssertionError("no token can be reached")


@pytest.mark.parametrize("name", part(WRITERS, FEW))
def test_a_run_with_the_edits_writes_the_token_and_the_rows_are_rows(name: str) -> None:
    checkpoint, found = reachable(name)
    assert found.edits and found.before.rank > 1 and found.divergence > 0
    logits = record(checkpoint, SOURCE, TARGET, found.edits).logits[2]
    assert int(logits.argmax()) == found.token.id
    assert float(logits.softmax(-1)[found.token.id]) == pytest.approx(
        found.after.probability, abs=1e-6
    )
    plain = record(checkpoint, SOURCE, TARGET)
    for row in found.rows:
        kind, layer, head = row.head
        query = row.edit.query
        before = plain.attentions[kind].weights(layer, head)[query, : len(row.before)]
        torch.testing.assert_close(row.before, before, atol=1e-6, rtol=0)
        assert float(row.after.sum()) == pytest.approx(1, abs=1e-5)
        assert not row.after[row.before == 0].any()
        assert row.divergence >= 0 and math.isfinite(row.divergence)
    assert all(parameter.grad is None for parameter in checkpoint.model.parameters())
    forced = decode(checkpoint, SOURCE, "forced", edits=found.edits, target=TARGET)
    assert forced.steps[2].candidates[0].token.id == found.token.id


def kl(rows: Tensor, plain: Tensor) -> float:
    return float(torch.where(rows > 0, rows * (rows / plain).log(), 0.0).sum())


@pytest.mark.parametrize(
    "heads", [[("decoder_self", 1, 0)], [("decoder_self", 0, 1), ("decoder_self", 1, 2)]]
)
@pytest.mark.parametrize("seeds", cases((range(8), (2, 5)), {"find a token each": (2, 5)}), ids=str)
def test_it_is_the_least_by_brute_force(heads: list[Head], seeds: Sequence[int]) -> None:
    """Two keys: the weight of the first one says all of a row."""
    n_found = 0
    for seed in seeds:
        checkpoint = lively("gpt2", seed)
        plain = record(checkpoint, "3", TARGET)
        rows = torch.stack([plain.attentions[k].weights(i, h)[1, :2] for k, i, h in heads]).double()
        step = RowPass(checkpoint, "3", source_ids(checkpoint, "3"), [5])
        grid = torch.linspace(0, 1, 401 if len(heads) == 1 else 17)
        best: dict[int, float] = {}
        with torch.no_grad():
            for firsts in product(grid, repeat=len(heads)):
                tried = torch.stack([torch.stack([each, 1 - each]) for each in firsts])
                logits = step.logits(dict(zip(heads, tried, strict=True)))
                (largest, second), (token, _) = logits.topk(2)
                if largest - second >= MARGIN:
                    best[int(token)] = min(best.get(int(token), math.inf), kl(tried, rows))
        for token, least in best.items():
            if token != int(plain.logits[1].argmax()):
                found = needed(checkpoint, "3", TARGET, 1, token, heads)
                assert found.reached
                assert found.divergence <= least + 0.01
                if len(heads) == 1:
                    assert found.divergence == pytest.approx(least, abs=0.01)
                n_found += 1
        unseen = set(range(20)) - set(best) - {int(plain.logits[1].argmax())}
        if len(heads) == 1 and unseen:
            none = needed(checkpoint, "3", TARGET, 1, min(unseen), heads)
            assert not none.reached and none.edits == () and none.gap < MARGIN
            assert none.after == none.before
    assert n_found >= 2


def test_a_token_on_top_needs_nothing() -> None:
    checkpoint = lively()
    top = int(record(checkpoint, SOURCE, TARGET).logits[1].argmax())
    found = needed(checkpoint, SOURCE, TARGET, 1, top)
    assert (found.reached, found.edits, found.divergence) == (True, (), 0)
    assert found.before.rank == 1 and found.gap > 0


def test_edits_in_force_stay_so() -> None:
    edits = ("head-off:cross.0.1", "head-scale:cross.1.0=0.5", "positions-shift:source=1")
    checkpoint, found = reachable(edits=edits)
    logits = record(checkpoint, SOURCE, TARGET, (*edits, *map(str, found.edits))).logits[2]
    assert int(logits.argmax()) == found.token.id
    assert ("cross", 0, 1) not in {row.head for row in found.rows}  # off: it changes nothing


def test_gradients_leave_no_trace_in_a_model_that_others_run() -> None:
    checkpoint = lively()
    plain = record(checkpoint, SOURCE, TARGET).logits
    with ThreadPoolExecutor(2) as pool:
        beside = [pool.submit(record, checkpoint, SOURCE, TARGET) for _ in range(40)]
        searched = [needed(checkpoint, SOURCE, TARGET, 2, token) for token in range(3)]
    assert all(each.gap > -torch.inf for each in searched)
    assert all(torch.equal(each.result().logits, plain) for each in beside)
    assert torch.equal(record(checkpoint, SOURCE, TARGET).logits, plain)


def test_it_ends_when_told_to() -> None:
    class Ended(Exception):
        pass

    def end() -> None:
        raise Ended

    checkpoint = lively()
    last = int(record(checkpoint, SOURCE, TARGET).logits[1].argmin())
    with pytest.raises(Ended):
        needed(checkpoint, SOURCE, TARGET, 1, last, on_step=end)


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ({"step": 4}, "There is no step 4: the target has 4"),
        ({"token_id": 99}, "has no token 99"),
        ({"heads": [("encoder_self", 0, 0)]}, "encoder_self L0 H0 is not one"),
        ({"heads": []}, "no head is not one"),
    ],
)
def test_what_cannot_be_asked_is_a_sentence(named: dict[str, Any], said: str) -> None:
    checkpoint = lively()
    with pytest.raises(InputError, match=said):
        needed(checkpoint, SOURCE, TARGET, **{"step": 1, "token_id": 3, **named})


def test_models_without_a_step_or_a_gradient_say_so() -> None:
    classifier = random_checkpoint(CONFIGS["former-classifier"])
    with pytest.raises(InputError, match="writes nothing"):
        needed(classifier, SOURCE, TARGET, 0, 3)
    watched = from_module(Generator(), tokenize, PIECES, "ab", writes="continuation", max_len=8)
    with pytest.raises(InputError, match="no gradient of attention is known"):
        needed(watched, "ab", "a", 0, 1)


def test_a_head_that_may_look_at_nothing_is_left_out() -> None:
    closed = [f"cut-word:cross.{i}" for i in range(4)]
    checkpoint = lively()
    for edits in (closed, [f"hide:source.{i}" for i in range(4)]):
        own = int(record(checkpoint, SOURCE, TARGET, edits).logits[1].argmax())
        with pytest.raises(InputError):
            needed(checkpoint, SOURCE, TARGET, 1, (own + 1) % 12, edits=edits)
    heads: list[Head] = [("cross", 0, 0), ("decoder_self", 1, 1)]
    own = int(record(checkpoint, SOURCE, TARGET, closed).logits[1].argmax())
    found = needed(checkpoint, SOURCE, TARGET, 1, (own + 1) % 12, heads, edits=closed)
    assert math.isfinite(found.gap)
    assert {row.head for row in found.rows} <= {heads[1]}


def test_a_generator_whose_whole_text_is_hidden_is_asked_in_vain() -> None:
    checkpoint = lively("gpt2")
    own = int(record(checkpoint, "3", TARGET, ["hide:text.0"]).logits[0].argmax())
    with pytest.raises(InputError):
        needed(checkpoint, "3", TARGET, 0, (own + 1) % 12, edits=["hide:text.0"])
