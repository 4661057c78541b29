"""The cache of what was made, for all sessions; and garbage that is not looked for."""

import asyncio
import ctypes
import gc
import sys
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field, is_dataclass
from functools import update_wrapper, wraps
from pathlib import Path
from threading import Lock
from typing import Any, Generic, NamedTuple, ParamSpec, TypeVar, cast

import numpy as np
from torch import Tensor, nn

from transformer.checkpoint import Checkpoint, shipped_path
from transformer.device import weights_bytes
from transformer.fingerprint import version_of
from transformer.inputs import InputError

# Functions whose last results are kept, by their arguments, for all sessions.

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


# The cache of what was made: answers, recordings and packed pictures, for all sessions.
#
# They share one number of bytes with the models that are open. What was not used for longest
# leaves first, and what was not used for an hour leaves as well; what a session shows stays with
# it besides.

OTHERS = 4
"""The part of all bytes, as a divisor, that models leave to what is made with them."""
LONGEST = 3600.0
"""Seconds for which something is kept that nobody uses."""


@dataclass(slots=True)
class _Thing:
    value: Any
    n_bytes: int
    used: float


class Cache:
    """The things that were used last, up to a number of bytes. Threads may share it.

    clock: gives seconds.
    """

    def __init__(self, most_bytes: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.most_bytes = most_bytes
        self.n_bytes = 0
        self.n_beside = 0
        """Bytes of the models."""
        self._clock = clock
        self._lock = Lock()
        self._things: OrderedDict[Hashable, _Thing] = OrderedDict()

    @property
    def room(self) -> int:
        """Bytes that models leave: a part of all at least, as the model in use cannot leave."""
        return max(self.most_bytes - self.n_beside, self.most_bytes // OTHERS)

    def drop_of(self, model: nn.Module) -> None:
        """Drop all that holds a model, or a tensor of it, as a recording holds matrices."""
        marks = {id(model), *_storages(model)}
        with self._lock:
            things = list(self._things.items())
        held = [name for name, it in things if any(m in marks for m, _ in _walk([name, it.value]))]
        with self._lock:
            for name in held:
                self._drop(name)

    def at_hand(self, name: Hashable) -> Any:
        """The thing of this name; None where it is not kept."""
        with self._lock:
            thing = self._things.get(name)
            if thing is None:
                return None
            self._things.move_to_end(name)
            thing.used = self._clock()
            return thing.value

    def get(self, name: Hashable, make: Callable[[], T], size: Callable[[T], int]) -> T:
        """The thing of this name, made where it is not kept.

        size: says how many bytes it has. Raises what `make` raises, and keeps nothing then.
        """
        thing = self.at_hand(name)
        if thing is None:
            thing = make()
            self.put(name, thing, size(thing))
        return cast(T, thing)

    def put(self, name: Hashable, value: object, n_bytes: int) -> None:
        """Keep something, and drop what was not used for longest."""
        with self._lock:
            now = self._clock()
            self._drop(name)
            self._things[name] = _Thing(value, n_bytes, now)
            self.n_bytes += n_bytes
            while self._things:
                oldest, thing = next(iter(self._things.items()))
                if self.n_bytes <= self.room and now - thing.used <= LONGEST:
                    break
                self._drop(oldest)

    def clear(self) -> None:
        """Keep nothing any more."""
        with self._lock:
            self._things.clear()
            self.n_bytes = 0

    def _drop(self, name: Hashable) -> None:
        if name in self._things:
            self.n_bytes -= self._things.pop(name).n_bytes


def bytes_of(value: object, beside: nn.Module | None = None) -> int:
    """Count the bytes of all that is reached from it in dataclasses, mappings and sequences, once.

    beside: a model whose parameters and buffers are not counted. Tensors count as much as they
    keep in memory: a view as much as what it is a view of.
    """
    seen = set() if beside is None else _storages(beside)
    return sum(n_bytes for _, n_bytes in _walk([value], seen))


def _storages(model: nn.Module) -> set[int]:
    """Marks of all that it has in memory."""
    tensors = (*model.parameters(), *model.buffers())
    return {each.untyped_storage().data_ptr() for each in tensors if not each.is_meta}


def _walk(waiting: list[object], seen: Set[int] = frozenset()) -> Iterator[tuple[int, int]]:
    """A mark and the bytes of each thing that is reached, once; not of those whose mark is seen."""
    seen = set(seen)
    while waiting:
        each = waiting.pop()
        if isinstance(each, Tensor):
            storage = each.untyped_storage()
            mark, n_bytes = storage.data_ptr(), storage.nbytes()
        else:
            mark, n_bytes = id(each), sys.getsizeof(each)
        if mark in seen:
            continue
        seen.add(mark)
        yield mark, n_bytes
        waiting += _parts(each)


def _parts(value: object) -> Iterable[Any]:
    if isinstance(value, (str, bytes, int, float, Tensor, type(None))):
        return ()
    if isinstance(value, np.ndarray):
        return () if value.base is None else (value.base,)
    if isinstance(value, Mapping):
        return [*value.keys(), *value.values()]
    if isinstance(value, (Sequence, Set)):
        return value
    if is_dataclass(value) and hasattr(value, "__dict__"):
        return vars(value).values()
    return ()


CACHE = Cache(2**31)
"""The server says how many bytes by its setting."""


class _Refused(NamedTuple):
    request: Hashable


def raise_known(request: Hashable) -> None:
    """Raises InputError where this request was refused before."""
    if why := CACHE.at_hand(_Refused(request)):
        raise InputError(why)


@contextmanager
def remembered(request: Hashable) -> Iterator[None]:
    """Remember why a request is refused: a search that finds nothing is not made again to say so.

    Only of what the request itself says: an InputError of another class may come from elsewhere.
    """
    raise_known(request)
    try:
        yield
    except InputError as error:
        if type(error) is InputError:
            CACHE.put(_Refused(request), str(error), len(str(error)))
        raise


class Models(Kept[P, Checkpoint]):
    """Checkpoints that are open, the ones used last, as many as the bytes of a cache allow.

    The one that was asked for last stays, however large it is.
    """

    def __init__(
        self, make: Callable[P, Checkpoint], expected: Callable[P, int], cache: Cache
    ) -> None:
        """expected: says how many bytes a model will have, before it is read."""
        super().__init__(make, 2**30, "")
        self._expected, self._cache = expected, cache
        self._n_bytes: dict[int, int] = {}

    def __call__(self, *args: P.args, **named: P.kwargs) -> Checkpoint:
        if not self.is_at_hand(*args, **named):
            self._let_go(self._expected(*args, **named))
        checkpoint = super().__call__(*args, **named)
        self._let_go(0, checkpoint)
        return checkpoint

    def clear(self, *args: Any, **named: Any) -> None:
        super().clear(*args, **named)
        self._let_go(0)

    def _let_go(self, expected: int, stays: Checkpoint | None = None) -> None:
        """Let the oldest go until there is room for as many bytes more."""
        most = self._cache.most_bytes - self._cache.most_bytes // OTHERS
        gone: list[Checkpoint] = []
        with self._lock:
            made = [(key, it.value) for key, it in self._results.items() if it.is_made]
            sizes = {id(it.model): self._size(it.model) for _, it in made}
            self._n_bytes = sizes
            for key, checkpoint in made:
                if sum(sizes.values()) + expected <= most or checkpoint is stays:
                    break
                del self._results[key]
                sizes.pop(id(checkpoint.model), None)
                gone.append(checkpoint)
            self._cache.n_beside = sum(sizes.values())
        for each in gone:
            self._cache.drop_of(each.model)

    def _size(self, model: nn.Module) -> int:
        return self._n_bytes.get(id(model)) or weights_bytes(model)


# Garbage: nothing that lives as long as the process needs to be looked through for any.
#
# And what is garbage goes back to the system: the allocator of Linux (glibc) keeps what was freed
# in pieces, which after long texts is some hundred MiB.

EVERY = 10.0
"""Seconds between two looks for garbage."""
_n_modules = 0


def freeze_modules() -> None:
    """Keep the garbage collector from walking what was imported since the last call."""
    global _n_modules
    if len(sys.modules) == _n_modules:
        return
    _n_modules = len(sys.modules)
    gc.collect()
    gc.freeze()


async def collect_garbage() -> None:
    """Look for garbage again and again, until it is cancelled.

    Streamlit does after every run where it is not told otherwise, and everybody's run stands still
    meanwhile: with 20 sessions, for a third of the time in which any had the interpreter's lock.
    """
    while True:
        await asyncio.sleep(EVERY)
        gc.collect()
        await asyncio.to_thread(give_back)


def collect() -> None:
    """Look for garbage once, and give back what was freed."""
    gc.collect()
    give_back()


def give_back() -> None:
    """Let the allocator give back what is free, where it is one that keeps it."""
    if _trim is not None:
        _trim(0)


def _find_trim() -> Callable[[int], object] | None:
    try:
        trim: Callable[[int], object] = ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError, TypeError):
        return None
    return trim


_trim = _find_trim()


# Lookups on disk that a run of a page makes once: a list of checkpoints asks for each of them.
#
# All of a run is of the same files, then, whatever is written meanwhile.

_RESULTS: ContextVar[dict[Hashable, Any] | None] = ContextVar("results of this run", default=None)


@contextmanager
def one_run() -> Iterator[None]:
    """Remember what is looked up, for this thread and as long as the block."""
    token = _RESULTS.set({})
    try:
        yield
    finally:
        _RESULTS.reset(token)


def once_a_run(look: Callable[P, T]) -> Callable[P, T]:
    """The same function of hashable arguments, which looks once in a run; elsewhere each time."""

    @wraps(look)
    def find(*args: P.args, **named: P.kwargs) -> T:
        results = _RESULTS.get()
        if results is None:
            return look(*args, **named)
        key = (look, args, *named.items())
        if key not in results:
            results[key] = look(*args, **named)
        return cast(T, results[key])

    return find


@once_a_run
def place_now(checkpoint: str) -> tuple[Path, int]:
    """Find a checkpoint, by its name or path, and the version of its files."""
    path = shipped_path(checkpoint)
    return path, version_of(path)
