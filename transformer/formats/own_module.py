"""Modules that this very process was given: `offer` puts them beside the checkpoints in files.

Only what was offered opens: no path that somebody types or sends makes any code run.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor

from transformer.checkpoint import Checkpoint, Description
from transformer.files.tensor_files import LoadedTensors
from transformer.formats.format import Format
from transformer.inspection.circuits import NoHeads
from transformer.inspection.tensor_statistics import Contents, Fit

_OFFERED: dict[Path, Checkpoint] = {}


def offer(checkpoint: Checkpoint) -> Path:
    """Let `load_checkpoint` open it by the path that this gives: its own, or one like it."""
    path, number = checkpoint.path, 1
    while path in _OFFERED:
        number += 1
        path = checkpoint.path.with_name(f"{checkpoint.path.name} {number}")
    _OFFERED[path] = replace(checkpoint, path=path)
    return path


def offered() -> Sequence[Path]:
    """The newest first."""
    return tuple(reversed(_OFFERED))


def fits(path: Path) -> bool:
    """Tell whether it was offered."""
    return path in _OFFERED


def describe(path: Path) -> Description:
    """Describe it in its author's words."""
    offer = _OFFERED[path]
    return Description(offer.about, offer.config, offer.family)


def load(path: Path, device: torch.device) -> Checkpoint:
    """Return it as it was offered, on the device where it is."""
    return _OFFERED[path]


def contents(path: Path) -> Contents:
    """The tensors that the module has now."""
    offer = _OFFERED[path]
    module = offer.model.get_submodule("inner")
    values = {name: each for name, each in module.state_dict().items() if isinstance(each, Tensor)}
    tensors = LoadedTensors({name: each.detach().cpu().clone() for name, each in values.items()})
    name = type(module).__name__
    heads = NoHeads(f"No circuits: where {name} keeps the projections of its heads is not known.")
    trained = {name for name, _ in module.named_parameters(remove_duplicate=False)}
    fit = Fit(list(tensors.stored), uncounted=frozenset(values) - trained)
    return Contents(describe(path), tensors, fit, heads, lambda: offer.tokenizer)


def files(path: Path) -> Sequence[Path]:
    """None: it is in memory."""
    return ()


FORMAT = Format(
    name="own_module",
    title="a module of your own, which `explore` was given in Python",
    fits=fits,
    describe=describe,
    load=load,
    files=files,
    contents=contents,
)
