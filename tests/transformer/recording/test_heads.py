"""Layers and heads of an attention: from 0 or from the end, and a sentence where there is none."""

from typing import Any

import pytest
import torch

from tests.conftest import SENTENCES
from tests.transformer.recording.test_copies import ours, watched
from transformer import Checkpoint, survey
from transformer.recording.data import NoSuchHead


@pytest.mark.parametrize(("layer", "head"), [(-1, None), (0, -1), (-1, -2), (torch.tensor(1), 0)])
def test_heads_from_the_end(text_checkpoint: Checkpoint, layer: int, head: int | None) -> None:
    """A head is counted as an entry of any sequence is."""
    for make in (ours, watched):
        for attention in make(text_checkpoint).attentions.values():
            if layer == 1 and attention.n_layers == 1:
                continue
            whole = attention.weights(range(attention.n_layers)[layer])
            assert attention.weights(layer, head).equal(whole if head is None else whole[head])
            allowed = attention.allowed(range(attention.n_layers)[layer])
            assert attention.allowed(layer, head).equal(allowed if head is None else allowed[head])
            if head is not None:
                assert attention.only(head).weights(layer)[0].equal(whole[head])


@pytest.mark.parametrize("number", [99, -99, 1.0, "1", None, slice(0, 1), [0]])
def test_no_such_head(text_checkpoint: Checkpoint, number: Any) -> None:
    cross = ours(text_checkpoint).attentions["cross"]
    with pytest.raises(NoSuchHead):
        cross.weights(number)
    for ask in (cross.weights, cross.allowed):
        if number is not None:
            with pytest.raises(NoSuchHead):
                ask(0, number)


def test_a_survey_counts_heads_alike(text_checkpoint: Checkpoint) -> None:
    result = survey(text_checkpoint, SENTENCES[:1], ["ja"])
    last = max((each for each in result.heads if each.kind == "cross"), key=lambda it: it.layer)
    assert result.of("cross", -1, 0).layer == last.layer
    for place in (("cross", 99, 0), ("cross", 0, -99), ("none", 0, 0), ("cross", "0", 0)):
        with pytest.raises(NoSuchHead):
            result.of(*place)  # type: ignore[arg-type]
