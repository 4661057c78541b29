"""Two texts of one source, word by word: where they part, and what each gives the other's words.

Token-level disagreement by teacher forcing: log p(y_t | source, prefix of A) for the words of B,
and back.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from transformer.analysis.output_change import log_probabilities
from transformer.checkpoint import Checkpoint
from transformer.editing.within import within
from transformer.edits.edit import Edit
from transformer.edits.spelling import edits_of
from transformer.recording.ours import record
from transformer.token import Token
from transformer.words import word_groups, words_of


@dataclass(frozen=True)
class Parting:
    """A word of one text, and the word that the other has in its place; log p in nats."""

    place: int
    """The number of the word in the first text, from 0."""
    word: str
    other_place: int
    other: str
    log_prob: float
    """The log-probability of the word behind its own text."""
    other_log_prob: float
    """The same of the other word, behind its own text."""
    other_here: float
    """The same of the other word, behind the first text."""
    word_there: float
    """The same of the word, behind the other text."""


def partings(
    checkpoint: Checkpoint,
    text: str,
    first: Sequence[Token],
    second: Sequence[Token],
    edits: Iterable[Edit | str] = (),
    on_step: Callable[[], object] | None = None,
) -> list[Parting]:
    """Compare two targets of one source where words stand for each other.

    Words that one of them has and nothing in the other's place are left out: `differing` marks
    them. on_step: called before each pass. Raises InputError.
    """
    made, result = edits_of(edits), []

    def scored(before: Sequence[Token], word: Sequence[Token]) -> float:
        """log p of a word's pieces behind a text."""
        if on_step is not None:
            on_step()
        part = [*before, *word]
        recording = record(checkpoint, text, part, within(checkpoint, text, part, made))
        return float(log_probabilities(recording)[len(before) :].sum())

    groups, others = word_groups(first), word_groups(second)
    words, other_words = words_of(first), words_of(second)
    for i, j in _pairs(words, other_words):
        one, other = (
            [side[k] for k in group] for side, group in ((first, groups[i]), (second, others[j]))
        )
        before, other_before = first[: groups[i][0]], second[: others[j][0]]
        result.append(
            Parting(
                *(i, words[i], j, other_words[j]),
                log_prob=scored(before, one),
                other_log_prob=scored(other_before, other),
                other_here=scored(before, other),
                word_there=scored(other_before, one),
            )
        )
    return result


def _pairs(words: Sequence[str], others: Sequence[str]) -> list[tuple[int, int]]:
    """Places of words that stand for each other.

    >>> _pairs("weil es zu müde war".split(), "weil er müde war".split())
    [(1, 1)]
    """
    codes = SequenceMatcher(None, words, others, autojunk=False).get_opcodes()
    parts = [(range(a, b), range(c, d)) for code, a, b, c, d in codes if code == "replace"]
    return [pair for a, b in parts for pair in zip(a, b, strict=False)]
