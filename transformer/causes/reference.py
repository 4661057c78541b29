"""A reference scored word by word: where does the model depart from it, and to what?"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import exp

from transformer.causes.continuation import continuation
from transformer.causes.contrast import piece_of
from transformer.checkpoint import Checkpoint
from transformer.decoding.alone import OnStep
from transformer.editing.within import within
from transformer.edits.edit import Edit
from transformer.edits.spelling import edits_of
from transformer.inputs import InputError
from transformer.recording.ours import record
from transformer.token import Token
from transformer.words import word_groups, word_piece


@dataclass(frozen=True)
class ReferenceWord:
    """One word of a reference, given the source and all words of the reference before it."""

    word: str
    log_prob: float
    """In nats, the sum over its pieces."""
    ranks: tuple[int, ...]
    """Each piece's rank by the model's own distribution, without the rules of its folder; 1: the
    likeliest one there."""
    instead: str
    """The word that the model writes here: in its own text, as long as the reference goes along
    with that, and behind it greedily; the same where it departs from no reference."""
    is_departure: bool
    """True: that is another word, or the same one in other pieces."""

    @property
    def probability(self) -> float:
        return exp(self.log_prob)


@dataclass(frozen=True)
class Reference:
    """A whole reference, `</s>` included where the model writes one."""

    words: tuple[ReferenceWord, ...]
    tokens: tuple[Token, ...]

    @property
    def log_prob(self) -> float:
        """Add up the log-probabilities of all words, in nats."""
        return sum(each.log_prob for each in self.words)

    @property
    def departures(self) -> tuple[int, ...]:
        """The numbers of the words in whose place the model would write others."""
        return tuple(i for i, each in enumerate(self.words) if each.is_departure)


def reference(
    checkpoint: Checkpoint,
    text: str,
    target: str | Sequence[Token],
    edits: Iterable[Edit | str] = (),
    on_step: OnStep | None = None,
    own: Sequence[Token] = (),
) -> Reference:
    """Score a reference translation, or continuation, of a text word by word.

    edits: in force all the while. on_step: called between two passes; what it raises ends them.
    own: the target that the model wrote by itself, by whatever search; (): by greedy decoding.
    Raises InputError, of an edit EditError.
    """
    made = edits_of(edits)
    if not checkpoint.family.decodes:
        raise InputError(f"{checkpoint.name} writes nothing: it departs from no reference.")
    if isinstance(target, str) and not target.strip():
        raise InputError("The reference is empty: type a translation, or a continuation.")
    # They may be of a longer text, the one that is written.
    recording = record(checkpoint, text, target, within(checkpoint, text, target, made))
    tokens = recording.target
    scores = list(map(piece_of, recording.logits, tokens))
    words = []
    for group in word_groups(tokens):
        pieces = [scores[i] for i in group]
        word = word_piece([tokens[i] for i in group]).strip(" ▁")
        ranks = tuple(piece.rank for piece in pieces)
        before = tokens[: group[0]]
        written = _word_behind(before, own)
        is_departure = max(ranks) > 1
        if written:
            is_departure = _ids(written) != _ids([tokens[i] for i in group])
            instead = word_piece(written).strip(" ▁")
        elif is_departure:
            instead = _next_word(checkpoint, text, before, made, on_step)
        else:
            instead = word
        log_prob = sum(it.log_prob for it in pieces)
        words.append(ReferenceWord(word, log_prob, ranks, instead, is_departure))
    return Reference(tuple(words), tokens)


def _word_behind(before: Sequence[Token], own: Sequence[Token]) -> list[Token]:
    """The word of a text that follows its beginning; none where it begins otherwise."""
    if _ids(own[: len(before)]) != _ids(before):
        return []
    groups = (group for group in word_groups(own) if len(before) in group)
    return [own[i] for i in next(groups, ())]


def _ids(tokens: Iterable[Token]) -> list[int]:
    return [each.id for each in tokens]


def _next_word(
    checkpoint: Checkpoint,
    text: str,
    before: Sequence[Token],
    edits: Sequence[Edit],
    on_step: OnStep | None,
) -> str:
    """Write on behind these tokens up to the end of a word; it may continue the last of them."""

    def own(new: Sequence[Token]) -> tuple[int, ...]:
        groups = word_groups([*before, *new])
        return next(group for group in groups if len(before) in group)

    def is_enough(new: Sequence[Token]) -> bool:
        return own(new)[-1] < len(before) + len(new) - 1

    new = continuation(checkpoint, text, before, edits, is_enough, on_step)
    if not new:
        return ""
    whole = [*before, *new]
    return word_piece([whole[i] for i in own(new)]).strip(" ▁")
