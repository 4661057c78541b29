"""Any text goes in and comes out again; pieces are its parts."""

from pathlib import Path

import pytest

from tests.conftest import SENTENCES
from transformer.tokenizer import (
    CharacterTokenizer,
    NumberTokenizer,
    SentencePieceTokenizer,
    TokenizerError,
    load_tokenizer,
    plain,
)
from transformer.vocabulary import SentencePieceVocabulary


@pytest.mark.parametrize(
    "text",
    [
        *SENTENCES[::50],
        "🙂 👩‍👩‍👧 🇩🇪",
        "שלום עולם",
        "مرحبا بالعالم",
        "überquerte die Straße",
        "日本語",
        "<s> is not a start, </s> no end, <0x41> no byte",
        "<b>bold</b> & `code` $x$",
    ],
)
def test_round_trip(text_tokenizer: SentencePieceTokenizer, text: str) -> None:
    ids = text_tokenizer.encode(text)
    assert ids[-1] == 2
    assert not any(text_tokenizer.token(id).special for id in ids[:-1])
    assert text_tokenizer.decode(ids) == text


def test_unknown_characters_become_bytes(text_tokenizer: SentencePieceTokenizer) -> None:
    pieces = [text_tokenizer.token(id).piece for id in text_tokenizer.encode("🙂")]
    assert pieces == ["▁", "<0xF0>", "<0x9F>", "<0x99>", "<0x82>", "</s>"]


def test_typographic_variants_are_written_plainly(text_tokenizer: SentencePieceTokenizer) -> None:
    assert text_tokenizer.decode(text_tokenizer.encode("doesn’t “know” – it…")) == (
        'doesn\'t "know" - it...'
    )
    assert text_tokenizer.encode("u\u0308ber") == text_tokenizer.encode("über")


def test_half_a_surrogate_pair_is_a_question_mark(text_tokenizer: SentencePieceTokenizer) -> None:
    assert text_tokenizer.decode(text_tokenizer.encode("a\ud83db")) == "a?b"
    assert text_tokenizer.encode("a\ud83d\ude42b") == text_tokenizer.encode("a🙂b")


def test_special_tokens(text_tokenizer: SentencePieceTokenizer) -> None:
    tokens = [text_tokenizer.token(id) for id in range(5)]
    assert [token.piece for token in tokens[:4]] == ["<pad>", "<s>", "</s>", "<unk>"]
    assert [token.special for token in tokens] == [True] * 3 + [False] * 2
    assert [token.unknown for token in tokens] == [False] * 3 + [True, False]
    assert text_tokenizer.decode([1, 2, 0]) == ""


def test_numbers_are_split_into_digits_where_that_is_asked_for() -> None:
    texts = [f"{text} In 1994 it was 1994." for text in SENTENCES * 5]
    whole = SentencePieceTokenizer.train(texts, 308)
    digits = SentencePieceTokenizer.train(texts, 308, splits_digits=True)
    assert "1994" in pieces(whole, "In 1994")
    assert pieces(digits, "In 1994")[-4:] == ["1", "9", "9", "4"]
    assert digits.decode(digits.encode("In 1994 it was 2071.")) == "In 1994 it was 2071."


def pieces(tokenizer: SentencePieceTokenizer, text: str) -> list[str]:
    return [tokenizer.token(id).piece.strip("▁") for id in tokenizer.encode(text, "text")]


def test_half_a_character_decodes_without_an_error(text_tokenizer: SentencePieceTokenizer) -> None:
    first_bytes = text_tokenizer.encode("🙂")[:3]
    assert "�" in text_tokenizer.decode(first_bytes)


def test_saved_and_loaded(text_tokenizer: SentencePieceTokenizer, tmp_path: Path) -> None:
    text_tokenizer.save(tmp_path)
    loaded = load_tokenizer("sentencepiece", tmp_path, 300)
    assert loaded.encode(SENTENCES[0]) == text_tokenizer.encode(SENTENCES[0])
    with pytest.raises(TokenizerError, match="has 300 pieces, the model 8000"):
        load_tokenizer("sentencepiece", tmp_path, 8000)


@pytest.mark.parametrize("content", [b"", b"no model", b"\x80\x04K\x01."])
def test_a_damaged_model(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "tokenizer.model").write_bytes(content)
    with pytest.raises(TokenizerError, match=r"^tokenizer\.model is not a whole sentencepiece"):
        load_tokenizer("sentencepiece", tmp_path, 300)


def test_a_missing_model_and_an_unknown_kind(tmp_path: Path) -> None:
    with pytest.raises(TokenizerError, match=r"^tokenizer\.model is missing\.$"):
        load_tokenizer("sentencepiece", tmp_path, 300)
    with pytest.raises(TokenizerError, match="unknown tokenizer kind 'runes'; known: "):
        load_tokenizer("runes", tmp_path, 300)


def test_too_little_text_to_learn_from() -> None:
    with pytest.raises(TokenizerError, match=r"^no vocabulary of 8,000 pieces: "):
        SentencePieceTokenizer.train(SENTENCES[:20], 8000)


def test_numbers() -> None:
    tokenizer = NumberTokenizer(12)
    assert tokenizer.encode("3 7, 2,11") == [3, 7, 2, 11]
    assert tokenizer.decode([1, 3, 7, 0]) == "3 7"
    assert [tokenizer.token(id).special for id in (0, 1, 2)] == [True, True, False]
    assert [tokenizer.token(id).piece for id in (0, 1, 11)] == ["<pad>", "<s>", "11"]


@pytest.mark.parametrize("word", ["1", "12", "x", "-3", "2.5", "²", "９", "9" * 5000, "<b>"])
def test_what_is_no_number(word: str) -> None:
    with pytest.raises(TokenizerError, match="copies numbers from 2 to 11") as caught:
        NumberTokenizer(12).encode(f"3 {word}")
    assert len(str(caught.value)) < 200


PLAY = "ROMEO:\nO, she doth teach the torches to burn bright!\r\n\tÜber – naïve…\n"


def test_characters() -> None:
    tokenizer = CharacterTokenizer.train(PLAY)
    ids = tokenizer.encode(PLAY)
    assert tokenizer.decode(ids) == plain(PLAY)
    assert len(ids) == len(plain(PLAY))
    assert [tokenizer.token(id).piece for id in ids] == list(plain(PLAY))
    assert sorted(set(ids)) == list(range(1, tokenizer.vocab_size))
    assert not any(tokenizer.token(id).special for id in ids)
    assert tokenizer.token(0).special
    assert tokenizer.decode([0, *ids, 0]) == plain(PLAY)


@pytest.mark.parametrize(
    ("character", "said"), [("z", "z"), ("🙂", "🙂"), ("<", "<"), ("\u202e", r"U\+202E")]
)
def test_a_character_never_seen(character: str, said: str) -> None:
    with pytest.raises(TokenizerError, match=f"has never seen the character “{said}”"):
        CharacterTokenizer.train(PLAY).encode(f"O, {character}he")


def test_characters_are_saved_and_loaded(tmp_path: Path) -> None:
    tokenizer = CharacterTokenizer.train(PLAY)
    tokenizer.save(tmp_path)
    loaded = load_tokenizer("characters", tmp_path, tokenizer.vocab_size)
    assert loaded.encode(PLAY) == tokenizer.encode(PLAY)
    with pytest.raises(TokenizerError, match=f"has {tokenizer.vocab_size} pieces, the model 66"):
        load_tokenizer("characters", tmp_path, 66)


def test_a_piece_that_is_no_text(text_tokenizer: SentencePieceTokenizer, tmp_path: Path) -> None:
    text_tokenizer.save(tmp_path)
    file = tmp_path / "tokenizer.model"
    content = file.read_bytes()
    piece = "▁s".encode()  # the first of three bytes is one that begins two
    assert content.count(piece) > 0
    file.write_bytes(content.replace(piece, b"\xc3" + piece[1:]))
    with pytest.raises(TokenizerError, match=r"^tokenizer\.model is not a whole sentencepiece"):
        load_tokenizer("sentencepiece", tmp_path, text_tokenizer.vocab_size)
    with pytest.raises(TokenizerError, match=r"^is not a whole sentencepiece model"):
        SentencePieceVocabulary(file.read_bytes())


def test_missing_and_damaged_characters(tmp_path: Path) -> None:
    with pytest.raises(TokenizerError, match=r"^characters\.txt is missing\.$"):
        load_tokenizer("characters", tmp_path, 66)
    (tmp_path / "characters.txt").write_bytes(b"ab\xff\xfe")
    with pytest.raises(TokenizerError, match=r"^characters\.txt is not a text in UTF-8\.$"):
        load_tokenizer("characters", tmp_path, 5)
    (tmp_path / "characters.txt").write_text("abca")
    with pytest.raises(TokenizerError, match=r"^characters\.txt names a character twice"):
        load_tokenizer("characters", tmp_path, 5)


def test_a_prompt_begins_and_does_not_end(text_tokenizer: SentencePieceTokenizer) -> None:
    text = SENTENCES[0]
    whole = text_tokenizer.encode(text)
    assert text_tokenizer.encode(text, "prompt") == [1, *whole[:-1]]
    for side in ("source", "target", "continuation"):
        assert text_tokenizer.encode(text, side) == whole
    assert text_tokenizer.decode(text_tokenizer.encode(text, "prompt")) == text
