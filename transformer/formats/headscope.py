"""Our own folders: config.json, model.safetensors, a tokenizer, card.md, history.json, snapshots/.

Weights are read from safetensors only: nothing in a folder is ever executed. A file of snapshots/
is the same model at an earlier step.
"""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import safetensors
import torch
from safetensors.torch import load_file, save
from torch import Tensor, nn

from transformer.checkpoint import (
    CONFIG,
    SNAPSHOTS,
    WEIGHTS,
    About,
    Checkpoint,
    CheckpointError,
    Description,
)
from transformer.config import ConfigError, ModelConfig
from transformer.decoding.method import OptionError
from transformer.device import inference_dtype
from transformer.discover import discover
from transformer.files.foreign_file import read_json
from transformer.files.foreign_text import whole_folder, write_whole
from transformer.files.regular_file import broken
from transformer.files.tensor_files import SafetensorsFiles
from transformer.files.tensors import OF_WEIGHTS, UNMAPPED, floats, list_tensors
from transformer.files.weights_file import SUFFIXES
from transformer.formats.format import Format, checked_defaults
from transformer.inspection.tensor_statistics import (
    Contents,
    compare,
    expect,
    our_contents,
    require_fit,
)
from transformer.layers.norm import NoFirstValues
from transformer.models.family import Family
from transformer.tokenizer import TOKENIZER_FILES, Tokenizer, TokenizerError, load_tokenizer
from transformer.training.history import left_out

LONGEST, MOST_EXAMPLES = 20_000, 200
"""Characters of a text in a configuration, and examples: every visitor is shown them."""


OTHERS = {"model_type", "architectures", "transformers_version", "__version__"}
"""Fields of a config.json of Hugging Face's, and of Sentence Transformers'."""


def fits(path: Path) -> bool:
    """A folder with a config.json that is nobody else's, or one of its snapshots."""
    folder, _ = _parts(path)
    if not os.path.lexists(folder / CONFIG):
        return False
    try:
        values = read_json(folder / CONFIG)
    except CheckpointError:
        return True  # damaged: opening it says how
    if not isinstance(values, dict) or "model" in values:
        return True
    return not OTHERS & values.keys() and not _is_of_other_code(folder)


def _is_of_other_code(folder: Path) -> bool:
    """Tell whether files of weights have other names than ours, so that its settings are theirs."""
    names = [each.name for each in folder.iterdir() if each.suffix in SUFFIXES]
    return bool(names) and WEIGHTS not in names


def describe(path: Path) -> Description:
    """Describe it by config.json; no weight is read. Raises CheckpointError."""
    return Description(*read_config(_parts(path)[0]))


def load(path: Path, device: torch.device) -> Checkpoint:
    """Build the model that config.json describes, with its weights. Raises CheckpointError."""
    folder, weights = _present_parts(path)
    about, config, family = read_config(folder)
    try:
        tokenizer = load_tokenizer(about.tokenizer, folder, config.vocab_size)
    except TokenizerError as error:
        raise CheckpointError(f"{folder.name}: {error}") from error
    try:
        model = _fill(config, family, folder / weights, f"{folder.name}: {weights}")
    except ConfigError as error:
        raise CheckpointError(f"{folder.name}: {CONFIG}: {error}") from error
    model.requires_grad_(False).eval().to(device, inference_dtype(device))
    return Checkpoint(path, about, config, family, model, tokenizer, device)


def contents(path: Path) -> Contents:
    """The tensors of the weights file, whether they fit config.json or not."""
    folder, weights = _present_parts(path)
    description = describe(path)
    tensors = SafetensorsFiles(folder, [weights])
    kind, size = description.about.tokenizer, description.config.vocab_size
    return our_contents(description, tensors, lambda: load_tokenizer(kind, folder, size))


def files(path: Path) -> Sequence[Path]:
    """List the files of the configuration, the weights and the tokenizer, where it has one."""
    folder, weights = _parts(path)
    beside = (folder / name for name in TOKENIZER_FILES)
    return [folder / CONFIG, folder / weights, *(each for each in beside if os.path.lexists(each))]


def save_checkpoint(
    path: Path, about: About, config: ModelConfig, weights: dict[str, Tensor], tokenizer: Tokenizer
) -> None:
    """Write a folder that `load_checkpoint` opens; weights go out in half precision.

    Raises Unwritten; a folder that was there is then untouched.
    """
    values: dict[str, Any] = {
        "title": about.title,
        "recipe": about.recipe,
        "tokenizer": about.tokenizer,
        "examples": list(about.examples),
        "opens_at": list(about.opens_at),
        **({"special": about.special} if about.special != About.special else {}),
        **({"earlier": list(about.earlier)} if about.earlier else {}),
        **({"decoding": about.decoding} if about.decoding else {}),
        "model": config.to_dict(),
    }
    with whole_folder(path) as draft:
        write_whole(draft / CONFIG, (json.dumps(values, indent=2) + "\n").encode())
        tokenizer.save(draft)
        save_weights(draft / WEIGHTS, weights)


def save_opening(
    path: Path, opens_at: tuple[str, int, int], special: str, earlier: tuple[str, ...]
) -> None:
    """Write into a folder's config.json what it opens with, and what its fingerprints were.

    Raises CheckpointError, Unwritten.
    """
    values = read_json(path / CONFIG)
    model = values.pop("model")  # stays the last one: it is long
    values |= {"opens_at": opens_at, "special": special, "earlier": earlier, "model": model}
    for name, usual in (("special", About.special), ("earlier", About.earlier)):
        if values[name] == usual:
            del values[name]
    write_whole(path / CONFIG, (json.dumps(values, indent=2) + "\n").encode())


def save_weights(file: Path, weights: dict[str, Tensor]) -> None:
    """One safetensors file in half precision. Raises Unwritten."""
    half = {name: tensor.detach().to("cpu", torch.float16) for name, tensor in weights.items()}
    write_whole(file, save({name: tensor.contiguous() for name, tensor in half.items()}))


def _parts(path: Path) -> tuple[Path, str]:
    """The folder, and which of its files holds the weights."""
    if path.suffix == ".safetensors" and path.parent.name == SNAPSHOTS:
        return path.parent.parent, f"{SNAPSHOTS}/{path.name}"
    return path, WEIGHTS


def _present_parts(path: Path) -> tuple[Path, str]:
    """The same. Raises CheckpointError for a snapshot that an installed package leaves out."""
    folder, weights = _parts(path)
    if weights != WEIGHTS and not path.exists() and (sentence := left_out(path)):
        raise CheckpointError(sentence)
    return folder, weights


def read_config(path: Path) -> tuple[About, ModelConfig, Family]:
    """Read only config.json, which a list of checkpoints needs. Raises CheckpointError."""
    values = read_json(path / CONFIG)
    if not isinstance(values, dict):
        raise CheckpointError(
            f"{path.name}: {CONFIG} holds {_JSON[type(values)]}, and no fields with their "
            "values: put the one there that was saved with the weights."
        )
    try:
        config = ModelConfig.from_dict(values["model"])
        about = About(
            title=_text("title", values["title"]),
            recipe=_text("recipe", values["recipe"]),
            tokenizer=_text("tokenizer", values["tokenizer"]),
            examples=_texts("examples", values["examples"]),
            opens_at=_opens_at(values.get("opens_at", About.opens_at)),
            special=_special(values.get("special", About.special)),
            earlier=_texts("earlier", values.get("earlier", [])),
            decoding=checked_defaults(values.get("decoding", {})),
        )
    except KeyError as error:
        raise CheckpointError(f"{path.name}: {CONFIG} lacks the field {error}.") from error
    except (ConfigError, OptionError) as error:
        raise CheckpointError(f"{path.name}: {CONFIG}: {error}") from error
    families = discover("transformer.models", "FAMILY")
    if config.family not in families:
        names = ", ".join(families)
        raise CheckpointError(
            f"{path.name}: {CONFIG}: unknown family {config.family!r:.40} ({names})."
        )
    return about, config, families[config.family]


_JSON = {list: "a list", str: "a text", bool: "a truth value", type(None): "null"}
_JSON |= dict.fromkeys((int, float), "a number")


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str) or len(value) > LONGEST:
        raise ConfigError(
            f"{name} must be a text of at most {LONGEST:,} characters, not {value!r:.40}."
        )
    return value


def _texts(name: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or len(value) > MOST_EXAMPLES:
        raise ConfigError(
            f"{name} must be a list of at most {MOST_EXAMPLES} texts, not {value!r:.40}."
        )
    return tuple(_text(name, each) for each in value)


def _opens_at(value: Any) -> tuple[str, int, int]:
    match value:
        case [str(kind), int(layer), int(head)] if min(layer, head) >= 0:
            return kind, layer, head
    raise ConfigError(f"opens_at must be a kind, a layer and a head, not {value!r:.40}.")


def _special(value: Any) -> Literal["shown", "hidden", "renormalised"]:
    match value:
        case "shown" | "hidden" | "renormalised":
            return value
    raise ConfigError(f"special must be shown, hidden or renormalised, not {value!r:.40}.")


def _fill(config: ModelConfig, family: Family, file: Path, where: str) -> nn.Module:
    """The model with its weights; before any is allocated, the file's header must fit it."""
    stored = list_tensors(file, where)
    expected = expect(config, family, len(stored))
    require_fit(compare(stored, expected), stored, where)
    if expected.problem:
        raise ConfigError(f"{expected.problem}.")
    try:
        weights = load_file(file, backend=UNMAPPED)
    except (safetensors.SafetensorError, OSError, ValueError) as error:
        why = broken(file, str(error))
        raise CheckpointError(f"{where} is not a whole safetensors file: {why}.") from error
    for name, tensor in weights.items():
        if tensor.dtype not in OF_WEIGHTS:
            kind = str(tensor.dtype).removeprefix("torch.")
            raise CheckpointError(f"{where}: {name} is of type {kind}, as no weights of ours are.")
        if not bool(floats(tensor).isfinite().all()):
            raise CheckpointError(f"{where}: {name} holds NaN or infinite values.")
    with NoFirstValues():
        model = family.build(config)
    model.load_state_dict(weights)
    return model


FORMAT = Format(
    name="headscope",
    title="a folder that `python -m transformer train` saved",
    fits=fits,
    describe=describe,
    load=load,
    files=files,
    contents=contents,
)
