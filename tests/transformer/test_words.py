"""Every position is in one word, and words are what people would call so."""

from typing import Any

import pytest
import tokenizers
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit
from transformers import PreTrainedTokenizerFast

from transformer.hugging_face.tokenizer import HuggingFaceTokenizer
from transformer.token import Token
from transformer.tokenizer import CharacterTokenizer, NumberTokenizer, SentencePieceTokenizer
from transformer.vocabulary import VocabularyTokenizer
from transformer.words import RULE, text_words, word_groups, word_piece, words_in


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
        ("▁می \u200c خواهم ▁بروم", "▁می\u200cخواهم ▁بروم"),
        ("▁ 👩 \u200d 👩 \u200d 👧 ▁ok", "▁👩\u200d👩\u200d👧 ▁ok"),
        ("▁ 👍 🏽 ❤ \ufe0f \u200d 🔥 #", "▁👍🏽 ❤\ufe0f\u200d🔥 #"),
        ("▁ 🇩 🇪 🇫 🇷 🇩", "▁🇩🇪 🇫🇷 🇩"),
        ("▁🏴 \U000e0067 \U000e0062 \U000e007f x", "▁🏴\U000e0067\U000e0062\U000e007f x"),
        ("▁צה ״ ל ▁מר ־ כהן ▁ג ׳", "▁צה״ל ▁מר־כהן ▁ג ׳"),
        ('▁צה " ל ▁" אב " ▁a " b', '▁צה"ל ▁" אב " ▁a " b'),
        ("▁٣ ٫ ٥ ▁١ ٬ ٠٠٠", "▁٣٫٥ ▁١٬٠٠٠"),
        ("▁co \u00ad operate", "▁co\u00adoperate"),
        ("▁क् \u200d ष", "▁क्\u200dष"),
        ("▁ 北京 是 个 城市 。 我 爱 北 京", "▁北京 是 个 城市 。 我 爱 北 京"),
        ("▁私 は 猫 が 好き です", "▁私 は 猫 が 好き です"),
        ("▁ฉัน รัก แมว", "▁ฉัน รัก แมว"),
        ("▁ ខ ្មែ រ ▁မြန် မာ ລາວ ▁ภ ั", "▁ខ្មែ រ ▁မြန် မာ ລາວ ▁ภั"),
        ("▁2024 年 Python で ▁안녕 하세요", "▁2024 年 Python で ▁안녕하세요"),
        ("", ""),
    ],
)
def test_pieces_make_words(given: str, expected: str) -> None:
    assert words(pieces(*given.split())) == expected.split()


def test_a_text_without_pieces_or_spaces_has_letters_for_words() -> None:
    assert text_words("北京，3月") == ["北", "京", "，", "3", "月"]
    assert text_words("می\u200cخواهم 👩\u200d👧!") == ["می\u200cخواهم", "👩\u200d👧", "!"]
    assert text_words("") == []


def test_bytes_of_scripts_without_spaces_begin_words_where_their_pieces_do() -> None:
    assert words(pieces(*in_bytes("北"), *in_bytes("京"))) == ["北", "京"]


def test_bytes_are_the_characters_that_they_spell() -> None:
    tokens = pieces(
        "▁n", *in_bytes("a"), *in_bytes("ï"), "ve", "▁", *in_bytes("😀"), *in_bytes("(")
    )
    assert words(tokens) == ["▁naïve", "▁😀", "("]
    assert words(pieces("<0x0A>")) == ["<0x0A>"]
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


def test_each_token_is_in_its_word() -> None:
    own = words_in(pieces("▁rain", "s", ".", "</s>"))
    assert [own.at(position).number for position in range(4)] == [0, 0, 1, 2]
    assert [word.text for word in own] == ["rains", ".", "</s>"]
    for position in (-1, 4):
        with pytest.raises(IndexError):
            own.at(position)


def test_the_rule_is_one_sentence() -> None:
    assert RULE.endswith(".") and RULE.count(".") == 1


def test_a_vocabulary_of_words_has_words_only() -> None:
    tokenizer = VocabularyTokenizer(["<unk>", "the", "cat", "n't", "."], "words")
    tokens = [tokenizer.token(id) for id in tokenizer.encode("the cat n't sat .")]
    assert words(tokens) == ["the", "cat", "n't", "<unk>", "."]
    spaced = VocabularyTokenizer(["▁the", "▁c", "at"], "words")
    assert words([spaced.token(id) for id in range(3)]) == ["▁the", "▁cat"]
    letters = VocabularyTokenizer([*"the cat"], "characters")
    assert words([letters.token(id) for id in letters.encode("the cat")]) == ["the", " cat"]


def test_words_of_a_word_level_tokenizer_of_hugging_face() -> None:
    model = WordLevel({"<unk>": 0, "the": 1, "cat": 2, "##s": 3}, unk_token="<unk>")
    inner = tokenizers.Tokenizer(model)
    inner.pre_tokenizer = WhitespaceSplit()
    fast: Any = PreTrainedTokenizerFast
    tokenizer = HuggingFaceTokenizer(fast(tokenizer_object=inner, unk_token="<unk>"), 4)
    tokens = [tokenizer.token(id) for id in tokenizer.encode("the cat the")]
    assert words(tokens) == ["the", "cat", "the"]
