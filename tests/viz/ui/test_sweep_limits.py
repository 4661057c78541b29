"""What may be swept at once: sentences are counted, a visitor's fewer, and each is a sentence."""

import pytest

from transformer import InputError
from viz.pages.experiment import sentences


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
