"""Arguments of public functions: a wrong one ends in a sentence that says what to give."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from inspect import signature
from numbers import Integral
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from torch import Tensor, nn

from transformer.inputs import InputError
from transformer.refusal import items_of, quoted

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True)
class Wanted:
    """A description of what an argument must be."""

    fits: Callable[[Any], bool]
    says: str
    """A noun, with where one comes from, as it stands behind "must be"."""

    @property
    def or_none(self) -> "Wanted":
        return Wanted(lambda value: value is None or self.fits(value), f"{self.says}, or None")


def of_class(classes: type | tuple[type, ...], says: str) -> Wanted:
    """Want an instance of one of some classes."""
    return Wanted(lambda value: isinstance(value, classes), says)


def is_whole(value: Any) -> bool:
    """Tell whether it is a whole number, which True is not."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def _are_tokens(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, bytes | bytearray | memoryview)


MODULE = of_class(nn.Module, "a torch module, an instance with its weights")
FUNCTION = Wanted(callable, "a function")
NUMBER = Wanted(is_whole, "a whole number")
COUNT = Wanted(lambda value: is_whole(value) and value > 0, "a whole number from 1 on")
TEXT = of_class(str, "a text")
TOKENS = Wanted(
    lambda value: all(map(_are_tokens, value.values() if isinstance(value, Mapping) else [value])),
    'a list of the pieces at its positions, or {"source": such a list, "target": another}',
)
PATH = of_class((str, Path), "a path")
YES_OR_NO = of_class(int, "True or False")


def checks(**wanted: Wanted) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Check the arguments of these names before a function runs: each raises InputError.

    One that is left out is right.
    """

    def checked(function: Callable[P, T]) -> Callable[P, T]:
        names = tuple(signature(function).parameters)

        @wraps(function)
        def checking(*args: P.args, **named: P.kwargs) -> T:
            check(function.__name__, {**dict(zip(names, args, strict=False)), **named}, wanted)
            return function(*args, **named)

        return checking

    return checked


def check(function: str, values: Mapping[str, Any], wanted: Mapping[str, Wanted]) -> None:
    """Raise InputError for the first of these values that is not what is wanted."""
    for name, value in values.items():
        want = wanted.get(name)
        if want is not None and not want.fits(value):
            raise InputError(f"{function}: {name} must be {want.says}, not {thing(value)}.")


def thing(value: Any) -> str:
    """Name a value within a sentence: a plain one by itself, another by its class.

    >>> thing("x"), thing(2), thing((1, 2)), thing(len), thing(dict)
    ("'x'", '2', 'a tuple', 'the function len', 'the class dict')
    """
    if isinstance(value, type):
        return f"the class {value.__name__}"
    if isinstance(value, Tensor):
        return f"a tensor {list(value.shape)}"
    if callable(value) and hasattr(value, "__name__"):
        return f"the function {value.__name__}"
    if value is None or isinstance(value, str | bytes | int | float | Path):
        return quoted(value)
    name = type(value).__name__
    return f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"


def all_whole(values: Iterable[Any]) -> bool:
    """Tell whether these are whole numbers, one after the other."""
    items = items_of(values)
    return items is not None and all(map(is_whole, items))
