"""Files that are no weights of PyTorch's, and what opens in their place."""

from collections.abc import Mapping
from pathlib import Path

_OF_TORCH = "open the model in PyTorch's form, with model.safetensors, from where it came from"
_UNPACK = "is an archive: unpack it, and open the folder that comes out"
WAYS: Mapping[tuple[str, ...], str] = {
    (".gguf", ".ggml"): f"is a model of llama.cpp: {_OF_TORCH}",
    (".onnx",): f"is a graph of ONNX: {_OF_TORCH}",
    (".h5", ".keras", ".ckpt.index", ".tflite"): f"is a model of TensorFlow: {_OF_TORCH}",
    (".msgpack",): f"is a model of Flax: {_OF_TORCH}",
    (".zip", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".zst", ".7z", ".rar"): _UNPACK,
    (".incomplete", ".part", ".crdownload", ".aria2", ".download"): (
        "is a download that has not ended: fetch it again"
    ),
}
"""Endings of names -> what such a file is, and what to do."""
ENDINGS = tuple(ending for endings in WAYS for ending in endings)


def way_of(file: Path) -> str:
    """Say what a file is, after its name, and what to do; "": nothing is known of it."""
    name = file.name.lower()
    return next((way for endings, way in WAYS.items() if name.endswith(endings)), "")
