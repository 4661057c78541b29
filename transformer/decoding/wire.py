"""A decoding as plain data: what JSON has, without distributions and without a tokenizer's pieces.

Tokens are ids, which the reader's own tokenizer knows. A reader believes nothing of it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, get_args

import torch

from transformer.checkpoint import Checkpoint
from transformer.decoding.method import Hypothesis
from transformer.decoding.search_tree import Dropped, Node, Score, SearchTree, Why
from transformer.decoding.steps import Decoding, Step, written_text
from transformer.inputs import InputError
from transformer.refusal import Refusal, quoted
from transformer.token import Candidate, Token
from transformer.vocabulary import source_side

REASONS = frozenset(get_args(Why))
BROKEN = (KeyError, TypeError, ValueError, IndexError, OverflowError, AttributeError)


class DecodingError(Refusal, ValueError):
    """Data that is no decoding of this checkpoint."""


def to_data(decoding: Decoding) -> dict[str, Any]:
    """Return a decoding as JSON values."""
    tree = decoding.search
    return {
        "text": decoding.text,
        "source": [token.id for token in decoding.source],
        "target": [token.id for token in decoding.target],
        "steps": [_step_entry(step) for step in decoding.steps],
        "hypotheses": [_hypothesis_entry(each) for each in decoding.hypotheses],
        "vocabulary": decoding.vocab_size,
        "nodes": [_node_entry(node) for node in tree.nodes],
        "leaves": list(tree.leaves),
        "left_out": tree.n_left_out,
        "drawn": tree.is_drawn,
        "ended": decoding.is_ended,
        "by": decoding.ended_by,
    }


def _step_entry(step: Step) -> list[Any]:
    candidates = (step.chosen, *step.candidates)
    numbers = [[each.token.id, each.prob, each.after] for each in candidates]
    return [numbers, step.rest, step.entropy]


def _hypothesis_entry(each: Hypothesis) -> list[Any]:
    error = None if each.error is None else str(each.error)
    return [list(each.ids), each.score, each.log_prob, error, each.leaf]


def _node_entry(node: Node) -> list[Any]:
    score, dropped = node.score, node.dropped
    return [
        node.parent,
        None if node.token is None else node.token.id,
        node.log_prob,
        [score.log_prob, score.length, score.divisor, score.coverage],
        node.rank,
        dropped and [dropped.why, dropped.by, dropped.score],
        node.is_forced,
        node.hypothesis,
    ]


def from_data(data: Any, checkpoint: Checkpoint) -> Decoding:
    """Return the decoding that `to_data` made, of the same checkpoint. Raises DecodingError."""
    try:
        return _Reader(data, checkpoint).decoding()
    except BROKEN as error:
        if isinstance(error, DecodingError):
            raise
        raise DecodingError(
            f"The data are not those of a decoding: {type(error).__name__}."
        ) from error


@dataclass
class _Reader:
    data: Any
    checkpoint: Checkpoint

    def decoding(self) -> Decoding:
        data = self.data
        side = source_side(self.checkpoint.tokenizer)
        n_source = getattr(side, "vocab_size", self.checkpoint.config.vocab_size)
        source = tuple(side.token(_whole(id, n_source)) for id in data["source"])
        hypotheses = tuple(self.hypothesis(each, source) for each in data["hypotheses"])
        result = Decoding(
            text=_text(data["text"]),
            source=source,
            target=self.tokens(data["target"]),
            steps=tuple(map(self.step, data["steps"])),
            hypotheses=hypotheses,
            vocab_size=_whole(data["vocabulary"]),
            search=self.search(len(hypotheses)),
            is_ended=_truth(data["ended"]),
            ended_by=_text(data["by"]),
        )
        if not hypotheses or len(result.steps) != len(result.target):
            raise DecodingError("The decoding has steps of another text.")
        return result

    def tokens(self, ids: Sequence[Any]) -> tuple[Token, ...]:
        return tuple(map(self.token, ids))

    def token(self, id: Any) -> Token:
        return self.checkpoint.tokenizer.token(_whole(id, self.checkpoint.config.vocab_size))

    def step(self, entry: Any) -> Step:
        numbers, rest, entropy = entry
        chosen, *candidates = (
            Candidate(self.token(id), _number(prob), _maybe(after)) for id, prob, after in numbers
        )
        return Step(chosen, tuple(candidates), _number(rest), _number(entropy))

    def hypothesis(self, entry: Any, source: Sequence[Token]) -> Hypothesis:
        ids, score, log_prob, error, leaf = entry
        places = tuple(token.id for token in self.tokens(ids))
        result = Hypothesis(
            ids=places,
            log_probs=torch.empty(len(places), 0),
            score=_number(score),
            error=None if error is None else InputError(_text(error)),
            leaf=None if leaf is None else _whole(leaf),
            text=written_text(self.checkpoint, [token.id for token in source], places),
        )
        vars(result)["log_prob"] = _number(log_prob)
        return result

    def search(self, n_hypotheses: int) -> SearchTree:
        entries = self.data["nodes"]
        nodes = tuple(self.node(id, entry, len(entries)) for id, entry in enumerate(entries))
        leaves = tuple(_whole(leaf, len(nodes)) for leaf in self.data["leaves"])
        if len(leaves) != n_hypotheses or not nodes:
            raise DecodingError("The decoding has a search for other texts.")
        return SearchTree(nodes, leaves, _whole(self.data["left_out"]), _truth(self.data["drawn"]))

    def node(self, id: int, entry: Any, n_nodes: int) -> Node:
        parent, token, log_prob, score, rank, dropped, is_forced, hypothesis = entry
        if (parent is None) != (id == 0) or (token is None) != (id == 0):
            raise DecodingError("The decoding has a search without a root, or with two.")
        total, length, divisor, coverage = score
        return Node(
            id=id,
            parent=None if parent is None else _whole(parent, id),  # parents come first
            token=None if token is None else self.token(token),
            log_prob=_number(log_prob),
            score=Score(_number(total), _whole(length), _number(divisor), _number(coverage)),
            rank=_whole(rank),
            dropped=None if dropped is None else _dropped(dropped, n_nodes),
            is_forced=_truth(is_forced),
            hypothesis=None if hypothesis is None else _whole(hypothesis),
        )


def _dropped(entry: Any, n_nodes: int) -> Dropped:
    why, by, score = entry
    if why not in REASONS:
        raise DecodingError(f"The decoding has {quoted(why)} for a reason.")
    return Dropped(why, None if by is None else _whole(by, n_nodes), _maybe(score))


def _whole(value: Any, below: int | None = None) -> int:
    if type(value) is not int or value < 0 or (below is not None and value >= below):
        raise DecodingError(f"The decoding has {quoted(value)} for a whole number.")
    return value


def _number(value: Any) -> float:
    """A probability may be 0, and its logarithm minus infinity; nothing is NaN."""
    if type(value) not in (int, float) or math.isnan(value):
        raise DecodingError(f"The decoding has {quoted(value)} for a number.")
    return float(value)


def _maybe(value: Any) -> float | None:
    return None if value is None else _number(value)


def _truth(value: Any) -> bool:
    if type(value) is not bool:
        raise DecodingError(f"The decoding has {quoted(value)} for yes or no.")
    return value


def _text(value: Any) -> str:
    if type(value) is not str:
        raise DecodingError(f"The decoding has {quoted(value)} for a text.")
    return value
