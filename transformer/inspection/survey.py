"""The content of a checkpoint, read from its files: no model runs, and none has to."""

import hashlib
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from transformer.checkpoint import CONFIG, About, CheckpointError, Config
from transformer.files.foreign_text import some_of
from transformer.files.tensor_files import LoadedTensors
from transformer.files.tensors import Health, Stored, health
from transformer.formats.opening import format_of
from transformer.inspection.circuits import CircuitError, Heads
from transformer.inspection.tensor_statistics import (
    NAMELESS,
    Branch,
    Contents,
    Finding,
    grouped,
    module_tree,
    our_contents,
)
from transformer.inspection.undertrained import Training, training
from transformer.models.family import Family
from transformer.tokenizer import TokenizerError
from transformer.training.history import left_out

NAMED = 6
"""The most rows that a sentence names."""


WHOLE = frozenset({"BOOL", "I64", "I32", "I16"})
"""Types of ids, of positions and of masks: no training changes such values by gradient."""


@dataclass(frozen=True, eq=False)
class Inspection:
    """A checkpoint's tensors beside what its configuration asks for. Never changed."""

    path: Path
    contents: Contents
    healths: dict[str, Health]
    identical: tuple[tuple[str, ...], ...]
    """Groups of tensors with the same values: tied once, and saved under each name."""

    @property
    def about(self) -> About:
        return self.contents.description.about

    @property
    def config(self) -> Config:
        return self.contents.description.config

    @property
    def family(self) -> Family:
        return self.contents.description.family

    @property
    def heads(self) -> Heads:
        """The heads, of which circuits are made."""
        return self.contents.heads

    @cached_property
    def tensors(self) -> tuple[Stored, ...]:
        """In the order of the model; those that it lacks come last."""
        return tuple(self.contents.tensors.stored[name] for name in self.contents.fit.order)

    def read(self, name: str) -> Tensor:
        """A tensor's values. Raises CheckpointError; KeyError for one that is not there."""
        (values,) = self.contents.tensors.read(name)
        return values

    @cached_property
    def tree(self) -> list[Branch]:
        """Parameters that are saved under several names count once; ids and masks are none."""
        fit = self.contents.fit
        again = {
            name
            for name, first in fit.tied.items()
            if any(name in group and first in group for group in self.identical)
        }
        whole = {each.name for each in self.tensors if each.dtype in WHOLE}
        return module_tree(self.tensors, fit.uncounted | again | whole)

    @property
    def n_parameters(self) -> int:
        """Count the values of the tensors that are there."""
        return sum(branch.n_parameters for branch in self.tree if branch.tensor)

    @cached_property
    def findings(self) -> list[Finding]:
        """Whatever is suspicious; nothing where the list is empty."""
        contents = self.contents
        faults = {**contents.faults, **contents.tensors.faults}
        return [
            *(Finding(name, problem) for name, problem in faults.items()),
            *(
                Finding(name, f"missing; {CONFIG} asks for {_shape(shape)}", "are missing")
                for name, shape in contents.fit.missing.items()
            ),
            *(
                Finding(each.name or NAMELESS, *finding)
                for each in self.tensors
                for finding in (*self._misfit(each), *_illness(each, self.healths[each.name]))
            ),
        ]

    @cached_property
    def training(self) -> Training | None:
        """The training of each token, by the matrix that writes them; None where it is not known.

        Raises TokenizerError or CheckpointError.
        """
        of_source = getattr(self.config, "source_vocab_size", None)
        if "decoder_self" not in self.family.attentions or of_source is not None:
            return None
        tokenizer = self.contents.read_tokenizer()
        try:
            output = self.heads.ends("decoder_self").output.values
        except CircuitError:
            return None
        return training(output, tokenizer)

    @property
    def ties(self) -> list[str]:
        """List the tensors that do more than one thing, in sentences."""
        same = [f"{' and '.join(group)} hold the same values." for group in self.identical]
        return [*self.contents.ties, *same]

    def _misfit(self, stored: Stored) -> list[tuple[str, str]]:
        fit = self.contents.fit
        if stored.name in fit.unexpected:
            problem = f"unexpected; no part of the model that {CONFIG} describes"
            return [(problem, "are unexpected")]
        if stored.name in fit.misfits:
            wanted = _shape(fit.misfits[stored.name])
            problem = f"is {_shape(stored.shape)}; {CONFIG} says {wanted}"
            return [(problem, f"have other shapes than {CONFIG} says")]
        return []


def survey(path: Path) -> Inspection:
    """Read what there is and every tensor once. Raises CheckpointError."""
    path = Path(path).absolute()
    contents = open_contents(path)
    order = contents.fit.order
    healths, prints = {}, {}
    for name, values in zip(order, contents.tensors.read(*order), strict=True):
        healths[name] = health(values)
        prints[name] = _fingerprint(values)
    return Inspection(path, contents, healths, _groups(prints))


def open_contents(path: Path) -> Contents:
    """Read what inspecting it needs; of a format that has no way for it, by opening it.

    Raises CheckpointError.
    """
    format = format_of(path)
    if format.contents is not None:
        return format.contents(path)
    opened = format.load(path, torch.device("cpu"))
    tensors = LoadedTensors(opened.model.state_dict())
    return our_contents(format.describe(path), tensors, lambda: opened.tokenizer)


def inspect(path: Path) -> dict[str, Any]:
    """Everything about a checkpoint as JSON values. Raises CheckpointError."""
    inspection = survey(path)
    parts: Counter[str] = Counter()
    for each in inspection.tree:
        if each.depth == 0:
            parts[each.path or NAMELESS] += each.n_parameters
    result: dict[str, Any] = {
        "checkpoint": inspection.path.name,
        "title": inspection.about.title,
        "family": inspection.family.title,
        "parameters": inspection.n_parameters,
        **{f"parameters of {part}": count for part, count in parts.items() if count},
    }
    return {
        **result,
        **{
            name: value for name, value in inspection.config.to_dict().items() if name not in result
        },
        "notes": [*inspection.about.notes, *filter(None, [left_out(path)])],
        "tied tensors": inspection.ties,
        "under-trained tokens": _under_trained(inspection),
        "suspicious": [group.title for group in grouped(inspection.findings)],
        "findings": [
            {"path": each.tensor, "problem": each.problem} for each in inspection.findings
        ],
        "modules": [_branch(branch, inspection) for branch in inspection.tree],
    }


def _under_trained(inspection: Inspection) -> list[str] | None:
    """The pieces that training hardly met; None where that is not known."""
    try:
        trained = inspection.training
    except (TokenizerError, CheckpointError):
        return None
    if trained is None:
        return None
    tokenizer = inspection.contents.read_tokenizer()
    tokens = map(tokenizer.token, range(tokenizer.vocab_size))
    return [token.piece for token in tokens if trained.lacks(token)]


def _branch(branch: Branch, inspection: Inspection) -> dict[str, Any]:
    row: dict[str, Any] = {
        "path": branch.path,
        "parameters": branch.n_parameters,
        "share": branch.n_parameters / (inspection.n_parameters or 1),
    }
    if branch.tensor is None:
        return row
    state = inspection.healths[branch.path]
    return row | {
        "shape": list(branch.tensor.shape),
        "dtype": branch.tensor.dtype,
        "nan": state.n_nan,
        "infinite": state.n_infinite,
        "all_zero": state.is_zero,
        "dead_rows": list(state.dead_rows),
    }


def _illness(stored: Stored, state: Health) -> list[tuple[str, str]]:
    """List what is wrong with a tensor's values: the words for one, and for several."""
    oddity = _oddity(stored)
    for n, what in ((state.n_nan, "NaN"), (state.n_infinite, "infinite")):
        if n:
            problem = f"{n:,} of {stored.n_values:,} values {'are' if n > 1 else 'is'} {what}"
            oddity.append((problem, f"hold {what} values"))
    if state.is_zero:
        oddity.append(("every value is 0", "are 0"))
    if n := len(state.dead_rows):
        rows = some_of(state.dead_rows, NAMED)
        problem = f"{n:,} of {stored.shape[0]:,} rows {'are' if n > 1 else 'is'} all 0: {rows}"
        oddity.append((problem, "have rows that are all 0"))
    return oddity


def _oddity(stored: Stored) -> list[tuple[str, str]]:
    """List what few models hold, and what is made of it here."""
    parts = []
    if "" in stored.name.split("."):
        parts.append(("a part of its name is empty", "have names with an empty part"))
    if not stored.n_values:
        parts.append(("it has no values", "have no values"))
    if stored.dtype.startswith("C"):
        problem = "its numbers are complex, and their sizes |z| are shown"
        parts.append((problem, "hold complex numbers, whose sizes |z| are shown"))
    return parts


def _fingerprint(values: Tensor) -> tuple[str, tuple[int, ...], bytes] | None:
    """Equal for equal tensors; None for one number or a constant: equal by chance."""
    if values.numel() < 2 or bool((values == values.flatten()[0]).all()):
        return None
    content = values.contiguous().flatten().view(torch.uint8).numpy()
    return str(values.dtype), tuple(values.shape), hashlib.sha256(content.data).digest()


def _groups(prints: dict[str, Any]) -> tuple[tuple[str, ...], ...]:
    groups: dict[Any, list[str]] = {}
    for name, fingerprint in prints.items():
        if fingerprint is not None:
            groups.setdefault(fingerprint, []).append(name)
    return tuple(tuple(names) for names in groups.values() if len(names) > 1)


def _shape(shape: tuple[int, ...]) -> str:
    return " × ".join(f"{size:,}" for size in shape) or "one number"
