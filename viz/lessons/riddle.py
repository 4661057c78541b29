"""A riddle: a real mistake of a model, as the fields of a scene say it. Data only."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote, unquote

from transformer.causes.verdict import KINDS, Kind, kind_of

NOTHING = "-"
"""In a line, for a word that nobody would write, or that is not needed."""


@dataclass(frozen=True)
class Mistake:
    """A word that is written and wrong, and what the model's evidence says of it."""

    word: str
    """Its name by `numbered` among those that are written: of equal ones "bestanden #1"."""
    right: str
    """The word that should stand there; empty: none."""
    kind: Kind
    """The kind of its verdict."""
    needs: str
    """The word that costs most, of the text, or of kind "held by the prefix" of what is written;
    empty: none costs enough."""


@dataclass(frozen=True)
class Riddle:
    """The fault of a scene's translation: words that are wrong, or words that are lost."""

    mistakes: tuple[Mistake, ...] = ()
    left_out: tuple[str, ...] = ()
    """Words of the text, each named once, that no written word needs."""
    solution: str = ""
    """A sentence or two of Markdown for whoever has answered."""


NO_RIDDLE = Riddle()


def read_mistake(text: str) -> Mistake:
    """ "Spiel Streichholz agrees match" -> the mistake. Raises ValueError, in a clause."""
    try:
        word, right, kind, needs = ("" if each == NOTHING else each for each in read_words(text))
        return Mistake(word, right, kind_of(kind), needs)
    except ValueError as error:
        kinds = ", ".join(map(_quoted, KINDS))
        raise ValueError(
            f"a mistake reads word right-word kind needed-word, where the kind is one of {kinds}"
        ) from error


def mistake_line(mistake: Mistake) -> str:
    """Return the text behind "mistake: "."""
    words = (mistake.word, mistake.right, mistake.kind, mistake.needs)
    return words_line([word or NOTHING for word in words])


def read_words(text: str) -> tuple[str, ...]:
    """ "König%20#2 Königin" -> the words."""
    return tuple(map(unquote, text.split()))


def words_line(words: Sequence[str]) -> str:
    """Return the text that `read_words` reads."""
    return " ".join(map(_quoted, words))


def _quoted(word: str) -> str:
    """Without what would end it."""
    return re.sub(r"[\s%]", lambda match: quote(match[0], errors="replace"), word)


def numbered(words: Sequence[str]) -> tuple[str, ...]:
    """The words; where one comes again, each with its number: "the #2"."""
    so_far, names = dict[str, int](), []
    for word in words:
        so_far[word] = so_far.get(word, 0) + 1
        names.append(f"{word} #{so_far[word]}" if words.count(word) > 1 else word)
    return tuple(names)
