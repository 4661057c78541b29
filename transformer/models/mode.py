"""Training mode: dropout takes part in a pass, and means are those of its batch."""

from collections.abc import Iterable, Iterator

from torch import nn

from transformer.checkpoint import Checkpoint
from transformer.inputs import InputError

_KEEPS_MEANS = nn.modules.batchnorm._BatchNorm
"""Each pass in training mode changes the means that it keeps."""


def notes_on_mode(modules: Iterable[nn.Module]) -> tuple[str, ...]:
    """Say in a sentence that these modules ran in training mode; nothing in evaluation."""
    training = [each for each in modules if each.training]
    if not training:
        return ()
    rates = sorted({rate for each in training for rate in _rates(each)})
    name = type(training[0]).__name__
    if not rates:
        return (f"{name} ran in training mode: eval() makes passes repeat where it drops out.",)
    shares = " and ".join(f"{rate:g}" for rate in rates)
    return (
        f"{name} ran in training mode, with dropout of {shares}: another pass gives other numbers. "
        "Call eval() first.",
    )


def check_mode(checkpoint: Checkpoint) -> None:
    """Raise InputError where a pass may not repeat, as with dropout after train().

    A recording says it in its notes. Nothing is switched here: another thread may train the model.
    """
    training = (each for each in checkpoint.model.modules() if each.training)
    if any(isinstance(each, _KEEPS_MEANS) or any(_rates(each)) for each in training):
        raise InputError(
            f"{checkpoint.name} is in training mode, in which another pass may give other numbers: "
            "call .eval() of its model first."
        )


def _rates(module: nn.Module) -> Iterator[float]:
    """With which probabilities above 0 a module drops out, by itself or by a function."""
    names = ("p",) if isinstance(module, nn.modules.dropout._DropoutNd) else ()
    for name, value in vars(module).items():
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if is_number and (name in names or "drop" in name) and 0 < value <= 1:
            yield float(value)
