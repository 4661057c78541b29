"""Where in a model a function was called: read from the running frames, so no hook is installed.

Hooks would stay on the model and cost every later pass; the interpreter knows who called anyway.
"""

import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from types import CodeType, FrameType
from typing import Any

import torch
from torch import Tensor, nn

_CALL = nn.Module._call_impl.__code__
_OTHER = re.compile(
    r"k|keys?|kv|key_value.*|mem|memory|context|ctx|source|src|enc(oder)?_(hidden_)?(states?|out.*)"
)
"""Names of arguments that hold what keys and values are made of."""


@dataclass(frozen=True, eq=False)
class Place:
    """The innermost module that was running."""

    path: str
    """As in `named_modules`; empty for the model itself."""
    is_causal: bool | None
    """What the module says of itself, as Hugging Face's attention modules do."""
    reads_another: bool | None
    """Whether it was given other tensors for its keys; None where its arguments do not tell."""


def place_of(paths: Mapping[nn.Module, str], d_head: int) -> Place:
    """The place of the call under way. Modules that the model does not hold are passed over.

    d_head: of the call, to tell tensors that are split into heads from those that are not.
    """
    known = ((module, each) for module, each in _running(sys._getframe(1)) if module in paths)
    module, forward = next(known, (None, None))
    if module is None:
        return Place("", None, None)
    reads_another = _reads_another(forward, d_head)
    if reads_another is None:  # reading a frame's variables costs: no more than are needed
        reads_another = _reads_another(next(known, (None, None))[1], d_head)
    is_causal = getattr(module, "is_causal", None)
    return Place(paths[module], is_causal if isinstance(is_causal, bool) else None, reads_another)


def _running(frame: FrameType | None) -> Iterator[tuple[nn.Module, FrameType | None]]:
    """Modules whose call is under way, innermost first, each with the frame of its forward."""
    last: FrameType | None = None
    while frame is not None:
        if frame.f_code is _CALL:
            yield frame.f_locals["self"], last
            last = None
        elif last is None and frame.f_code.co_name == "forward":
            last = frame  # what decorates it comes later
        frame = frame.f_back


def _reads_another(frame: FrameType | None, d_head: int) -> bool | None:
    """Whether forward's arguments say that keys are made of something else; None: unclear."""
    if frame is None:
        return None
    names, others = _arguments(frame.f_code)
    values = frame.f_locals
    first = next((values[name] for name in names if _is_sequence(values.get(name))), None)
    if first is None or first.size(-1) == d_head:  # split into heads already: k is another tensor
        return None
    given = [values[name] for name in others if _is_sequence(values.get(name))]
    return any(not _same(first, other) for other in given)


@cache
def _arguments(code: CodeType) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of all arguments, and of those that hold what keys are made of."""
    names = code.co_varnames[: code.co_argcount]
    return names, tuple(filter(_OTHER.fullmatch, names))


def _is_sequence(value: Any) -> bool:
    """Whether it is [T, D] or [B, T, D]."""
    return isinstance(value, Tensor) and value.dim() in (2, 3) and value.is_floating_point()


def _same(a: Tensor, b: Tensor) -> bool:
    return a is b or (a.shape == b.shape and torch.equal(a, b))
