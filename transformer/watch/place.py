"""Where in a model a function was called: read from the running frames, so no hook is installed.

Hooks would stay on the model and cost every later pass; the interpreter knows who called anyway.
"""

import inspect
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from types import FrameType
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


def place_of(frame: FrameType | None, paths: Mapping[nn.Module, str], d_head: int) -> Place:
    """The place of a call made in `frame`. Modules that the model does not hold are passed over.

    d_head: of the call, to tell tensors that are split into heads from those that are not.
    """
    known = ((module, each) for module, each in _running(frame) if module in paths)
    found = list(islice(known, 2))  # reading a frame's variables costs: no more than are needed
    if not found:
        return Place("", None, None)
    module = found[0][0]
    is_causal = getattr(module, "is_causal", None)
    return Place(
        paths[module],
        is_causal if isinstance(is_causal, bool) else None,
        next((reads for _, each in found for reads in _reads_another(each, d_head)), None),
    )


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


def _reads_another(frame: FrameType | None, d_head: int) -> Iterator[bool]:
    """Whether forward's arguments say that keys are made of something else; nothing: unclear."""
    if frame is None:
        return
    arguments = inspect.getargvalues(frame)
    values = {name: arguments.locals.get(name) for name in arguments.args}
    tensors: dict[str, Any] = {name: it for name, it in values.items() if _is_sequence(it)}
    if not tensors:
        return
    first = next(iter(tensors.values()))
    if first.size(-1) == d_head:  # split into heads already: k is another tensor in any case
        return
    others = [value for name, value in tensors.items() if _OTHER.fullmatch(name)]
    yield any(not _same(first, other) for other in others)


def _is_sequence(value: object) -> bool:
    """Whether it is [T, D] or [B, T, D]."""
    return isinstance(value, Tensor) and value.dim() in (2, 3) and value.is_floating_point()


def _same(a: Tensor, b: Tensor) -> bool:
    return a is b or (a.shape == b.shape and torch.equal(a, b))
