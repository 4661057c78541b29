"""pruning(): where a search left the right word, with which score, and which score beat it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from transformer.causes.another_word import AnotherWord
from transformer.causes.contrast import Piece
from transformer.decoding.search_tree import REASONS, Node, SearchTree
from transformer.words import word_piece

KEPT = (None, "continuations", "finished", "stopped")
"""The reasons of nodes that a step did not leave out itself; None: there is no reason."""


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
    """The score that beat it: of the last one that was kept in that step, or of what is written."""
    why: str
    """The reason, as a clause; empty where it was finished, or never looked at."""

    @property
    def text(self) -> str:
        """All of it as a sentence."""
        score = number(self.score)
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

    None where the search has not looked at what is written before it: it wrote another text.
    """
    before = search.find([token.id for token in place.before])
    if before is None:
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
        return Pruning(place.text, best.hypothesis, 0, ending, best.score.total, first, "")
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
    least = min((it.score.total for it in going), default=None)
    return Pruning(place.text, None, number - len(place.other), ending, score, least, "")


def _left(search: SearchTree, place: AnotherWord, node: Node, n_after: int) -> Pruning:
    """The word at the node that the search did not go on from."""
    dropped, ending = node.dropped, _text(search, node, len(place.before))
    best = None if dropped is None else dropped.score
    why = "nothing was written after it" if dropped is None else REASONS[dropped.why]
    return Pruning(place.text, None, n_after, ending, node.score.total, best, why)


def _below(search: SearchTree, node: Node) -> Iterator[Node]:
    """All nodes after one."""
    for each in search.children(node.id):
        yield each
        yield from _below(search, each)


def _text(search: SearchTree, node: Node, n_before: int) -> str:
    """The text that a node ends, from behind the first tokens on."""
    tokens = [it.token for it in search.path(node.id)[n_before:] if it.token is not None]
    return word_piece(tokens).replace("▁", " ").strip()
