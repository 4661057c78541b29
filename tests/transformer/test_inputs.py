"""Whatever is typed: a decoding, or one sentence that says what to change."""

import pytest

from tests.conftest import SENTENCES
from transformer import Checkpoint, InputError, decode, record
from transformer.token import Token


@pytest.mark.parametrize("text", ["", " ", " \t\n\u00a0 "])
def test_nothing_typed(text_checkpoint: Checkpoint, text: str) -> None:
    with pytest.raises(InputError, match=r"^The text is empty: type a sentence\.$"):
        decode(text_checkpoint, text)


@pytest.mark.parametrize("text", ["\u200b", ","])
def test_nothing_to_read(
    text_checkpoint: Checkpoint, copy_checkpoint: Checkpoint, text: str
) -> None:
    checkpoint = copy_checkpoint if text == "," else text_checkpoint
    with pytest.raises(InputError, match="nothing that the model can read"):
        decode(checkpoint, text)


def test_ten_thousand_words(text_checkpoint: Checkpoint) -> None:
    with pytest.raises(InputError, match=r"has 59,999 characters; at most 20,000 are read"):
        decode(text_checkpoint, " ".join(["house"] * 10_000))


def test_too_long_names_both_numbers(text_checkpoint: Checkpoint) -> None:
    text = " ".join(SENTENCES[:12])
    n = len(text_checkpoint.tokenizer.encode(text))
    assert n > 64
    with pytest.raises(InputError, match=rf"^The text has {n} tokens; random takes at most 64\. "):
        decode(text_checkpoint, text)
    with pytest.raises(InputError, match=rf"^The target has {n} tokens; random takes at most 64"):
        record(text_checkpoint, SENTENCES[0], text)


def test_as_long_as_the_model_reads(copy_checkpoint: Checkpoint) -> None:
    assert len(decode(copy_checkpoint, "2 3 4 5").target) == 4
    with pytest.raises(InputError, match="has 5 tokens; copy takes at most 4"):
        decode(copy_checkpoint, "2 3 4 5 6")


@pytest.mark.parametrize(
    "text",
    ["🙂🙃", "שלום עולם", "<b>bold</b>", "`*_~` # no", "$x_1$", "<s> </s> <pad>", "a\0b", "\ud800"],
)
def test_odd_text_is_read(text_checkpoint: Checkpoint, text: str) -> None:
    decoding = decode(text_checkpoint, text, max_len=4)
    recording = record(text_checkpoint, text, decoding.target)
    assert recording.source == decoding.source
    assert len(recording.notes) == (text == "\ud800")  # it says what it could not read


def test_tokens_of_another_vocabulary(text_checkpoint: Checkpoint) -> None:
    with pytest.raises(InputError, match="does not know"):
        record(text_checkpoint, SENTENCES[0], [Token(9999, "x")])


def test_an_empty_target(text_checkpoint: Checkpoint) -> None:
    with pytest.raises(InputError, match="The target is empty"):
        record(text_checkpoint, SENTENCES[0], [])
