"""Reading an adapter's folder: every tensor finds its place in the model, or is named."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from transformer.files.foreign_text import clean
from transformer.files.tensor_files import Later, SafetensorsFiles
from transformer.files.tensors import Stored, TensorSource, Unread
from transformer.hugging_face.adapters.lora import (
    PART,
    Adapter,
    is_linear,
    is_turned,
    lengths_fit,
    missing,
    saved_part,
    shapes,
)
from transformer.hugging_face.adapters.settings import (
    ADAPTER,
    Settings,
    few,
    pattern_of,
    read_settings,
    refusal,
    require_no_link,
)
from transformer.hugging_face.opening import Examined

# The modules that an adapter's settings choose, against those that its tensors are of.


def require_settings(settings: Settings, names: set[str], model: nn.Module) -> None:
    """Raises CheckpointError where the settings are of other matrices than the tensors.

    names: the modules of the model that have tensors of the adapter.
    """
    for title, patterns in (("rank_pattern", settings.ranks), ("alpha_pattern", settings.alphas)):
        unused = [each for each in patterns if not any(pattern_of([each], n) for n in names)]
        if unused:
            fault = f"{ADAPTER}: {title} is of {few(unused)}, which is not adapted"
            raise refusal(settings.folder, fault)
    lost = [each for each in _several(settings) if not any(_ends(n, each) for n in names)]
    lost = [each for each in lost if not _matches(settings.excluded, each)]  # peft lists all
    if lost:
        raise refusal(settings.folder, f"the matrices {few(lost)} are not there")
    if settings.layers is not None:
        layers = {_layer(settings, name) for name in names}
        if layers != settings.layers:
            fault = "layers_to_transform names other layers than the adapter has"
            raise refusal(settings.folder, f"{ADAPTER}: {fault}")
    if settings.targets != "all-linear":
        _require_targets(settings, names, model)


def _require_targets(settings: Settings, names: set[str], model: nn.Module) -> None:
    """Compare the adapted modules with those that the settings choose, within the base model."""
    strange = sorted(name for name in names if not _is_target(settings, model, name))
    if strange:
        raise refusal(settings.folder, f"target_modules does not name {few(strange)}")
    inner = f"{getattr(model, 'base_model_prefix', '')}."
    for name, module in model.named_modules():
        is_inside = name.startswith(inner) or not hasattr(model, inner[:-1])
        if name in names or not is_inside or not (is_linear(module) or is_turned(module)):
            continue
        if _is_target(settings, model, name):
            raise refusal(settings.folder, f"the adapter of {clean(name)} is missing")


def _is_target(settings: Settings, model: nn.Module, name: str) -> bool:
    """Tell whether the settings choose a module, whichever head the adapted class had."""
    prefix = f"{getattr(model, 'base_model_prefix', '')}."
    spellings = {name, name.removeprefix(prefix), prefix + name}
    if any(_matches(settings.excluded, each) for each in spellings):
        return False
    if settings.layers is not None and _layer(settings, name) not in settings.layers:
        return False
    return any(_matches(settings.targets, each) for each in spellings)


def _matches(targets: str | Sequence[str], name: str) -> bool:
    if isinstance(targets, str):
        return bool(targets) and re.fullmatch(targets, name) is not None
    return any(_ends(name, each) for each in targets)


def _ends(name: str, target: str) -> bool:
    return name == target or name.endswith(f".{target}")


def _several(settings: Settings) -> Iterable[str]:
    return () if isinstance(settings.targets, str) else settings.targets


def _layer(settings: Settings, name: str) -> int | None:
    """Return the number of the layer that a module is in."""
    patterns = settings.layers_pattern or (r"[^.]+",)
    matches = (re.match(rf".*?\.?(?:{each})\.(\d+)\.", name) for each in patterns)
    return next((int(match[1]) for match in matches if match), None)


# Reading an adapter's folder: every tensor finds its place in the model, or is refused by name.

WEIGHTS, PICKLED = "adapter_model.safetensors", "adapter_model.bin"
PREFIX = "base_model.model."
_DTYPES = ("F64", "F32", "F16", "BF16")


def read_adapter(folder: Path, model: nn.Module) -> Adapter:
    """Check an adapter against a model, which may be without values. Raises CheckpointError."""
    settings, source = read_settings(folder), _weights(folder)
    modules = dict(model.named_modules())
    matrices: dict[str, dict[str, str]] = {}
    whole: dict[str, str] = {}
    for name in source.stored:
        inside = name.removeprefix(PREFIX)
        if (match := PART.fullmatch(inside)) is not None:
            parts = matrices.setdefault(_place(settings, model, modules, match["module"]), {})
            key = match["part"]
        elif (match := saved_part(settings, inside)) is not None:
            parts, place = whole, _place(settings, model, modules, match["module"])
            key = f"{place}.{match['part']}"
        else:
            raise refusal(folder, f"{clean(name)} of its adapter has no place in a LoRA adapter")
        if key in parts:
            raise refusal(folder, f"{clean(name)} is in its adapter twice")
        parts[key] = name
    adapter = Adapter(settings, source, matrices, whole)
    _require_shapes(adapter, model)
    if not matrices:
        raise refusal(folder, f"{WEIGHTS} holds no matrix of a LoRA adapter")
    if lost := missing(settings, whole):
        raise refusal(folder, f"modules_to_save {few(lost)} is not there")
    require_settings(settings, set(matrices), model)
    return adapter


def _weights(folder: Path) -> SafetensorsFiles:
    """Open the file of its tensors, whose values are not read yet. Raises CheckpointError."""
    require_no_link(folder / WEIGHTS)
    if not (folder / WEIGHTS).is_file():
        pickled = f"; {PICKLED} is not read" if (folder / PICKLED).exists() else ""
        raise refusal(folder, f"the adapter's weights are missing: {WEIGHTS}{pickled}")
    source = SafetensorsFiles(folder, [WEIGHTS])
    strange = sorted(name for name, each in source.stored.items() if each.dtype not in _DTYPES)
    if strange:
        why = f"{few(strange)} of its adapter {_are(strange)} not kept as floating-point numbers"
        raise refusal(folder, why)
    return source


def _place(settings: Settings, model: nn.Module, modules: Mapping[str, Any], name: str) -> str:
    """Return the model's name of a module: the adapted class may have had another head, or none."""
    prefix = f"{getattr(model, 'base_model_prefix', '')}."
    names = (name, prefix + name, name.removeprefix(prefix))
    place = next((each for each in names if each in modules), None)
    if place is None:
        why = f"its adapter is of {clean(name)}, which {type(model).__name__} does not have"
        raise refusal(settings.folder, why)
    return place


def _require_shapes(adapter: Adapter, model: nn.Module) -> None:
    settings = adapter.settings
    for place, parts in adapter.matrices.items():
        wanted = shapes(settings, place, model.get_submodule(place))
        _require_parts(settings, place, parts.keys(), wanted.keys())
        for part, name in parts.items():
            shape = adapter.source.stored[name].shape
            if not lengths_fit(part, shape, wanted[part]):
                _require_shape(settings, name, shape, wanted[part])
    parameters = dict(model.named_parameters(remove_duplicate=False))
    for place, name in adapter.whole.items():
        if place not in parameters:
            raise refusal(settings.folder, f"the model has no {clean(place)}, as its adapter has")
        shape = adapter.source.stored[name].shape
        _require_shape(settings, name, shape, tuple(parameters[place].shape))


def _require_parts(
    settings: Settings, place: str, parts: Iterable[str], wanted: Iterable[str]
) -> None:
    strange = sorted({*parts} ^ {*wanted})
    if strange:
        lacks = "missing" if {*strange} <= {*wanted} else "not expected"
        why = f"of its adapter {few(strange)} of {clean(place)} {_are(strange)} {lacks}"
        raise refusal(settings.folder, why)


def _require_shape(
    settings: Settings, name: str, shape: tuple[int, ...], wanted: tuple[int, ...]
) -> None:
    if shape != wanted:
        why = f"{clean(name)} of its adapter is {_size(shape)}, where {_size(wanted)} belongs"
        raise refusal(settings.folder, why)


def _are(names: list[str]) -> str:
    return "is" if len(names) == 1 else "are"


def _size(shape: tuple[int, ...]) -> str:
    return " × ".join(map(str, shape)) or "a number"


# The tensors of a model with its adapter applied, for inspecting: each is computed when read.


class AdaptedTensors:
    """The tensors of a base, some of which an adapter changes."""

    def __init__(
        self,
        source: TensorSource,
        adapter: Adapter,
        model: Any,
        names: Mapping[str, str],
        changed: Mapping[str, str],
    ) -> None:
        """names: name -> the base's. changed: name -> the model's, of those with other values."""
        self._source, self._adapter, self._model = source, adapter, model
        self._names, self._changed = names, changed
        self.faults, self.notes = source.faults, source.notes
        stored = {name: replace(source.stored[was], name=name) for name, was in names.items()}
        computed = {name: replace(stored[name], dtype="F32") for name in changed}
        self.stored: Mapping[str, Stored] = {**stored, **computed}

    def read(self, *names: str) -> Iterator[Tensor]:
        """See TensorSource."""
        values = self._source.read(*(self._names[name] for name in names))
        for name, each in zip(names, values, strict=True):
            place = self._changed.get(name)
            yield each if place is None else self._adapter.value(place, self._model, each)

    def _value(self, name: str) -> Tensor:
        return next(self.read(name))

    @contextmanager
    def unread(self) -> Iterator[Mapping[str, Unread]]:
        """See TensorSource."""
        yield {name: Later(partial(self._value, name)) for name in self._names}


def with_adapter(examined: Examined, adapter: Adapter) -> Examined:
    """The tensors as the adapter leaves them: what it changes alone is not tied any more."""
    skeleton, fit = examined.skeleton, examined.skeleton.fit
    changed, users = set(adapter.changed), skeleton.users
    stored_as: dict[str, str] = {}
    names: dict[str, str] = {}
    for was in fit.order:
        several = users.get(was, [])
        own = [name for name in several if name in changed] if len(several) > 1 else []
        others = [name for name in several if name not in own]
        shared = others[0] if was in own and others else was
        stored_as |= {**dict.fromkeys(others, shared), **{name: name for name in own}}
        names |= dict.fromkeys([shared, *own] if others or not several else own, was)
    values = {stored_as[name]: name for name in adapter.changed if name in stored_as}
    tied = {a: b for a, b in fit.tied.items() if not {a, b} & values.keys()}
    fit = replace(fit, order=list(names), tied=tied)
    return replace(
        examined,
        source=AdaptedTensors(examined.source, adapter, skeleton.model, names, values),
        skeleton=replace(skeleton, fit=fit, stored_as=stored_as),
    )
