"""What a checkpoint folder holds, read from its files: no model runs, and none has to."""

import hashlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from transformer.checkpoint import CONFIG, WEIGHTS, About, CheckpointError
from transformer.config import ConfigError, ModelConfig
from transformer.formats.headscope import read_config
from transformer.models.family import Family
from transformer.module_tree import Branch, module_tree
from transformer.tensors import Health, Stored, floats, health, list_tensors, open_tensors

NAMED = 6
"""How many rows a sentence names at most."""


@dataclass(frozen=True)
class Finding:
    """Something that should not be, or that a person should know."""

    tensor: str
    problem: str
    """In a few words, such as "3 of 12 values are NaN"."""


@dataclass(frozen=True, eq=False)
class Inspection:
    """A checkpoint's tensors beside what its configuration asks for. Never changed."""

    path: Path
    about: About
    config: ModelConfig
    family: Family
    tensors: tuple[Stored, ...]
    """In the order of the model; those that it lacks come last."""
    expected: dict[str, tuple[int, ...]]
    """Name -> shape, of everything that config.json asks for."""
    buffers: frozenset[str]
    """Of these, the ones that training does not change by gradient."""
    healths: dict[str, Health]
    identical: tuple[tuple[str, ...], ...]
    """Groups of tensors with the same values: tied once, and saved under each name."""

    @property
    def file(self) -> Path:
        return self.path / WEIGHTS

    @cached_property
    def tree(self) -> list[Branch]:
        return module_tree(self.tensors, self.buffers)

    @property
    def n_parameters(self) -> int:
        """Of the tensors that are there."""
        return sum(branch.n_parameters for branch in self.tree if branch.tensor)

    @cached_property
    def findings(self) -> list[Finding]:
        """Whatever is suspicious; nothing where the list is empty."""
        found = {each.name: each for each in self.tensors}
        missing = [
            Finding(name, f"missing; {CONFIG} asks for {_shape(shape)}")
            for name, shape in self.expected.items()
            if name not in found
        ]
        return missing + [
            Finding(name, problem)
            for name, each in found.items()
            for problem in (*self._misfit(each), *_illness(each, self.healths[name]))
        ]

    @property
    def ties(self) -> list[str]:
        """Which tensors do more than one thing, in sentences."""
        same = [f"{' and '.join(group)} hold the same values." for group in self.identical]
        return [*_shared_roles(self.config), *same]

    def _misfit(self, found: Stored) -> list[str]:
        wanted = self.expected.get(found.name)
        if wanted is None:
            return [f"unexpected; no part of the model that {CONFIG} describes"]
        if wanted != found.shape:
            return [f"is {_shape(found.shape)}; {CONFIG} says {_shape(wanted)}"]
        return []


def survey(path: Path) -> Inspection:
    """Read a folder's configuration and every tensor once. Raises CheckpointError."""
    path = Path(path).absolute()
    about, config, family = read_config(path)
    stored = list_tensors(path / WEIGHTS)
    expected, buffers = _expected(path, config, family)
    order = [name for name in expected if name in stored]
    order += [name for name in stored if name not in expected]
    healths, prints = {}, {}
    with open_tensors(path / WEIGHTS) as file:
        for name in order:
            values = floats(file.get_tensor(name))
            healths[name] = health(values)
            prints[name] = _fingerprint(values)
    return Inspection(
        path=path,
        about=about,
        config=config,
        family=family,
        tensors=tuple(stored[name] for name in order),
        expected=expected,
        buffers=buffers,
        healths=healths,
        identical=_groups(prints),
    )


def inspect(path: Path) -> dict[str, Any]:
    """Everything about a folder as JSON values. Raises CheckpointError."""
    found = survey(path)
    parts = {each.path: each.n_parameters for each in found.tree if each.depth == 0}
    return {
        "checkpoint": found.path.name,
        "title": found.about.title,
        "family": found.family.title,
        "parameters": found.n_parameters,
        **{f"parameters of {part}": count for part, count in parts.items() if count},
        **found.config.to_dict(),
        "tied tensors": found.ties,
        "suspicious": [f"{each.tensor}: {each.problem}." for each in found.findings],
        "modules": [_branch(branch, found) for branch in found.tree],
    }


def _branch(branch: Branch, found: Inspection) -> dict[str, Any]:
    row: dict[str, Any] = {
        "path": branch.path,
        "parameters": branch.n_parameters,
        "share": branch.n_parameters / (found.n_parameters or 1),
    }
    if branch.tensor is None:
        return row
    state = found.healths[branch.path]
    return row | {
        "shape": list(branch.tensor.shape),
        "dtype": branch.tensor.dtype,
        "nan": state.n_nan,
        "infinite": state.n_infinite,
        "all_zero": state.is_zero,
        "dead_rows": list(state.dead_rows),
    }


def _expected(
    path: Path, config: ModelConfig, family: Family
) -> tuple[dict[str, tuple[int, ...]], frozenset[str]]:
    """Name -> shape of what the configuration asks for, and which of these are buffers."""
    try:
        model = family.build(config)
    except ConfigError as error:
        raise CheckpointError(f"{path.name}: {CONFIG}: {error}") from error
    shapes = {name: tuple(tensor.shape) for name, tensor in model.state_dict().items()}
    return shapes, frozenset(shapes) - {name for name, _ in model.named_parameters()}


def _illness(found: Stored, state: Health) -> list[str]:
    said = []
    for n, what in ((state.n_nan, "NaN"), (state.n_infinite, "infinite")):
        if n:
            said.append(f"{n:,} of {found.n_values:,} values {'are' if n > 1 else 'is'} {what}")
    if state.is_zero:
        said.append("every value is 0")
    if n := len(state.dead_rows):
        rows = ", ".join(map(str, state.dead_rows[:NAMED])) + (", …" if n > NAMED else "")
        said.append(f"{n:,} of {found.shape[0]:,} rows {'are' if n > 1 else 'is'} all 0: {rows}")
    return said


def _shared_roles(config: ModelConfig) -> list[str]:
    """What the configuration ties: one matrix, saved once (AIAYN, section 3.4)."""
    one = "embedding.weight is one matrix for"
    if config.family == "encoder_decoder" and config.tied != "none":
        read = "source and target embeddings" if config.tied == "all" else "target embeddings"
        return [f"{one} {read} and the output projection."]
    if config.family == "decoder_only" and config.tied != "none":
        return [f"{one} the embeddings and the output projection."]
    return []


def _fingerprint(values: Tensor) -> tuple[str, tuple[int, ...], bytes] | None:
    """Equal for equal tensors; None for one number or a constant: equal by chance."""
    if values.numel() < 2 or bool((values == values.flatten()[0]).all()):
        return None
    content = values.contiguous().flatten().view(torch.uint8).numpy().tobytes()
    return str(values.dtype), tuple(values.shape), hashlib.sha256(content).digest()


def _groups(prints: dict[str, Any]) -> tuple[tuple[str, ...], ...]:
    groups: dict[Any, list[str]] = {}
    for name, fingerprint in prints.items():
        if fingerprint is not None:
            groups.setdefault(fingerprint, []).append(name)
    return tuple(tuple(names) for names in groups.values() if len(names) > 1)


def _shape(shape: tuple[int, ...]) -> str:
    return " × ".join(f"{size:,}" for size in shape) or "one number"
