"""Notes on passes of training, in which dropout takes part."""

from collections.abc import Iterable, Iterator
from typing import Any

from torch import nn


def notes_on_mode(modules: Iterable[nn.Module]) -> tuple[str, ...]:
    """Say in a sentence that these modules ran in training mode; nothing in evaluation."""
    training = [each for each in modules if each.training]
    if not training:
        return ()
    rates = sorted({rate for each in training for rate in _rates(each) if rate})
    name = type(training[0]).__name__
    if not rates:
        return (f"{name} ran in training mode: eval() makes passes repeat where it drops out.",)
    shares = " and ".join(f"{rate:g}" for rate in rates)
    return (
        f"{name} ran in training mode, with dropout of {shares}: another pass gives other numbers. "
        "Call eval() first.",
    )


def _rates(module: nn.Module) -> Iterator[float]:
    """With which probabilities a module drops out by itself."""
    rates: tuple[Any, ...] = ()
    if isinstance(module, nn.modules.dropout._DropoutNd):
        rates = (module.p,)
    elif isinstance(module, nn.MultiheadAttention | nn.RNNBase):
        rates = (module.dropout,)
    yield from (float(rate) for rate in rates)
