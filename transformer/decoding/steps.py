"""The candidates and the choice of each decoding step."""

import math
from dataclasses import dataclass, replace

from torch import Tensor

from transformer.decoding.method import Hypothesis
from transformer.decoding.search_tree import SearchTree
from transformer.token import Candidate, Token
from transformer.tokenizer import Tokenizer

N_CANDIDATES = 10


@dataclass(frozen=True)
class Step:
    """One decoding step: the token chosen and what stood beside it."""

    chosen: Candidate
    candidates: tuple[Candidate, ...]
    """The most probable tokens, best first."""
    rest: float
    """The probability of all other tokens together."""
    entropy: float
    """Entropy of the whole distribution, in bits."""


@dataclass(frozen=True, eq=False)
class Decoding:
    """A finished decoding: the best hypothesis, its steps, and every hypothesis found."""

    text: str
    source: tuple[Token, ...]
    target: tuple[Token, ...]
    steps: tuple[Step, ...]
    hypotheses: tuple[Hypothesis, ...]
    vocab_size: int
    """Tokens that each step chose from."""
    search: SearchTree
    """Every token that the search looked at on its way to them."""
    is_ended: bool = True
    """True: the target ends by the model's will, not at the limit of its length."""
    ended_by: str = ""
    """The sentence why the model could not go on; empty: nothing kept it."""

    def __repr__(self) -> str:
        sizes = f"{len(self.target)} tokens, {len(self.hypotheses)} hypotheses"
        return f"Decoding({self.text!r}, {sizes}, log_prob={self.log_prob:.3f})"

    @property
    def log_prob(self) -> float:
        """log p(target | source), in nats: of all that was written, prefix and end included."""
        return self.hypotheses[0].log_prob

    def without_distributions(self) -> "Decoding":
        """The same, as small as what is seen of it: see `Hypothesis.without_distributions`."""
        short = tuple(each.without_distributions() for each in self.hypotheses)
        return replace(self, hypotheses=short)


def steps_of(hypothesis: Hypothesis, tokenizer: Tokenizer) -> tuple[Step, ...]:
    """The steps of a hypothesis from its log_probs [T, V]."""
    after = hypothesis.ruled
    rows = [None] * len(hypothesis.ids) if after is None else list(after)
    return tuple(
        _step(row, chosen, tokenizer, ruled)
        for row, chosen, ruled in zip(hypothesis.log_probs, hypothesis.ids, rows, strict=True)
    )


def candidates_of(logits: Tensor, tokenizer: Tokenizer) -> tuple[tuple[Candidate, ...], float]:
    """The most probable tokens of a distribution, logits [V], and the probability of the rest."""
    return _best(logits.double().softmax(-1), tokenizer)


def _step(log_probs: Tensor, chosen: int, tokenizer: Tokenizer, ruled: Tensor | None) -> Step:
    probs = log_probs.double().exp()
    after = None if ruled is None else ruled.double().exp()
    candidates, rest = _best(probs, tokenizer, after)
    entropy = -float((probs * log_probs.clamp_min(-1e4)).sum()) / math.log(2)
    token = Candidate(tokenizer.token(chosen), float(probs[chosen]), _at(after, chosen))
    return Step(token, candidates, rest, entropy)


def _at(probs: Tensor | None, id: int) -> float | None:
    return None if probs is None else float(probs[id])


def _best(
    probs: Tensor, tokenizer: Tokenizer, after: Tensor | None = None
) -> tuple[tuple[Candidate, ...], float]:
    best = probs.topk(min(N_CANDIDATES, probs.numel()))
    candidates = tuple(
        Candidate(tokenizer.token(id), prob, _at(after, id))
        for id, prob in zip(best.indices.tolist(), best.values.tolist(), strict=True)
    )
    return candidates, max(0.0, 1.0 - sum(candidate.prob for candidate in candidates))
