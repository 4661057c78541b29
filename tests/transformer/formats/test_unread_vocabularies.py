"""A vocabulary that is not read is named by its file, with what reads it; none is made up."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sentencepiece

from tests.transformer.formats import codebases
from tests.transformer.hugging_face.saving import save_tokenizer, writer
from transformer import InputError, load_checkpoint, record

RANKS = "IQ== 0\nIg== 1\nIw== 2\n"
FILES = {
    "tekken.json": ('{"config": {}, "vocab": []}', "mistral-common"),
    "qwen.tiktoken": (RANKS, "tiktoken"),
    "tokenizer.model": (RANKS, "tiktoken"),
    "dict.txt": ("the 9\n", "fairseq"),
    "dict.en.txt": ("the 9\n", "fairseq"),
    "rwkv_vocab_v20230424.txt": ("1 'a' 1\n", "rwkv"),
    "bpe.codes": ("t h 9\n", "merges"),
    "en.bpe": ("t h 9\n", "merges"),
    "spm.vocab": ("<unk>\t0\n", "sentencepiece"),
    "yttm.model": ("3 2\n1 2\n", "vocabulary"),
    "vocab.pkl": ("", "Python objects"),
    "vocab.de": ("der\n", "vocabulary"),
    "itos.json": ("[]", "vocabulary"),
}
"""File -> its content, and what is said of it."""


@pytest.fixture
def no_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("transformer.vocabulary.find_spec", lambda name: None)


@pytest.mark.usefixtures("no_package")
@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize(
    "make", [lambda it: writer("Llama").save_pretrained(it), codebases.nano_gpt]
)
def test_it_is_named_and_texts_are_ids(
    make: Callable[[Path], Any], name: str, tmp_path: Path
) -> None:
    """Both where the library would read one, and beside a file of weights."""
    make(tmp_path)
    (tmp_path / "meta.pkl").unlink(missing_ok=True)
    text, what = FILES[name]
    (tmp_path / name).write_text(text)
    checkpoint = load_checkpoint(tmp_path, "cpu")
    notes = [note for note in checkpoint.about.notes if name in note]
    assert len(notes) == 1 and what in notes[0]
    with pytest.raises(InputError, match=name):
        record(checkpoint, "the cat")
    assert record(checkpoint, "4 5 6").attentions


@pytest.mark.parametrize("family", ["Llama", "GPT-2"])
def test_a_model_under_a_name_that_its_class_does_not_read(family: str, tmp_path: Path) -> None:
    """The library makes a tokenizer without pieces there, by which every word is unknown."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["the cat sat"] * 20),
        model_writer=model,
        vocab_size=20,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    writer(family).save_pretrained(tmp_path)
    (tmp_path / "spm.model").write_bytes(model.getvalue())
    assert any("spm.model" in note for note in load_checkpoint(tmp_path, "cpu").about.notes)


def test_a_tokenizer_of_bytes_needs_no_file(tmp_path: Path) -> None:
    from transformers import ByT5Tokenizer

    writer("T5", vocab_size=384).save_pretrained(tmp_path)
    ByT5Tokenizer().save_pretrained(tmp_path)
    checkpoint = load_checkpoint(tmp_path, "cpu")
    assert [token.piece for token in record(checkpoint, "cat", "a").source[:3]] == list("cat")
    assert not checkpoint.about.notes


def test_nothing_is_said_of_what_is_read(tmp_path: Path) -> None:
    writer("Llama").save_pretrained(tmp_path)
    save_tokenizer(tmp_path)
    (tmp_path / "tekken.json").write_text("{}")
    assert not load_checkpoint(tmp_path, "cpu").about.notes
