"""A model that says when it begins another step."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from transformer.config import ModelConfig
from transformer.decoding.method import Model


@dataclass(frozen=True, eq=False)
class Paced:
    """Decodes as its model does. on_step: called before the model is given tokens."""

    model: Model
    on_step: Callable[[], object]

    @property
    def config(self) -> ModelConfig:
        return self.model.config

    def start(self, source: Tensor) -> Any:
        """As the model's."""
        return self.model.start(source)

    def first(self, source: Tensor) -> Tensor:
        """As the model's."""
        return self.model.first(source)

    def room(self, n_source: int) -> int:
        """As the model's."""
        return self.model.room(n_source)

    def advance(self, state: Any, target: Tensor) -> Tensor:
        """As the model's, once `on_step` has returned."""
        self.on_step()
        return self.model.advance(state, target)
