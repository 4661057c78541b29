"""Every position is in one word, and words are what people would call so."""

import pytest

from transformer.tokenizer import CharacterTokenizer, NumberTokenizer, SentencePieceTokenizer, Token
from transformer.words import RULE, word_groups, word_piece


def words(tokens: list[Token]) -> list[str]:
    groups = word_groups(tokens)
    assert [i for group in groups for i in group] == list(range(len(tokens)))
    return [word_piece([tokens[i] for i in group]) for group in groups]


def pieces(*texts: str) -> list[Token]:
    return [Token(1000 + i, text, special=text in ("<s>", "</s>")) for i, text in enumerate(texts)]


def in_bytes(text: str) -> list[str]:
    return [f"<0x{byte:02X}>" for byte in text.encode()]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("▁The ▁anim al ▁did n ' t ▁go . </s>", "▁The ▁animal ▁didn't ▁go . </s>"),
        ("<s> ▁well - know n ▁- ▁' n '", "<s> ▁well-known ▁- ▁' n '"),
        ("▁10 ,000 ▁3 . 5 0 ▁2 , ▁x .5 a", "▁10,000 ▁3.50 ▁2 , ▁x .5a"),
        ("▁dog s ' ▁e . g .", "▁dogs ' ▁e . g ."),
        ("▁ </s> ▁ Ä ▁ <s> a", "▁ </s> ▁Ä ▁ <s> a"),
        ("h ▁i . . .", "h ▁i . . ."),
        ("▁न म स् ते", "▁नमस्ते"),
        ("", ""),
    ],
)
def test_pieces_make_words(given: str, expected: str) -> None:
    assert words(pieces(*given.split())) == expected.split()


def test_bytes_are_the_characters_that_they_spell() -> None:
    tokens = pieces(
        "▁n", *in_bytes("a"), *in_bytes("ï"), "ve", "▁", *in_bytes("😀"), *in_bytes("(")
    )
    assert words(tokens) == ["▁naïve", "▁😀", "<0x28>"]
    assert words(pieces("<0xE2>", "<0x82>", "a", "</s>")) == [
        "\N{REPLACEMENT CHARACTER}",
        "a",
        "</s>",
    ]


def test_words_of_sentencepiece(text_tokenizer: SentencePieceTokenizer) -> None:
    text = "my brother doesn't know the old man."
    tokens = [text_tokenizer.token(id) for id in text_tokenizer.encode(text)]
    expected = "▁my ▁brother ▁doesn't ▁know ▁the ▁old ▁man . </s>"
    assert words(tokens) == expected.split()


def test_words_of_characters() -> None:
    text = "First Citizen:\nSpeak,  it's  "
    tokenizer = CharacterTokenizer.train(text)
    tokens = [tokenizer.token(id) for id in tokenizer.encode(text)]
    assert words(tokens) == ["First", " Citizen", ":", "\n", "Speak", ",", "  it's", "  "]


def test_numbers_stand_by_themselves() -> None:
    tokenizer = NumberTokenizer(20)
    tokens = [tokenizer.token(id) for id in (1, *tokenizer.encode("3 9 4 4 17"))]
    assert words(tokens) == ["<s>", "3", "9", "4", "4", "17"]


def test_the_rule_is_one_sentence() -> None:
    assert RULE.endswith(".") and RULE.count(".") == 1
