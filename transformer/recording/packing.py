"""A recording as a file: everything that it holds as named arrays and one text, without a model."""

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from transformer.device import usual_state
from transformer.files.foreign_text import write_whole
from transformer.files.weights_file import LARGEST_ARRAYS
from transformer.inputs import PATH, checks
from transformer.refusal import Refusal, quoted

HEADER = "recording"
"""The name of the text: the recording as JSON, in which {"array": NAME, "type": ...} stands for a
tensor."""
FORMAT = 1
LEFT_OUT = ("trace", "origin")
"""Fields that lean on the model, or its folder; what its matrices prove is in `checked`, kept."""
OTHER_TYPES = {torch.bfloat16: torch.int16}
"""Types that numpy has not -> those whose bits they are."""


class Unsaved(Refusal, ValueError):
    """An error of a recording that cannot be written there."""


@usual_state()
@checks(path=PATH)
def save(recording: Any, path: str | Path) -> Path:
    """Write a recording to a file: see `Recording.save`."""
    file = Path(path)
    if file.suffix != ".npz":
        raise Unsaved(f"A recording is saved as .npz, not as {quoted(file.name)}.")
    packer = _Packer()
    values = {
        "format": FORMAT,
        "recording": packer.plain(recording, ""),
        "checked": packer.plain(recording.checked, "checked"),
    }
    n_bytes = sum(array.nbytes for array in packer.arrays.values())
    if n_bytes > LARGEST_ARRAYS:
        raise Unsaved(
            f"This recording has {n_bytes:,} bytes, and files of at most {LARGEST_ARRAYS:,} are "
            "read again."
        )
    content = io.BytesIO()
    header = {HEADER: np.array(json.dumps(values, separators=(",", ":")))}
    np.savez_compressed(content, allow_pickle=False, **header, **packer.arrays)
    write_whole(file, content.getvalue())
    return file


@dataclass(eq=False)
class _Packer:
    """The arrays of a recording, each by the first path that leads to it."""

    arrays: dict[str, Any] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)
    tensors: list[Tensor] = field(default_factory=list)
    """All of them, so that none of another has an id of one before."""

    def plain(self, value: Any, path: str) -> Any:
        """Return a value as JSON has it."""
        if isinstance(value, Tensor):
            return {"array": self._name(value, path), "type": type_name(value.dtype)}
        if is_dataclass(value):
            names = (each.name for each in fields(value) if each.name not in LEFT_OUT)
            values = {name: self.plain(getattr(value, name), _in(path, name)) for name in names}
            return {"is": type(value).__name__, "of": values}
        if isinstance(value, Mapping):
            return {"pairs": [[key, self.plain(it, _in(path, key))] for key, it in value.items()]}
        if isinstance(value, Sequence) and not isinstance(value, str):
            return [self.plain(each, _in(path, i)) for i, each in enumerate(value)]
        return value

    def _name(self, tensor: Tensor, path: str) -> str:
        name = self.names.setdefault(id(tensor), path)
        if name == path:
            self.tensors.append(tensor)
            here = tensor.detach().cpu().contiguous()
            self.arrays[name] = here.view(OTHER_TYPES.get(here.dtype, here.dtype)).numpy()
        return name


def type_name(dtype: torch.dtype) -> str:
    """Name a type of numbers, as in "float32"."""
    return str(dtype).removeprefix("torch.")


def _in(path: str, name: object) -> str:
    return f"{path}.{name}" if path else str(name)
