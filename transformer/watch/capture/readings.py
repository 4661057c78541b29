"""Modules that read a text of their own: where one runs again in a pass, it reads another one.

A block that is run over what it gave before is given activations each time, and is several layers.
A model that is run twice, over two texts or to write a word more, is given ids or a picture.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from types import FrameType
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn


class Call(NamedTuple):
    """A call of a module that is under way."""

    module: nn.Module
    forward: FrameType | None
    """The frame of its forward."""
    frame: FrameType
    """The frame of torch's call of it."""
    values: Mapping[str, Any]
    """The variables there, read once: that costs."""


class Readings:
    """Counts the runs of modules that hold an attention."""

    def __init__(self) -> None:
        self._frames: dict[FrameType, bool] = {}
        """Runs that held the latest attention, and whether each reads a text of its own."""
        self._n_runs: dict[nn.Module, int] = {}

    def here(self, running: Sequence[Call], n_queries: int) -> tuple[int, ...]:
        """Number the runs around an attention that read a text of their own, innermost first."""
        frames = {}
        for module, forward, frame, values in running:
            reads = self._frames.get(frame)
            if reads is None:
                reads = _reads_itself(_first(values, forward), n_queries)
                self._n_runs[module] = self._n_runs.get(module, 0) + 1
            frames[frame] = reads
        self._frames = frames
        return tuple(self._n_runs[module] for module, _, frame, _ in running if frames[frame])

    def forget(self) -> None:
        """Let go of what the latest runs held."""
        self._frames = {}


def _first(values: Mapping[str, Any], forward: FrameType | None) -> Tensor | None:
    """The first tensor that a module was given, in the order of its own arguments."""
    for each in values["args"]:
        if isinstance(each, Tensor):
            return each
    named: dict[str, Any] = values["kwargs"]
    code = None if forward is None else forward.f_code
    order = () if code is None else code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    names = sorted(named, key=lambda it: order.index(it) if it in order else len(order))
    arguments = (named[name] for name in names)
    return next((each for each in arguments if isinstance(each, Tensor)), None)


def _reads_itself(tensor: Tensor | None, n_queries: int) -> bool:
    """Tell whether a module was given ids, samples or a picture, no activations of queries."""
    if tensor is None or tensor.dtype == torch.bool or tensor.dim() == 0:
        return False
    if not tensor.is_floating_point():
        return True
    sizes = tensor.shape
    return n_queries not in (*sizes, *(a * b for a, b in pairwise(sizes)))
