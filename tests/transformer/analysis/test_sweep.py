"""A sweep in one batch says what one run per edit says."""

import pytest
import torch

from tests.conftest import SENTENCES, random_checkpoint
from tests.transformer.recording.test_families import CONFIGS, SOURCE, TARGET
from transformer import Checkpoint, EditError, InputError, decode, record
from transformer.analysis import sweep as module
from transformer.analysis.sweep import heads_off, sweep


def one_by_one(checkpoint: Checkpoint, source: str, target: str) -> None:
    found = sweep(checkpoint, source, target)
    assert found.changes.shape == found.best_edited.shape == (len(found.edits), len(found.target))
    ids = [token.id for token in found.target]
    for row, edit in enumerate(found.edits):
        alone = decode(checkpoint, source, "forced", target=target, edits=[edit]).hypotheses[0]
        wanted = alone.log_probs[range(len(ids)), ids]
        torch.testing.assert_close(
            found.log_probs + found.changes[row], wanted, rtol=0.0, atol=2e-5
        )
        assert torch.equal(found.best_edited[row], alone.log_probs.argmax(-1))
    plain = record(checkpoint, source, target).logits.log_softmax(-1)[range(len(ids)), ids]
    torch.testing.assert_close(found.log_probs, plain, rtol=0.0, atol=2e-5)


@pytest.mark.parametrize("name", ["post-norm", "pre-norm", "gpt2", "encoder_decoder, wide"])
def test_each_head_off_is_a_run_of_its_own(name: str) -> None:
    checkpoint = random_checkpoint(CONFIGS[name])
    one_by_one(checkpoint, SOURCE, TARGET)
    found = heads_off(checkpoint)
    assert len(set(found)) == len(found)
    assert {edit.place for edit in found} == set(checkpoint.family.attentions)


def test_batches_may_be_small(text_checkpoint: Checkpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ROWS", 5)
    monkeypatch.setattr(module, "CELLS", 3)
    one_by_one(text_checkpoint, SENTENCES[0], SENTENCES[50])


def test_edits_may_be_chosen_and_are_checked(text_checkpoint: Checkpoint) -> None:
    given = (text_checkpoint, SENTENCES[0], SENTENCES[50])
    edits = ["cut:cross.0.1.2.3", "head-scale:encoder_self.1.1=1", "head-uniform:decoder_self.0.0"]
    found = sweep(*given, edits)
    assert [str(edit) for edit in found.edits] == edits
    torch.testing.assert_close(found.changes[1], torch.zeros(len(found.target)), rtol=0, atol=1e-5)
    assert bool((found.changes[0] != 0).any()) and bool((found.changes[2] != 0).any())
    assert not found.changes[0, :2].abs().gt(1e-5).any()  # row 2 writes the third word
    with pytest.raises(EditError, match="no head 9 here"):
        sweep(*given, ["head-off:cross.0.9"])
    with pytest.raises(InputError, match="of heads and arrows"):
        sweep(*given, ["positions-zero:source"])
    classifier = random_checkpoint(CONFIGS["former-classifier"])
    with pytest.raises(InputError, match="cannot be swept"):
        sweep(classifier, SOURCE, TARGET)
