"""The German words that invented words are told by: the data folder's, and Debian's word list."""

from functools import cache
from pathlib import Path

from transformer.training.evaluation.faults import folded, spoken_words
from transformer.training.task import read_lines

ROOMS = ("translation_en_de", "dictionary_en_de", "newstest_en_de")
WORD_LIST = Path("/usr/share/dict/ngerman")
"""356,000 words with their forms, one per line: Debian's package wngerman (GPL-2+). It knows what
texts of this size happen not to say, such as "frühstückten"."""


def german_words(data: Path) -> set[str]:
    """Every word of every German text that the data folder holds, folded, with parts of hyphens.

    Read are all `*.tsv` of the subfolders in ROOMS, or of the folder itself where it has none of
    them: everyday sentences, dictionary and news, training and test parts alike, each column but
    the first, which is the English one. A word is what `spoken_words` calls one: a run of letters
    and digits with a letter among them, with the apostrophes and hyphens inside it; it counts
    however seldom it occurs. Compared without case. Empty where there is no such file.
    """
    rooms = [data / room for room in ROOMS if (data / room).is_dir()] or [data]
    chunks: set[str] = set()
    for file in sorted(file for room in rooms for file in room.glob("*.tsv")):
        for line in read_lines(file.parent, file.name):
            chunks.update(line.partition("\t")[2].split())
    words = {folded(word) for chunk in chunks for word in spoken_words(chunk)}
    return words | {part for word in words for part in word.split("-") if part}


@cache
def listed_words(file: Path = WORD_LIST) -> frozenset[str]:
    """The words of such a list, folded; none where it is not installed. Read once: in 3 s."""
    lines = read_lines(file.parent, file.name) if file.is_file() else ()
    return frozenset(folded(word) for line in lines for word in spoken_words(line))
