"""A model family, as it declares itself."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

from torch import nn

from transformer.config import ModelConfig
from transformer.field_docs import fields_in_help
from transformer.in_a_line import in_a_line
from transformer.tokenizer import Side

Ids = Sequence[int]
EMBEDDING = MappingProxyType({"embedding": "*embedding", "positions": "*positions", "join": "join"})
"""Places where a TokenModel keeps what embeds tokens, encodes their positions and joins both."""


def nothing_shared(config: ModelConfig) -> Sequence[str]:
    """The `shared` of a family whose parts have matrices of their own."""
    return ()


@fields_in_help
@dataclass(frozen=True)
class Rows:
    """Token ids along the two sides of one kind of attention."""

    queries: Ids
    """One a row."""
    keys: Ids
    """One a column."""
    produced: Ids | None = None
    """The token that each row was about to produce; None where rows produce nothing."""


@fields_in_help
@dataclass(frozen=True)
@in_a_line
class ForcedPass:
    """A pass of a family over a source and a known target, all at once."""

    inputs: tuple[Ids, ...]
    """The arguments of the model's forward pass, one row each."""
    rows: Mapping[str, Rows]
    """kind -> its rows."""
    embedded: Mapping[str, Ids]
    """Side ("source", "target"; "text" where there is one) -> ids, in the order of embedding."""


@fields_in_help
@dataclass(frozen=True)
@in_a_line
class Family:
    """One kind of model: how to build it, where its attentions are and what it reads and writes."""

    name: str
    """Its name in configurations."""
    title: str
    build: Callable[[ModelConfig], nn.Module]
    """Makes a model of a configuration, its weights random."""
    attentions: Mapping[str, str | None]
    """kind -> the module paths of its layers, `*` standing for the layer; None where nothing is
    known of its modules, and its attention is recorded by watching."""
    forced_pass: Callable[[Any, Ids, Ids | None], ForcedPass]
    """(config, source ids, target ids or None) -> what to run."""
    target: Literal["needed", "optional", "none"] = "needed"
    """The need for a target in a recording."""
    reads: Side = "source"
    """The way its input is tokenized: a "source" ends, a "prompt" goes on, a "text" just stands."""
    kept: Mapping[str, str] = field(default_factory=lambda: EMBEDDING)
    """Role -> the paths of modules whose inputs and outputs a recording keeps: those of the
    embedding, and of a classifier "pool" and "classify"."""
    is_own: bool = False
    """True: nothing is known of its modules, so that rows of attention are followed to tokens."""
    shared: Callable[[ModelConfig], Sequence[str]] = nothing_shared
    """Makes sentences about matrices that do more than one thing, as a configuration ties them."""

    recorded: Callable[[Any], Any] | None = None
    """Takes the recording out of what stands where a model would; None: there is a model."""

    @property
    def decodes(self) -> bool:
        """Tell whether it writes tokens."""
        return self.target != "none"

    @property
    def is_watched(self) -> bool:
        """Tell whether its attention is found by watching it run."""
        return None in self.attentions.values()

    @property
    def continues(self) -> bool:
        """Tell whether its output continues its input."""
        return self.reads == "prompt"
