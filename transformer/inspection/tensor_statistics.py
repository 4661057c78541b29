"""Tensors in numbers, whatever is suspicious in them, and how far two of them are apart."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn

from transformer.checkpoint import CONFIG, CheckpointError, Description
from transformer.config import ConfigError, ModelConfig
from transformer.files.foreign_text import some_of
from transformer.files.tensors import Stored, TensorSource
from transformer.inspection.circuits import Heads, OurHeads
from transformer.layers.norm import NoFirstValues
from transformer.models.family import Family
from transformer.tokenizer import Tokenizer

# One tensor in numbers: moments, norms, singular values, a histogram, a pooled picture.

LARGEST = 2048
"""A matrix whose smaller side is longer has no singular values here: they would take minutes."""
Pooling = Literal["largest", "mean"]


@dataclass(frozen=True, eq=False)
class Statistics:
    """Over the finite values of a tensor, in double precision; NaN where there are none."""

    n_values: int
    n_finite: int
    mean: float
    std: float
    """Over all values: divided by n."""
    min: float
    max: float
    l1: float
    """sum |x|"""
    l2: float
    """sqrt(sum x^2): of a matrix, Frobenius' norm."""
    singular_values: Tensor | None
    """[min(rows, columns)], falling; None where they were not computed."""

    @property
    def spectral(self) -> float | None:
        """The largest singular value."""
        values = self.singular_values
        return None if values is None else float(values[0])

    @property
    def effective_rank(self) -> float | None:
        return None if self.singular_values is None else effective_rank(self.singular_values)


def statistics(values: Tensor) -> Statistics:
    """values: any shape."""
    finite = _finite(values).double()
    whole = finite.numel() == values.numel()
    if not finite.numel():
        nan = math.nan
        return Statistics(values.numel(), 0, nan, nan, nan, nan, nan, nan, None)
    return Statistics(
        n_values=values.numel(),
        n_finite=finite.numel(),
        mean=float(finite.mean()),
        std=float(finite.std(correction=0)),
        min=float(finite.min()),
        max=float(finite.max()),
        l1=float(finite.abs().sum()),
        l2=float(finite.norm()),
        singular_values=singular_values(values) if whole else None,
    )


def as_matrix(values: Tensor) -> Tensor:
    """One row for a vector; of more than two axes the first stays, the others are one."""
    return values.reshape(1, -1) if values.dim() < 2 else values.flatten(1)


def singular_values(values: Tensor) -> Tensor | None:
    """Falling, in double precision: [min(rows, columns)]; None for a matrix that is too large."""
    matrix = as_matrix(values)
    if not 0 < min(matrix.shape) <= LARGEST:
        return None
    return torch.linalg.svdvals(matrix.double())


def effective_rank(singular: Tensor) -> float:
    """exp(-sum p ln p), p = sigma / sum sigma (Roy and Vetterli 2007): from 1 to the rank.

    0 where every singular value is.
    """
    total = singular.sum()
    if not total > 0:
        return 0.0
    p = singular / total
    return float(torch.exp(-torch.special.xlogy(p, p).sum()))


def histogram(values: Tensor, n_bins: int = 80) -> tuple[Tensor, Tensor]:
    """Edges [n_bins + 1] from the least to the largest finite value, and counts [n_bins]."""
    finite = _finite(values)
    if not finite.numel():
        return torch.zeros(n_bins + 1, dtype=torch.float64), torch.zeros(n_bins).long()
    counts, edges = np.histogram(finite.double().numpy(), n_bins)  # in half of bucketize's time
    return torch.from_numpy(edges), torch.from_numpy(counts)


def _finite(values: Tensor) -> Tensor:
    """The finite ones: of what has no others, no copy."""
    is_finite = values.isfinite()
    return values.flatten() if is_finite.all() else values[is_finite]


def pool(matrix: Tensor, most: int, pooling: Pooling) -> tuple[Tensor, tuple[int, int]]:
    """A matrix [R, C] as at most [most, most], and the rows and columns that make one cell.

    "largest": of each block the value farthest from 0, with its sign; "mean": its mean |x|.
    Blocks at the last row and column may be smaller. A matrix that fits stays as it is.
    """
    size = tuple(-(-n // most) for n in matrix.shape)
    rows, columns = size
    if size == (1, 1):
        return matrix, (1, 1)
    down, across = -matrix.size(0) % rows, -matrix.size(1) % columns
    padded = torch.nn.functional.pad(matrix, (0, across, 0, down), value=math.nan)
    split = padded.unflatten(0, (-1, rows)).unflatten(2, (-1, columns))  # [r, rows, c, columns]
    blocks = split.transpose(1, 2).flatten(2)  # [r, c, rows * columns], filled up with NaN
    if pooling == "mean":
        return blocks.abs().nanmean(-1), (rows, columns)
    places = blocks.abs().nan_to_num(-1.0, posinf=torch.inf).argmax(-1, keepdim=True)
    return blocks.gather(-1, places)[..., 0], (rows, columns)


# Suspicious things in a checkpoint: in each tensor, and in many that have the same problem.

NAMED = 2
"""The number of tensors that the title of a group names."""


@dataclass(frozen=True)
class Finding:
    """Something that should not be, or that a person should know."""

    tensor: str
    problem: str
    """In a few words, such as "3 of 12 values are NaN"."""
    shared: str = field(default="", compare=False)
    """The verb phrase for several that have it, such as "hold NaN"; empty: it is said of each."""

    def __str__(self) -> str:
        return f"{self.tensor}: {self.problem}."


@dataclass(frozen=True)
class Group:
    """Findings of one sort, of one sort of tensors."""

    title: str
    """A line that stands for them: "96 biases are 0: layers.0.bias, ..."."""
    findings: tuple[Finding, ...]


def grouped(findings: Iterable[Finding]) -> list[Group]:
    """In the order in which each sort came first; what is found once is a group of one.

    >>> zeros = [Finding(f"{n}.bias", "every value is 0", "are 0") for n in range(96)]
    >>> grouped(zeros)[0].title
    '96 biases are 0: 0.bias, 1.bias and 94 more'
    """
    sorts: dict[object, list[Finding]] = {}
    for finding in findings:
        sort = (finding.shared, _noun(finding.tensor)) if finding.shared else (finding,)
        sorts.setdefault(sort, []).append(finding)
    return [Group(_title(alike), tuple(alike)) for alike in sorts.values()]


def _title(alike: list[Finding]) -> str:
    first, *others = alike
    if not others:
        return str(first)
    names = some_of((each.tensor for each in alike), NAMED)
    return f"{len(alike):,} {_noun(first.tensor)} {first.shared}: {names}"


def _noun(tensor: str) -> str:
    """Several like this one."""
    if tensor.endswith("bias"):
        return "biases"
    return "weights" if tensor.endswith("weight") else "tensors"


# The modules of a checkpoint as a tree: every module with the sum of what it holds.

DEEPEST = 64
"""Modules within each other that have a row each; what lies deeper is one name with dots."""
NAMELESS = "(no name)"
"""Stands for a part of a name that is empty, as in "layers..weight"."""


@dataclass(frozen=True)
class Branch:
    """One row of the tree: a module, or a tensor."""

    path: str
    """A tensor's name, which may be empty; a module may have the same."""
    depth: int
    n_parameters: int
    tensor: Stored | None = None
    """None for a module."""
    name: str = NAMELESS
    """The last part of the path."""


def module_tree(tensors: Iterable[Stored], buffers: Set[str] = frozenset()) -> list[Branch]:
    """Modules and tensors in the order of their first tensor, children below their parent.

    buffers: names of saved tensors that are no parameters (a batch norm's running statistics):
    they are listed and count as nothing.
    """
    top = _Module("", -1)
    for each in tensors:
        n, above = 0 if each.name in buffers else each.n_values, top
        *modules, last = each.name.split(".", DEEPEST)
        for part in modules:
            above = above.inner(part)
            above.n_parameters += n
        above.parts[last, False] = Branch(each.name, len(modules), n, each, last or NAMELESS)
    return list(_below(top))


@dataclass
class _Module:
    """A part of a name below which there are others."""

    path: str
    depth: int
    n_parameters: int = 0
    parts: "dict[tuple[str, bool], _Module | Branch]" = field(default_factory=dict)
    """Its parts, by name and whether a module: in one file "a" and "a.b" may both be tensors."""

    def inner(self, part: str) -> "_Module":
        path = f"{self.path}.{part}" if self.depth >= 0 else part
        child = self.parts.setdefault((part, True), _Module(path, self.depth + 1))
        assert isinstance(child, _Module)
        return child


def _below(top: _Module) -> Iterator[Branch]:
    """Depth first."""
    for (name, _), part in top.parts.items():
        if isinstance(part, Branch):
            yield part
        else:
            yield Branch(part.path, part.depth, part.n_parameters, None, name or NAMELESS)
            yield from _below(part)


# Distances of the parameters of two models of one shape, tensor by tensor.


@dataclass(frozen=True)
class Change:
    """One tensor of both models."""

    name: str
    shape: tuple[int, ...]
    distance: float
    """‖B - A‖, Frobenius."""
    relative: float
    """‖B - A‖ / ‖A‖; infinite where A is all 0 and B is not."""
    cosine: float
    """cos(A, B), NaN where one of them is all 0."""


@dataclass(frozen=True)
class Changes:
    """The tensors that both models have, the one that changed most first; and the others."""

    both: tuple[Change, ...]
    only_first: tuple[str, ...]
    only_second: tuple[str, ...]
    other_shapes: tuple[str, ...]
    """Tensors that both have, with other shapes: no distance is between them."""


def changes(first: nn.Module, second: nn.Module) -> Changes:
    """Compare every floating-point parameter and buffer by its name."""
    a, b = (
        {name: tensor for name, tensor in model.state_dict().items() if tensor.is_floating_point()}
        for model in (first, second)
    )
    result = {
        name: _change(name, a[name], b[name])
        for name in a
        if name in b and a[name].shape == b[name].shape
    }
    return Changes(
        both=tuple(sorted(result.values(), key=lambda change: -change.relative)),
        only_first=tuple(name for name in a if name not in b),
        only_second=tuple(name for name in b if name not in a),
        other_shapes=tuple(name for name in a if name in b and name not in result),
    )


def _change(name: str, a: torch.Tensor, b: torch.Tensor) -> Change:
    shape = tuple(a.shape)
    a, b = (tensor.detach().cpu().double().flatten() for tensor in (a, b))
    distance, length, other = float((b - a).norm()), float(a.norm()), float(b.norm())
    relative = distance / length if length else (float("inf") if distance else 0.0)
    cosine = float(a @ b) / (length * other) if length and other else float("nan")
    return Change(name, shape, distance, relative, cosine)


# A checkpoint's tensors beside those that should be there, as its format gives them.
#
# A format whose tensors have our own names calls `our_contents`; what it makes of a configuration
# is built on the "meta" device, where nothing is allocated.

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
