"""Adapters: a matrix with the product of two narrow ones added, with or without lengths of its
rows.
"""

import filecmp
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from transformer.files.foreign_text import clean
from transformer.files.tensor_files import SafetensorsFiles
from transformer.hugging_face.adapters.settings import Settings, few, refusal

# DoRA: the rows of an adapted matrix have lengths of their own (Liu et al. 2024).

LENGTHS = "lora_magnitude_vector"


def with_lengths(rows: Tensor, lengths: Tensor) -> Tensor:
    """Return the rows [out, in] with these lengths, [out] or [out, 1]."""
    return rows * (lengths.flatten() / rows.norm(dim=1))[:, None]


def lengths_fit(part: str, shape: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    """Tell whether a tensor holds the lengths as a column, as peft has saved them, too."""
    return part == LENGTHS and shape == (*wanted, 1)


# LoRA: a matrix with the product of two narrow ones added.
#
# An adapted matrix is W + s BA (Hu et al. 2022, section 4.1), with s = alpha / r, or alpha /
# sqrt(r) (Kalajdzievski 2023).

PART = re.compile(
    r"(?P<module>.+?)\.(?P<part>lora_A|lora_B|lora_embedding_A|lora_embedding_B|"
    rf"{LENGTHS})(\.default)?(\.weight)?"
)
"""The name of a tensor of an adapted module, within the model's."""


def shapes(settings: Settings, place: str, module: nn.Module) -> dict[str, tuple[int, ...]]:
    """Return the parts that an adapted module has, with their shapes. Raises CheckpointError."""
    rank, is_embedding = settings.rank_of(place), isinstance(module, nn.Embedding)
    if not is_embedding and not is_linear(module):
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
        shapes[LENGTHS] = (n_out,)
    return shapes


def is_turned(module: nn.Module) -> bool:
    """Tell whether a module keeps its matrix as [in, out]."""
    return isinstance(module, nn.Embedding) or type(module).__name__ == "Conv1D"


def is_linear(module: nn.Module) -> bool:
    """Tell whether a module multiplies by a matrix."""
    return isinstance(module, nn.Linear) or type(module).__name__ == "Conv1D"


# An adapter that fits a model: what it changes, and the changed values.

TOKENIZER = (
    *("tokenizer.json", "vocab.json", "merges.txt", "vocab.txt", "tokenizer.model"),
    *("spiece.model", "chat_template.jinja"),
)
"""Files of a tokenizer that may lie beside an adapter."""


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
        whole = f", and {few(sorted(self.whole))} replaced" if self.whole else ""
        return (
            f"{self.kind} adapter {settings.folder.name}, rank {settings.rank}, alpha "
            f"{settings.alpha:g}: added to {n} {'matrix' if n == 1 else 'matrices'} of {base} "
            f"({few(ends)}){whole}."
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
        """Change the model's parameters, computed in float32. Raises CheckpointError."""
        for name in self.changed:
            weight = model.get_parameter(name).detach()
            if weight.is_meta:
                why = f"{clean(name)} of its base lies on disk, where nothing can be added to it"
                raise refusal(self.settings.folder, why)
            # Set one parameter; a matrix that it was tied to stays as it was.
            values = self.value(name, model, weight.cpu()).to(weight)
            place, _, part = name.rpartition(".")
            setattr(model.get_submodule(place), part, nn.Parameter(values, requires_grad=False))

    def value(self, name: str, model: nn.Module, base: Tensor) -> Tensor:
        """Return a changed parameter, in float32. base: its value without the adapter."""
        place = name.rpartition(".")[0]
        if name in self.whole:
            base = self._read(self.whole[name])
        if not name.endswith(".weight") or place not in self.matrices:
            return base
        parts = {part: self._read(tensor) for part, tensor in self.matrices[place].items()}
        turned = is_turned(model.get_submodule(place))
        # Return W + s BA with the rows' lengths of DoRA, where there are some.
        weight = base.float()
        scale = self.settings.scale_of(place)
        embeds = "lora_embedding_A" in parts
        a, b = (parts[f"lora_embedding_{x}" if embeds else f"lora_{x}"] for x in "AB")
        rows = (weight.mT if turned else weight) + scale * (b @ a)
        lengths = parts.get(LENGTHS)
        if lengths is not None:
            rows = with_lengths(rows, lengths)
        return (rows.mT if turned else rows).contiguous()

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


# Parts of a model that an adapter's file holds whole: they stand in the place of the model's.

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
