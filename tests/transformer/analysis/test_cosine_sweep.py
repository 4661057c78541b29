"""A sweep judged by the cosine of two sentences, each read with the head off."""

from pathlib import Path
from typing import Any

import pytest

from tests.transformer.hugging_face.pairs import A, B, save_pair_reader
from tests.transformer.watch.hugging_face import build
from transformer import Checkpoint, InputError, load_checkpoint, record
from transformer.analysis.ablation import ablating, sweep
from transformer.recording.vector import cosine

FIRST, SECOND = "5 9 12 33 7", "6 9 14 8"


@pytest.fixture
def checkpoint(tmp_path: Path) -> Checkpoint:
    model: Any = build("BERT")
    model.base_model.save_pretrained(tmp_path)
    return load_checkpoint(tmp_path)


def both(checkpoint: Checkpoint, *edits: Any) -> float:
    a, b = (record(checkpoint, text, edits=edits).vector for text in (FIRST, SECOND))
    assert a is not None and b is not None
    return cosine(a.values, b.values)


def test_a_change_is_of_the_cosine_of_both(checkpoint: Checkpoint) -> None:
    result = sweep(checkpoint, FIRST, second=SECOND)
    plain = both(checkpoint)
    assert result.output.unit == "cosine" and result.log_probs.tolist() == pytest.approx([plain])
    changes = [both(checkpoint, edit) - plain for edit in result.edits]
    assert result.totals.tolist() == pytest.approx(changes, abs=1e-6)
    assert any(abs(change) > 1e-4 for change in changes)


def test_an_edit_of_what_the_second_text_lacks_is_left_out(checkpoint: Checkpoint) -> None:
    beyond = "cut:encoder_self.0.0.4.4"
    result = sweep(checkpoint, FIRST, None, ["head-off:encoder_self.0.0", beyond], second=SECOND)
    assert [str(edit) for edit in result.edits] == ["head-off:encoder_self.0.0"]
    assert len(result.refused) == 1 and beyond in result.refused[0]


def test_it_grows_as_any_other(checkpoint: Checkpoint) -> None:
    grown = list(ablating(checkpoint, FIRST, second=SECOND))
    for each in grown:  # as many heads are done as have a row
        assert each.progress == (len(each.sweep.edits), each.sweep.n_asked)
    ablation = grown[-1]
    assert ablation.is_measured and len(ablation.written) == len(ablation.sweep.edits)
    assert ablation.sweep.output.second == SECOND


def test_without_a_vector_it_is_refused(tmp_path: Path) -> None:
    save_pair_reader("BERT", tmp_path)
    with pytest.raises(InputError):
        sweep(load_checkpoint(tmp_path), A, second=B)
