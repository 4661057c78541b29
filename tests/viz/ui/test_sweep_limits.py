"""What may be swept at once: sentences are counted, a visitor's fewer, and each is a sentence."""

from pathlib import Path

import pytest

from tests.viz.ui.test_app import folder, start
from transformer import InputError
from viz.pages.sweep import sentences
from viz.pages.sweep.sentences import MOST_CHARACTERS, lines_of

__all__ = ["folder"]


def test_lines_are_sentences_and_their_number_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    read = sentences.sentences_of
    assert read(" a b \n\n c\n") == ("a b", "c")
    with pytest.raises(InputError, match=r"There is no sentence: write one per line\."):
        read(" \n\n")
    most = "\n".join(["It rains."] * sentences.MOST)
    assert len(read(most)) == sentences.MOST
    with pytest.raises(InputError, match="31 sentences are too many: 30 are swept at most"):
        read(f"{most}\none more")
    monkeypatch.setenv("HEADSCOPE_PUBLIC", "yes")
    with pytest.raises(InputError, match="30 sentences are too many: 10 are swept at most"):
        read(most)
    with pytest.raises(InputError, match="This server reads texts of up to 1,000 characters"):
        read("a" * 1001)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", r"a\.txt has no sentence: write one per line"),
        (b" \n\t\n", "has no sentence"),
        (b"caf\xe9", r"is not a text in UTF-8: save it as one"),
        (b"PK\x03\x04 zip", "holds more than text"),
        (b"a b\n" * MOST_CHARACTERS, "is too long: up to 3,000 characters"),
        (b"a " * (MOST_CHARACTERS // 2) + b"bc", "is too long"),
    ],
)
def test_a_file_that_holds_no_sentences_is_refused_in_one(content: bytes, said: str) -> None:
    with pytest.raises(InputError, match=said):
        lines_of("a.txt", content)


def test_lines_of_a_file_are_as_they_were_written() -> None:
    assert lines_of("a.txt", "\ufeffEs war.\r\n\r\nन\u200dे\t \n".encode()) == "Es war.\nन\u200dे"


@pytest.mark.parametrize("is_public", [False, True])
def test_visitors_give_no_files(
    folder: Path, monkeypatch: pytest.MonkeyPatch, is_public: bool
) -> None:
    monkeypatch.setenv("HEADSCOPE_PUBLIC", "yes" if is_public else "no")
    app = start(page="sweep", checkpoint="copy", sweep_over="sentences")
    assert len(app.get("file_uploader")) == (not is_public)
