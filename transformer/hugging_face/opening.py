"""Opening a folder in Hugging Face's format: configuration, tokenizer and weights.

Code that a folder brings along is never run (`trust_remote_code=False`), pickled weights are read
as weights only, and nothing is fetched.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from transformer.checkpoint import CONFIG, CheckpointError
from transformer.device import inference_dtype
from transformer.files.foreign_text import listed, whole_text
from transformer.files.json_file import read_json
from transformer.files.tensor_files import LoadedTensors
from transformer.hugging_face.failure import building, in_a_sentence
from transformer.hugging_face.sizes import (
    LARGEST,
    check_files,
    check_largest,
    check_layers,
    check_size,
    check_sizes,
)
from transformer.hugging_face.tokenizer import HuggingFaceTokenizer
from transformer.hugging_face.weights import FILES, open_weights
from transformer.tokenizer import IdTokenizer


def open_config(path: Path) -> Any:
    """The library's configuration. Raises CheckpointError."""
    check_files(path)
    with in_a_sentence(path, CONFIG):
        # Before the library does: some of its classes make lists of these lengths at once.
        check_sizes(path, read_json(path / CONFIG))
        from transformers import AutoConfig

        config = AutoConfig.from_pretrained(path, **_LOCAL)
    return _checked(path, config)


def config_of(path: Path, values: dict[str, Any]) -> Any:
    """The same from values that name their model_type. Raises CheckpointError."""
    with in_a_sentence(path, "its settings"):
        check_sizes(path, values)
        from transformers import AutoConfig

        config = AutoConfig.for_model(**values)
    return _checked(path, config)


def _checked(path: Path, config: Any) -> Any:
    config.return_dict = True
    # The library's own choice: a folder may name a kernel, code that would be fetched and run.
    config._attn_implementation = None
    inner = config.get_text_config()
    check_largest(path, {name: getattr(inner, name, None) for name in LARGEST})
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
    source = open_weights(path)
    for file, why in source.faults.items():
        if file.endswith(FILES):
            raise CheckpointError(f"{path.name}: {file} {why}.")
    check_layers(path, config, len(source.stored))
    check_size(path, cls, config)
    with in_a_sentence(path, "the weights"):
        # The library maps pickles, and one that is cut meanwhile would end the process (SIGBUS).
        saved = source.saved() if isinstance(source, LoadedTensors) else None
        model, found = cls.from_pretrained(
            path if saved is None else None,
            state_dict=saved,
            config=config,
            dtype=torch.float32,
            output_loading_info=True,
            ignore_mismatched_sizes=True,  # told below, by name
            disable_mmap=True,  # the same of safetensors
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
