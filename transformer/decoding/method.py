"""What a decoding method declares of itself, and what it gives back."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from torch import Tensor

from transformer.config import ModelConfig


class Model(Protocol):
    """What decoding asks of a model: start on a source, then take target tokens."""

    config: ModelConfig

    def start(self, source: Tensor) -> Any: ...

    def advance(self, state: Any, target: Tensor) -> Tensor: ...


@dataclass(frozen=True, eq=False)
class Hypothesis:
    """One finished target.

    log_probs: [T, V], row t the distribution that ids[t] was chosen from, in nats.
    """

    ids: tuple[int, ...]
    log_probs: Tensor
    score: float
    """What hypotheses are ranked by: the method says how."""

    @property
    def log_prob(self) -> float:
        """log p(target | source), in nats."""
        return float(sum(self.log_probs[t, id] for t, id in enumerate(self.ids)))


@dataclass(frozen=True)
class Method:
    """A way to decode.

    run: (model, source [1, S], max_len, **options) -> hypotheses, best first.
    """

    name: str
    title: str
    run: Callable[..., list[Hypothesis]]
    options: Mapping[str, Any] = field(default_factory=dict)
    """Option -> default."""
    needs_target: bool = False
    """Whether the target is given, as the option `target_ids`, and only to be judged."""


def length_limit(config: ModelConfig, source: Tensor, max_len: int | None) -> int:
    """How many target tokens may be written.

    Without an end token a target is as long as its source. Otherwise twice the source and ten
    more: a translation that runs past that is one that repeats itself. Raises ValueError for a
    max_len below 1.
    """
    n_source = source.size(1)
    limit = n_source if config.eos_id is None else min(config.max_len, 2 * n_source + 10)
    if max_len is None:
        return limit
    if max_len < 1:
        raise ValueError(f"max_len must be at least 1, not {max_len}.")
    return min(limit, max_len)
