"""The tensors of a checkpoint's files, read one at a time, without what training tools wrapped
around them.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import EllipsisType
from typing import Any, NamedTuple, Protocol

import safetensors
import torch
from safetensors import safe_open
from torch import Tensor

from transformer.checkpoint import CheckpointError
from transformer.files.foreign_text import some_of
from transformer.files.regular_file import broken, require_of_checkpoint
from transformer.files.weights import Misfit

# The tensors of a checkpoint's files, read one at a time; and what is wrong with one at sight.

UNMAPPED = "pread"
"""The way safetensors reads a file that may be cut meanwhile: of a mapped one that would end the
process (SIGBUS), and not in an error."""
OF_WEIGHTS = (torch.float64, torch.float32, torch.float16, torch.bfloat16)
"""Types of numbers that weights are kept in as they are: fewer bits stand for others, by a scale
that lies elsewhere."""
MOST, LONGEST_NAME = 250_000, 1_000
"""Tensors of a file, and characters of a name: each is a row that somebody looks at."""


@dataclass(frozen=True)
class Stored:
    """One tensor, as its file's header describes it."""

    name: str
    dtype: str
    """Its type in safetensors: F32, F16, BF16, I64."""
    shape: tuple[int, ...]

    @property
    def n_values(self) -> int:
        n = 1
        for size in self.shape:
            n *= size
        return n


class Unread(Protocol):
    """A tensor whose values are read each time they are asked for, as `safetensors` slices are."""

    def __getitem__(self, all: EllipsisType, /) -> Tensor:
        """All of them, as they were saved. Raises CheckpointError."""


class TensorSource(Protocol):
    """Tensors by name, wherever they are kept."""

    @property
    def stored(self) -> Mapping[str, Stored]:
        """Name -> what is known of it without reading its values."""

    @property
    def faults(self) -> Mapping[str, str]:
        """File -> why its tensors are not among these."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about where in a file they are, and about sets of weights beside them."""

    def read(self, *names: str) -> Iterator[Tensor]:
        """In this order, as float32 (float64 where saved so).

        Raises CheckpointError; KeyError for a name that is not there.
        """

    def unread(self) -> AbstractContextManager[Mapping[str, Unread]]:
        """All of them by name, none of them read, for the length of a `with`.

        Any thread may ask for values there. Raises CheckpointError.
        """


@dataclass(frozen=True)
class Health:
    """The state of a tensor's values, whatever it is for."""

    n_nan: int
    n_infinite: int
    is_zero: bool
    """Every value is 0."""
    dead_rows: tuple[int, ...]
    """Rows of a matrix in which every value is 0, where not all of them are."""


@contextmanager
def open_tensors(file: Path, where: str) -> Iterator[Any]:
    """The file, called `where` in sentences, read where asked for. Raises CheckpointError."""
    with reading(file, where):
        require_of_checkpoint(file)
        with safe_open(file, framework="pt", backend=UNMAPPED) as opened:
            yield opened


@contextmanager
def reading(file: Path, where: str) -> Iterator[None]:
    """Raise CheckpointError in place of what reading a safetensors file raises."""
    try:
        yield
    except Misfit as error:
        raise CheckpointError(f"{where} {error}.") from error
    except (safetensors.SafetensorError, OSError, ValueError) as error:
        why = broken(file, str(error))
        raise CheckpointError(f"{where} is not a whole safetensors file: {why}.") from error


def list_tensors(file: Path, where: str) -> dict[str, Stored]:
    """Name -> what the header says; no value is read. Raises CheckpointError."""
    result: dict[str, Stored] = {}
    with open_tensors(file, where) as opened:
        for name in opened.keys():  # noqa: SIM118 (not a mapping)
            if len(name) > LONGEST_NAME or len(result) == MOST:
                raise CheckpointError(
                    f"{where} holds more than {MOST:,} tensors, or one whose name has more than "
                    f"{LONGEST_NAME:,} characters, as no model does."
                )
            part = opened.get_slice(name)
            result[name] = Stored(name, part.get_dtype(), tuple(part.get_shape()))
    return result


def health(values: Tensor) -> Health:
    """values: any shape; a row is an index of the first of two or more axes."""
    zero = values == 0
    is_zero = values.numel() > 0 and bool(zero.all())
    dead: list[int] = []
    if values.dim() > 1 and values.numel() and not is_zero:
        dead = zero.flatten(1).all(1).nonzero().flatten().tolist()
    return Health(int(values.isnan().sum()), int(values.isinf().sum()), is_zero, tuple(dead))


def floats(values: Tensor) -> Tensor:
    """Numbers of any kind in a precision that every computation takes; of complex ones the size."""
    if values.is_complex():
        values = values.abs()
    return values if values.dtype == torch.float64 else values.float()


# Tensors without what training tools wrapped around a model, around parts of it or its file.

STATES = ("model", "state_dict", "model_state_dict", "model_state", "net", "weights", "module")
"""Names under which a file that holds more than weights keeps them."""
WRAPPERS = (
    *("_orig_mod", "_checkpoint_wrapped_module", "_fsdp_wrapped_module", "_forward_module"),
    *("_ddp_wrapped_module", "_fpw_module"),
)
"""Parts which torch.compile, activation checkpointing, FSDP, DeepSpeed and Lightning Fabric add: no
model has a part of such a name."""
MODULE = "module"
"""The part that DataParallel adds; a model might have a part of this name beside others."""
MOST_PARTS = 60
"""Parts of a name: those of a stranger's file that have more are not looked into."""
_AVERAGED, _OF_EMA = "n_averaged", frozenset({"initted", "step"})
"""Counters of torch's AveragedModel and of ema_pytorch, which a model is a part of."""
_WRAPPED = re.compile(rf"(^|\.)(?:(?:{'|'.join(WRAPPERS)})\.)+")


SECOND = re.compile(r"(^|[_.-])(ema|swa|avg|averag\w*|shadow\w*|teacher|momentum|target)([_.-]|$)")
"""Names of a second set of weights, which a training keeps beside those that it changes."""
_NO_WEIGHTS = re.compile(r"optim|exp_avg|grad|rng|random|scaler|sched")
"""Names of what a training keeps of each weight, as large as that."""
Shape = tuple[int, ...]
_DEPTH = 3
_NAMED = 4


class State(NamedTuple):
    """The weights in what was saved, and where others lie beside them."""

    tensors: Mapping[Any, Any]
    notes: tuple[str, ...] = ()
    """Sentences about where they are, and about sets that are not read."""


def state_in(loaded: Mapping[Any, Any], file: str) -> State:
    """Find the state dict in what was saved; all of it where none has a name of its own.

    Weights of a training come first, its averages where they are alone. file: for sentences.
    Raises Misfit where nothing tells which of several is the model.
    """
    sets = {path: each for path, each in _sets(loaded) if is_state(each)}
    name = next((key for key in STATES if key in sets), None)
    if name is None and (is_state(loaded) or not sets):
        return State(loaded)
    if name is None:
        first = [path for path in sets if not SECOND.search(path)] or [*sets]
        part = first[0].partition(".")[0]
        inside, is_tree = loaded.get(part), all(it.startswith(f"{part}.") for it in first)
        if len(first) > 1 and is_tree and isinstance(inside, dict):  # as Flax keeps one
            return state_in({part: dict(_leaves(inside))}, file)
        if len(first) > 1:
            raise Misfit(
                f"holds several sets of tensors ({some_of(first, _NAMED)}), and none under a name "
                f"of a whole model's ({', '.join(STATES[:2])}): save one by itself"
            )
        name = first[0]
    shapes = _shapes(sets[name].values())
    others = [path for path, each in _sets(loaded) if path != name and _is_another(each, shapes)]
    notes = [f"The weights are those under {name} in {file}."] if SECOND.search(name) else []
    return State(sets[name], (*notes, *beside(file, others, name)))


def beside(file: str, others: Sequence[str], name: str) -> Iterator[str]:
    """Yield a sentence about other sets of the weights that are shown, which are called `name`."""
    if others:
        yield (
            f"{file} also holds another set of these weights, under {some_of(others, _NAMED)}: "
            f"those under {name} are read, and another opens once it is saved by itself."
        )


def without_second(shapes: Mapping[str, Shape], file: str) -> tuple[list[str], tuple[str, ...]]:
    """Leave out names whose first part says that they are a second set of the other tensors.

    shapes: of each name. file: for sentences, which are returned as well.

    >>> names = {"model.w": (2, 3), "model.b": (3,), "ema_model.w": (2, 3), "ema_model.b": (3,)}
    >>> without_second(names, "a.pt")[0]
    ['model.w', 'model.b']
    """
    parts: dict[str, list[str]] = {}
    for name in shapes:
        parts.setdefault(name.partition(".")[0], []).append(name)
    second = {part for part in parts if SECOND.search(part) and "target" not in part}
    first = [part for part in parts if part not in second]
    whole = Counter(shapes[name] for part in first for name in parts[part] if shapes[name])
    for part in sorted(second):
        own = Counter(shapes[name] for name in parts[part] if shapes[name])
        if not 2 * (own & whole).total() >= max(own.total(), whole.total()) > 0:
            second.discard(part)
    alone = [part for part in parts if SECOND.search(part)] if len(parts) == 1 else []
    notes = [f"The weights are those under {part} in {file}." for part in alone]
    others = first[0] if len(first) == 1 else "other names"
    left = [name for name in shapes if name.partition(".")[0] not in second]
    return left, (*notes, *beside(file, sorted(second), others))


def _sets(values: Mapping[Any, Any], path: str = "", depth: int = 1) -> Iterator[tuple[str, Any]]:
    """Yield path and content of each dictionary or list within that holds tensors."""
    for key, each in values.items():
        name = f"{path}{key}"
        if _NO_WEIGHTS.search(name.lower()):
            continue
        if is_state(each) or (isinstance(each, list | tuple) and _shapes(each)):
            yield name, each
        elif isinstance(each, dict | list | tuple) and depth < _DEPTH:
            inside = each if isinstance(each, dict) else dict(enumerate(each))
            yield from _sets(inside, f"{name}.", depth + 1)


def _leaves(values: Mapping[Any, Any], path: str = "") -> Iterator[tuple[str, Tensor]]:
    """Yield path and tensor of each in a tree of dictionaries, down to as many as names have."""
    for key, each in values.items():
        if isinstance(each, Tensor):
            yield f"{path}{key}", each
        elif isinstance(each, dict) and path.count(".") < MOST_PARTS:
            yield from _leaves(each, f"{path}{key}.")


def _shapes(values: Iterable[Any]) -> Counter[Shape]:
    return Counter(tuple(each.shape) for each in values if isinstance(each, Tensor) and each.dim())


def _is_another(values: Any, shapes: Counter[Shape]) -> bool:
    """Tell whether most tensors of a model have one of their shape there."""
    own = _shapes(values.values() if isinstance(values, dict) else values)
    return 2 * (own & shapes).total() >= shapes.total() > 0


def is_state(value: object) -> bool:
    """Tell whether it holds tensors by name."""
    return isinstance(value, dict) and any(isinstance(each, Tensor) for each in value.values())


def unwrapped(names: Iterable[str]) -> dict[str, str]:
    """Each name without wrappers, however often and wherever they stand -> the name as it was.

    Where two would become one, all stay as they are.

    >>> list(unwrapped(["module._orig_mod.a.b", "module._orig_mod.c._orig_mod.d"]))
    ['a.b', 'c.d']
    >>> list(unwrapped(["a.module.b", "a.module.c"])), list(unwrapped(["a.module.b", "a.c"]))
    (['a.b', 'a.c'], ['a.module.b', 'a.c'])
    """
    every = [name for name in names if name.rpartition(".")[2] != _AVERAGED]
    if {*every} >= _OF_EMA:
        every = [name for name in every if name not in _OF_EMA]
    if any(name.count(".") >= MOST_PARTS for name in every):
        return {name: name for name in every}
    shorter = [_WRAPPED.sub(r"\1", name) for name in every]
    while True:
        parents = _wrapping(shorter)
        if not parents:
            break
        shorter = [_without(name, parents) for name in shorter]
    result = dict(zip(shorter, every, strict=True))
    return result if len(result) == len(every) else {name: name for name in every}


def without_common(names: Mapping[str, str]) -> dict[str, str]:
    """Without the one part that all names begin with; empty where they begin with several.

    names: as `unwrapped` gives them.
    """
    firsts = {name.partition(".")[0] for name in names}
    if len(firsts) != 1 or any("." not in name for name in names):
        return {}
    return unwrapped_of({name.partition(".")[2]: was for name, was in names.items()})


def unwrapped_of(names: Mapping[str, str]) -> dict[str, str]:
    """The same for names that have changed already: new name -> the name as it was."""
    return {new: names[old] for new, old in unwrapped(names).items()}


def _wrapping(names: Iterable[str]) -> frozenset[str]:
    """The paths below which everything is in a part called module: "", "encoder"."""
    inside: dict[str, bool] = {}
    for name in names:
        parts = name.split(".")
        for i in range(len(parts) - 1):
            parent = ".".join(parts[:i])
            is_wrapped = parts[i] == MODULE
            inside[parent] = inside.get(parent, True) and is_wrapped
        end = ".".join(parts[:-1])
        inside[end] = False  # a tensor of its own
    return frozenset(parent for parent, is_wrapped in inside.items() if is_wrapped)


def _without(name: str, parents: frozenset[str]) -> str:
    parts = name.split(".")
    rest = [
        part
        for i, part in enumerate(parts)
        if not (part == MODULE and i < len(parts) - 1 and ".".join(parts[:i]) in parents)
    ]
    return ".".join(rest)
