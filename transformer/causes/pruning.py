"""Two ways to lose a word: a search that left it, and a reference that the model departs from."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import exp
from typing import Any

from transformer.causes.contrast import AnotherWord, Piece, piece_of
from transformer.causes.prefix import continuation
from transformer.checkpoint import Checkpoint
from transformer.decoding.search_tree import LEFT, REASONS, Node, SearchTree, Why
from transformer.decoding.shared_batch import OnStep
from transformer.editing.editor import within
from transformer.edits.edit import Edit
from transformer.edits.spelling import edits_of
from transformer.inputs import InputError
from transformer.recording.ours import record
from transformer.token import Token
from transformer.words import word_groups, word_piece

# pruning(): where a search left the right word, with which score, and which score beat it.

KEPT = (None, "continuations", "finished", "stopped")
"""The reasons of nodes that a step did not leave out itself; None: there is no reason."""
ONE_BY_ONE: tuple[Why, ...] = ("chance", "greedy", "rules", "forced")
"""The reasons of methods that write one token after the other, and compare no texts."""
DECIDED = "the output was made to begin with another word"


@dataclass(frozen=True)
class Pruning:
    """The way of a word through a search, behind what is written before it."""

    other: str
    hypothesis: int | None
    """The rank of the best finished text with the word, 0 the best; None: none was finished."""
    n_after: int
    """Tokens that were written after the word until it was left; below 0: that many of its own
    pieces are missing."""
    ending: str
    """The text from the word on, up to where it was left."""
    score: float
    """The score of that text, or of the finished one."""
    best: float | None
    """The score that beat it: of the last one that was kept in that step, or of what is written.
    None: it was not left for a better score."""
    why: str
    """The reason, as a clause; empty where it was finished, or never looked at."""
    is_drawn: bool = False
    """True: chance chose the tokens, and texts are in the order of their seeds."""

    @property
    def text(self) -> str:
        """All of it as a sentence."""
        score = number(self.score)
        if self.hypothesis is not None and self.is_drawn:
            return f"“{self.other}” is in text {self.hypothesis + 1} of those drawn: {score}."
        if self.hypothesis is not None:
            return (
                f"The search finished a text with “{self.other}”: number {self.hypothesis + 1} by "
                f"its score, {score} against {number(self.best)}."
            )
        last = "" if self.best is None else f"; the last one kept there had {number(self.best)}"
        if not self.why:
            return (
                f"“{self.other}” was not among the best candidates of its step: with "
                f"“{self.ending}” the score would have been {score}{last}."
            )
        if self.why == DECIDED:
            return f"The search had no choice at “{self.other}”: {self.why}."
        tokens = "1 token" if self.n_after == 1 else f"{self.n_after} tokens"
        where = "at once,"
        if self.n_after:
            begun = f"{tokens} later" if self.n_after > 0 else "within the word"
            where = f"{begun}, at “{self.ending}”,"
        return f"The search left “{self.other}” {where} with a score of {score}: {self.why}{last}."


def number(value: float | None) -> str:
    """A score as sentences have it.

    >>> number(-3.214), number(None)
    ('−3.21', 'none')
    """
    return "none" if value is None else f"{value:.2f}".replace("-", "−")


def pruning(search: SearchTree, place: AnotherWord, pieces: Sequence[Piece]) -> Pruning | None:
    """Follow a word through a search; pieces: of the word, as `contrast` has scored them.

    None where the search has not gone on from what is written before it: it wrote another text.
    """
    before = search.find([token.id for token in place.before])
    if before is None or (before.dropped is not None and before.dropped.why in LEFT):
        return None
    node = before
    for number, token in enumerate(place.other):
        after = [it for it in search.children(node.id) if it.token and it.token.id == token.id]
        if not after:
            return _unseen(search, place, pieces, node, number)
        node = after[0]
    below = [node, *_below(search, node)]
    finished = [it for it in below if it.hypothesis is not None]
    if finished:
        best = min(finished, key=lambda it: it.hypothesis or 0)
        first = search.leaf(0).score.total
        ending = _text(search, best, len(place.before))
        total, is_drawn = best.score.total, search.is_drawn
        return Pruning(place.text, best.hypothesis, 0, ending, total, first, "", is_drawn)
    last = max(below, key=lambda it: (it.score.length, it.score.total))
    return _left(search, place, last, last.score.length - node.score.length)


def pruning_values(result: Pruning | None) -> dict[str, Any] | None:
    """Name -> value, as JSON has them."""
    return None if result is None else vars(result) | {"text": result.text}


def _unseen(
    search: SearchTree, place: AnotherWord, pieces: Sequence[Piece], node: Node, number: int
) -> Pruning:
    """Score the piece that the search did not look at, behind a node."""
    if number and node.dropped is not None:  # it did not go on from the first pieces
        return _left(search, place, node, number - len(place.other))
    length = node.score.length + 1
    beside = [it for it in search.nodes[1:] if it.score.length == length]
    divisor = next((it.score.divisor for it in beside), node.score.divisor)
    going = [it for it in beside if it.dropped is None or it.dropped.why in KEPT]
    ending = word_piece(place.other[: number + 1]).strip(" ▁")
    score = (node.score.log_prob + pieces[number].log_prob) / divisor
    missing = number - len(place.other)
    after = search.children(node.id)
    if len(after) == 1 and after[0].is_forced:  # a prefix: where a step chooses, others stand by
        return Pruning(place.text, None, missing, ending, score, None, DECIDED)
    reasons = (it.dropped.why for it in search.nodes if it.dropped is not None)
    why = next((it for it in reasons if it in ONE_BY_ONE), None)
    if why is not None:
        n_after = 0 if number == 0 else missing
        going = [it for it in after if it.dropped is None]
        best = _better(going[0].score.total, score) if why == "greedy" and going else None
        return Pruning(place.text, None, n_after, ending, score, best, REASONS[why])
    best = _better(min((it.score.total for it in going), default=None), score)
    return Pruning(place.text, None, missing, ending, score, best, "")


def _left(search: SearchTree, place: AnotherWord, node: Node, n_after: int) -> Pruning:
    """The word at the node that the search did not go on from."""
    dropped, ending = node.dropped, _text(search, node, len(place.before))
    drawn = dropped is not None and dropped.why == "chance"  # for no score
    best = None if dropped is None or drawn else _better(dropped.score, node.score.total)
    why = "nothing was written after it" if dropped is None else REASONS[dropped.why]
    return Pruning(place.text, None, n_after, ending, node.score.total, best, why)


def _better(best: float | None, score: float) -> float | None:
    """The score that beat another one; None where it is no better: a likeness to other groups, a
    rule of the folder or a place that was kept for forced words has decided then.
    """
    return best if best is not None and best >= score else None


def _below(search: SearchTree, node: Node) -> Iterator[Node]:
    """All nodes after one, those of a child before the next child."""
    waiting = [*reversed(search.children(node.id))]
    while waiting:  # a text may be longer than a stack is deep
        yield (each := waiting.pop())
        waiting.extend(reversed(search.children(each.id)))


def _text(search: SearchTree, node: Node, n_before: int) -> str:
    """The text that a node ends, from behind the first tokens on."""
    tokens = [it.token for it in search.path(node.id)[n_before:] if it.token is not None]
    return word_piece(tokens).replace("▁", " ").strip()


# A reference scored word by word: where does the model depart from it, and to what?


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

    edits: in force all the while. on_step: called before each pass; what it raises ends them.
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
    scores = list(map(piece_of, recording.require_logits(), tokens))
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
