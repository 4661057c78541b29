"""Sentences translated: how close the translations are to references, and their faults."""

import re
import sys
from collections.abc import Container, Sequence
from functools import cache
from pathlib import Path

from tqdm import tqdm

from transformer.checkpoint import Checkpoint
from transformer.decoding import InputError, decode
from transformer.extras import require
from transformer.tokenizer import plain
from transformer.training.task import Scores, read_lines
from transformer.words import text_words

# Remarks on an evaluation, beside its scores: on standard error, clear of progress bars.


def say(sentence: str) -> None:
    """Tell the person who waits; scores go elsewhere, so that JSON stays JSON."""
    tqdm.write(sentence, file=sys.stderr)


# Sentences translated, and how close the translations are to references.

METHODS = {"greedy": "greedy", "beam": "beam 4"}
"""Decoding method -> what its rows are called."""


def translations(
    checkpoint: Checkpoint, sources: Sequence[str], method: str, title: str | None = None
) -> list[str]:
    """Each source's translation; empty, and said, where the model refuses to read the source.

    title: of a progress bar; None draws none. Raises NotInstalled where they could not be scored.
    """
    require("scores")  # not after the minutes that this takes
    bar = tqdm(sources, desc=title, disable=title is None, unit="sentence", dynamic_ncols=True)
    return [_translation(checkpoint, source, method) for source in bar]


def _translation(checkpoint: Checkpoint, source: str, method: str) -> str:
    try:
        return decode(checkpoint, source, method=method).text
    except InputError as error:
        say(f"counted as an empty translation: {error}")
        return ""


def closeness(outputs: Sequence[str], references: Sequence[str]) -> Scores:
    """BLEU and chrF of one reference each (sacrebleu's defaults: cased, 13a)."""
    require("scores")
    import sacrebleu

    return {
        "BLEU": sacrebleu.corpus_bleu(outputs, [references]).score,
        "chrF": sacrebleu.corpus_chrf(outputs, [references]).score,
    }


def length_ratios(outputs: Sequence[str], references: Sequence[str]) -> Scores:
    """Lengths of the outputs over those of the references, in BLEU's tokens and in characters.

    The first is that of BLEU's brevity penalty (Papineni et al. 2002, section 2.2.2).
    """
    require("scores")
    import sacrebleu

    bleu = sacrebleu.corpus_bleu(outputs, [references])
    n_written, n_wanted = (sum(map(len, each)) for each in (outputs, references))
    return {
        "length ratio, tokens": bleu.sys_len / bleu.ref_len,
        "length ratio, characters": n_written / n_wanted,
    }


# Faults of a translation that BLEU hardly notices: lost halves, loops, invented words.

_LOOP = re.compile(r"(.{1,2}?)\1{3}|(.{3,40}?)\2\2")


def spoken_words(text: str) -> list[str]:
    """The words of a text by the rule of `transformer.words`, without signs and bare numbers."""
    return [word for word in text_words(plain(text)) if any(map(str.isalpha, word))]


def invented_words(output: str, source: str, german: Container[str]) -> list[str]:
    """The words of an output that neither the list nor the given text holds, in order.

    source: the source and its reference: names are copied, and what the reference says is German
    however rare. german: words in `folded` form. A word with hyphens is known too where each part
    of it is.
    """
    beside = {part for word in spoken_words(source) for part in (folded(word), *_parts(word))}

    def is_known(word: str) -> bool:
        return word in german or word in beside

    return [
        word
        for word in spoken_words(output)
        if not is_known(folded(word)) and not all(map(is_known, _parts(word)))
    ]


def folded(word: str) -> str:
    """Case is no part of a word: German nouns begin sentences as verbs do; "ß" is "ss"."""
    return word.casefold()


def _parts(word: str) -> list[str]:
    return [folded(part) for part in word.split("-") if part]


def is_lost_half(output: str, reference: str) -> bool:
    """Tell whether the output has less than half of the reference's characters."""
    return len(output.strip()) < len(reference.strip()) / 2


def loop(output: str, source: str) -> str | None:
    """Return what an output repeats; None where it repeats nothing, or its source does so too.

    A loop is a run of 3 to 40 characters three times in direct succession, or of 1 or 2 characters
    four times ("nenene" is in Sonnenenergie), with a letter in the run. Characters are looked at
    instead of pieces, so that models with different vocabularies compare; case is ignored.
    """
    if _repeated(source):
        return None
    return _repeated(output)


def _repeated(text: str) -> str | None:
    units = (match[1] or match[2] for match in _LOOP.finditer(f" {folded(text)} "))
    return next((unit.strip() for unit in units if any(map(str.isalpha, unit))), None)


# The German words that invented words are told by: the data folder's, and Debian's word list.

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
