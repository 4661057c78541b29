"""A recording is copied, and sent to other processes, with every number that it has."""

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

from tests.conftest import SENTENCES
from transformer import Checkpoint, Recording, decode, record

COPIES: dict[str, Callable[[Any], Any]] = {
    "deepcopy": copy.deepcopy,
    "pickle": lambda value: pickle.loads(pickle.dumps(value)),
}


def ours(checkpoint: Checkpoint) -> Recording:
    return record(checkpoint, SENTENCES[0], "ja")


def edited(checkpoint: Checkpoint) -> Recording:
    return record(checkpoint, SENTENCES[0], "ja", edits=("head-off:cross.0.1",))


def watched(_: Checkpoint) -> Recording:
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval()
    return record(nn.Sequential(nn.Embedding(5, 8), layer), torch.tensor([[1, 2, 3]]))


@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize("make", [ours, edited, watched])
def test_a_copy_has_all_numbers(
    text_checkpoint: Checkpoint, make: Callable[[Checkpoint], Recording], how: str
) -> None:
    recording = make(text_checkpoint)
    same: Recording = COPIES[how](recording)
    assert list(same.attentions) == list(recording.attentions)
    for kind, attention in recording.attentions.items():
        assert same.attentions[kind].keys == attention.keys
        for layer in range(attention.n_layers):
            assert same.attentions[kind].weights(layer).equal(attention.weights(layer))
    assert list(same.positions) == list(recording.positions)
    assert same.checked.is_right is recording.checked.is_right
    with pytest.raises(TypeError):
        same.attentions["x"] = attention  # type: ignore[index]


def test_a_copy_of_a_checkpoint_is_apart(text_checkpoint: Checkpoint) -> None:
    decoding = decode(text_checkpoint, SENTENCES[0], max_len=4)  # which puts hooks on the model
    other = copy.deepcopy(text_checkpoint)
    assert decode(other, SENTENCES[0], max_len=4).log_prob == decoding.log_prob
    with torch.no_grad():
        for parameter in other.model.parameters():
            parameter.zero_()
    assert decode(text_checkpoint, SENTENCES[0], max_len=4).log_prob == decoding.log_prob
    assert not record(other, SENTENCES[0], "ja").logits.any()
