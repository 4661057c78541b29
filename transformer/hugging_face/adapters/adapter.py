"""An adapter that fits a model: what it changes, and the changed values."""

import filecmp
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from torch import Tensor, nn

from transformer.files.foreign_text import clean
from transformer.files.tensor_files import SafetensorsFiles
from transformer.hugging_face.adapters.lora import adapted, is_turned
from transformer.hugging_face.adapters.settings import Settings, few, refusal

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
            _put(model, name, self.value(name, model, weight.cpu()).to(weight))

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


def _put(model: nn.Module, name: str, values: Tensor) -> None:
    """Set one parameter; a matrix that it was tied to stays as it was."""
    place, _, part = name.rpartition(".")
    setattr(model.get_submodule(place), part, nn.Parameter(values, requires_grad=False))
