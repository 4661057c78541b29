"""Work of a pass that no watcher sees: in other threads, under vmap, outside torch's operators."""

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from multiprocessing.pool import Pool
from multiprocessing.process import BaseProcess
from threading import Thread
from types import CodeType, FrameType
from typing import Any

import torch
from torch._functorch import vmap

THREAD = "it hands work to another thread, in which nothing is seen: do that in forward's own"
PROCESS = "it hands work to another process, in which nothing is seen: do that in forward's own"
VMAP = "it works under vmap, in which nothing is seen: give its products that axis themselves"
NUMPY = "it goes on in numpy, where nothing is seen: compute attention with torch"
OPERATOR = "it calls the operator {}, inside which nothing is seen: use torch's own in its place"
_OURS = ("aten", "prims", "prim", "higher_order", "profiler", "c10d", "inductor")
"""Namespaces of operators that come with torch."""


def _codes() -> dict[CodeType, str]:
    """Code of functions that are called where work goes out of sight -> the reason."""
    pool = (Pool.apply_async, Pool._map_async, Pool.imap)  # type: ignore[attr-defined]
    by_reason: dict[str, tuple[Callable[..., Any], ...]] = {
        THREAD: (Thread.start, ThreadPoolExecutor.submit, Executor.submit, *pool),
        PROCESS: (BaseProcess.start, ProcessPoolExecutor.submit),
        VMAP: (vmap.vmap_impl,),
    }
    return {each.__code__: why for why, several in by_reason.items() for each in several}


_CODES = _codes()
_OPERATORS = (
    torch._ops.OpOverload.__call__.__code__,
    torch._ops.OpOverloadPacket.__call__.__code__,
)


class Outside:
    """Notes down why work is not seen, while entered, in this thread."""

    def __init__(self) -> None:
        self.reasons: dict[str, None] = {}
        """Clauses, in the order in which they were met."""

    @contextmanager
    def looking(self) -> Iterator[None]:
        before = sys.getprofile()
        sys.setprofile(self._look)
        try:
            yield
        finally:
            sys.setprofile(before)

    def _look(self, frame: FrameType, event: str, argument: Any) -> None:
        if event == "c_call":
            is_tensor = isinstance(getattr(argument, "__self__", None), torch.Tensor)
            if is_tensor and argument.__name__ == "numpy":
                self.reasons[NUMPY] = None
        elif event == "call" and (why := _CODES.get(frame.f_code)):
            self.reasons[why] = None
        elif event == "call" and frame.f_code in _OPERATORS:
            operator: Any = frame.f_locals["self"]
            is_packet = isinstance(operator, torch._ops.OpOverloadPacket)
            whole = operator._qualified_op_name if is_packet else operator.name()
            name = whole.partition(".")[0]
            if name.partition("::")[0] not in _OURS:
                self.reasons[OPERATOR.format(name)] = None
