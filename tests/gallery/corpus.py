"""The sentences that the gallery's means are over: files of shared/data, and pairs written here."""

import re
from collections.abc import Iterator
from pathlib import Path

PERSON_AND_THING = (
    "My mother read the book because she was ill.",
    "The woman wrote a letter because she was sad.",
    "My father sold the car because he was old.",
    "The boy broke the window because he was angry.",
    "The girl opened the door because she was curious.",
    "My sister drank the milk because she was thirsty.",
    "The man bought the house because he was rich.",
    "My brother closed the window because he was cold.",
    "The teacher took the train because she was late.",
    "My aunt cleaned the kitchen because she was bored.",
)
"""The pronoun can only be the subject's."""
THINGS = (
    ("The animal didn't cross the street because it was too {}.", "tired", "wide"),
    ("The horse didn't cross the river because it was too {}.", "tired", "wide"),
    ("The dog didn't eat the meat because it was too {}.", "tired", "old"),
    ("The child didn't open the window because it was too {}.", "weak", "high"),
    ("The car didn't cross the bridge because it was too {}.", "heavy", "old"),
    ("The ship didn't reach the harbor because it was too {}.", "slow", "far"),
    ("The cat didn't drink the milk because it was too {}.", "tired", "hot"),
    ("The bird didn't eat the bread because it was too {}.", "ill", "hard"),
    ("The book didn't fit into the bag because it was too {}.", "big", "small"),
)
"""Two nouns, and two words: the first is said of the subject, the second of the object."""


def things() -> list[tuple[str, int]]:
    """Pairs of sentences that differ in the last word, and which of their nouns is meant."""
    return [(text.format(word), of) for text, *words in THINGS for of, word in enumerate(words)]


def tatoeba(data: Path, *parts: str) -> list[str]:
    """The English sentences of Tatoeba's parts, such as "test", each once, in their order."""
    files = (data / "translation_en_de" / f"{part}.tatoeba.tsv" for part in parts)
    lines = (line for file in files for line in file.read_text(encoding="utf-8").splitlines())
    return list(dict.fromkeys(line.split("\t")[0] for line in lines))


def english_ewt(data: Path) -> Iterator[tuple[str, list[tuple[int, str, str]]]]:
    """Text, and for each word where it begins, the word and its universal part of speech."""
    for part in ("dev", "test"):
        file = data / "ud_english_ewt" / f"en_ewt-ud-{part}.conllu"
        for block in file.read_text(encoding="utf-8").split("\n\n"):
            found = re.search(r"^# text = (.+)$", block, re.M)
            if found is None:
                continue
            rows = [line.split("\t") for line in block.splitlines() if line[:1].isdigit()]
            words, end = [], 0
            for number, word, _, kind, *_ in rows:
                if number.isdigit() and (begin := found[1].find(word, end)) >= 0:
                    words.append((begin, word, kind))
                    end = begin + len(word)
            yield found[1], words
