"""Inputs of a module; where it cannot run over them, a sentence that says why."""

import inspect
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from torch import Tensor, nn

from transformer.inputs import InputError
from transformer.refusal import Refusal
from transformer.watch.capture.as_written import name_of

BESIDE_TEXT = ("pixel_values", "input_features", "input_values")
"""The library's names for images and sounds."""
OTHERS = (*BESIDE_TEXT, "decoder_input_ids")
"""Inputs that they ask for though they may be left out."""
ABSENT = (
    *("NoneType", "is None", "cannot be", "missing", "required"),
    *("must specify", "have to specify", "must provide"),
)
"""Words of an error where an input was left out."""
_PLAIN = str | bytes | int | float | bool | None
_NO_TENSORS = (
    "A module of your own reads tensors, not {what}: give its inputs as a tensor, a tuple or a "
    "dict, and the text's pieces as tokens."
)


def arguments(inputs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Part inputs into arguments. Raises InputError where there is no tensor among them."""
    if (what := _instead(inputs)) is not None:
        raise InputError(_NO_TENSORS.format(what=what))
    if isinstance(inputs, Mapping):
        return (), dict(inputs)
    if isinstance(inputs, tuple | list):
        return tuple(inputs), {}
    return (inputs,), {}


def _instead(inputs: Any) -> str | None:
    """Name what is given instead of tensors; None where there are some, or what nobody knows."""
    leaves = list(_leaves(inputs))
    array = next((it for it in leaves if type(it).__module__ == "numpy"), None)
    if any(not isinstance(each, _PLAIN) and each is not array for each in leaves):
        return None
    if array is not None:
        return "arrays of numpy"
    if any(isinstance(each, str) for each in leaves):
        return "text"
    if not leaves:
        return None
    return "plain numbers" if any(each is not None for each in leaves) else "None"


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping | list | tuple):
        inner: Iterable[Any] = value.values() if isinstance(value, Mapping) else value
        for each in inner:
            yield from _leaves(each)
    else:
        yield value


def check_filled(values: Iterable[Any]) -> None:
    """Raise InputError where a sequence among the inputs is empty."""
    for each in values:
        if isinstance(each, Tensor) and each.dim() <= 3 and not each.numel():
            raise InputError(f"An input is empty, {_described(each)}: there is nothing to read.")


def check_numbers(module: nn.Module, values: Iterable[Any], output: Any = None) -> None:
    """Raise InputError where weights, inputs or what became of them are on the meta device.

    output: of the pass; None: it failed. Weights that are loaded while it runs are no fault.
    """
    leaves = [it for it in _leaves([*values, output]) if isinstance(it, Tensor)]
    weights = module.parameters() if output is None else ()
    if any(each.is_meta for each in (*leaves, *weights)):
        raise InputError(
            f"{name_of(module)} cannot be recorded on the meta device, which holds no numbers: "
            "load the weights first, and give inputs from where they are."
        )


@contextmanager
def said_why(module: nn.Module, args: Sequence[Any], named: Mapping[str, Any]) -> Iterator[None]:
    """Turn what a module raises over these arguments into an InputError that says what it lacks."""
    try:
        yield
    except Refusal:
        raise
    except Exception as error:
        check_numbers(module, [*args, *named.values()])
        raise InputError(_why(module, args, named, error)) from error


def _why(module: nn.Module, args: Sequence[Any], named: Mapping[str, Any], error: Exception) -> str:
    name, left = name_of(module), lacking(module, args, named, str(error))
    if left:
        missing = " and ".join(left)
        return f"{name} was not given {missing}, which it also reads: give all inputs, in a dict."
    names = ", ".join(_parameters(module))
    first = next(iter(str(error).splitlines()), "").rstrip(". ")[:300]
    shapes = ", ".join(map(_described, (*args, *named.values())))
    return (
        f"{name} cannot run over {shapes}: {first or type(error).__name__}. Its forward takes "
        f"{names or 'nothing'}."
    )


def lacking(
    module: nn.Module, args: Sequence[Any], named: Mapping[str, Any], message: str
) -> list[str]:
    """Inputs that an error may be about: those that must be given or that it names, else others.

    message: by the error.
    """
    parameters = _parameters(module)
    left = [name for name in list(parameters)[len(args) :] if named.get(name) is None]
    required = [name for name in left if parameters[name].default is inspect.Parameter.empty]
    unknown = set(named) - set(parameters)
    if required or not any(word in message for word in ABSENT):
        return required if not unknown else []
    inputs = [name for name in left if names(message, name)]
    return inputs or [name for name in left if name in OTHERS] or left[:3]


def names(message: str, name: str) -> bool:
    """Tell whether a message names an input; a short name is a word like others."""
    return len(name) > 3 and bool(re.search(rf"\b{re.escape(name)}\b", message, re.IGNORECASE))


def _parameters(module: nn.Module) -> dict[str, inspect.Parameter]:
    """List what its forward takes by name."""
    plain = getattr(module, "_orig_mod", module)
    parameters = inspect.signature(plain.forward).parameters
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return {name: each for name, each in parameters.items() if each.kind not in kinds}


def _described(value: Any) -> str:
    if not isinstance(value, Tensor):
        return type(value).__name__
    return f"{list(value.shape)} of {str(value.dtype).removeprefix('torch.')}"
