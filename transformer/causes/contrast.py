"""contrast(): what speaks for a written word, and what for the right one in its place.

A contrastive explanation (Yin and Neubig 2022, "Interpreting language models with contrastive
explanations"), with hiding in the place of gradients.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import exp

import torch
from torch import Tensor

from transformer.causes.another_word import AnotherWord, another_word
from transformer.causes.evidence import Evidence, evidence
from transformer.checkpoint import Checkpoint
from transformer.decoding.alone import OnStep
from transformer.editing.within import within
from transformer.edits.edit import Edit
from transformer.edits.spelling import edits_of
from transformer.inputs import InputError
from transformer.recording.ours import record
from transformer.token import Token


@dataclass(frozen=True)
class Piece:
    """One piece of a word, given all that stands before it, its own first pieces included."""

    token: Token
    log_prob: float
    """In nats."""
    rank: int
    """1: no token is more probable there."""


@dataclass(frozen=True, eq=False)
class Contrast:
    """Another word in the place of a written one; costs are in nats, with their sign."""

    place: AnotherWord
    pieces: tuple[Piece, ...]
    """The pieces of the other word."""
    written: str
    log_prob_written: float
    """The sum over the pieces of the written word."""
    source_words: tuple[str, ...]
    """The S words that are read."""
    prefix_words: tuple[str, ...]
    """The P words that are written before it."""
    hidden: Tensor
    """[2, S] float64: the cost of hiding each word, to the written word and to the other."""
    prefix: Tensor
    """[2, P]: the cost of replacing each word that is written before it, to both."""

    @property
    def other(self) -> str:
        return self.place.text

    @property
    def log_prob(self) -> float:
        """Add up the log-probabilities of the other word's pieces, each given those before it.

        That the word ends there is not in it, as it is not in that of the written word.
        """
        return sum(piece.log_prob for piece in self.pieces)

    @property
    def probability(self) -> float:
        return exp(self.log_prob)

    @property
    def ranks(self) -> tuple[int, ...]:
        """Each piece's rank by the model's own distribution; all 1: greedy decoding writes them.

        A word of several pieces has no rank of its own: no distribution is over words.
        """
        return tuple(piece.rank for piece in self.pieces)

    @property
    def lead(self) -> float:
        """The lead of the written word over the other, in nats; below 0 the other is likelier."""
        return self.log_prob_written - self.log_prob

    @property
    def of_source(self) -> Tensor:
        """[S]: what each word gives to the written word, less what it gives to the other.

        Above 0 it speaks for the written word, below 0 for the other one.
        """
        return self.hidden[0] - self.hidden[1]

    @property
    def of_prefix(self) -> Tensor:
        """[P]: the same of the words that are written before it."""
        return self.prefix[0] - self.prefix[1]


def contrast(
    checkpoint: Checkpoint,
    text: str,
    target: Sequence[Token],
    word: int,
    other: str,
    edits: Iterable[Edit | str] = (),
    on_step: OnStep | None = None,
    evidence_at_hand: Evidence | None = None,
) -> Contrast:
    """Compare a word of a target with another word, or several, in its place.

    target: tokens, as of a `Decoding`. word: by number, from 0, as `word_groups` counts. edits: in
    force all the while, as far as they are of what is judged (see `within`). evidence_at_hand: of
    this target under these edits, if any.
    Raises InputError, of an edit EditError.
    """
    made = edits_of(edits)
    if not checkpoint.family.decodes:
        raise InputError(f"{checkpoint.name} writes nothing: no other word could stand there.")
    place = another_word(checkpoint, target, word, other)

    def judged(word: Sequence[Token]) -> Evidence:
        part = [*place.before, *word]
        return evidence(checkpoint, text, part, within(checkpoint, text, part, made), on_step)

    plain = evidence_at_hand or judged(place.written)
    instead = judged(place.other)
    assert plain.prefix is not None and instead.prefix is not None
    return Contrast(
        place=place,
        pieces=pieces(checkpoint, text, place.before, place.other, made),
        written=plain.target_words[word],
        log_prob_written=float(plain.log_probs[word]),
        source_words=plain.source_words,
        prefix_words=plain.target_words[:word],
        hidden=torch.stack([plain.hidden[word], instead.hidden[word:].sum(0)]),
        prefix=torch.stack([plain.prefix[word, :word], instead.prefix[word:, :word].sum(0)]),
    )


def pieces(
    checkpoint: Checkpoint,
    text: str,
    before: Sequence[Token],
    word: Sequence[Token],
    edits: Sequence[Edit] = (),
) -> tuple[Piece, ...]:
    """Score the pieces of a word behind what is written before it. Raises InputError."""
    part = [*before, *word]
    logits = record(checkpoint, text, part, within(checkpoint, text, part, edits)).logits
    return tuple(map(piece_of, logits[len(before) :], word))


def piece_of(logits: Tensor, token: Token) -> Piece:
    """A token's place in one distribution, logits [V]."""
    values = logits.cpu().double()
    rank = 1 + int((values > values[token.id]).sum())
    return Piece(token, float(values.log_softmax(-1)[token.id]), rank)
