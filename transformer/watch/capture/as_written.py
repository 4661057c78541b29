"""Compiled modules and functions run as they were written, for as long as a pass is watched.

Within code that torch has compiled nothing can be watched, and torch cannot compile what is.
"""

import sys
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from threading import Lock

import torch
from torch import nn

from transformer.inputs import InputError

_OURS = __name__.removesuffix("watch.capture.as_written")
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
        _force_eager()
    try:
        yield
    finally:
        with _Process.lock:
            _Process.n_watching -= 1
            if not _Process.n_watching and _Process.stance is not None:
                _Process.stance.__exit__(None, None, None)
                _Process.stance = None


def _force_eager() -> None:
    flex = sys.modules.get("torch.nn.attention.flex_attention")  # it compiles itself, too
    if flex is not None and hasattr(flex, "_WARNINGS_SHOWN"):  # that it is not compiled, by us
        flex._WARNINGS_SHOWN.add("flex_attention_performance")
    may_compile = flex is not None or "torch._dynamo" in sys.modules  # a function alone, too
    if may_compile and _Process.stance is None:
        _Process.stance = torch.compiler.set_stance("force_eager")
        _Process.stance.__enter__()


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
