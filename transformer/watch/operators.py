"""Standing beside a few of torch's operators, for one thread and as long as it asks.

Whatever a thread calls goes through the kernels of each dispatch key that the thread includes. The
keys used here are some that nothing in torch has kernels for: one was kept for a library that is no
longer made (torchdistx), the other for torch's own tests in C++. So operators that are not watched
fall through them in C++ and cost nothing, where a TorchFunctionMode costs for every call, down to
`Tensor.size`; other threads do not notice.

Of torch's private functions this stands on `torch._C._dispatch_key_parse` and
`torch._C._dispatch_tls_set_dispatch_key_included`; torch's `library` puts kernels in.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import torch
from torch import library

KEYS = ALWAYS, AT_TIMES = "DeferredInit", "TESTING_ONLY_GenericMode"
"""Where to register what is watched all the time, and what only if a watcher wants it."""
_ALWAYS, _AT_TIMES = (torch._C._dispatch_key_parse(key) for key in KEYS)
_LIBRARIES = library.Library("_", "IMPL"), library.Library("aten", "IMPL")
for _key in KEYS:
    _LIBRARIES[0].fallback(library.fallthrough_kernel, _key)


class Watching(Protocol):
    """What a thread may have its operators told to."""

    @property
    def wants_more(self) -> bool:
        """Whether operators that are watched at times are to be watched from here on."""
        ...


class _Thread(threading.local):
    watcher: Watching | None = None


_THREAD = _Thread()


def register(
    operator: Any,
    key: str,
    after: Callable[..., None] | None = None,
    before: Callable[..., None] | None = None,
) -> None:
    """Have calls of an operator (`torch.ops.aten.….default`) watched wherever a thread asks.

    before: called with the thread's watcher and the arguments, positional and named; after: with
    the result too.
    """

    def kernel(*args: Any, **kwargs: Any) -> Any:
        watcher = _THREAD.watcher  # None in threads of torch's own, which include the same keys
        _include(None)
        try:
            if before is not None and watcher is not None:
                before(watcher, args, kwargs)
            result = operator(*args, **kwargs)
            if after is not None and watcher is not None:
                after(watcher, args, kwargs, result)
            return result
        finally:
            _include(watcher)

    _LIBRARIES[1].impl(operator, kernel, key)


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
    torch._C._dispatch_tls_set_dispatch_key_included(_ALWAYS, watcher is not None)
    wants_more = watcher is not None and watcher.wants_more
    torch._C._dispatch_tls_set_dispatch_key_included(_AT_TIMES, wants_more)
