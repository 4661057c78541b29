"""The certainty of written words against the steps that wrote them."""

import math

import pytest

from transformer import Checkpoint, decode, record
from transformer.decoding.certainty import certainties
from transformer.words import word_groups


@pytest.mark.parametrize("method", ["greedy", "beam"])
def test_each_word_has_the_sum_of_its_steps(text_checkpoint: Checkpoint, method: str) -> None:
    decoding = decode(text_checkpoint, "the cat sat", method=method)
    result = certainties(record(text_checkpoint, "the cat sat", decoding.target))
    groups = word_groups(decoding.target)
    assert len(result) == len(groups)
    for it, group in zip(result, groups, strict=True):
        steps = [decoding.steps[i] for i in group]
        wanted = sum(math.log(step.chosen.prob) for step in steps)
        assert it.log_prob == pytest.approx(wanted, abs=1e-4)
        assert it.entropy == pytest.approx(sum(step.entropy for step in steps), abs=1e-3)
        if method == "greedy":
            assert it.ranks == (1,) * len(group)
    total = decoding.hypotheses[0].log_prob
    assert sum(it.log_prob for it in result) == pytest.approx(total, abs=1e-4)
