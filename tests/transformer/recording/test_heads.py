"""Layers and heads of an attention: from 0 or from the end, and a sentence where there is none."""

from dataclasses import replace
from typing import Any

import pytest
import torch

from tests.conftest import SENTENCES
from tests.transformer.recording.test_copies import ours, watched
from transformer import Checkpoint, from_weights, survey
from transformer.recording.data import NoSuchHead, UnlikeLayers


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


@pytest.mark.parametrize("number", [99, -99, 1.0, "1", slice(0, 1), [0]])
def test_no_such_head(text_checkpoint: Checkpoint, number: Any) -> None:
    cross = ours(text_checkpoint).attentions["cross"]
    for ask in (cross.weights, cross.allowed):
        for place in ((number, 0), (0, number), (None, number)):
            with pytest.raises(NoSuchHead):
                ask(*place)


def test_without_a_layer_all_of_them_come_as_one_tensor(text_checkpoint: Checkpoint) -> None:
    for make in (ours, watched):
        for attention in make(text_checkpoint).attentions.values():
            layers = range(attention.n_layers)
            for ask in (attention.weights, attention.allowed):
                assert ask().equal(torch.stack([ask(layer) for layer in layers]))
                assert ask(head=-1).equal(torch.stack([ask(layer, -1) for layer in layers]))


def test_layers_with_other_numbers_of_heads_are_asked_for_one_by_one() -> None:
    weights = torch.rand(2, 2, 3, 4)
    whole = from_weights({"cross": weights}).attentions["cross"]
    cross = replace(whole, calls=(whole.calls[0], whole.only(1).calls[1]))
    for ask in (cross.weights, cross.allowed):
        with pytest.raises(UnlikeLayers, match="2 or 1 heads"):
            ask()
        assert ask(head=0).shape == (2, 3, 4)
    assert cross.weights(head=0).equal(torch.stack([weights[0][0], weights[1][1]]))
    with pytest.raises(NoSuchHead):
        cross.weights(head=1)


def test_a_survey_counts_heads_alike(text_checkpoint: Checkpoint) -> None:
    result = survey(text_checkpoint, SENTENCES[:1], ["ja"])
    last = max((each for each in result.heads if each.kind == "cross"), key=lambda it: it.layer)
    assert result.of("cross", -1, 0).layer == last.layer
    for place in (("cross", 99, 0), ("cross", 0, -99), ("none", 0, 0), ("cross", "0", 0)):
        with pytest.raises(NoSuchHead):
            result.of(*place)  # type: ignore[arg-type]
