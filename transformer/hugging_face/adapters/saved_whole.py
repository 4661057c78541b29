"""Parts of a model that an adapter's file holds whole: they stand in the place of the model's."""

import re
from collections.abc import Mapping
from typing import Any

from transformer.hugging_face.adapters.settings import Settings

_NAME = re.compile(
    r"(?P<module>.+?)(\.modules_to_save)?(\.default)?(\.base_layer)?\.(?P<part>weight|bias)"
)


def saved_part(settings: Settings, name: str) -> re.Match[str] | None:
    """Return the module and the part of a tensor that the settings name; None of any other."""
    return _NAME.fullmatch(name) if _is_saved(settings, name) else None


def _is_saved(settings: Settings, name: str) -> bool:
    place = name.rpartition(".")[0]
    if place.endswith(".base_layer"):  # peft saves an embedding whole beside its adapter
        return True
    return any(is_within(place, each) for each in settings.saved)


def is_within(place: str, name: str) -> bool:
    """Tell whether a module, or one that it is part of, ends with a name, as peft chooses them.

    >>> is_within("layers.0.input_layernorm", "norm"), is_within("norm.weight", "layers")
    (True, False)
    """
    return f"{name}." in f"{place}."


def missing(settings: Settings, whole: Mapping[str, Any]) -> list[str]:
    """Return the names of the settings that no parameter answers to.

    whole: by the model's names. peft names both heads that there may be: one of them is enough.
    """
    lost = [e for e in settings.saved if not any(is_within(name, e) for name in whole)]
    return [] if whole else lost
