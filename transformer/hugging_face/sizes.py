"""Sizes that a folder in Hugging Face's format may say: limits, vocabularies, positions."""

import re
from collections.abc import Iterator, Mapping
from inspect import signature
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from transformer.checkpoint import CONFIG, CheckpointError
from transformer.files.regular_file import require_of_checkpoint
from transformer.files.weights import Misfit
from transformer.hugging_face.failure import LARGEST_READ
from transformer.hugging_face.loading import weights_files

# Sizes that a folder in Hugging Face's format may say, checked before anything is built.

LARGEST = {
    **dict.fromkeys(("num_hidden_layers", "encoder_layers", "decoder_layers"), 1_000),
    **dict.fromkeys(("num_decoder_layers", "num_local_experts", "n_routed_experts"), 1_000),
    **dict.fromkeys(("num_layers", "n_layers", "n_layer"), 1_000),
    "num_labels": 2**20,
    "hidden_size": 2**17,
    "vocab_size": 2**24,
    "max_position_embeddings": 2**24,
    "num_attention_heads": 2**12,
}
"""Sizes beyond these are a mistake or a trap: no model that was ever trained has them."""
LAYERS = tuple(name for name in LARGEST if "layer" in name)
_NEEDED = (
    *(*LAYERS, "vocab_size", "max_position_embeddings", "n_positions", "head_dim", "d_kv"),
    *("hidden_size", "d_model", "n_embd", "dim", "embedding_size"),
    *("num_attention_heads", "encoder_attention_heads", "decoder_attention_heads"),
    *("num_key_value_heads", "n_head", "n_heads", "num_heads"),
    *("intermediate_size", "encoder_ffn_dim", "decoder_ffn_dim", "ffn_dim", "d_ff", "d_inner"),
    *("n_inner", "hidden_dim"),
)
LEAST = {**dict.fromkeys(_NEEDED, 1), "type_vocab_size": 0}
"""The least that a size may be, by the names that families have for it."""
SURE, PER_LAYER = 200, 4
"""Models of more layers than this are built only if the files hold so many tensors for each."""
READ = ("*config.json", "*token*.json", "vocab*", "merges*", "*.model", "*.spm", "*.index.json")
"""The files that the library reads into memory whole."""
LEAST_BYTES = 0.5
"""A parameter takes at least so many in a file, 4 bits; and half of them may be tied."""


def check_files(path: Path) -> None:
    """Nothing that the library would wait for without end, or that would fill the memory."""
    for file in path.iterdir():
        if file.exists() and not (file.is_file() or file.is_dir()):
            raise CheckpointError(f"{path.name}: {file.name} is a pipe or a device, and no file.")
    for file in {file for pattern in READ for file in path.glob(pattern)}:
        if file.is_dir():
            continue
        try:
            require_of_checkpoint(file)
        except Misfit as error:
            raise CheckpointError(f"{path.name}: {file.name} {error}.") from error
        n_bytes = file.stat().st_size
        if n_bytes > LARGEST_READ:
            raise CheckpointError(
                f"{path.name}: {file.name} has {n_bytes:,} bytes, and at most {LARGEST_READ:,} are "
                "read."
            )


def check_sizes(path: Path, values: Any) -> None:
    """Raise CheckpointError for a size in config.json that no model has."""
    for each in _objects(values):
        check_largest(path, each)
    for each in (values, values.get("text_config")):
        _check_least(path, each or {})


def _objects(values: Any) -> Iterator[dict[str, Any]]:
    """Every object of JSON values, at any depth."""
    if isinstance(values, dict):
        yield values
        values = list(values.values())
    for each in values if isinstance(values, list) else ():
        yield from _objects(each)


def check_largest(path: Path, values: Mapping[str, Any]) -> None:
    """Raise CheckpointError for a size that no model has."""
    for name, most in LARGEST.items():
        size = values.get(name)
        if isinstance(size, int) and size > most:
            raise CheckpointError(
                f"{path.name}: {CONFIG}: {name} is {size:,}, and at most {most:,} can be opened."
            )


def _check_least(path: Path, values: Mapping[str, Any]) -> None:
    """Raise CheckpointError for a size below 1."""
    for name, least in LEAST.items():
        size = values.get(name)
        if isinstance(size, int) and size < least:
            raise CheckpointError(
                f"{path.name}: {CONFIG}: {name} is {size:,}, and must be at least {least}."
            )


def check_layers(path: Path, config: Any, n_tensors: int) -> None:
    """Raise CheckpointError where the files hold too few tensors for that many layers.

    Building the layers would show it, too, but takes long.
    """
    settings = config.get_text_config().to_dict()
    groups = settings.get("num_hidden_groups")  # ALBERT's layers share their weights
    for name in LAYERS:
        n_layers = settings.get(name)
        if not isinstance(n_layers, int) or n_layers <= SURE or isinstance(groups, int):
            continue
        if n_layers * PER_LAYER > n_tensors:
            raise CheckpointError(
                f"{path.name}: {CONFIG}: {name} is {n_layers:,}, and the weights hold "
                f"{n_tensors:,} tensors, too few for that many layers."
            )


def check_size(path: Path, model: Any) -> None:
    """Before anything is allocated: what the configuration asks for is there.

    model: without values. Whether it fits in is `placing`'s to say.
    """
    n_parameters = sum(p.numel() for p in model.parameters())
    n_bytes = sum(file.stat().st_size for file in weights_files(path))
    if n_parameters * LEAST_BYTES / 2 > n_bytes:
        raise CheckpointError(
            f"{path.name}: {CONFIG} describes a model of {n_parameters:,} parameters, "
            f"but its files hold {n_bytes:,} bytes."
        )


# The sizes of the vocabularies that a configuration names: of what is read, and of what is written.


def vocab_size_of(config: Any) -> int:
    """Count the entries of the vocabulary that is written. Raises CheckpointError without one."""
    text = config.get_text_config()
    size = getattr(text, "vocab_size", None)
    if not getattr(text, "share_encoder_decoder_embeddings", True):  # Marian's
        size = getattr(text, "decoder_vocab_size", size)
    if not isinstance(size, int):
        raise CheckpointError(
            f"{CONFIG} names no vocab_size: {config.model_type} reads something else than text, "
            "and only models of text open here. It is recorded from Python, with record(module, "
            "inputs): docs/models.md."
        )
    return size


def source_size_of(config: Any) -> int:
    """Count the entries of the vocabulary that is read: of most models, that which is written."""
    encoder = getattr(config, "encoder", None)
    inner = encoder.get_text_config() if encoder and hasattr(encoder, "vocab_size") else config
    sizes = (getattr(inner, name, None) for name in ("src_vocab_size", "vocab_size"))
    return next((size for size in sizes if isinstance(size, int)), vocab_size_of(config))


# The number of a model's positions, read from its own tables, for each of its sides.

_OF_POSITIONS = re.compile(r"(^|\.)(\w*pos\w*|wpe)$")
_LIMITS = ("max_position_embeddings", "max_seq_len", "max_sequence_length", "seq_length")
"""Its names in configurations, where a model keeps no table."""


def longest(model: Any) -> dict[str, int]:
    """Side ("source", also of a model that reads one text; "target") -> tokens; absent: any number.

    model: of the library, with values or without.
    """
    two = bool(model.config.is_encoder_decoder)
    result: dict[str, int] = {}
    for side, part in (("source", "encoder"), ("target", "decoder")) if two else (("source", ""),):
        rows = [_rows(module) for name, module in _tables(model) if part in name or not part]
        stated = _stated(model.config, part)
        most = min(rows, default=stated)
        if most is not None:
            result[side] = most - (side == "target") * _ahead(model.config)
    return {side: most for side, most in result.items() if most > 0}


def first_position(model: Any) -> int:
    """Return where its class counts the places of a text from by itself: behind that of padding."""
    plain = (it for _, it in _tables(model) if not isinstance(getattr(it, "offset", None), int))
    paddings = [it.padding_idx for it in plain if getattr(it, "padding_idx", None) is not None]
    return max(paddings, default=-1) + 1


def _tables(model: nn.Module) -> Iterator[tuple[str, Any]]:
    """Yield path and table of each embedding of a text's positions."""
    for name, module in model.named_modules():
        if _is_table(name, module) and _reads_words(model, name):
            yield name, module


def _reads_words(model: nn.Module, name: str) -> bool:
    """Tell whether the part around a module is for text: one for pictures counts patches.

    By the class of its configuration, which has a vocabulary: LLaVA's folders state a size for
    the pictures, too.
    """
    while name:
        name = name.rpartition(".")[0]
        config: Any = getattr(model.get_submodule(name), "config", None)
        if hasattr(config, "get_text_config") and config is not model.config:
            cls = type(config.get_text_config())
            return "vocab_size" in {*signature(cls).parameters, *cls.attribute_map}
    return True


def _is_table(name: str, module: nn.Module) -> bool:
    """An embedding of positions, by its name and its rows: not of distances, as T5 has them."""
    weight = getattr(module, "weight", None)
    is_matrix = isinstance(weight, Tensor) and weight.dim() == 2
    return is_matrix and "Embedding" in type(module).__name__ and bool(_OF_POSITIONS.search(name))


def _rows(module: Any) -> int:
    """Rows that positions are counted through: some begin after that of padding, or two later."""
    offset = getattr(module, "offset", None)
    if isinstance(offset, int):
        return int(module.weight.size(0)) - offset
    padding = getattr(module, "padding_idx", None)
    return int(module.weight.size(0)) - (0 if padding is None else padding + 1)


def _stated(config: Any, part: str) -> int | None:
    inner = getattr(config, part, None) if part else None
    for each in (inner, config, config.get_text_config()):
        for name in (f"max_{part}_position_embeddings", *_LIMITS):
            value = getattr(each, name, None)
            if isinstance(value, int) and value > 0:  # XLNet says -1: any
                return value
    return None


def _ahead(config: Any) -> int:
    """Positions beyond its last token that a decoder looks up: ProphetNet's streams do."""
    return int(config.model_type == "prophetnet")
