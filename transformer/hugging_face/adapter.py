"""LoRA adapters as Hugging Face's peft saves them: read, checked, and added to a model's weights.

An adapted matrix is W + s BA (Hu et al. 2022, section 4.1), with s = alpha / r, or alpha / sqrt(r)
(Kalajdzievski 2023); with DoRA its rows are then given lengths m of their own (Liu et al. 2024).
"""

import filecmp
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from transformer.checkpoint import CheckpointError
from transformer.files.foreign_text import clean, some_of
from transformer.files.tensor_files import SafetensorsFiles
from transformer.hugging_face.adapter_settings import (
    ADAPTER,
    Settings,
    pattern_of,
    read_settings,
    refusal,
    require_no_link,
)

WEIGHTS, PICKLED = "adapter_model.safetensors", "adapter_model.bin"
PREFIX = "base_model.model."
NAMED = 4
TOKENIZER = (
    *("tokenizer.json", "vocab.json", "merges.txt", "vocab.txt", "tokenizer.model"),
    *("spiece.model", "chat_template.jinja"),
)
"""Files of a tokenizer that may lie beside an adapter."""
_PART = re.compile(
    r"(?P<module>.+?)\.(?P<part>lora_A|lora_B|lora_embedding_A|lora_embedding_B|"
    r"lora_magnitude_vector)(\.default)?(\.weight)?"
)
_WHOLE = re.compile(
    r"(?P<module>.+?)(\.modules_to_save)?(\.default)?(\.base_layer)?\.(?P<part>weight|bias)"
)
_DTYPES = ("F64", "F32", "F16", "BF16")


@dataclass(frozen=True, eq=False)
class Adapter:
    """An adapter whose tensors fit the modules of one model. No value has been read."""

    settings: Settings
    source: SafetensorsFiles
    matrices: Mapping[str, Mapping[str, str]]
    """Module of the model -> part, such as "lora_A" -> the tensor's name in the file."""
    whole: Mapping[str, str]
    """Parameter of the model -> the tensor that stands in its place."""

    @property
    def kind(self) -> str:
        """Name the way in which its matrices change the model's."""
        settings = self.settings
        return "DoRA" if settings.is_dora else "rsLoRA" if settings.is_rslora else "LoRA"

    @property
    def changed(self) -> list[str]:
        """The model's names of the parameters that have other values."""
        return list(dict.fromkeys([*self.whole, *(f"{each}.weight" for each in self.matrices)]))

    def _note(self, base: str) -> str:
        settings, n = self.settings, len(self.matrices)
        ends = sorted({place.rpartition(".")[2] for place in self.matrices})
        whole = f", and {some_of(sorted(self.whole), NAMED)} replaced" if self.whole else ""
        return (
            f"{self.kind} adapter {settings.folder.name}, rank {settings.rank}, alpha "
            f"{settings.alpha:g}: added to {n} {'matrix' if n == 1 else 'matrices'} of {base} "
            f"({some_of(map(clean, ends), NAMED)}){whole}."
        )

    def notes_on(self, base: Path) -> list[str]:
        """Describe what is applied, and what of the adapter's folder is not; a sentence each."""
        theirs = (self.settings.folder / name for name in TOKENIZER)
        other = [each.name for each in theirs if each.is_file() and not _is_same(each, base)]
        return [
            self._note(base.name),
            *(f"{name} of the adapter is another one than the base's: not used." for name in other),
        ]

    def apply(self, model: nn.Module) -> None:
        """Change the model's parameters, in float32. Raises CheckpointError."""
        for name in self.changed:
            weight = model.get_parameter(name).detach()
            _put(model, name, self.value(name, model, weight))

    def value(self, name: str, model: nn.Module, base: Tensor) -> Tensor:
        """Return a changed parameter, in float32. base: its value without the adapter."""
        place = name.rpartition(".")[0]
        if name in self.whole:
            base = self._read(self.whole[name])
        if not name.endswith(".weight") or place not in self.matrices:
            return base
        parts = {part: self._read(tensor) for part, tensor in self.matrices[place].items()}
        turned = is_turned(model.get_submodule(place))
        return adapted(base.float(), parts, self.settings.scale_of(place), turned)

    def _read(self, name: str) -> Tensor:
        (values,) = self.source.read(name)
        if not bool(values.isfinite().all()):
            why = f"{clean(name)} of its adapter holds NaN or infinite values"
            raise refusal(self.settings.folder, why)
        return values.float()


def _is_same(file: Path, folder: Path) -> bool:
    """Tell whether a folder has the same file."""
    other = folder / file.name
    return other.is_file() and filecmp.cmp(file, other, shallow=False)


def adapted(weight: Tensor, parts: Mapping[str, Tensor], scale: float, turned: bool) -> Tensor:
    """Return W + s BA with the rows' lengths of DoRA, where there are some.

    weight: [out, in]; turned: [in, out], as Conv1D and embeddings keep it.
    """
    embeds = "lora_embedding_A" in parts
    a, b = (parts[f"lora_embedding_{x}" if embeds else f"lora_{x}"] for x in "AB")
    rows = (weight.mT if turned else weight) + scale * (b @ a)
    lengths = parts.get("lora_magnitude_vector")
    if lengths is not None:
        rows = rows * (lengths.flatten() / rows.norm(dim=1))[:, None]
    return (rows.mT if turned else rows).contiguous()


def is_turned(module: nn.Module) -> bool:
    """Tell whether a module keeps its matrix as [in, out]."""
    return isinstance(module, nn.Embedding) or type(module).__name__ == "Conv1D"


def read_adapter(folder: Path, model: nn.Module) -> Adapter:
    """Check an adapter against a model, which may be without values. Raises CheckpointError."""
    settings = read_settings(folder)
    require_no_link(folder / WEIGHTS)
    if not (folder / WEIGHTS).is_file():
        pickled = f"; {PICKLED} is not read" if (folder / PICKLED).exists() else ""
        raise refusal(folder, f"the adapter's weights are missing: {WEIGHTS}{pickled}")
    source = SafetensorsFiles(folder, [WEIGHTS])
    whole_numbers = sorted(n for n, each in source.stored.items() if each.dtype not in _DTYPES)
    if whole_numbers:
        why = f"{_few(whole_numbers)} of its adapter not kept as floating-point numbers"
        raise refusal(folder, why)
    modules = dict(model.named_modules())
    matrices: dict[str, dict[str, str]] = {}
    whole: dict[str, str] = {}
    for name in source.stored:
        inside = name.removeprefix(PREFIX)
        if (match := _PART.fullmatch(inside)) is not None:
            parts = matrices.setdefault(_place(settings, model, modules, match["module"]), {})
            key = match["part"]
        elif (match := _WHOLE.fullmatch(inside)) is not None and _is_saved(settings, inside):
            parts, place = whole, _place(settings, model, modules, match["module"])
            key = f"{place}.{match['part']}"
        else:
            raise refusal(folder, f"{clean(name)} of its adapter has no place in a LoRA adapter")
        if key in parts:
            raise refusal(folder, f"{clean(name)} is in its adapter twice")
        parts[key] = name
    adapter = Adapter(settings, source, matrices, whole)
    _require_shapes(adapter, model)
    _require_settings(adapter, model)
    return adapter


def _place(settings: Settings, model: nn.Module, modules: Mapping[str, Any], name: str) -> str:
    """Return the model's name of a module: the adapted class may have had another head, or none."""
    prefix = f"{getattr(model, 'base_model_prefix', '')}."
    names = (name, prefix + name, name.removeprefix(prefix))
    place = next((each for each in names if each in modules), None)
    if place is None:
        why = f"its adapter is of {clean(name)}, which {type(model).__name__} does not have"
        raise refusal(settings.folder, why)
    return place


def _is_saved(settings: Settings, name: str) -> bool:
    """Tell whether a tensor is one that stands in the place of the model's own."""
    place = name.rpartition(".")[0]
    if place.endswith(".base_layer"):  # peft saves an embedding whole beside its adapter
        return True
    return any(f".{each}." in f".{place}." for each in settings.saved)


def _put(model: nn.Module, name: str, values: Tensor) -> None:
    """Set one parameter; a matrix that it was tied to stays as it was."""
    place, _, part = name.rpartition(".")
    setattr(model.get_submodule(place), part, nn.Parameter(values, requires_grad=False))


def _require_shapes(adapter: Adapter, model: nn.Module) -> None:
    settings, stored = adapter.settings, adapter.source.stored
    for place, parts in adapter.matrices.items():
        wanted = _shapes(settings, place, model.get_submodule(place))
        if parts.keys() != wanted.keys():
            strange = sorted(parts.keys() ^ wanted.keys())
            why = f"of its adapter {some_of(strange, NAMED)} of {clean(place)}"
            lacks = "missing" if set(strange) <= wanted.keys() else "not expected"
            raise refusal(settings.folder, f"{why} {_are(strange)} {lacks}")
        for part, name in parts.items():
            shape = stored[name].shape
            is_column = part == "lora_magnitude_vector" and shape == (*wanted[part], 1)
            if shape != wanted[part] and not is_column:
                raise _misfit(settings, name, shape, wanted[part])
    parameters = dict(model.named_parameters(remove_duplicate=False))
    for place, name in adapter.whole.items():
        if place not in parameters:
            raise refusal(settings.folder, f"the model has no {clean(place)}, as its adapter has")
        if stored[name].shape != tuple(parameters[place].shape):
            raise _misfit(settings, name, stored[name].shape, tuple(parameters[place].shape))


def _shapes(settings: Settings, place: str, module: nn.Module) -> dict[str, tuple[int, ...]]:
    """Return the parts that an adapted module has, with their shapes. Raises CheckpointError."""
    rank, is_embedding = settings.rank_of(place), isinstance(module, nn.Embedding)
    if not is_embedding and not _is_linear(module):
        kind = type(module).__name__
        raise refusal(settings.folder, f"its adapter is of {clean(place)}, a {kind}: not followed")
    n_out, n_in = module.get_parameter("weight").shape
    if is_turned(module):
        n_out, n_in = n_in, n_out
    stem = "lora_embedding_" if is_embedding else "lora_"
    shapes: dict[str, tuple[int, ...]] = {f"{stem}A": (rank, n_in), f"{stem}B": (n_out, rank)}
    if settings.is_dora:
        if is_embedding:
            raise refusal(settings.folder, f"DoRA of an embedding, {clean(place)}, is not followed")
        shapes["lora_magnitude_vector"] = (n_out,)
    return shapes


def _is_linear(module: nn.Module) -> bool:
    return isinstance(module, nn.Linear) or type(module).__name__ == "Conv1D"


def _misfit(
    settings: Settings, name: str, shape: tuple[int, ...], wanted: tuple[int, ...]
) -> CheckpointError:
    why = f"{clean(name)} of its adapter is {_size(shape)}, where {_size(wanted)} belongs"
    return refusal(settings.folder, why)


def _require_settings(adapter: Adapter, model: nn.Module) -> None:
    """Raises CheckpointError where the settings are of other matrices than the tensors."""
    settings, names = adapter.settings, set(adapter.matrices)
    if not names:
        raise refusal(settings.folder, f"{WEIGHTS} holds no matrix of a LoRA adapter")
    for title, patterns in (("rank_pattern", settings.ranks), ("alpha_pattern", settings.alphas)):
        unused = [each for each in patterns if not any(pattern_of([each], n) for n in names)]
        if unused:
            fault = f"{ADAPTER}: {title} is of {_few(unused, verb=False)}, which is not adapted"
            raise refusal(settings.folder, fault)
    lost = [each for each in _several_targets(settings) if not any(_ends(n, each) for n in names)]
    if lost:
        raise refusal(settings.folder, f"the matrices {_few(lost, verb=False)} are not there")
    lost = [e for e in settings.saved if not any(f".{e}." in f".{n}" for n in adapter.whole)]
    if lost and not adapter.whole:  # peft names both heads that there may be
        raise refusal(settings.folder, f"modules_to_save {_few(lost, verb=False)} is not there")
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
        raise refusal(settings.folder, f"target_modules does not name {_few(strange, verb=False)}")
    inner = f"{getattr(model, 'base_model_prefix', '')}."
    for name, module in model.named_modules():
        is_inside = name.startswith(inner) or not hasattr(model, inner[:-1])
        if name in names or not is_inside or not (_is_linear(module) or is_turned(module)):
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


def _matches(targets: str | tuple[str, ...], name: str) -> bool:
    if isinstance(targets, str):
        return bool(targets) and re.fullmatch(targets, name) is not None
    return any(_ends(name, each) for each in targets)


def _ends(name: str, target: str) -> bool:
    return name == target or name.endswith(f".{target}")


def _several_targets(settings: Settings) -> Iterable[str]:
    return () if isinstance(settings.targets, str) else settings.targets


def _layer(settings: Settings, name: str) -> int | None:
    """Return the number of the layer that a module is in."""
    patterns = settings.layers_pattern or (r"[^.]+",)
    matches = (re.match(rf".*?\.?(?:{each})\.(\d+)\.", name) for each in patterns)
    return next((int(match[1]) for match in matches if match), None)


def _few(names: Iterable[str], verb: bool = True) -> str:
    several = list(names)
    text = some_of(map(clean, several), NAMED)
    return f"{text} {_are(several)}" if verb else text


def _are(names: list[str]) -> str:
    return "is" if len(names) == 1 else "are"


def _size(shape: tuple[int, ...]) -> str:
    return " × ".join(map(str, shape)) or "a number"
