"""The effect of a change of a model on its output: log-probabilities, and words that differ."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from torch import Tensor

from transformer.recording import Recording
from transformer.words import word_groups, words_of


@dataclass(frozen=True)
class WordChange:
    """A word of an output, and how likely it was before a change of the model and after it."""

    word: str
    before: float
    """Its log-probability in nats: the sum over its pieces, each given those before it."""
    after: float

    @property
    def gain(self) -> float:
        """In nats; negative where the change made the word less likely."""
        return self.after - self.before


def log_probabilities(recording: Recording) -> Tensor:
    """Return each target token's log-probability, given all before it: float64 [T], in nats."""
    ids = [token.id for token in recording.target]
    chosen = recording.logits.cpu().double().log_softmax(-1)
    return chosen[range(len(ids)), ids]


def word_changes(before: Recording, after: Recording) -> list[WordChange]:
    """Compare each word of the target that both recordings were made to read.

    Raises ValueError where these are different targets.
    """
    if before.target != after.target:
        raise ValueError("log-probabilities are compared of one and the same target")
    columns = (words_of(before.target), *map(word_log_probabilities, (before, after)))
    return [WordChange(*each) for each in zip(*columns, strict=True)]


def word_log_probabilities(recording: Recording) -> list[float]:
    """Return each target word's log-probability in nats: the sum over its pieces."""
    pieces = log_probabilities(recording)
    return [float(pieces[list(group)].sum()) for group in word_groups(recording.target)]


def differing(words: Sequence[str], other: Sequence[str]) -> list[bool]:
    """Mark words that another text lacks if it is aligned to this one by its longest common parts.

    >>> differing("weil es zu müde war".split(), "weil er zu müde war".split())
    [False, True, False, False, False]
    """
    blocks = SequenceMatcher(None, words, other, autojunk=False).get_matching_blocks()
    same = {i for block in blocks for i in range(block.a, block.a + block.size)}
    return [i not in same for i in range(len(words))]


def exchanged(words: Sequence[str], other: Sequence[str]) -> list[tuple[list[str], list[str]]]:
    """Pair words with what stands for them in another text, part by part; nothing that is kept.

    >>> exchanged("weil es zu müde war".split(), "weil er müde war".split())
    [(['es', 'zu'], ['er'])]
    """
    codes = SequenceMatcher(None, words, other, autojunk=False).get_opcodes()
    return [(list(words[a:b]), list(other[c:d])) for code, a, b, c, d in codes if code != "equal"]
