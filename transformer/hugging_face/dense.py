"""Dense layers of a sentence-embedding folder, which follow its pooling (Sentence Transformers)."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from transformer.checkpoint import CheckpointError
from transformer.files.foreign_text import clean
from transformer.hugging_face.loading.weights import open_weights
from transformer.recording.text_vector import ACTIVATIONS, Dense

WEIGHT, BIAS = "linear.weight", "linear.bias"
INPUT = "sentence_embedding"
"""The name of the vector that a layer reads and gives, where its settings name one."""
LARGEST_SIDE = 2**16
"""Numbers of a vector, at most."""
_PLACES = ("torch.nn.modules.activation.", "torch.nn.modules.linear.", "torch.nn.")


def dense_faults(settings: Mapping[str, Any], width: int | None) -> Iterator[str]:
    """Say why a layer is not computed. width: of the vector that it reads; None: it is unknown."""
    sides = [settings.get("in_features"), settings.get("out_features")]
    if not all(isinstance(n, int) and 0 < n <= LARGEST_SIDE for n in sides):
        yield "Dense names no sizes"
    elif width is None or sides[0] != width:
        yield f"Dense reads {sides[0]:,} numbers, and the vector has {width or 'others'}"
    name = str(settings.get("activation_function"))
    if _activation(name) is None:
        yield f"Dense: the activation {clean(name)} is not known"
    names = [settings.get(f"module_{side}_name") or INPUT for side in ("input", "output")]
    if any(name != INPUT for name in names):
        yield "Dense reads or gives something else than the text's vector"


def read_dense(folder: Path, settings: Mapping[str, Any]) -> Dense:
    """Read a layer without a fault. Raises CheckpointError."""
    shape = (settings["out_features"], settings["in_features"])
    source = open_weights(folder)
    has_bias = settings.get("bias", True) is not False
    wanted = {WEIGHT: shape} | ({BIAS: shape[:1]} if has_bias else {})
    for name, expected in wanted.items():
        stored = source.stored.get(name)
        if stored is None or tuple(stored.shape) != expected:
            raise CheckpointError(f"{folder.name}: it has no {name} of shape {list(expected)}.")
    values = [tensor.float() for tensor in source.read(*wanted)]
    if not all(bool(tensor.isfinite().all()) for tensor in values):
        raise CheckpointError(f"{folder.name}: it holds NaN or infinite values.")
    activation = _activation(str(settings["activation_function"]))
    assert activation is not None
    return Dense(values[0], values[1] if has_bias else None, activation)


def _activation(name: str) -> str | None:
    """Return a name of ACTIVATIONS for a class of torch's, by its whole name."""
    place = next((each for each in _PLACES if name.startswith(each)), "")
    return name.removeprefix(place) if place and name.removeprefix(place) in ACTIVATIONS else None
