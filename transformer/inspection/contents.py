"""A checkpoint's tensors beside those that should be there, as its format gives them.

A format whose tensors have our own names calls `our_contents`; what it makes of a configuration is
built on the "meta" device, where nothing is allocated.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from transformer.checkpoint import CONFIG, CheckpointError, Description
from transformer.config import ConfigError, ModelConfig
from transformer.files.foreign_text import some_of
from transformer.files.tensors import Stored, TensorSource
from transformer.inspection.circuits import Heads
from transformer.inspection.our_heads import OurHeads
from transformer.layers.no_first_values import NoFirstValues
from transformer.models.family import Family
from transformer.tokenizer import Tokenizer

Shape = tuple[int, ...]
LARGEST_TABLE = 2**28
"""Values of tables that a model computes for itself: more are a mistake or a trap."""


@dataclass(frozen=True)
class Fit:
    """A checkpoint's tensors beside what its configuration asks for."""

    order: Sequence[str]
    """Every stored name, in the order of the model."""
    missing: Mapping[str, Shape] = field(default_factory=dict)
    """The tensors that are asked for and not stored."""
    unexpected: frozenset[str] = frozenset()
    """Stored names that no part of the model takes."""
    misfits: Mapping[str, Shape] = field(default_factory=dict)
    """Stored names of another shape -> the one asked for."""
    uncounted: frozenset[str] = frozenset()
    """Stored names that training does not change by gradient, or that opening passes over."""
    tied: Mapping[str, str] = field(default_factory=dict)
    """Name -> the one that stands in for it."""


@dataclass(frozen=True, eq=False)
class Contents:
    """A checkpoint's files, as far as they can be read; nothing in them is run."""

    description: Description
    tensors: TensorSource
    fit: Fit
    heads: Heads
    read_tokenizer: Callable[[], Tokenizer]
    """Raises TokenizerError or CheckpointError."""
    ties: Sequence[str] = ()
    """Sentences about what the configuration ties."""
    faults: Mapping[str, str] = field(default_factory=dict)
    """File -> what is wrong with it, beside what its tensors' source says."""


@dataclass(frozen=True)
class Expected:
    """The tensors that a configuration of ours asks for."""

    shapes: Mapping[str, Shape]
    """Name -> shape, of all that is saved."""
    buffers: frozenset[str]
    """The ones of these that training does not change by gradient."""
    computed: int
    """Values of tables that are computed and not saved, such as sinusoids."""

    @property
    def problem(self) -> str | None:
        """Say why no model can be built, though what is saved may fit."""
        if self.computed <= LARGEST_TABLE:
            return None
        return f"asks for tables of {self.computed:,} values that no file holds"


def our_contents(
    description: Description,
    tensors: TensorSource,
    read_tokenizer: Callable[[], Tokenizer],
) -> Contents:
    """Contents of a checkpoint whose tensors have our names and whose config is a ModelConfig."""
    config = description.config
    assert isinstance(config, ModelConfig)
    heads = OurHeads(tensors, config, description.family)
    try:
        expected = expect(config, description.family, len(tensors.stored))
    except ConfigError as error:
        fit = Fit(list(tensors.stored))
        problems = {CONFIG: str(error).rstrip(".")}
        return Contents(description, tensors, fit, heads, read_tokenizer, faults=problems)
    fit = compare(tensors.stored, expected)
    problems = {CONFIG: expected.problem} if expected.problem else {}
    return Contents(
        description,
        tensors,
        fit,
        heads,
        read_tokenizer,
        description.family.shared(config),
        problems,
    )


def expect(config: ModelConfig, family: Family, n_stored: int) -> Expected:
    """Tell what a configuration asks for, without allocating it. Raises ConfigError.

    n_stored: how many tensors there are; a model cannot have more layers than that.
    """
    n_layers = config.n_encoder_layers + config.n_decoder_layers
    if n_layers > max(n_stored, 1):
        raise ConfigError(f"asks for {n_layers:,} layers, and there are {n_stored:,} tensors.")
    try:
        with torch.device("meta"), NoFirstValues():
            model = family.build(config)
        shapes = {name: tuple(tensor.shape) for name, tensor in model.state_dict().items()}
        computed = sum(b.numel() for name, b in model.named_buffers() if name not in shapes)
    except (RuntimeError, OverflowError) as error:  # sizes beyond what 64 bits count
        raise ConfigError("asks for tensors of impossible sizes.") from error
    buffers = frozenset(shapes) - {name for name, _ in model.named_parameters()}
    return Expected(shapes, buffers, computed)


def compare(stored: Mapping[str, Stored] | Mapping[str, Tensor], expected: Expected) -> Fit:
    """Compare names and shapes."""
    shapes = expected.shapes
    unexpected = [name for name in stored if name not in shapes]
    return Fit(
        order=[*(name for name in shapes if name in stored), *unexpected],
        missing={name: shape for name, shape in shapes.items() if name not in stored},
        unexpected=frozenset(unexpected),
        misfits={
            name: shape
            for name, shape in shapes.items()
            if name in stored and stored[name].shape != shape
        },
        uncounted=expected.buffers,
    )


def require_fit(fit: Fit, stored: Mapping[str, Stored], where: str) -> None:
    """Names and shapes must be exactly the model's. Raises CheckpointError."""
    for name in fit.missing:
        raise CheckpointError(f"{where} has no tensor {name}, which {CONFIG} asks for.")
    for name, shape in fit.misfits.items():
        raise CheckpointError(
            f"{where}: {name} is {list(stored[name].shape)}, {CONFIG} says {list(shape)}."
        )
    if fit.unexpected:
        names = some_of(sorted(fit.unexpected), 3)
        raise CheckpointError(f"{where} has tensors the model lacks: {names}.")
