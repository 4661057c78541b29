"""Standing beside torch's operators and functions, for one thread and as long as it asks."""

import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from threading import Lock
from typing import Any, Protocol

import torch
import torch.nn.functional as F
from torch import Tensor, library, nn
from torch.overrides import TorchFunctionMode

from transformer.inputs import InputError

# Standing beside a few of torch's operators, for one thread and as long as it asks.
#
# Whatever a thread calls goes through the kernels of each dispatch key that the thread includes.
# The keys used here are some that nothing in torch has kernels for: one was kept for a library
# that is no longer made (torchdistx), the other for torch's own tests in C++. So operators that
# are not watched fall through them in C++ and cost nothing, where a TorchFunctionMode costs for
# every call, down to `Tensor.size`; other threads do not notice.
#
# Of torch's private functions this stands on `torch._C._dispatch_key_parse` and
# `torch._C._dispatch_tls_set_dispatch_key_included`; torch's `library` puts kernels in.

KEYS = ALWAYS, AT_TIMES = "DeferredInit", "TESTING_ONLY_GenericMode"
"""Keys to register for what is watched all the time, and for what only if a watcher wants it."""
_LIBRARIES = library.Library("_", "IMPL"), library.Library("aten", "IMPL")
try:
    _ALWAYS, _AT_TIMES = (torch._C._dispatch_key_parse(key) for key in KEYS)
except RuntimeError as error:
    raise ImportError(
        f"torch {torch.__version__} has no dispatch keys {' and '.join(KEYS)}, by which passes are "
        "watched: install the version that requirements.txt names."
    ) from error
_set = torch._C._dispatch_tls_set_dispatch_key_included
for _key in KEYS:
    _LIBRARIES[0].fallback(library.fallthrough_kernel, _key)
for _parsed in (_ALWAYS, _AT_TIMES):  # operators made of Python know nothing of that fallback
    torch._ops._HIGHER_ORDER_OP_DEFAULT_FALLTHROUGH_DISPATCH_KEYS.append(_parsed)
    for _operator in torch._ops._higher_order_ops.values():
        _operator.fallthrough(_parsed)


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
    _LIBRARIES[1].impl(operator, _kernel(operator, before, after), key)


def register_made_of_python(operator: Any, after: Callable[..., None]) -> None:
    """The same for an operator that is made of Python."""
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


def has_mode() -> bool:
    """Tell whether functions of this thread go through somebody's TorchFunctionMode."""
    return torch._C._len_torch_function_stack() > 0


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
    _set(_ALWAYS, watcher is not None)
    _set(_AT_TIMES, watcher is not None and watcher.wants_more)


# torch's functions, where operators do not tell enough: all of them go past a watcher.

SOFTMAXES = frozenset({torch.softmax, Tensor.softmax, F.softmax, torch.special.softmax})
ENDING = frozenset(
    {
        *(torch.matmul, Tensor.matmul, Tensor.__matmul__, torch.bmm, Tensor.bmm, torch.mm),
        *(Tensor.mm, torch.baddbmm, Tensor.baddbmm, torch.einsum, torch.addmm, Tensor.addmm),
        *(F.linear, F.embedding, F.scaled_dot_product_attention),
    }
)
"""Functions after which what was known of their arguments is so no longer."""

ADDITIONS = {
    **dict.fromkeys((Tensor.add, Tensor.add_, torch.add), 1.0),
    **dict.fromkeys((Tensor.sub, Tensor.sub_, torch.sub), -1.0),
}
"""Functions that add, and the factor of what they add."""
TIMES = frozenset({Tensor.mul, Tensor.mul_, torch.mul})
OVER = frozenset({Tensor.div, Tensor.div_, torch.div})
KEEPING = frozenset(
    {
        *(Tensor.view, Tensor.reshape, torch.reshape, Tensor.flatten, Tensor.unflatten),
        *(Tensor.unsqueeze, Tensor.squeeze, Tensor.contiguous, Tensor.expand, Tensor.clone),
        *(Tensor.to, Tensor.float, Tensor.type, Tensor.type_as, F.dropout, torch.dropout),
        *(Tensor.masked_fill, Tensor.masked_fill_, torch.masked_fill, torch.where, Tensor.where),
    }
)
"""Functions after which the same was added to the same cells, but for those that a mask closed."""


FILLING = frozenset(
    {
        *(Tensor.masked_fill, Tensor.masked_fill_, torch.masked_fill, torch.where, Tensor.where),
        *(Tensor.tril, Tensor.tril_, torch.tril),
    }
)
JOINING = frozenset({torch.cat, torch.concat, torch.concatenate})


class Functions(TorchFunctionMode):
    """Has every torch function of this thread go through a watcher's.

    torch's fast paths for its own encoder layers stand back by themselves while a mode is active.
    """

    def __init__(self, call: Callable[[Callable[..., Any], Sequence[Any], Any], Any]) -> None:
        """call: given a function, its arguments and the named ones, gives what it gives."""
        super().__init__()
        self._call = call

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        return self._call(func, args, kwargs or {})


# Compiled modules and functions run as they were written, for as long as a pass is watched.
#
# Within code that torch has compiled nothing can be watched, and torch cannot compile what is.

_OURS = __name__.removesuffix("watch.capture.operators")
"""The package that models of checkpoints are classes of."""


class _Process:
    """The stance is the process's: whoever watches first takes it, and the last gives it back."""

    lock = Lock()
    n_watching = 0
    stance: AbstractContextManager[object] | None = None


@contextmanager
def as_written() -> Iterator[None]:
    """While entered, in any thread, what is compiled runs without that."""
    with _Process.lock:
        _Process.n_watching += 1
        flex = sys.modules.get("torch.nn.attention.flex_attention")  # it compiles itself, too
        if flex is not None and hasattr(flex, "_WARNINGS_SHOWN"):  # that it is not compiled, by us
            flex._WARNINGS_SHOWN.add("flex_attention_performance")
        may_compile = flex is not None or "torch._dynamo" in sys.modules  # a function alone, too
        if may_compile and _Process.stance is None:
            _Process.stance = torch.compiler.set_stance("force_eager")
            _Process.stance.__enter__()
    try:
        yield
    finally:
        with _Process.lock:
            _Process.n_watching -= 1
            if not _Process.n_watching and _Process.stance is not None:
                _Process.stance.__exit__(None, None, None)
                _Process.stance = None


def require_written(paths: Mapping[nn.Module, str]) -> None:
    """Raise InputError where a module in a model is scripted: that runs in torch alone.

    paths: of every module in it, the model itself first.
    """
    for each, path in paths.items():
        if isinstance(each, torch.jit.ScriptModule):
            model = next(iter(paths))
            if _inner(model) is not model:
                path = path.removeprefix("inner").removeprefix(".")
            what = f"{path} in it" if path else "it"
            raise InputError(
                f"{name_of(model)} cannot be recorded: {what} is scripted or traced (torch.jit), "
                "and what runs inside is not seen. Record the module that it was made from."
            )


def name_of(module: nn.Module) -> str:
    """The class; of a compiled module that of what was compiled, of a checkpoint's its own."""
    inner = _inner(module)
    return type(getattr(inner, "_orig_mod", inner)).__name__


def _inner(module: nn.Module) -> nn.Module:
    """The module that a checkpoint's model was made around; any other as it is."""
    is_ours = type(module).__module__.startswith(_OURS)
    inner = getattr(module, "inner", None)
    return inner if is_ours and isinstance(inner, nn.Module) else module
