"""State dicts of well-known Transformer code, translated into a model of ours.

A file (.pt, .pth, .ckpt, .chkpt, .bin, .npz, .safetensors), or a folder with one of these and no
config.json. `transformer/formats/mappings/` has one codebase a file; docs/formats.md lists them.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from transformer.checkpoint import CONFIG, About, Checkpoint, CheckpointError, Description
from transformer.config import ModelConfig
from transformer.device import inference_dtype
from transformer.files.foreign_file import place, read_json
from transformer.files.foreign_text import some_of
from transformer.files.tensor_files import LoadedTensors
from transformer.files.torch_file import is_saved_by_torch
from transformer.files.weights import SIDECAR, Misfit, Weights
from transformer.files.weights_file import SUFFIXES, read_options, read_weights
from transformer.formats import headscope, hugging_face
from transformer.formats.format import Format
from transformer.formats.hugging_face import LIT_MODEL
from transformer.formats.in_library import InLibrary, open_in_library
from transformer.formats.mappings.mapping import CodeMapping, LibraryMapping, OtherCode
from transformer.formats.translate import Translated, UnknownCode, mappings, recognised, translate
from transformer.formats.unmapped import unmapped_contents
from transformer.formats.vocabulary_files import FILES, find_vocabulary, make_tokenizer
from transformer.hugging_face.loading import is_usual
from transformer.inspection.tensor_statistics import Contents, our_contents
from transformer.tokenizer import IdTokenizer, Tokenizer, TokenizerError
from transformer.vocabulary import PairTokenizer, VocabularyTokenizer, source_side

CHOICES = {
    "n_heads",
    "attention_scale",
    "norm_order",
    "norm_eps",
    "activation",
    "scaled_embeddings",
    "pooling",
    "classes",
    "pad_id",
    "bos_id",
    "eos_id",
}
"""Fields of ModelConfig that no shape shows: the sidecar file may say them."""
PARTS = "consolidated.[0-9][0-9].pth"
"""Names of the parts of Meta's larger models."""
BESIDE_THEIRS = ("tokenizer_config.json", "generation_config.json", "special_tokens_map.json")
"""Files that Hugging Face's library saves beside weights, and nobody else does."""


def fits(path: Path) -> bool:
    """A file of weights by its name, or a folder that holds one and no configuration."""
    if path.is_file():
        return _is_weights(path)
    return path.is_dir() and not _is_another_format(path) and bool(_candidates(path))


def _is_another_format(folder: Path) -> bool:
    """Tell whether a configuration is ours or the library's, and not that of other code."""
    return headscope.fits(folder) or hugging_face.fits(folder)


def describe(path: Path) -> Description:
    """Sizes and options, from the shapes of the tensors. Raises CheckpointError."""
    opened = _opened(path)
    if isinstance(opened, InLibrary):
        return opened.description
    about, translated, _ = opened
    return Description(about, translated.config, translated.family)


def load(path: Path, device: torch.device) -> Checkpoint:
    """Build the model that the tensors fit, with their values. Raises CheckpointError."""
    opened = _opened(path)
    with _in_a_sentence(_weights_file(path)):
        if isinstance(opened, InLibrary):
            return opened.load(path, device)
        about, translated, tokenizer = opened
        weights = translated.weights()
    config, family = translated.config, translated.family
    model = family.build(config)
    model.load_state_dict(weights)
    if translated.table is not None:
        table: Any = model.get_submodule("positions").table
        table.copy_(translated.table)
    model.requires_grad_(False).eval().to(device, inference_dtype(device))
    return Checkpoint(path, about, config, family, model, tokenizer, device)


def contents(path: Path) -> Contents:
    """Its tensors under the model's names; under their own where it cannot be opened."""
    try:
        opened = _opened(path)
    except CheckpointError as error:
        file = _weights_file(path)
        with _in_a_sentence(file):
            weights = read_weights(file)
        why = str(error).removeprefix(place(file)).strip().removesuffix(".")
        return unmapped_contents(file, weights, why)
    if isinstance(opened, InLibrary):
        return opened.contents(_weights_file(path))
    about, translated, tokenizer = opened
    description = Description(about, translated.config, translated.family)
    tensors = LoadedTensors(translated.tensors, files=[_weights_file(path)])
    return our_contents(description, tensors, lambda: tokenizer)


def files(path: Path) -> Sequence[Path]:
    """The weights, and the vocabulary and options that lie beside them."""
    weights = _candidates(path) if path.is_dir() else [path]
    folder = path if path.is_dir() else path.parent
    settings = sorted({each.settings for each in mappings().values() if each.settings})
    own = [CONFIG] if _has_own_settings(folder) else []
    beside = (folder / name for name in (*FILES, *settings, SIDECAR, *own))
    return [*weights, *(file for file in beside if file.is_file())]


def _opened(path: Path) -> tuple[About, Translated, Tokenizer] | InLibrary:
    """Everything but the model: tensors are read where they are needed. Raises CheckpointError."""
    file = _weights_file(path)
    folder = file.parent
    if path == file and is_usual(file.name) and hugging_face.fits(folder):
        raise _belongs(file) or AssertionError  # whosever code names its tensors like that, too
    with _in_a_sentence(file):
        weights = read_weights(file)
        try:
            mapping, weights = recognised(weights)
        except UnknownCode as error:
            raise _belongs(file) or error from error
        weights = replace(_with_settings(weights, mapping, folder), choices=_sidecar(folder))
        if isinstance(mapping, LibraryMapping):
            return open_in_library(mapping, weights, folder)
        assert isinstance(mapping, CodeMapping)
        vocabulary = find_vocabulary(folder, weights, mapping)
        choices = vocabulary.special_ids(mapping.named_ids) | dict(weights.choices)
        translated = translate(mapping, replace(weights, choices=choices))
        config = translated.config
        sizes = {"source": config.source_vocab_size or config.vocab_size}
        sizes["target"] = config.vocab_size
        tokenizer = make_tokenizer(vocabulary, mapping, sizes, config.bos_id, config.eos_id)
        notes = (*weights.notes, *vocabulary.notes())
        about = replace(_about(mapping, translated, tokenizer), notes=notes)
        return about, translated, tokenizer


def _belongs(file: Path) -> CheckpointError | None:
    """Say what a file of a model of Hugging Face's lacks, or is a part of; None: it is of none."""
    folder = file.parent
    if hugging_face.fits(folder):
        return CheckpointError(f"{place(file)} is a file of the folder {folder.name}: open that.")
    if not is_usual(file.name) and not any((folder / name).exists() for name in BESIDE_THEIRS):
        return None
    return CheckpointError(
        f"{place(file)} is of Hugging Face's library, and {CONFIG} is missing beside it: copy it "
        "from where the file came from, then open the folder."
    )


@contextmanager
def _in_a_sentence(file: Path) -> Iterator[None]:
    """Turn a Misfit into a CheckpointError that begins with the file's name."""
    try:
        yield
    except Misfit as error:
        raise CheckpointError(f"{place(file)} {error}.") from error


def _with_settings(weights: Weights, mapping: OtherCode, folder: Path) -> Weights:
    """With the options of a file beside the weights: one that its code writes, or config.json."""
    if mapping.settings and (folder / mapping.settings).is_file():
        options = read_options(folder / mapping.settings)
        return replace(weights, options={**weights.options, **options})
    if _has_own_settings(folder):
        return replace(weights, options={**read_options(folder / CONFIG), **weights.options})
    return weights


def _has_own_settings(folder: Path) -> bool:
    """Tell whether there is a configuration of other code: litgpt leaves that of another model."""
    is_there = (folder / CONFIG).is_file() and not (folder / LIT_MODEL).is_file()
    return is_there and not _is_another_format(folder)


def _is_weights(file: Path) -> bool:
    """Judge by the file's name; without a suffix, by its first bytes."""
    return file.suffix in SUFFIXES or (not file.suffix and is_saved_by_torch(file))


def _candidates(folder: Path) -> list[Path]:
    """Files of weights in a folder; those called .bin only where there is nothing else."""
    visible = (each for each in folder.iterdir() if not each.name.startswith("."))
    files = sorted(each for each in visible if each.is_file() and _is_weights(each))
    return [each for each in files if each.suffix != ".bin"] or files


def _weights_file(path: Path) -> Path:
    folder = path if path.is_dir() else path.parent
    parts = sorted(folder.glob(PARTS))
    if len(parts) > 1 and (path in parts or path == folder):
        raise CheckpointError(
            f"{folder.name} holds {some_of((each.name for each in parts), 2)}, each a slice of "
            "every matrix: convert_llama_weights_to_hf.py of Hugging Face's library makes one "
            "folder of them, which opens."
        )
    if not path.is_dir():
        return path
    files = _candidates(path)
    if len(files) > 1 and all(is_usual(each.name) for each in files):
        raise _belongs(files[0]) or AssertionError
    if len(files) != 1:
        names = some_of((each.name for each in files), 6)
        raise CheckpointError(
            f"{path.name} holds {len(files)} files of weights ({names}): open one by its own path."
        )
    return files[0]


def _sidecar(folder: Path) -> dict[str, Any]:
    """headscope.json: what no shape shows, in the names of ModelConfig's fields."""
    file = folder / SIDECAR
    if not file.is_file():
        return {}
    values = read_json(file)
    if not isinstance(values, dict) or not set(values) <= CHOICES:
        names = ", ".join(sorted(CHOICES))
        raise CheckpointError(f"{place(file)} may say {names}, and nothing else.")
    if "classes" in values:
        if not isinstance(values["classes"], list):
            raise CheckpointError(f"{place(file)}: classes must be a list of names.")
        values["classes"] = tuple(map(str, values["classes"]))
    return values


def _about(mapping: CodeMapping, translated: Translated, tokenizer: Tokenizer) -> About:
    config = translated.config
    kinds = translated.family.attentions
    sizes = f"{_layers(config)} of {config.n_heads} heads"
    return About(
        title=", ".join(filter(None, (mapping.title, sizes, mapping.assumed(config)))),
        recipe=mapping.name,
        tokenizer=_kind(tokenizer),
        examples=_examples(mapping, config, source_side(tokenizer)),
        opens_at=("cross" if "cross" in kinds else next(iter(kinds)), 0, 0),
    )


def _layers(config: ModelConfig) -> str:
    counts = [n for n in (config.n_encoder_layers, config.n_decoder_layers) if n]
    return f"{'+'.join(map(str, counts))} layer{'s' if sum(counts) > 1 else ''}"


def _kind(tokenizer: Tokenizer) -> str:
    kind = getattr(tokenizer, "kind", "")
    return _kind(tokenizer.source) if isinstance(tokenizer, PairTokenizer) else str(kind)


SENTENCES = ("It rains.", "The animal didn't cross the street because it was too tired.")


def _examples(mapping: CodeMapping, config: ModelConfig, tokenizer: Tokenizer) -> tuple[str, ...]:
    """Something that the tokenizer can read, to start from."""
    special = {config.pad_id, config.bos_id, config.eos_id}
    if isinstance(tokenizer, IdTokenizer):
        ordinary = [str(id) for id in range(min(tokenizer.vocab_size, 12)) if id not in special]
        start, end = mapping.frames_source
        framed = (
            [str(config.bos_id)] * start,
            [str(config.eos_id)] * (end and config.eos_id is not None),
        )
        return (" ".join([*framed[0], *ordinary[: config.max_len - 2], *framed[1]]),)
    read = tuple(text for text in SENTENCES if _reads(tokenizer, text, config.max_len))
    if read or not isinstance(tokenizer, VocabularyTokenizer):
        return read
    tokens = map(tokenizer.token, range(tokenizer.vocab_size))
    words = (t.piece for t in tokens if not t.special and not t.unknown)
    pieces = [piece for piece in words if piece and not piece.isspace()]
    glue = " " if tokenizer.splits == "words" else ""
    return (glue.join(pieces[: max(1, min(6, config.max_len - 2))]),)


def _reads(tokenizer: Tokenizer, text: str, max_len: int) -> bool:
    """Tell whether a text is in its vocabulary, and not too long."""
    try:
        ids = tokenizer.encode(text)
    except TokenizerError:
        return False
    unknown = getattr(tokenizer, "unknown", None)
    return len(ids) <= max_len and (unknown is None or unknown not in ids)


FORMAT = Format(
    name="state_dict",
    title="a file of weights of code that is listed in docs/formats.md",
    fits=fits,
    describe=describe,
    load=load,
    files=files,
    contents=contents,
)
