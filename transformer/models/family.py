"""What a model family declares of itself."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from torch import nn

from transformer.config import ModelConfig


@dataclass(frozen=True)
class Family:
    """One kind of model: how to build it and where its attentions are."""

    name: str
    title: str
    build: Callable[[ModelConfig], nn.Module]
    attentions: Mapping[str, str]
    """kind -> the module paths of its layers, `*` standing for the layer."""
