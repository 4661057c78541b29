"""contrast(): what speaks for a written word, and what for the right one in its place."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import exp
from typing import Any

import torch
from torch import Tensor

from transformer.causes.evidence import Evidence, evidence
from transformer.checkpoint import Checkpoint, check_open
from transformer.decoding.decode import decode
from transformer.decoding.shared_batch import OnStep
from transformer.device import usual_state
from transformer.editing.editor import within
from transformer.edits.edit import Edit
from transformer.edits.spelling import edits_of
from transformer.field_docs import fields_in_help
from transformer.in_a_line import in_a_line
from transformer.inputs import (
    FUNCTION,
    TEXT,
    InputError,
    Wanted,
    checks,
    is_whole,
    of_class,
    source_ids,
    target_ids,
)
from transformer.models.family import Ids
from transformer.recording.ours import record
from transformer.token import Token
from transformer.tokenizer import Side
from transformer.words import word_groups, words_of

# Another word in the place of a written one: its pieces, and the text that leads up to it.


@fields_in_help
@dataclass(frozen=True)
@in_a_line
class AnotherWord:
    """A word, or several, that could stand where a target has one of its words."""

    word: int
    """The number of the written word, by `word_groups`."""
    before: tuple[Token, ...]
    """The tokens that are written before it."""
    written: tuple[Token, ...]
    """The tokens of the written word."""
    other: tuple[Token, ...]
    """The tokens of the other."""

    @property
    def text(self) -> str:
        return " ".join(self.words)

    @property
    def words(self) -> list[str]:
        """The words that the other is, without the spaces before them."""
        return words_of(self.other)

    @property
    def n_shared(self) -> int:
        """The pieces that both begin with."""
        pairs = zip(self.written, self.other, strict=False)
        return next((i for i, (a, b) in enumerate(pairs) if a.id != b.id), len(self.written))


def another_word(
    checkpoint: Checkpoint, target: Sequence[Token], word: int, typed: str
) -> AnotherWord:
    """Split what somebody types as the model would write it there. Raises InputError."""
    groups = word_groups(target)
    if not 0 <= word < len(groups):
        raise InputError(f"There is no word {word}: {len(groups)} are written, counted from 0.")
    tokens = [target[i] for i in groups[word]]
    before = tuple(target[: groups[word][0]])
    wanted = " ".join(typed.split())
    if not wanted:
        raise InputError("The right word is empty: type the word that should stand here.")
    ids = _ids(checkpoint, before, tokens, wanted)
    other = tuple(map(checkpoint.tokenizer.token, ids))
    if not other or all(each.unknown for each in other):
        raise InputError(f"“{wanted}” has no piece that {checkpoint.name} can write.")
    target_ids(checkpoint, [*before, *other])  # its length
    if word_groups([*before, *other])[:word] != groups[:word]:
        raise InputError(f"“{wanted}” continues the word before it: type a word by itself.")
    result = AnotherWord(word, before, tuple(tokens), other)
    if result.n_shared == len(other) == len(tokens):
        raise InputError(f"“{wanted}” is what is written here: type another word.")
    if result.n_shared == len(other):
        raise InputError(
            f"“{wanted}” is how the written word begins, so its pieces are written here: type the "
            "word that should follow, too."
        )
    return result


def word_number(target: Sequence[Token], named: str) -> int:
    """Find a word of a target by its number, from 0, or as it is written. Raises InputError."""
    words = words_of(target)
    places = [i for i, word in enumerate(words) if word == named]
    if len(places) == 1:
        return places[0]
    if places:
        raise InputError(
            f"“{named}” is written {len(places)} times: name it by its number, one of "
            f"{', '.join(map(str, places))}."
        )
    if named.isascii() and named.isdecimal() and int(named) < len(words):
        return int(named)
    raise InputError(f"“{named}” is not written: these words are, from 0: {' '.join(words)}")


def _ids(
    checkpoint: Checkpoint, before: Sequence[Token], written: Sequence[Token], typed: str
) -> Ids:
    """Split it behind what is written before it, as the pieces of a word depend on its space."""
    tokenizer = checkpoint.tokenizer
    side: Side = "continuation" if checkpoint.family.continues else "target"

    def encoded(text: str) -> list[int]:
        return [id for id in tokenizer.encode(text, side) if not tokenizer.token(id).special]

    begun = [token.id for token in before if not token.special]
    text = tokenizer.decode(begun)
    with_written = tokenizer.decode([*begun, *(token.id for token in written)])
    space = _space(with_written.removeprefix(text), typed)
    ids = encoded(f"{text}{space}{typed}")
    is_behind = ids[: len(begun)] == begun
    return ids[len(begun) :] if is_behind else encoded(f"{space}{typed}")


def _space(written: str, typed: str) -> str:
    """The space before what is typed: that of the written word, where both are of a sort."""
    bare = written.lstrip()
    is_word = typed[0].isalnum()
    if bare and bare[0].isalnum() == is_word:
        return written[: len(written) - len(bare)]
    return " " if is_word else ""


# contrast(): what speaks for a written word, and what for the right one in its place.
#
# A contrastive explanation (Yin and Neubig 2022, "Interpreting language models with contrastive
# explanations"), with hiding in the place of gradients.


@fields_in_help
@dataclass(frozen=True)
@in_a_line
class Piece:
    """One piece of a word, given all that stands before it, its own first pieces included."""

    token: Token
    log_prob: float
    """In nats."""
    rank: int
    """1: no token is more probable there."""


@fields_in_help
@dataclass(frozen=True, eq=False)
@in_a_line
class Contrast:
    """Another word in the place of a written one; costs are in nats, with their sign."""

    place: AnotherWord
    """The written word and the other, as tokens."""
    pieces: tuple[Piece, ...]
    """The pieces of the other word."""
    written: str
    """The written word."""
    log_prob_written: float
    """The sum over the pieces of the written word, in nats."""
    source_words: tuple[str, ...]
    """The S words that are read."""
    prefix_words: tuple[str, ...]
    """The P words that are written before it."""
    hidden: Tensor
    """[2, S] float64: the cost of hiding each word, to the written word and to the other."""
    prefix: Tensor
    """[2, P]: the cost of replacing each word that is written before it, to both."""

    def __repr__(self) -> str:
        return f"Contrast({self.written!r} over {self.other!r}, lead {self.lead:.4g} nats)"

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


@usual_state()
@checks(
    word=Wanted(
        lambda value: is_whole(value) or isinstance(value, str),
        "a written word, by its number from 0 or as it is written",
    ),
    other=TEXT,
    on_step=FUNCTION.or_none,
    evidence_at_hand=of_class(Evidence, "evidence, as evidence(checkpoint, text) makes it").or_none,
)
def contrast(
    checkpoint: Checkpoint,
    text: str,
    target: str | Sequence[Token] | None,
    word: int | str,
    other: str,
    edits: Iterable[Edit | str] | None = (),
    on_step: OnStep | None = None,
    evidence_at_hand: Evidence | None = None,
) -> Contrast:
    """Compare a word of a target with another word, or several, in its place.

    checkpoint: of a model that writes; open, or its name or path.
    text: the source, or the prompt.
    target: what is written, as text or tokens; None: what greedy decoding writes.
    word: one of its words, by number from 0 or as it is written.
    other: the word, or words, in its place.
    edits: changes of the model, in force all the while, such as "head-off:cross.2.3", as far as
        they are of what is judged (see `within`).
    on_step: called before each step of `evidence`, which is asked of both words: a batch of words,
        or one, without arguments; it may wait, and what it raises ends the run.
    evidence_at_hand: what `evidence` returned of this target under these edits; None: it is asked.

    Returns a `Contrast` (Yin and Neubig 2022): `.lead`, how much more probable the word is, in
    nats; `.of_source` [S], what hiding each word that is read takes from it, and `.of_prefix` [P],
    what replacing each written one before it does. Raises CheckpointError, InputError, and of an
    edit EditError.

    >>> contrast("en-de", "It rains.", None, "Es", "Er").lead  # doctest: +SKIP
    """
    check_open(checkpoint)
    made = edits_of(edits)
    if not checkpoint.family.decodes:
        raise InputError(f"{checkpoint.name} writes nothing: no other word could stand there.")
    if target is None:
        target = decode(checkpoint, text, edits=made).target
    ids = target_ids(checkpoint, target, len(source_ids(checkpoint, text))) or []
    written = tuple(map(checkpoint.tokenizer.token, ids))
    word = word_number(written, word) if isinstance(word, str) else word
    place = another_word(checkpoint, written, word, other)

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
    recording = record(checkpoint, text, part, within(checkpoint, text, part, edits))
    return tuple(map(piece_of, recording.require_logits()[len(before) :], word))


def piece_of(logits: Tensor, token: Token) -> Piece:
    """A token's place in one distribution, logits [V]."""
    values = logits.cpu().double()
    rank = 1 + int((values > values[token.id]).sum())
    return Piece(token, float(values.log_softmax(-1)[token.id]), rank)


# Another word in the place of a written one, as values for JSON and as lines for a shell.

MOST = 5
"""Words of each side that lines name."""


def contrast_values(result: Contrast) -> dict[str, Any]:
    """Name -> value of everything, as JSON has them; costs are in nats."""
    return {
        "place": result.place.word,
        "word": result.written,
        "other": result.other,
        "log_prob": result.log_prob,
        "log_prob_word": result.log_prob_written,
        "pieces": [
            {"piece": it.token.piece, "log_prob": it.log_prob, "rank": it.rank}
            for it in result.pieces
        ],
        "source": _side(result.source_words, result.hidden, result.of_source),
        "prefix": _side(result.prefix_words, result.prefix, result.of_prefix),
    }


def _side(words: Sequence[str], costs: Tensor, contrast: Tensor) -> list[dict[str, Any]]:
    columns = zip(words, *costs.tolist(), contrast.tolist(), strict=True)
    names = ("word", "to_word", "to_other", "contrast")
    return [dict(zip(names, each, strict=True)) for each in columns]


def contrast_lines(result: Contrast) -> list[str]:
    """Log-probability and ranks, and the words that speak most for either."""
    log_prob, ranks = f"log-probability {result.log_prob:.2f} nats", f"rank {result.ranks[0]:,}"
    if len(result.pieces) > 1:
        each = ", ".join(f"{it.token.piece} {it.rank:,}" for it in result.pieces)
        log_prob += f", of its {len(result.pieces)} pieces together"
        ranks = f"rank of each piece: {each}"
    return [
        f"“{result.other}”: {log_prob} ({ranks}); "
        f"“{result.written}”, which is written: {result.log_prob_written:.2f} nats.",
        *_speaks("the text", result.source_words, result.of_source, result),
        *_speaks("what is written before", result.prefix_words, result.of_prefix, result),
    ]


def _speaks(side: str, words: Sequence[str], contrast: Tensor, result: Contrast) -> list[str]:
    pairs = list(zip(words, contrast.tolist(), strict=True))
    lines = []
    for name, sign in ((result.written, 1), (result.other, -1)):
        most = sorted((it for it in pairs if it[1] * sign > 0), key=lambda it: -it[1] * sign)
        named = ", ".join(f"{word} {value:+.2f}" for word, value in most[:MOST])
        if named:
            lines.append(f"For “{name}” speaks, of {side}: {named} (nats).")
    return lines
