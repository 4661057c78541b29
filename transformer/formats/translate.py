"""A codebase's tensors under our names, and the ModelConfig that they fit."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from transformer.checkpoint import CONFIG
from transformer.config import ConfigError, ModelConfig, Sinusoids, Tied
from transformer.discover import discover
from transformer.files.foreign_text import clean, some_of
from transformer.files.tensors import OF_WEIGHTS, without_common
from transformer.files.weights import Misfit, Tensors, Weights
from transformer.formats.mappings.mapping import CodeMapping, OtherCode, same
from transformer.inspection.tensor_statistics import Expected, Fit, compare, expect
from transformer.layers.embedding import sinusoids, sinusoids_in_halves
from transformer.models.family import Family

# Another code's tensors under other names, by a table; and sentences about what does not fit.

NAMED = 6
"""The most tensors that a sentence names."""
ENDING = r"(?P<ending>\.weight|\.bias)?"


def renamed(
    weights: Weights, names: Mapping[str, str | tuple[str, ...]], mapping: OtherCode
) -> tuple[dict[str, tuple[Tensor, str]], list[str]]:
    """Our name -> a tensor, and what they call it; and their names that have none here."""
    table = [(_pattern(theirs), ours) for theirs, ours in names.items()]
    ours: dict[str, tuple[Tensor, str]] = {}
    unexpected = []
    for name, tensor in weights.tensors.items():
        targets = _targets(name, table, mapping.first_layer)
        if targets:
            parts = _parts(tensor, len(targets), name)
            ours |= {each: (part, name) for each, part in zip(targets, parts, strict=True)}
        elif not any(re.fullmatch(pattern, name) for pattern in mapping.ignored):
            unexpected.append(name)
    return ours, unexpected


def _pattern(theirs: str) -> re.Pattern[str]:
    return re.compile(re.escape(theirs).replace(r"\*", r"(?P<layer>\d{1,4})") + ENDING)


def _targets(
    name: str, table: Iterable[tuple[re.Pattern[str], str | tuple[str, ...]]], first_layer: int
) -> list[str]:
    """List our names of one of their tensors; none where no row of the table names it."""
    for pattern, ours in table:
        match = pattern.fullmatch(name)
        if match is None:
            continue
        layer = str(int(match["layer"]) - first_layer) if "layer" in pattern.groupindex else ""
        ending = match["ending"] or ""  # the row names the module, this is its weight or bias
        every = (ours,) if isinstance(ours, str) else ours
        return [each.replace("*", layer) + ending for each in every]
    return []


def _parts(tensor: Tensor, n: int, name: str) -> tuple[Tensor, ...]:
    if n == 1:
        return (tensor,)
    if not tensor.dim() or tensor.size(0) % n:
        raise Misfit(f"has {name} of {list(tensor.shape)}, which is not {n} equal parts")
    return tensor.chunk(n)


def their_name(name: str, names: Mapping[str, str | tuple[str, ...]], first_layer: int) -> str:
    """Return their name of one of our tensors, for a sentence; ours where that is not known."""
    for theirs, ours in names.items():
        for each in (ours,) if isinstance(ours, str) else ours:
            pattern = re.escape(each).replace(r"\*", r"(?P<layer>\d+)")
            match = re.fullmatch(pattern + ENDING, name)
            if match:
                layer = match.groupdict().get("layer")
                number = "" if layer is None else str(int(layer) + first_layer)
                return theirs.replace("*", number) + (match["ending"] or "")
    return name


def require_all(unexpected: list[str], missing: list[str]) -> None:
    """Neither more tensors than a model has nor fewer. Raises Misfit, which names some."""
    problems = []
    if unexpected:
        problems.append(f"has unexpected tensors: {some_of(unexpected, NAMED)}")
    if missing:
        problems.append(f"is missing tensors: {some_of(dict.fromkeys(missing), NAMED)}")
    if problems:
        raise Misfit(", and ".join(problems))


def require_shapes(fit: Fit, tensors: Tensors, theirs: Mapping[str, str]) -> None:
    """Raises Misfit for the first tensor whose shape does not fit."""
    for name, shape in fit.misfits.items():
        raise Misfit(
            f"has {theirs[name]} of {list(tensors[name].shape)}, where the others ask for "
            f"{list(shape)} ({name})"
        )


# A codebase's tensors under our names, and the ModelConfig that they fit.

NEAR = 1e-2
"""The most that saved sinusoids may be off from ours: single precision, at position 5,000."""


@dataclass(frozen=True, eq=False)
class Translated:
    """A model of ours that computes what theirs did."""

    config: ModelConfig
    family: Family
    tensors: Tensors
    """Everything in the model's state dict, as it was saved."""
    theirs: Mapping[str, str]
    """Our name -> theirs."""
    table: Tensor | None
    """The sinusoids as they were saved, [max_len, D]: ours differ in the last digits."""

    def weights(self) -> Tensors:
        """In single precision. Raises Misfit where something is no number."""
        return {name: as_floats(t, self.theirs[name]) for name, t in self.tensors.items()}


OURS = re.compile(r"(encoder|decoder)\.layers\.\d+\.self_attention\.query")
"""Names that say that nothing has to be translated."""


def mappings() -> Mapping[str, OtherCode]:
    """name -> mapping, for every known codebase."""
    return discover("transformer.formats.mappings", "MAPPING")


def recognise(weights: Weights) -> OtherCode:
    """The codebase that names its tensors like this. Raises Misfit."""
    return recognised(weights)[0]


class UnknownCode(Misfit):
    """Tensors that no codebase has."""


def recognised(weights: Weights) -> tuple[OtherCode, Weights]:
    """The codebase, and the tensors without what somebody's own class put before every name.

    Raises Misfit.
    """
    names = {name: name for name in weights.tensors}
    while names:
        inside = weights.having({name: weights.tensors[was] for name, was in names.items()})
        for mapping in mappings().values():
            if mapping.tells(inside):
                return mapping, inside
        names = without_common(names)
    if any(OURS.match(name) for name in weights.tensors):
        raise Misfit(f"holds weights of our own: they open as a folder, with {CONFIG} beside them")
    raise UnknownCode(
        "has tensors of a model that is not known here, such as "
        f"{some_of(weights.tensors, NAMED)}: docs/formats.md lists the code whose state dicts "
        f"open, and a model of Hugging Face's opens with its {CONFIG} beside them. Inspect shows "
        "its tensors; any other model runs from your own script, with explore (docs/own_model.md) "
        "or record(module, inputs) (docs/models.md)"
    )


def translate(mapping: CodeMapping, weights: Weights) -> Translated:
    """The model's tensors under our names. Raises Misfit, which names what does not map."""
    with whole():
        return _translated(mapping, weights)


@contextmanager
def whole() -> Iterator[None]:
    """Whatever a mapping raises over tensors and settings that make no sense, as a Misfit."""
    try:
        yield
    except (ArithmeticError, LookupError, RuntimeError, TypeError, ValueError) as error:
        reason = clean(str(error).strip().partition("\n")[0], 120).rstrip(". ")
        raise Misfit(f"holds tensors that do not go together: {reason}") from error


def _translated(mapping: CodeMapping, weights: Weights) -> Translated:
    prepared = mapping.prepare(weights)
    weights, tied = _tie(mapping, prepared)
    config, weights, table = _positions(mapping, _configured(mapping, prepared, tied), weights)
    families: dict[str, Family] = discover("transformer.models", "FAMILY")
    family = families[config.family]
    names = _names(mapping, config)
    ours, unexpected = renamed(weights, names, mapping)
    tensors = {name: tensor for name, (tensor, _) in ours.items()}
    theirs = {name: called for name, (_, called) in ours.items()}
    fit = compare(tensors, _expected(config, family, len(weights.tensors)))
    missing = [their_name(name, names, mapping.first_layer) for name in sorted(fit.missing)]
    require_all([*unexpected, *(theirs[name] for name in sorted(fit.unexpected))], missing)
    require_shapes(fit, tensors, theirs)
    return Translated(config, family, tensors, theirs, table)


def _expected(config: ModelConfig, family: Family, n_stored: int) -> Expected:
    try:
        return expect(config, family, n_stored)
    except ConfigError as error:
        raise Misfit(f"describes no model: {error}".removesuffix(".")) from error


def _configured(mapping: CodeMapping, weights: Weights, tied: Tied) -> ModelConfig:
    """Sizes from the shapes; choices that no shape shows from what the sidecar says."""
    try:
        output = mapping.embeddings.output
        has_bias = tied != "none" and output is not None and weights.has(_bias(output))
        config = replace(mapping.configure(weights), tied="none", output_bias=has_bias)
        if config.source_vocab_size == config.vocab_size:
            config = replace(config, source_vocab_size=None)
        return replace(config, tied=tied, **weights.choices)
    except (ConfigError, TypeError) as error:
        raise Misfit(f"describes no model: {error}".removesuffix(".")) from error


def _tie(mapping: CodeMapping, weights: Weights) -> tuple[Weights, Tied]:
    """Leave out matrices that are saved again under another name."""
    names, tensors = mapping.embeddings, dict(weights.tensors)
    if names.output is None:
        return weights, "none"
    target, output = tensors.get(names.target), tensors.get(names.output)
    source = tensors.get(names.source) if names.source else None
    if target is None or output is None or not same(output, target):
        if output is not None:
            tensors.setdefault(_bias(names.output), torch.zeros(output.shape[:1]))
        return weights.having(tensors), "none"
    del tensors[names.output]
    if names.source and source is not None and same(source, target):
        del tensors[names.source]
        return weights.having(tensors), "all"
    return weights.having(tensors), "output"


def _bias(weight: str) -> str:
    return f"{weight.removesuffix('weight')}bias"


def _positions(
    mapping: CodeMapping, config: ModelConfig, weights: Weights
) -> tuple[ModelConfig, Weights, Tensor | None]:
    """A saved table is what was trained with: sinusoids of a layout we know, or any other."""
    tables = [weights.tensors[name] for name in mapping.tables if name in weights.tensors]
    if not tables:
        return config, weights, None
    tensors = {name: t for name, t in weights.tensors.items() if name not in mapping.tables}
    flat = [table.reshape(-1, table.size(-1)) for table in tables if table.dim()]
    if not flat or flat[0].size(1) != config.d_model or not flat[0].size(0):
        raise Misfit(f"has {mapping.tables[0]} of {list(tables[0].shape)}: no table of positions")
    if not all(same(flat[0], each) for each in flat):
        raise Misfit(f"has different tables of positions in {' and '.join(mapping.tables)}")
    table = as_floats(flat[0], mapping.tables[0])
    config = replace(config, max_len=table.size(0))
    layouts: tuple[tuple[Sinusoids, Callable[[int, int], Tensor]], ...] = (
        ("interleaved", sinusoids),
        ("halves", sinusoids_in_halves),
    )
    for layout, make in layouts:
        if config.d_model % 2 or config.d_model < 4:
            break
        if float((make(*table.shape) - table).abs().amax()) < NEAR:
            config = replace(config, positions="sinusoidal", sinusoids=layout)
            return config, weights.having(tensors), table
    return replace(config, positions="learned"), weights.having({**tensors, TABLE: table}), None


TABLE = "positions.table"


def _names(mapping: CodeMapping, config: ModelConfig) -> dict[str, str | tuple[str, ...]]:
    """Their name -> ours, with those of embeddings and tables."""
    is_tied = config.tied != "none"
    embeddings, names = mapping.embeddings, dict(mapping.names)
    names[embeddings.target], names[TABLE] = "embedding.weight", TABLE
    if embeddings.source:
        names[embeddings.source] = "source_embedding.weight"
    if embeddings.output:
        names[embeddings.output] = "output.weight"
        names[_bias(embeddings.output)] = "output_bias" if is_tied else "output.bias"
    return names


def as_floats(tensor: Tensor, theirs: str) -> Tensor:
    """In single precision. Raises Misfit where something is no number."""
    if tensor.dtype not in OF_WEIGHTS:
        raise Misfit(f"has {theirs} of type {str(tensor.dtype).removeprefix('torch.')}: no weights")
    values = tensor.float()
    if not bool(values.isfinite().all()):
        raise Misfit(f"holds NaN or infinite values in {theirs}")
    return values
