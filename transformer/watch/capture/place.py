"""Places in a model where functions are called, and modules that read a text of their own."""

import re
import sys
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise
from types import CodeType, FrameType
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from transformer.recording.calls import Norm

# Modules that read a text of their own: where one runs again in a pass, it reads another one.
#
# A block that is run over what it gave before is given activations each time, and is several
# layers. A model that is run twice, over two texts or to write a word more, is given ids or a
# picture.


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

    def __init__(self, paths: Mapping[nn.Module, str], inputs: Iterable[object]) -> None:
        """inputs: what the model is given."""
        self._paths, self._inputs = paths, {id(each) for each in inputs}
        self._by_list: dict[str, dict[str, weakref.ref[Tensor] | None]] = {}
        """Path of a list -> of each module in it that ran: what it was given; None: an input."""
        self.are_beside = False
        """True: two modules of one list were given the same, or inputs of the model."""
        self._frames: dict[FrameType, bool] = {}
        """Runs that held the latest attention, and whether each reads a text of its own."""
        self._n_runs: dict[nn.Module, int] = {}

    def here(self, running: Sequence[Call], n_queries: int) -> tuple[int, ...]:
        """Number the runs around an attention that read a text of their own, innermost first."""
        frames = {}
        for module, forward, frame, values in running:
            reads = self._frames.get(frame)
            if reads is None:
                tensor = _first(values, forward)
                reads = _reads_itself(tensor, n_queries)
                self._n_runs[module] = self._n_runs.get(module, 0) + 1
                self._compare(self._paths[module], tensor, reads)
            frames[frame] = reads
        self._frames = frames
        return tuple(self._n_runs[module] for module, _, frame, _ in running if frames[frame])

    def _compare(self, path: str, tensor: Tensor | None, reads: bool) -> None:
        """Compare what a module of a list was given with what others of the list were."""
        name, _, number = path.rpartition(".")
        if tensor is None or not number.isdecimal():
            return
        reads = reads or id(tensor) in self._inputs
        others = self._by_list.setdefault(name, {})
        others[path] = None if reads else weakref.ref(tensor)
        for other, it in others.items():
            is_same = (it is None and reads) or (it is not None and it() is tensor)
            self.are_beside = self.are_beside or (other != path and is_same)

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


# Places in a model where functions are called: read from running frames, so no hook is installed.
#
# Hooks would stay on the model and cost every later pass; the interpreter knows who called
# anyway.

_CALL = nn.Module._call_impl.__code__
_OTHER = re.compile(
    r"k|keys?|kv|key_value.*|mem|memory|context|ctx|source|src|enc(oder)?_(hidden_)?(states?|out.*)"
)
"""Names of arguments that hold what keys and values are made of."""


@dataclass(frozen=True, eq=False)
class Place:
    """The innermost module that was running."""

    path: str
    """The path as in `named_modules`; empty for the model itself."""
    is_causal: bool | None
    """The module's own word, as Hugging Face's attention modules give it."""
    reads_another: bool | None
    """True: it was given other tensors for its keys; None where its arguments do not tell."""
    name: str = "model"
    """The name of the module's class."""
    lengths: frozenset[int] = frozenset()
    """Lengths of the sequences that it read; empty where that is unclear."""
    batch: tuple[int, ...] = ()
    """The number of sequences read at once and their length, or the other way round; or empty."""
    norms: tuple[Norm, ...] = ()
    """Parameters that are no matrices, in it and in the module around it."""
    run: int = 0
    """The number of the run of a module, counted over the pass."""
    reading: tuple[int, ...] = ()
    """The runs of those modules around it that were given ids or a picture: where they
    run again, they read something else."""
    is_beside: bool = False
    """True: by then two modules of one list had been given the same."""

    def windows(self, tensor: Tensor) -> tuple[int, int] | None:
        """Count the sequences that a call read here, and the queries of each; None: one sequence.

        tensor [n, H, Q, ...], or [n * H, Q, ...] where the module was given several.
        """
        if tensor.size(0) == 1 or (tensor.dim() <= 3 and not self.batch):
            return None
        n, n_queries = tensor.size(0), tensor.size(-2)
        if tensor.dim() == 3:  # times heads
            n = self.batch[1] if self.batch[0] == n_queries else self.batch[0]
        return n, n_queries


class Places:
    """Tells where in a model the call under way is."""

    def __init__(self, paths: Mapping[nn.Module, str], inputs: Iterable[object] = ()) -> None:
        """inputs: what the model is given."""
        self._paths = paths
        self._frame: FrameType | None = None
        """The frame of the latest run, so that another one is told from it."""
        self._n_runs = 0
        self._readings = Readings(paths, inputs)

    def here(self, running: "Running", d_head: int, n_queries: int = 0) -> Place:
        """Modules that the model does not hold are passed over.

        running: what is under way. d_head: of the call, to tell tensors that are split into heads
        from those that are not.
        """
        held = [each for each in running.calls if each.module in self._paths]
        frame = held[0].frame if held else None
        if frame is not self._frame or frame is None:
            self._frame, self._n_runs = frame, self._n_runs + 1
        if not held:
            return Place("", None, None, run=self._n_runs)
        module, forward, _, values = held[0]
        outer, outer_forward = held[1][:2] if len(held) > 1 else (None, None)
        reads_another = _reads_another(forward, d_head)
        if reads_another is None:  # reading a frame's variables costs: no more than are needed
            reads_another = _reads_another(outer_forward, d_head)
        is_causal = getattr(module, "is_causal", None)
        sizes = _sizes_read(values, d_head)
        first = _grids(values, d_head) or next(iter(sizes), ())
        batch = first if len(first) == 2 and 1 not in first else ()
        alone = 0 if batch else 1  # axes of a sequence by itself: beside a batch that is a mask's
        return Place(
            path=self._path(module, outer),
            is_causal=is_causal if isinstance(is_causal, bool) else None,
            reads_another=reads_another,
            name=type(module).__name__,
            lengths=frozenset(max(each) for each in sizes if 1 in each or len(each) == alone),
            batch=batch,
            run=self._n_runs,
            reading=self._readings.here(held, n_queries),
            is_beside=self._readings.are_beside,
            norms=tuple(it for each in (module, outer) for it in _norms(each)),
        )

    def forget(self) -> None:
        """The pass is over: let go of what its last run held."""
        self._frame = None
        self._readings.forget()

    def _path(self, module: nn.Module, outer: nn.Module | None) -> str:
        """A module that several others share is named below the one that called it."""
        path, above = self._paths[module], "" if outer is None else self._paths[outer]
        if not above or path.startswith(f"{above}."):
            return path
        return f"{above}.{path.rpartition('.')[2]}"


def _norms(module: nn.Module | None) -> Iterator[Norm]:
    """Yield weights and biases of a module and of those in it, but for linear layers."""
    for each in () if module is None else (module, *module._modules.values()):
        own = {} if each is None or isinstance(each, nn.Linear) else each._parameters
        for name, weight in own.items():
            if weight is not None and name != "bias":
                yield Norm(weight, own.get("bias"))


def _calls(frame: FrameType | None) -> Iterator[Call]:
    """Modules whose call is under way, innermost first."""
    last: FrameType | None = None
    while frame is not None:
        if frame.f_code is _CALL:
            values = frame.f_locals
            yield Call(values["self"], last, frame, values)
            last = None
        elif last is None and frame.f_code.co_name == "forward":
            last = frame  # what decorates it comes later
        frame = frame.f_back


class Running:
    """The modules whose call is under way, innermost first, while one function is called."""

    def __init__(self) -> None:
        self.calls = list(_calls(sys._getframe(1)))

    def is_given(self, tensor: Tensor) -> bool:
        """Tell whether one of them was given a tensor, or a view of it."""
        return (tensor.data_ptr(), tensor.numel()) in self._arguments

    @cached_property
    def _arguments(self) -> set[tuple[int, int]]:
        values = (it.values for it in self.calls)
        both = (each for it in values for each in (*it["args"], *it["kwargs"].values()))
        tensors = (each for each in both if isinstance(each, Tensor))
        return {(it.data_ptr(), it.numel()) for it in tensors if it.layout == torch.strided}


def is_running(paths: Mapping[nn.Module, str], path: str) -> bool:
    """Tell whether a call of the module with this path is under way."""
    return any(paths.get(each.module) == path for each in _calls(sys._getframe(1)))


class Run:
    """The run of the innermost module that holds an attention and is not over yet."""

    def __init__(self, paths: Mapping[nn.Module, str], path: str) -> None:
        """path: of the module that attended; what is running holds it or is it."""
        holding = (
            frame
            for module, _, frame, _ in _calls(sys._getframe(1))
            if module in paths
            and f"{path}.".startswith(f"{paths[module]}." if paths[module] else "")
        )
        self._frame = next(holding, None)

    def is_going_on(self) -> bool:
        """Tell whether what calls this was called from it; True where no such run was found."""
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and frame is not self._frame:
            frame = frame.f_back
        return frame is self._frame

    def forget(self) -> None:
        """Let go of what it held."""
        self._frame = None


def _sizes_read(call: Mapping[str, Any], d_head: int) -> list[tuple[int, ...]]:
    """List all sizes but for features of the sequences among a call's arguments.

    d_head: what is as wide may be split into heads.
    """
    arguments = (*call["args"], *call["kwargs"].values())
    sequences = (it for it in arguments if isinstance(it, Tensor) and 2 <= it.dim() <= 3)
    result = []
    for each in sequences:
        sizes = tuple(each.shape[:-1] if each.is_floating_point() else each.shape)
        is_split = each.is_floating_point() and each.size(-1) == d_head and 1 not in sizes
        if len(sizes) < 3 and not (is_split and len(sizes) == 2):
            result.append(sizes)
    return result


def _grids(call: Mapping[str, Any], d_head: int) -> tuple[int, ...]:
    """Sizes of a first argument [B, height, width, D] as those of B sequences; else empty."""
    first = next((it for it in call["args"] if isinstance(it, Tensor)), None)
    is_grid = first is not None and first.dim() == 4 and first.size(-1) != d_head
    return (first.size(0), first[0, ..., 0].numel()) if first is not None and is_grid else ()


def _reads_another(frame: FrameType | None, d_head: int) -> bool | None:
    """Tell whether forward's arguments say that keys are made of something else; None: unclear."""
    if frame is None:
        return None
    names, others = _arguments(frame.f_code)
    values = frame.f_locals
    first = next((values[name] for name in names if _is_sequence(values.get(name))), None)
    if first is None or first.size(-1) == d_head:  # split into heads already: k is another tensor
        return None
    others_read = [values[name] for name in others if _is_sequence(values.get(name))]
    return any(not _same(first, other) for other in others_read)


@cache
def _arguments(code: CodeType) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of all arguments, and of those that hold what keys are made of."""
    names = code.co_varnames[: code.co_argcount]
    return names, tuple(filter(_OTHER.fullmatch, names))


def _is_sequence(value: Any) -> bool:
    """Tell whether it is [T, D] or [B, T, D]."""
    return isinstance(value, Tensor) and value.dim() in (2, 3) and value.is_floating_point()


def _same(a: Tensor, b: Tensor) -> bool:
    return a is b or (a.shape == b.shape and torch.equal(a, b))


def paths_of(model: nn.Module) -> dict[nn.Module, str]:
    """Every module with its path, a shared one with its last: five times as fast as torch's."""
    paths, waiting = {}, [(model, "")]
    while waiting:
        module, path = waiting.pop()
        paths[module] = path
        if module._modules:
            start = path and f"{path}."
            children = module._modules.items()
            waiting += [(it, start + name) for name, it in children if it is not None]
    return paths
