"""Reading an adapter's folder: every tensor finds its place in the model, or is refused by name."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from torch import nn

from transformer.files.foreign_text import clean
from transformer.files.tensor_files import SafetensorsFiles
from transformer.hugging_face.adapters.adapter import Adapter
from transformer.hugging_face.adapters.dora import lengths_fit
from transformer.hugging_face.adapters.lora import PART, shapes
from transformer.hugging_face.adapters.saved_whole import missing, saved_part
from transformer.hugging_face.adapters.settings import (
    Settings,
    few,
    read_settings,
    refusal,
    require_no_link,
)
from transformer.hugging_face.adapters.targets import require_settings

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
