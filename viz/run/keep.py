"""Functions whose last results are kept, by their arguments, for all sessions."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import update_wrapper
from threading import Lock
from typing import Any, Generic, ParamSpec, TypeVar, cast

P = ParamSpec("P")
T = TypeVar("T")

SPINNER: ContextVar[Callable[[str], AbstractContextManager[object]]] = ContextVar(
    "spinner", default=nullcontext
)
"""Shows a text while a result is made; a page sets it."""
_EVERY: list["Kept[..., Any]"] = []


@dataclass(eq=False)
class _Result:
    lock: Lock = field(default_factory=Lock)
    is_made: bool = False
    value: Any = None


class Kept(Generic[P, T]):
    """A function of hashable arguments; threads that ask for one result make it once."""

    def __init__(self, make: Callable[P, T], most: int, text: str) -> None:
        self._make, self._most, self._text = make, most, text
        self._results: OrderedDict[Hashable, _Result] = OrderedDict()
        self._lock = Lock()
        update_wrapper(self, make)
        _EVERY.append(self)

    def __call__(self, *args: P.args, **named: P.kwargs) -> T:
        key = args, *sorted(named.items())
        with self._lock:
            result = self._results.setdefault(key, _Result())
            self._results.move_to_end(key)
            idle = [k for k, each in self._results.items() if k != key and not each.lock.locked()]
            for old in idle[: max(0, len(self._results) - self._most)]:
                del self._results[old]
        with result.lock:
            if not result.is_made:  # where it failed, whoever waits for it makes the same one
                with SPINNER.get()(self._text) if self._text else nullcontext():
                    result.value = self._make(*args, **named)
                result.is_made = True
        return cast(T, result.value)

    def is_at_hand(self, *args: P.args, **named: P.kwargs) -> bool:
        """Tell whether it was made and is kept."""
        with self._lock:
            result = self._results.get((args, *sorted(named.items())))
        return result is not None and result.is_made

    def clear(self, *args: Any, **named: Any) -> None:
        """Keep the result for these arguments no more; without arguments, none."""
        with self._lock:
            if args or named:
                self._results.pop((args, *sorted(named.items())), None)
            else:
                self._results.clear()


def keep(most: int, text: str = "") -> Callable[[Callable[P, T]], Kept[P, T]]:
    """Keep the results that were used last. text: of a spinner on a page that waits for one."""
    return lambda make: Kept(make, most, text)


def forget() -> None:
    """Keep nothing of any function any more: for tests, whose folders come and go."""
    for each in _EVERY:
        each.clear()
