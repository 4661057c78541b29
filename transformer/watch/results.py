"""Results of a pass: logits or what is there instead, a second pass, and work that is not seen."""

import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from multiprocessing.pool import Pool
from multiprocessing.process import BaseProcess
from threading import Thread
from types import CodeType, FrameType
from typing import Any

import torch
from torch import Tensor
from torch._functorch import vmap

from transformer.recording.check import CLOSE

# Logits among what a module gives, and what is there instead.

_SHARES = {torch.float64: 1e-5, torch.float32: 1e-5}
"""The distance from 1 by which rounding alone may move the sum of probabilities."""
_MANY = 16
"""Logits that hardly ever all lie between 0 and 1."""
OF_SHARES = "{} gives probabilities, not logits: the numbers of each row sum to 1{}."
MAY_BE_SHARES = (
    "All numbers that {} gives lie between 0 and 1, and are taken for logits: if they are "
    "probabilities, as after a sigmoid, give what stands before it."
)


def logits_of(output: Any, row: int = 0, n_rows: int = 1) -> Tensor:
    """[T, V] or [C], where a module's output has some, whatever its numbers are; else empty.

    row: the one of n_rows texts that are wanted.
    """
    logits = output.get("logits") if isinstance(output, Mapping) else None
    logits = getattr(output, "logits", output) if logits is None else logits
    if not isinstance(logits, Tensor) or not logits.is_floating_point():
        return torch.zeros(0, device="cpu")
    if logits.dim() > 1 and logits.size(0) == n_rows:
        logits = logits[row]
    elif n_rows > 1:
        return torch.zeros(0, device="cpu")
    return logits.detach() if logits.dim() in (1, 2) else torch.zeros(0, device="cpu")


def notes_on_values(name: str, values: Tensor, so: str = "") -> tuple[str, ...]:
    """Say that numbers [T, V] or [C] are or may be no logits, in a sentence; nothing if they are.

    so: what follows from it, in a clause.
    """
    if are_shares(values):
        return (OF_SHARES.format(name, so),)
    is_between = values.numel() >= _MANY and bool(((values >= 0) & (values <= 1)).all())
    return (MAY_BE_SHARES.format(name),) if is_between else ()


def are_shares(values: Tensor) -> bool:
    """Tell whether rows [T, V] or [C] are probabilities: none is negative, and each sums to 1."""
    if values.size(-1) < 2 or not values.numel():
        return False
    near = _SHARES.get(values.dtype, 0.02)

    def are(rows: Tensor) -> bool:
        sums = rows.sum(-1, dtype=torch.float32)
        return bool((rows >= 0).all()) and bool(((sums - 1).abs() <= near).all())

    return are(values.reshape(-1, values.size(-1))[:1]) and are(values)  # most fail at the first


def log_of_shares(values: Tensor) -> Tensor:
    """The logarithms of probabilities, finite where one is 0."""
    return values.clamp_min(torch.finfo(values.dtype).tiny).log()


def described(output: Any) -> str:
    """Say what a module gives: a tensor's sizes, or what others consist of."""
    if isinstance(output, Tensor):
        return f"a tensor {list(output.shape)} of {str(output.dtype).removeprefix('torch.')}"
    if isinstance(output, Mapping):
        return f"a {type(output).__name__} of {', '.join(map(str, output)) or 'nothing'}"
    if isinstance(output, tuple | list) and output:
        return f"a {type(output).__name__} that begins with {described(output[0])}"
    return type(output).__name__


# Two passes over one input: whether they give the same.

DRAWS = (
    "{} draws random numbers in its pass (dropout that eval() does not switch off, as F.dropout "
    "without training=self.training, sampling or noise): another pass may give other numbers, and "
    "what an edit changes cannot be told from that."
)
DIFFERS = (
    "A second pass of {} over the same input gives something else{}: it keeps something from pass "
    "to pass, or draws random numbers. What an edit changes cannot be told from that: have its "
    "forward begin from the same state each time."
)


def difference(name: str, first: Any, second: Any) -> str:
    """Say in a sentence that two passes gave something else; empty: they gave the same."""
    ones, others = list(tensors_in(first)), list(tensors_in(second))
    if [each.shape for each in ones] != [each.shape for each in others]:
        return DIFFERS.format(name, ", of another size")
    for one, other in zip(ones, others, strict=True):
        if torch.equal(one, other):
            continue
        a, b = (each.double().nan_to_num(0, posinf=0, neginf=0) for each in (one, other))
        apart, largest = float((a - b).abs().max()), float(a.abs().max())
        is_number = torch.equal(one.isfinite(), other.isfinite())
        if not is_number or apart > CLOSE.get(one.dtype, 1e-4) * largest:
            return DIFFERS.format(name, f", by up to {apart:.2g}" if is_number else "")
    return ""


def tensors_in(value: Any) -> Iterator[Tensor]:
    """Yield tensors of numbers among what a module gave, in order."""
    if isinstance(value, Tensor):
        if value.layout == torch.strided and not value.is_complex():
            yield value
    elif isinstance(value, Mapping | list | tuple):
        for each in value.values() if isinstance(value, Mapping) else value:
            yield from tensors_in(each)
    elif is_dataclass(value):
        for field in fields(value):
            yield from tensors_in(getattr(value, field.name))


# Work of a pass that no watcher sees: in other threads, under vmap, outside torch's operators.

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
