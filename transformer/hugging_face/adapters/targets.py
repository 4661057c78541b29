"""The modules that an adapter's settings choose, against those that its tensors are of."""

import re
from collections.abc import Iterable, Sequence

from torch import nn

from transformer.files.foreign_text import clean
from transformer.hugging_face.adapters.lora import is_linear, is_turned
from transformer.hugging_face.adapters.settings import (
    ADAPTER,
    Settings,
    few,
    pattern_of,
    refusal,
)


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
