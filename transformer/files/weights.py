"""The content of a file of weights from elsewhere, and the error of what does not map."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from torch import Tensor

from transformer.refusal import Refusal

Tensors = dict[str, Tensor]
SIDECAR = "headscope.json"
"""The file beside the weights that says what no shape shows."""
MOST_LAYERS = 500


class Misfit(Refusal):
    """An error of what does not map, in a sentence that goes on after the file's name."""


@dataclass(frozen=True, eq=False)
class Weights:
    """The content of a file of weights."""

    tensors: Tensors
    options: Mapping[str, Any] = field(default_factory=dict)
    """Numbers, texts and truths that were saved beside the weights."""
    vocabulary: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Pieces that were saved beside them, under "source" and "target"."""
    choices: Mapping[str, Any] = field(default_factory=dict)
    """The sidecar file's settings, in the names of ModelConfig's fields; it is believed first."""
    notes: tuple[str, ...] = ()
    """Sentences about where in the file they are, and about what else of it is a set of weights."""

    def has(self, *names: str) -> bool:
        return all(name in self.tensors for name in names)

    def shape(self, name: str) -> tuple[int, ...]:
        """Raises Misfit where there is no such matrix, by which a size is known."""
        if name not in self.tensors:
            raise Misfit(f"has no tensor {name}, which says how large the model is")
        shape = tuple(self.tensors[name].shape)
        if len(shape) < 2:
            raise Misfit(f"has {name} of shape {list(shape)}, where a matrix belongs")
        return shape

    def layers(self, prefix: str) -> int:
        """Count the different numbers in the place of `*`."""
        pattern = re.compile(re.escape(prefix).replace(r"\*", r"(\d{1,4})"))
        matches = (pattern.match(name) for name in self.tensors)
        n_layers = len({match.group(1) for match in matches if match})
        if n_layers > MOST_LAYERS:
            raise Misfit(f"has {n_layers:,} layers of {prefix}, more than any model")
        return n_layers

    def heads(self, *names: str) -> int:
        """Return what is saved by one of these names: no shape tells. Raises Misfit for none."""
        values = [self.choices.get("n_heads"), *map(self.options.get, names)]
        for value in values:
            if isinstance(value, int) and not isinstance(value, bool) and value > 0:
                return value
        raise Misfit(
            "does not say how many heads its attention has, and no shape tells: write "
            f'{{"n_heads": 8}}, with the right number, into a file {SIDECAR} beside it'
        )

    def number(self, name: str, usual: float) -> float:
        """An option above 0; the usual one where nothing is said. Raises Misfit."""
        value = self.options.get(name)
        if value is None:
            return usual
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not 0 < value < math.inf:
            raise Misfit(f"has {name}: {value!r:.40}, where a number above 0 belongs")
        return float(value)

    def having(self, tensors: Tensors) -> "Weights":
        """The same with other tensors."""
        return replace(self, tensors=tensors)
