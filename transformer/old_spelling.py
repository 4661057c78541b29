"""Arguments by the names and the order of the last version: they work on, and warn."""

import sys
import warnings
from collections.abc import Callable, Sequence
from functools import wraps
from inspect import Parameter, signature
from typing import Any, ParamSpec, TypeVar

from transformer.refusal import Refusal

P = ParamSpec("P")
T = TypeVar("T")

OURS = __name__.partition(".")[0]
"""The package of this file, by which a caller's own code is told from ours."""
_BY_PLACE = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)


class Respelled(FutureWarning):
    """An argument's old name or place, which the next version no longer takes."""


class TwiceGiven(Refusal, TypeError):
    """One argument by its old name and by its new one."""


def respelled(
    order: Sequence[str] = (), /, **old_names: str
) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """A function that also takes its arguments as the last version did.

    order: the names of all arguments by place, as they stood then, where more of them could be
    given by place than now; their new names. old_names: new name = old one. Both warn once a line
    of the caller's (`Respelled`, which Python shows to everybody).

    >>> @respelled(text="source")
    ... def length(text: str) -> int:
    ...     return len(text)
    >>> length(text="It rains.")
    9
    """

    def taking_both(function: Callable[P, T]) -> Callable[P, T]:
        by_place = [it for it in signature(function).parameters.values() if it.kind in _BY_PLACE]

        @wraps(function)
        def taking(*args: Any, **named: Any) -> T:
            name = function.__name__
            for new, old in old_names.items():
                if old in named:
                    if new in named:
                        raise TwiceGiven(f"{name}: {old} is the old name of {new}: give one.")
                    named[new] = named.pop(old)
                    warn(f"{name}: the argument {old} is called {new} now.")
            if len(by_place) < len(args) <= len(order):
                further = dict(zip(order[len(by_place) :], args[len(by_place) :], strict=False))
                if twice := sorted(further.keys() & named.keys()):
                    raise TwiceGiven(f"{name}: {twice[0]} is given by its place and by its name.")
                named |= further
                args = args[: len(by_place)]
                warn(f"{name}: give {', '.join(further)} by name, as {next(iter(further))}=…")
            return function(*args, **named)

        return taking

    return taking_both


def warn(message: str) -> None:
    """Warn of an old spelling at the line of whoever calls from outside of our package."""
    ours = (OURS, "viz", "contextlib")  # the last is between decorators of ours
    level, frame = 1, sys._getframe()
    while frame.f_back and str(frame.f_globals.get("__name__")).partition(".")[0] in ours:
        level, frame = level + 1, frame.f_back
    text = f"{message} The next version takes only the new spelling."
    warnings.warn(text, Respelled, stacklevel=level)
