"""Sentence pairs are read as the library's tokenizers join them, and answered as its models do."""

from itertools import product
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.representatives import cases
from tests.transformer.hugging_face.pairs import FAMILIES, FEW, WORDS, A, B, save_pair_reader
from tests.transformer.hugging_face.saving import save, writer
from transformer import InputError, load_checkpoint, pairing, record
from transformer.analysis.ablation import sweep
from transformer.analysis.patching import patching
from transformer.checkpoint import Checkpoint
from transformer.inputs import source_ids

HEAD_OFF = "head-off:encoder_self.0.2"


@pytest.fixture
def bert(tmp_path: Path) -> Checkpoint:
    save_pair_reader("BERT", tmp_path)
    return load_checkpoint(tmp_path)


@pytest.mark.parametrize("family", cases(FAMILIES, FEW))
def test_it_answers_as_the_library_does(family: str, tmp_path: Path) -> None:
    model, tokenizer = save_pair_reader(family, tmp_path)
    checkpoint = load_checkpoint(tmp_path)
    readers = ((A,), checkpoint), ((A, B), pairing(checkpoint, B)), ((B, A), pairing(checkpoint, A))
    for texts, reader in readers:
        call = tokenizer(*texts, return_tensors="pt")
        with torch.no_grad():
            expected = model(**call).logits[0]
        recording = record(reader, texts[0])
        assert [token.id for token in recording.source] == call["input_ids"][0].tolist()
        torch.testing.assert_close(recording.logits, expected, atol=1e-5, rtol=0)
        assert recording.classification is not None and recording.checked.is_right


@pytest.mark.parametrize("family", cases(FAMILIES, FEW))
def test_each_token_is_of_a_text_and_an_edit_is_answered(family: str, tmp_path: Path) -> None:
    _, tokenizer = save_pair_reader(family, tmp_path)
    checkpoint = pairing(load_checkpoint(tmp_path), B)
    recording = record(checkpoint, A)
    for text, segment in ((A, "A"), (B, "B")):
        own = [token.id for token in recording.source if token.segment == segment]
        ids = tokenizer(text, add_special_tokens=False)["input_ids"]
        assert [id for id in own if not checkpoint.tokenizer.token(id).special] == ids
    swept = sweep(checkpoint, A, None, [HEAD_OFF])
    edited = record(checkpoint, A, edits=[HEAD_OFF])
    before, after = (each.logits.double().log_softmax(-1) for each in (recording, edited))
    assert swept.changes[0].tolist() == pytest.approx((after - before).tolist(), abs=1e-5)
    assert [token.segment for token in edited.source] == [it.segment for it in recording.source]


def test_one_text_is_of_no_pair(bert: Checkpoint) -> None:
    assert {token.segment for token in record(bert, A).source} == {None}


def test_segments_reach_the_model(bert: Checkpoint) -> None:
    """The same tokens as one text are another input."""
    tokens = [token.piece for token in record(pairing(bert, B), A).source]
    as_one = " ".join(tokens[1:-1])
    assert source_ids(bert, as_one) == source_ids(pairing(bert, B), A)
    one, two = record(bert, as_one).logits, record(pairing(bert, B), A).logits
    assert not torch.allclose(one, two, atol=1e-3)


def test_patching_puts_states_of_another_first_text(bert: Checkpoint) -> None:
    checkpoint = pairing(bert, B)
    texts = {
        int(record(checkpoint, text).logits.argmax()): text
        for text in map(" ".join, product(WORDS, repeat=2))
    }
    other, text = [*texts.values()][:2]
    *_, result = patching(checkpoint, text, other)
    last = max(edit.layer for edit in result.edits)
    of_first = next(it for it in result.edits if it.name == "state-from" and it.layer == last)
    # The classifier reads the first token's state alone.
    assert result.effects[of_first] == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize("second", ["", " ", "\t\n"])
def test_a_second_text_of_nothing_is_refused(second: str, bert: Checkpoint) -> None:
    with pytest.raises(InputError):
        pairing(bert, second)


def test_a_pair_is_never_cut(bert: Checkpoint) -> None:
    with pytest.raises(InputError):
        record(pairing(bert, "the cat " * 20), "the cat " * 10)
    with pytest.raises(InputError):
        pairing(bert, "a" * 30_000)


def test_a_model_that_writes_reads_no_pair(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        pairing(load_checkpoint(save(writer("Marian"), tmp_path)), B)


def test_segments_that_the_model_lacks_are_refused(tmp_path: Path) -> None:
    save_pair_reader("BERT", tmp_path, type_vocab_size=1)
    checkpoint = load_checkpoint(tmp_path)
    record(checkpoint, A)
    with pytest.raises(InputError):
        pairing(checkpoint, B)


def test_padded_rows_have_their_segments_before_the_padding(bert: Checkpoint) -> None:
    reader: Any = pairing(bert, B)
    ids = torch.tensor([source_ids(reader, A)])
    padded = torch.cat([ids, ids.new_zeros(1, 3)], 1)
    mask = torch.ones_like(padded)
    mask[:, ids.size(1) :] = 0
    with torch.inference_mode():
        alone, beside = reader.model(ids), reader.model(padded, mask=mask)
    torch.testing.assert_close(alone, beside, atol=1e-5, rtol=0)
