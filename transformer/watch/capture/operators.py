"""Standing beside a few of torch's operators, for one thread and as long as it asks.

Whatever a thread calls goes through the kernels of each dispatch key that the thread includes. The
keys used here are some that nothing in torch has kernels for: one was kept for a library that is no
longer made (torchdistx), the other for torch's own tests in C++. So operators that are not watched
fall through them in C++ and cost nothing, where a TorchFunctionMode costs for every call, down to
`Tensor.size`; other threads do not notice.

Of torch's private functions this stands on `torch._C._dispatch_key_parse` and
`torch._C._dispatch_tls_set_dispatch_key_included`; torch's `library` puts kernels in. A version of
torch without these keys is watched by such a mode, function by function: slower, with the same
recording.
"""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import torch
import torch.nn.functional as F
from torch import Tensor, library

KEYS = ALWAYS, AT_TIMES = "DeferredInit", "TESTING_ONLY_GenericMode"
"""Keys to register for what is watched all the time, and for what only if a watcher wants it."""
_LIBRARIES = library.Library("_", "IMPL"), library.Library("aten", "IMPL")
try:
    _ALWAYS, _AT_TIMES = (torch._C._dispatch_key_parse(key) for key in KEYS)
    _set = torch._C._dispatch_tls_set_dispatch_key_included
    HAS_KEYS = True  # False: a TorchFunctionMode watches
    for _key in KEYS:
        _LIBRARIES[0].fallback(library.fallthrough_kernel, _key)
    for _known in (_ALWAYS, _AT_TIMES):  # operators made of Python know nothing of that fallback
        torch._ops._HIGHER_ORDER_OP_DEFAULT_FALLTHROUGH_DISPATCH_KEYS.append(_known)
        for _operator in torch._ops._higher_order_ops.values():
            _operator.fallthrough(_known)
except (AttributeError, RuntimeError):  # what a torch says that has no such key
    HAS_KEYS = False

_FUNCTIONS: dict[Any, tuple[Any, Callable[..., Any] | None, Callable[..., None] | None]] = {}
"""A function of torch -> the operator that it calls, and who is told before and after it."""


class Watching(Protocol):
    """A watcher that a thread may have its operators told to."""

    @property
    def wants_more(self) -> bool:
        """Tell whether operators that are watched at times are to be watched from here on."""
        ...


class _Thread(threading.local):
    watcher: Watching | None = None


_THREAD = _Thread()


def register(
    operator: Any,
    key: str,
    after: Callable[..., None] | None = None,
    before: Callable[..., Any] | None = None,
) -> None:
    """Have calls of an operator (`torch.ops.aten.….default`) watched wherever a thread asks.

    before: called with the thread's watcher and the arguments, positional and named; may return
    others to call the operator with. after: called with the result too.
    """

    name = operator._schema.name.removeprefix("aten::")
    for space in (torch, torch.linalg, Tensor, F):
        if hasattr(space, name):
            _FUNCTIONS[getattr(space, name)] = operator, before, after
    if not HAS_KEYS:
        return

    _LIBRARIES[1].impl(operator, _kernel(operator, before, after), key)


def register_made_of_python(operator: Any, after: Callable[..., None]) -> None:
    """The same for an operator that is made of Python; None: this torch has no such operator."""
    if operator is None:
        return
    _FUNCTIONS[operator] = operator, None, after
    if HAS_KEYS:
        operator.py_impl(_ALWAYS)(_kernel(operator, None, after))


def _kernel(operator: Any, before: Any, after: Any) -> Callable[..., Any]:
    def kernel(*args: Any, **kwargs: Any) -> Any:
        watcher = _THREAD.watcher  # None in threads of torch's own, which include the same keys
        _set(_ALWAYS, False)
        _set(_AT_TIMES, False)
        try:
            if before is not None and watcher is not None:
                args = before(watcher, args, kwargs) or args
            result = operator(*args, **kwargs)
            if after is not None and watcher is not None:
                after(watcher, args, kwargs, result)
            return result
        finally:
            if watcher is not None:
                _set(_ALWAYS, True)
                _set(_AT_TIMES, watcher.wants_more)

    return kernel


def needs_functions() -> bool:
    """Tell whether nothing is told unless a TorchFunctionMode uses `call_function`."""
    return not HAS_KEYS


def call_function(
    watcher: Watching, func: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Any:
    """Call a function of torch; where operators are not watched, tell of the one it stands for."""
    if HAS_KEYS or func not in _FUNCTIONS:
        return func(*args, **kwargs)
    operator, before, after = _FUNCTIONS[func]
    is_lookup = func is F.embedding
    arguments, named = (
        _table_first(*args, **kwargs) if is_lookup else _as_of(operator, args, kwargs)
    )
    changed = None if before is None else before(watcher, arguments, named)
    result = func(*changed, **named) if changed else func(*args, **kwargs)
    if after is not None:
        after(watcher, arguments, named, result)
    return result


def _table_first(input: Tensor, weight: Tensor, *_: Any, **__: Any) -> tuple[list[Any], Any]:
    """Order what torch's embedding is given as the operator takes it."""
    return [weight, input], {}


def _as_of(
    operator: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    """Arguments as an operator is given them: by position but for those that it wants named."""
    if not hasattr(operator, "_schema"):  # made of Python
        return list(args), dict(kwargs)
    wanted = operator._schema.arguments
    by_place = [each for each in wanted if not each.kwarg_only][len(args) :]
    names = ["input" if each.name == "self" else each.name for each in by_place]
    rest = [
        kwargs.get(name, each.default_value) for name, each in zip(names, by_place, strict=True)
    ]
    by_name = {each.name for each in wanted if each.kwarg_only}
    return [*args, *rest], {name: kwargs[name] for name in kwargs if name in by_name}


@contextmanager
def watching(watcher: Watching | None) -> Iterator[None]:
    """While entered, what is registered is told to `watcher` if this thread calls it; None: not."""
    outer, _THREAD.watcher = _THREAD.watcher, watcher
    _include(watcher)
    try:
        yield
    finally:
        _THREAD.watcher = outer
        _include(outer)


def _include(watcher: Watching | None) -> None:
    if not HAS_KEYS:
        return
    _set(_ALWAYS, watcher is not None)
    _set(_AT_TIMES, watcher is not None and watcher.wants_more)
