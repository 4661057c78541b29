"""Opening a folder in Hugging Face's format: configuration, tokenizer and weights.

Code that a folder brings along is never run (`trust_remote_code=False`), pickled weights are read
as weights only, and nothing is fetched. The library raises errors of many kinds over files that
are not what they should be; here each of them becomes one sentence.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from transformer.checkpoint import CONFIG, CheckpointError
from transformer.device import inference_dtype
from transformer.files.foreign_text import listed, reason, shown, whole_text
from transformer.files.json_file import read_json
from transformer.hugging_face.tokenizer import HuggingFaceTokenizer
from transformer.hugging_face.weights import open_weights
from transformer.tokenizer import IdTokenizer

WEIGHTS = ("*.safetensors", "*.bin")
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
LARGEST_READ = 2**28
"""The files that the library reads into memory whole, and the bytes that one may have."""
LEAST_BYTES = 0.5
"""A parameter takes at least so many in a file, 4 bits; and half of them may be tied."""
ROOM = 0.8
"""Share of the machine's memory that a model may fill."""


def open_config(path: Path) -> Any:
    """The library's configuration. Raises CheckpointError."""
    _check_files(path)
    with in_a_sentence(path, CONFIG):
        # Before the library does: some of its classes make lists of these lengths at once.
        _check_sizes(path, read_json(path / CONFIG))
        from transformers import AutoConfig

        config = AutoConfig.from_pretrained(path, **_LOCAL)
    return _checked(path, config)


def config_of(path: Path, values: dict[str, Any]) -> Any:
    """The same from values that name their model_type. Raises CheckpointError."""
    with in_a_sentence(path, "its settings"):
        _check_sizes(path, values)
        from transformers import AutoConfig

        config = AutoConfig.for_model(**values)
    return _checked(path, config)


def _checked(path: Path, config: Any) -> Any:
    config.return_dict = True
    # The library's own choice: a folder may name a kernel, code that would be fetched and run.
    config._attn_implementation = None
    inner = config.get_text_config()
    _check_largest(path, {name: getattr(inner, name, None) for name in LARGEST})
    return config


def build_model(
    path: Path, config: Any, tensors: Mapping[str, Tensor], device: torch.device
) -> nn.Module:
    """The library's class with just these tensors, which fit it. Raises CheckpointError."""
    cls = model_class(path, config)
    with building(path, config):
        model: nn.Module = cls(config)
        model.load_state_dict(tensors)
    return model.requires_grad_(False).eval().to(device, inference_dtype(device))


def open_model(path: Path, config: Any, device: torch.device) -> nn.Module:
    """The model with its weights, ready to run. Raises CheckpointError."""
    cls = model_class(path, config)
    # What leads out of the folder or swells when read is refused.
    check_layers(path, config, len(open_weights(path).stored))
    _check_size(path, cls, config)
    with in_a_sentence(path, "the weights"):
        model, found = cls.from_pretrained(
            path,
            config=config,
            dtype=torch.float32,
            output_loading_info=True,
            ignore_mismatched_sizes=True,  # told below, by name
            **_LOCAL,
        )
    for name, stored, asked in sorted(found["mismatched_keys"]):
        raise CheckpointError(
            f"{path.name}: {name} is {list(stored)} in the weights, and {CONFIG} asks for "
            f"{list(asked)}."
        )
    missing = sorted(name for name in found["missing_keys"] if ".pooler." not in f".{name}")
    if missing:
        raise CheckpointError(f"{path.name}: the weights lack {listed(missing, 3)}.")
    for name, tensor in model.state_dict().items():
        if tensor.is_floating_point() and not bool(tensor.isfinite().all()):
            raise CheckpointError(f"{path.name}: {name} holds NaN or infinite values.")
    opened: nn.Module = model.requires_grad_(False).eval()
    for tensor in (*opened.parameters(), *opened.buffers()):
        # The library leaves them mapped: a file that is cut later would end the process.
        tensor.data = tensor.data.clone()
    return opened.to(device, inference_dtype(device))


def model_class(path: Path, config: Any) -> Any:
    """The library's class for what was saved. Raises CheckpointError."""
    with in_a_sentence(path, CONFIG):
        import transformers

        saved = architecture(config)
        named = getattr(transformers, saved, None) if saved else None
        if isinstance(named, type) and issubclass(named, transformers.PreTrainedModel):
            return named  # and nothing else that the library has under a name
        kinds = transformers.models.auto.modeling_auto
        mapping = (
            kinds.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING
            if config.is_encoder_decoder
            else kinds.MODEL_MAPPING
        )
        return mapping[type(config)]


def architecture(config: Any) -> str:
    """The name of the class that was saved; empty where the folder does not say it."""
    said = config.architectures
    return whole_text(str(said[0])) if isinstance(said, list) and said else ""


def open_tokenizer(path: Path, vocab_size: int) -> HuggingFaceTokenizer | IdTokenizer:
    """The folder's own tokenizer; token ids where it has none. Raises CheckpointError."""
    if not _has_tokenizer(path):
        return IdTokenizer(vocab_size)
    with in_a_sentence(path, "its tokenizer"):
        from transformers import AutoTokenizer

        return HuggingFaceTokenizer(AutoTokenizer.from_pretrained(path, **_LOCAL), vocab_size)


_LOCAL: dict[str, Any] = {"trust_remote_code": False, "local_files_only": True}
_TOKENIZERS = ("tokenizer.json", "vocab.json", "vocab.txt", "*.model", "*.spm", "vocab.bpe")


def _has_tokenizer(path: Path) -> bool:
    return any(next(path.glob(pattern), None) for pattern in _TOKENIZERS)


def _weights(path: Path) -> list[Path]:
    return [file for pattern in WEIGHTS for file in path.glob(pattern) if file.is_file()]


def _check_files(path: Path) -> None:
    """Nothing that the library would wait for without end, or that would fill the memory."""
    for file in path.iterdir():
        if file.exists() and not (file.is_file() or file.is_dir()):
            raise CheckpointError(f"{path.name}: {file.name} is a pipe or a device, and no file.")
    for file in {file for pattern in READ for file in path.glob(pattern)}:
        n_bytes = file.stat().st_size if file.is_file() else 0
        if n_bytes > LARGEST_READ:
            raise CheckpointError(
                f"{path.name}: {file.name} has {n_bytes:,} bytes, and at most {LARGEST_READ:,} are "
                "read."
            )


def _check_sizes(path: Path, values: Any) -> None:
    for each in _objects(values):
        _check_largest(path, each)
    for each in (values, values.get("text_config")):
        _check_least(path, each or {})


def _objects(values: Any) -> Iterator[dict[str, Any]]:
    """Every object of JSON values, at any depth."""
    if isinstance(values, dict):
        yield values
        values = list(values.values())
    for each in values if isinstance(values, list) else ():
        yield from _objects(each)


def _check_largest(path: Path, values: Mapping[str, Any]) -> None:
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
    said = config.get_text_config().to_dict()
    groups = said.get("num_hidden_groups")  # ALBERT's layers share their weights
    for name in LAYERS:
        n_layers = said.get(name)
        if not isinstance(n_layers, int) or n_layers <= SURE or isinstance(groups, int):
            continue
        if n_layers * PER_LAYER > n_tensors:
            raise CheckpointError(
                f"{path.name}: {CONFIG}: {name} is {n_layers:,}, and the weights hold "
                f"{n_tensors:,} tensors, too few for that many layers."
            )


def _check_size(path: Path, cls: Any, config: Any) -> None:
    """Before anything is allocated: what the configuration asks for is there, and fits in."""
    with building(path, config), torch.device("meta"):
        n_parameters = sum(p.numel() for p in cls(config).parameters())
    n_bytes = sum(file.stat().st_size for file in _weights(path))
    if not n_bytes:
        raise CheckpointError(
            f"{path.name}: the weights are missing: model.safetensors or pytorch_model.bin."
        )
    if n_parameters * LEAST_BYTES / 2 > n_bytes:
        raise CheckpointError(
            f"{path.name}: {CONFIG} describes a model of {n_parameters:,} parameters, "
            f"but its files hold {n_bytes:,} bytes."
        )
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if 4 * n_parameters > ROOM * memory:
        raise CheckpointError(
            f"{path.name} has {n_parameters:,} parameters: {4 * n_parameters / 2**30:.0f} GiB in "
            f"single precision, and this machine has {memory / 2**30:.0f} GiB."
        )


@contextmanager
def in_a_sentence(path: Path, what: str) -> Iterator[None]:
    """Turn any error that the library raises over a file into a CheckpointError."""
    try:
        from transformers.utils import logging

        quiet: Any = logging
        quiet.set_verbosity_error()
        quiet.disable_progress_bar()
        yield
    except CheckpointError:
        raise
    except ImportError as error:
        raise CheckpointError(
            f"{path.name} is in Hugging Face's format and needs a package that is not here: "
            f"{reason(error)}."
        ) from error
    except Exception as error:
        raise CheckpointError(f"{path.name}: {what} cannot be read: {reason(error)}.") from error


@contextmanager
def building(path: Path, config: Any) -> Iterator[None]:
    """As `in_a_sentence`; a name that the library does not know is named with its field."""
    with in_a_sentence(path, CONFIG):
        try:
            yield
        except KeyError as error:
            words = str(error.args[0]).split() if error.args else []
            for field, value in config.to_dict().items():
                if isinstance(value, str) and value in words:
                    raise CheckpointError(
                        f"{path.name}: {CONFIG}: {field} is {shown(value)!r}, which the library "
                        "does not know: write what the model was trained with."
                    ) from error
            raise
