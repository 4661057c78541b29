"""The hooks of a model of ours, which keep what its attentions were called with; and the same
pass unrecorded.
"""

import fnmatch
import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import torch
from torch import Tensor, nn

from transformer.checkpoint import Checkpoint
from transformer.editing.ours import Editing
from transformer.models.family import Family
from transformer.recording import Recording

# The hooks of a model of ours: they keep what its attentions were called with and gave.
#
# An observer changes nothing: hooks that stand before each DotProductAttention keep what it was
# called with. They are installed once per model and find the observer of their thread through a
# ContextVar, so any number of threads may record one shared model at once.


class Observer:
    """An observer of one pass: it writes down while the pass runs."""

    def __init__(self, is_of_batch: bool = False) -> None:
        """is_of_batch: whether only the calls' arguments are asked for, of all rows."""
        self.is_of_batch = is_of_batch
        self.calls: dict[str, list[tuple[Any, ...]]] = defaultdict(list)
        """kind -> module and arguments of one call a layer, in the order in which layers run."""
        self.given: dict[str, list[Tensor]] = defaultdict(list)
        """kind -> what each of them gave [Q, D], of the first row."""
        self.inputs: dict[str, list[tuple[Any, ...]]] = defaultdict(list)
        self.outputs: dict[str, list[Tensor]] = defaultdict(list)
        self.modules: dict[str, list[nn.Module]] = defaultdict(list)
        """Role -> whose they are, call by call."""
        self.states: Tensor | None = None
        """The outputs of the last layer [T, D], in a model that writes."""
        self.edited: Editing | None = None


_OBSERVER: ContextVar[Observer | None] = ContextVar("observer", default=None)
_HOOKING = threading.Lock()


@contextmanager
def observing(checkpoint: Checkpoint, observer: Observer) -> Iterator[None]:
    """Tell the observer of every pass of this thread."""
    _hook(checkpoint.model, checkpoint.family)
    token = _OBSERVER.set(observer)
    try:
        yield
    finally:
        _OBSERVER.reset(token)


def _hook(model: nn.Module, family: Family) -> None:
    """Install the hooks, once for the life of the model; a deep copy has them already."""
    if "is_hooked" in vars(model):
        return
    with _HOOKING:
        if "is_hooked" in vars(model):
            return
        for path, module in model.named_modules():
            for role, pattern in family.kept.items():
                if fnmatch.fnmatchcase(path, pattern):
                    module.register_forward_hook(_keep(role))
            for kind, place in family.attentions.items():
                if place is not None and fnmatch.fnmatchcase(path, place):
                    beside: Any = model.get_submodule(path.rpartition(".")[0])
                    vars(module)["projection"] = beside.output  # past nn.Module: not a child
                    module.register_forward_pre_hook(_keep_call(kind))
                    last = beside.output if isinstance(beside.output, nn.Linear) else module
                    last.register_forward_hook(_keep_given(kind))
        vars(model)["is_hooked"] = True


def _keep_call(kind: str) -> Any:
    def keep(module: nn.Module, inputs: Any) -> None:
        observer = _OBSERVER.get()
        if observer is not None:
            observer.calls[kind].append((module, *inputs))  # made sense of after the pass

    return keep


def _keep_given(kind: str) -> Any:
    def keep(module: nn.Module, inputs: Any, output: Tensor) -> None:
        observer = _OBSERVER.get()
        if observer is not None and not observer.is_of_batch:
            observer.given[kind].append(output[0])  # no layer of ours changes it in place

    return keep


def _keep(role: str) -> Any:
    def keep(module: nn.Module, inputs: Any, output: Tensor) -> None:
        observer = _OBSERVER.get()
        if observer is not None and not observer.is_of_batch:
            observer.inputs[role].append(inputs)
            observer.outputs[role].append(output)
            observer.modules[role].append(module)

    return keep


# The same pass with nobody recording it.


def plain_difference(checkpoint: Checkpoint, recording: Recording) -> float:
    """The largest difference between the recorded logits and those of a pass that nobody records.

    0 where recording changed nothing. Raises InputError.
    """
    sources = [token.id for token in recording.source]
    targets = [token.id for token in recording.target]
    forced = checkpoint.family.forced_pass(checkpoint.config, sources, targets or None)
    rows = (torch.tensor([ids], device=checkpoint.device) for ids in forced.inputs)
    with torch.inference_mode():
        logits = checkpoint.model(*rows)[0]
    logits = logits[-len(targets) :] if targets else logits
    return float((logits - recording.require_logits()).abs().max())
