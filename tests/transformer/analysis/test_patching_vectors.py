"""Activation patching between two texts whose vectors an encoder gives."""

from typing import Any

import pytest
import torch

from tests.transformer.watch.hugging_face import build
from transformer import Checkpoint, InputError, load_checkpoint, record
from transformer.analysis.patching import pair_of, patching
from transformer.recording.vector import angle

A, B = "5 9 12 33 7", "5 9 14 33 7"


@pytest.fixture(scope="module", params=["BERT", "RoBERTa", "MPNet", "DistilBERT"])
def checkpoint(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Checkpoint:
    folder = tmp_path_factory.mktemp("encoder")
    model: Any = build(request.param)
    model.base_model.save_pretrained(folder)
    return load_checkpoint(folder)


def vector(checkpoint: Checkpoint, text: str, *edits: Any) -> torch.Tensor:
    made = record(checkpoint, text, edits=edits).vector
    assert made is not None
    return made.values


def test_an_effect_is_the_share_of_the_angle_that_it_takes_away(checkpoint: Checkpoint) -> None:
    *_, result = patching(checkpoint, B, A)
    clean, plain = vector(checkpoint, A), vector(checkpoint, B)
    assert result.pair.plain == pytest.approx(-angle(clean, plain), rel=1e-5)
    assert len(result.effects) == len(result.edits) and result.of("state-from")
    for edit in [*result.edits[:3], *result.edits[-3:]]:
        turned = angle(clean, vector(checkpoint, B, edit))
        expected = 1 - turned / angle(clean, plain)
        assert result.effects[edit] == pytest.approx(expected, abs=1e-4)


def test_states_of_the_last_layer_join_to_the_other_vector(checkpoint: Checkpoint) -> None:
    """The mean is of the last states: with all of A's in place B's vector is A's."""
    *_, result = patching(checkpoint, B, A)
    states = [edit for edit in result.edits if edit.name == "state-from"]
    last = [edit for edit in states if edit.layer == max(each.layer for each in states)]
    turned = angle(vector(checkpoint, A), vector(checkpoint, B, *last))
    assert turned == pytest.approx(0, abs=0.01)


def test_texts_of_one_vector_are_refused(checkpoint: Checkpoint) -> None:
    for other in (A, f"{A} 3"):
        with pytest.raises(InputError):
            pair_of(checkpoint, A, other)
