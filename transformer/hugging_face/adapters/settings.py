"""The settings of a LoRA adapter, `adapter_config.json`: what is followed, the rest is refused."""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transformer.checkpoint import CheckpointError
from transformer.files.foreign_file import read_json
from transformer.files.foreign_text import clean, some_of

# The settings of a LoRA adapter, `adapter_config.json`: what is followed, the rest refused.

ADAPTER = "adapter_config.json"
LARGEST_RANK = 2**16
_WITHOUT_EFFECT = frozenset(
    {
        *("auto_mapping", "base_model_name_or_path", "fan_in_fan_out", "inference_mode"),
        *(
            "eva_config",
            "lora_dropout",
            "megatron_core",
            "peft_version",
            "qalora_group_size",
            "revision",
        ),
        *("runtime_config", "task_type"),
    }
)
"""Settings that no number of the adapted model depends on; the module tells `fan_in_fan_out`."""
_FOLLOWED = frozenset(
    {
        *("peft_type", "r", "lora_alpha", "use_rslora", "use_dora", "rank_pattern"),
        *("alpha_pattern", "target_modules", "exclude_modules", "modules_to_save"),
        *("layers_to_transform", "layers_pattern"),
    }
)
_NEUTRAL: Mapping[str, tuple[object, ...]] = {
    "bias": ("none",),
    "init_lora_weights": (True, False, "gaussian", "orthogonal", "eva"),
}
"""Values that change nothing, of settings that are refused else: how B and A began is no matter,
unless the base's own weights were changed for it.
"""


@dataclass(frozen=True)
class Settings:
    """The settings of one adapter, as `adapter_config.json` has them."""

    folder: Path
    base: str
    """The name or path of the model that it was trained on; empty: it names none."""
    revision: str
    """The version of its base on the hub; empty: the newest."""
    rank: int
    alpha: float
    is_rslora: bool
    """True: scaled by alpha / sqrt(rank), else by alpha / rank."""
    is_dora: bool
    ranks: Mapping[str, int]
    """Pattern -> rank, of the modules whose rank is another one."""
    alphas: Mapping[str, float]
    targets: str | tuple[str, ...]
    """A pattern of whole names, "all-linear", or names that a module's name ends with."""
    excluded: str | tuple[str, ...]
    saved: tuple[str, ...]
    """The modules that were trained whole."""
    layers: frozenset[int] | None
    """The numbers of the layers that are adapted; None: all."""
    layers_pattern: tuple[str, ...]

    def rank_of(self, name: str) -> int:
        return self.ranks.get(pattern_of(self.ranks, name) or "", self.rank)

    def scale_of(self, name: str) -> float:
        """Return the factor of BA for a module."""
        rank = self.rank_of(name)
        alpha = self.alphas.get(pattern_of(self.alphas, name) or "", self.alpha)
        return alpha / (math.sqrt(rank) if self.is_rslora else rank)


def read_settings(folder: Path) -> Settings:
    """Read them. Raises CheckpointError for what is not LoRA, and for settings not followed."""
    file = folder / ADAPTER
    require_no_link(file)
    values = read_json(file)
    if not isinstance(values, dict):
        raise refusal(folder, f"{ADAPTER} holds no settings")
    kind = values.get("peft_type")
    if kind is None:
        raise refusal(folder, f"{ADAPTER} is not peft's: it names no peft_type; only LoRA opens")
    if kind != "LORA":
        raise refusal(folder, f"an adapter of the kind {clean(kind, 40)}: only LoRA opens")
    strange = sorted(
        f"{name} {value}" if isinstance(value, str) else name
        for name, value in values.items()
        if not _is_neutral(name, value)
    )
    if strange:
        raise refusal(folder, f"{ADAPTER} sets {few(strange)}, not followed")
    return Settings(
        folder=folder,
        base=_text(folder, values, "base_model_name_or_path"),
        revision=_text(folder, values, "revision"),
        rank=_rank(folder, "r", values.get("r")),
        alpha=_alpha(folder, "lora_alpha", values.get("lora_alpha")),
        is_rslora=_truth(folder, values, "use_rslora"),
        is_dora=_truth(folder, values, "use_dora"),
        ranks={k: _rank(folder, k, v) for k, v in _patterns(folder, values, "rank_pattern")},
        alphas={k: _alpha(folder, k, v) for k, v in _patterns(folder, values, "alpha_pattern")},
        targets=_names(folder, values, "target_modules"),
        excluded=_names(folder, values, "exclude_modules"),
        saved=_several(_names(folder, values, "modules_to_save")),
        layers=_layers(folder, values.get("layers_to_transform")),
        layers_pattern=_several(_names(folder, values, "layers_pattern")),
    )


def pattern_of(patterns: Iterable[str], name: str) -> str | None:
    """Return the first pattern that a module's name ends with."""
    return next((each for each in patterns if re.match(rf"(.*\.)?({each})$", name)), None)


def refusal(folder: Path, why: str) -> CheckpointError:
    """Make the error of an adapter. why: a clause."""
    return CheckpointError(f"{folder.name}: {why}.")


def few(names: Iterable[str]) -> str:
    """List names of a stranger's file, the first four."""
    return some_of(map(clean, names), 4)


def require_no_link(file: Path) -> None:
    """Raises CheckpointError for a link: it may lead out of the folders that may be opened."""
    if file.is_symlink() and not _is_of_hub(file):
        raise refusal(file.parent, f"{file.name} is a link, which is not followed")


def _is_of_hub(file: Path) -> bool:
    """Tell whether a link is one of the hub's cache, whose snapshots lead to blobs/."""
    snapshots = file.absolute().parent.parent
    blobs = snapshots.parent.resolve() / "blobs"
    return snapshots.name == "snapshots" and file.resolve().parent == blobs


def _is_neutral(name: str, value: Any) -> bool:
    if name in _NEUTRAL:
        return value in _NEUTRAL[name]
    return name in _WITHOUT_EFFECT | _FOLLOWED or not value


def _text(folder: Path, values: Mapping[str, Any], name: str) -> str:
    value = values.get(name) or ""
    if not isinstance(value, str):
        raise refusal(folder, f"{ADAPTER}: {name} is not a text")
    return value


def _truth(folder: Path, values: Mapping[str, Any], name: str) -> bool:
    value = values.get(name) or False
    if not isinstance(value, bool):
        raise refusal(folder, f"{ADAPTER}: {name} is neither true nor false")
    return value


def _rank(folder: Path, name: str, value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= LARGEST_RANK:
        raise refusal(folder, f"{ADAPTER}: the rank {clean(name, 60)} is {clean(value, 40)}")
    return value


def _alpha(folder: Path, name: str, value: Any) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not abs(value) < 1e9:  # of NaN, too
        raise refusal(folder, f"{ADAPTER}: {clean(name, 60)} is {clean(value, 40)}, no factor")
    return float(value)


def _patterns(folder: Path, values: Mapping[str, Any], name: str) -> list[tuple[str, Any]]:
    value = values.get(name) or {}
    if not isinstance(value, dict):
        raise refusal(folder, f"{ADAPTER}: {name} is not a table")
    for pattern in value:
        _require_pattern(folder, name, pattern)
    return list(value.items())


def _names(folder: Path, values: Mapping[str, Any], name: str) -> str | tuple[str, ...]:
    value = values.get(name) or ()
    if isinstance(value, str):
        _require_pattern(folder, name, value)
        return value
    if not isinstance(value, list | tuple) or not all(isinstance(each, str) for each in value):
        raise refusal(folder, f"{ADAPTER}: {name} is not a list of names")
    return tuple(value)


def _several(names: str | tuple[str, ...]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else names


def _require_pattern(folder: Path, name: str, pattern: str) -> None:
    """Raises CheckpointError for a pattern that might take for ever: one repetition of another."""
    try:
        re.compile(pattern)
    except re.error as error:
        raise refusal(folder, f"{ADAPTER}: {name} is not a pattern: {error}") from error
    if len(pattern) > 1_000 or re.search(r"[*+}]\)+[*+{]", pattern):
        raise refusal(folder, f"{ADAPTER}: {name} is a pattern that may take too long")


def _layers(folder: Path, value: Any) -> frozenset[int] | None:
    if value is None or value == []:
        return None
    several = value if isinstance(value, list) else [value]
    if any(not isinstance(each, int) or isinstance(each, bool) or each < 0 for each in several):
        raise refusal(folder, f"{ADAPTER}: layers_to_transform is not a list of layers")
    return frozenset(several)


# One path that spells a base with its adapter.

SEPARATOR = "::"
"""Between a base and its adapter, in one path: it needs no quotes in a shell or an address."""


def adapted_path(base: Path, folder: Path) -> Path:
    """Spell a base with the adapter of a folder as one path."""
    return Path(f"{base}{SEPARATOR}{folder}")


def parts_of(path: Path) -> tuple[Path, Path] | None:
    """Return the base and the adapter's folder that one path spells; None where it spells none.

    >>> parts_of(Path("models/base::adapters/mine")) == (Path("models/base"), Path("adapters/mine"))
    True
    """
    base, _, folder = str(path).rpartition(SEPARATOR)
    return (Path(base), Path(folder)) if base and folder and not _exists(path) else None


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # its name is too long
        return False
