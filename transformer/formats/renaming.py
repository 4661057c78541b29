"""Another code's tensors under other names, by a table; and sentences about what does not fit."""

import re
from collections.abc import Iterable, Mapping

from torch import Tensor

from transformer.files.foreign_text import some_of
from transformer.files.weights import Misfit, Tensors, Weights
from transformer.formats.mappings.mapping import OtherCode
from transformer.inspection.contents import Fit

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
