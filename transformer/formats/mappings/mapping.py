"""The mappings' form: how one codebase names its tensors, and where it keeps its sizes."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from transformer.config import ModelConfig
from transformer.files.weights import Weights

Names = Mapping[str, str | tuple[str, ...]]
"""Their name -> ours, `*` standing for the layer. A name may be a tensor's, or a module's with a
`weight` and a `bias`. Several of ours: theirs is cut into as many equal parts, row by row."""


TORCHTEXT: Mapping[str, Any] = {"pad_id": 1, "bos_id": 2, "eos_id": 3}
"""Special tokens as torchtext orders them: unknown, padding, start, end."""


@dataclass(frozen=True)
class Embeddings:
    """The names of their embeddings and of their output projection; None: there is none."""

    source: str | None
    target: str
    output: str | None

    def sizes(self, weights: Weights) -> dict[str, Any]:
        """Read the sizes in the two tables of a translator: [vocabulary, d_model]."""
        vocab_size, d_model = weights.shape(self.target)
        source_vocab_size = weights.shape(self.source or self.target)[0]
        return {
            "vocab_size": vocab_size,
            "source_vocab_size": source_vocab_size,
            "d_model": d_model,
        }


def unchanged(weights: Weights) -> Weights:
    """The same tensors: most code already stores them as its mapping says."""
    return weights


def holds(*names: str) -> Callable[[Weights], bool]:
    """Make a test for one of these tensors, whose names no other codebase uses."""
    return lambda weights: any(weights.has(name) for name in names)


@dataclass(frozen=True, kw_only=True)
class OtherCode:
    """The marks of one codebase's state dicts, and what lies beside them."""

    name: str
    title: str
    tells: Callable[[Weights], bool]
    """Tell whether these are its tensors, by names that only it has."""
    names: Names
    prepare: Callable[[Weights], Weights] = unchanged
    """Put into the form that `names` speaks of: transposed, scaled, zeros where it has no bias."""
    ignored: tuple[str, ...] = ()
    """Regular expressions of tensors without a meaning of their own, such as masks."""
    first_layer: int = 0
    """The number of the first layer in their names."""
    settings: str = ""
    """A YAML or JSON file beside the weights that says their options; "": there is none."""
    frames_source: tuple[bool, bool] = (False, False)
    """A start token before a source, and an end token after it: True where it puts one."""
    starts_prompts: bool = False
    """True: it puts a start token before a text that it continues."""
    named_ids: tuple[str, ...] = ("pad_id", "bos_id", "eos_id")
    """Fields that take the ids of a vocabulary's `<pad>`, `<s>` and `</s>`, if it has them."""
    reads_bpe: bool = False
    """True: it may have been trained with GPT-2's vocabulary, or another of its kind."""
    further_pieces: tuple[str, ...] = ()
    """Special tokens that the model has beyond its vocabulary file."""


@dataclass(frozen=True, kw_only=True)
class CodeMapping(OtherCode):
    """Code whose models become models of ours."""

    embeddings: Embeddings
    configure: Callable[[Weights], ModelConfig]
    """Sizes, from shapes and saved options. Raises Misfit. Ties and tables are seen to later."""
    tables: tuple[str, ...] = ()
    """Fixed positional encodings that it saves; all the same."""
    assumed: Callable[[ModelConfig], str] = lambda config: ""
    """Name what no shape shows and was taken for granted, in a few words that end the title."""


@dataclass(frozen=True, kw_only=True)
class LibraryMapping(OtherCode):
    """Code whose models Hugging Face's library has a class for; `names` are the library's."""

    configure: Callable[[Weights], dict[str, Any]]
    """Make a config.json of the library: architectures, model_type, sizes. Raises Misfit."""
    notes: Callable[[Weights], Iterable[str]] = lambda weights: ()
    """Give a sentence for each thing that nothing says, or that is not followed."""


def same(one: Tensor, other: Tensor) -> bool:
    """Tell whether two tensors are one matrix that was saved under two names."""
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    return one.data_ptr() == other.data_ptr() or torch.equal(one, other)


def with_zero_biases(weights: Weights, modules: str) -> Weights:
    """Zeros for each module of this name, a regular expression, that has a weight and no bias."""
    pattern = re.compile(modules)
    added = {}
    for name, tensor in weights.tensors.items():
        module, _, kind = name.rpartition(".")
        bias = f"{module}.bias"
        if kind == "weight" and bias not in weights.tensors and pattern.fullmatch(module):
            added[bias] = torch.zeros(tensor.size(0)) if tensor.dim() else torch.zeros(1)
    return weights.having({**weights.tensors, **added})


def layered(place: str, parts: Names) -> dict[str, str | tuple[str, ...]]:
    """Names of one layer's parts below theirs and ours: "their place -> our place"."""
    theirs, ours = place.split(" -> ")
    return {
        theirs + name: ours + part if isinstance(part, str) else tuple(ours + p for p in part)
        for name, part in parts.items()
    }
