"""Tensors without what training tools wrapped around a model, around parts of it or its file."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from torch import Tensor

STATES = ("model", "state_dict", "model_state_dict", "model_state", "net", "weights")
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
_WRAPPED = re.compile(rf"(^|\.)(?:(?:{'|'.join(WRAPPERS)})\.)+")


def state_in(loaded: Mapping[Any, Any]) -> Mapping[Any, Any]:
    """The state dict in what was saved; all of it where none has a name of its own."""
    return next((loaded[key] for key in STATES if is_state(loaded.get(key))), loaded)


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
    every = list(names)
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
