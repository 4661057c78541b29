"""Folders that Hugging Face's `save_pretrained` wrote, or that its hub holds."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import torch

from transformer.checkpoint import CONFIG, Checkpoint, CheckpointError, Description
from transformer.files.foreign_file import read_json
from transformer.files.regular_file import files_of
from transformer.formats.format import Format
from transformer.hugging_face.adapters.lora import Adapter
from transformer.hugging_face.adapters.reading import read_adapter, with_adapter
from transformer.hugging_face.adapters.settings import ADAPTER
from transformer.hugging_face.chat.chatting import TEMPLATES
from transformer.hugging_face.choice import require_plain
from transformer.hugging_face.description import described, described_by_config, vocab_size_of
from transformer.hugging_face.heads import HuggingFaceHeads
from transformer.hugging_face.loading import FILES, entrance, open_weights, placed
from transformer.hugging_face.model import HuggingFaceModel
from transformer.hugging_face.opening import (
    Examined,
    examine,
    open_config,
    open_model,
    open_tokenizer,
    require_whole,
)
from transformer.hugging_face.pooling import module_files, pipeline_files, pipeline_of
from transformer.hugging_face.tokenizer import WHOLE, HuggingFaceTokenizer
from transformer.inspection.circuits import NoHeads
from transformer.inspection.tensor_statistics import Contents, Fit
from transformer.tokenizer import IdTokenizer, Tokenizer

LIT_MODEL = "lit_model.pth"
NAMES = {"model_type", "architectures", "transformers_version"}
"""Settings of the library's, one of which every config.json of it has."""


def fits(path: Path) -> bool:
    """A folder whose config.json names a type of model, with weights in the library's form.

    litgpt leaves the config.json of the model that it began with beside weights in its own.
    """
    file = path / CONFIG
    if not file.is_file() or ((path / LIT_MODEL).is_file() and not files_of(path, FILES)):
        return False
    try:
        theirs = read_json(file)
    except CheckpointError:
        return False
    return isinstance(theirs, dict) and "model" not in theirs and bool(NAMES & theirs.keys())


def describe(path: Path, folder: Path | None = None) -> Description:
    """Describe it by configuration, tokenizer and tensors' names; of an adapter with it, too.

    folder: of a LoRA adapter. Raises CheckpointError.
    """
    theirs = open_config(path)
    vocab_size = vocab_size_of(theirs)
    examined = _examined(path, theirs)
    adapter = None if folder is None else read_adapter(folder, examined.skeleton.model)
    return _described(path, examined, open_tokenizer(path, vocab_size), adapter)


def load(path: Path, device: torch.device, folder: Path | None = None) -> Checkpoint:
    """Open it with the library. folder: of a LoRA adapter to apply. Raises CheckpointError."""
    theirs = open_config(path)
    vocab_size = vocab_size_of(theirs)
    examined = _examined(path, theirs)
    tokenizer = open_tokenizer(path, vocab_size)
    adapter = None if folder is None else read_adapter(folder, examined.skeleton.model)
    description = _described(path, examined, tokenizer, adapter)
    skeleton = examined.skeleton
    placement = placed(path.name, skeleton.model, examined.source.stored, device)
    inner = open_model(path, examined, placement, adapter)
    config, family = description.config, description.family
    about = replace(description.about, notes=(*description.about.notes, *placement.notes))
    model = HuggingFaceModel(inner, config)  # type: ignore[arg-type]
    return Checkpoint(path, about, config, family, model, tokenizer, entrance(inner, device))


def contents(path: Path, folder: Path | None = None) -> Contents:
    """Its tensors and those that the library's class asks for; damaged parts are named.

    folder: of a LoRA adapter, with which the tensors are shown. Raises CheckpointError.
    """
    theirs = open_config(path)
    read_tokenizer = cache(partial(open_tokenizer, path, vocab_size_of(theirs)))
    tensors = open_weights(path)
    try:
        examined = examine(path, theirs, tensors)
    except CheckpointError as error:
        why = _clause(path, error)
        fit, heads = Fit(list(tensors.stored)), NoHeads(f"No circuits: {CONFIG} {why}.")
        description = described_by_config(path, theirs)
        return Contents(description, tensors, fit, heads, read_tokenizer, faults={CONFIG: why})
    adapter = None if folder is None else read_adapter(folder, examined.skeleton.model)
    try:
        description = _described(path, examined, read_tokenizer(), adapter)
    except CheckpointError:  # told where the vocabulary is shown
        description = _described(path, examined, IdTokenizer(vocab_size_of(theirs)), adapter)
    faults = {}
    try:
        require_plain(path, theirs, examined.skeleton, examined.source)
    except CheckpointError as error:
        faults = {path.name: f"cannot run here: {_clause(path, error)}"}
    if adapter is not None:
        examined = with_adapter(examined, adapter)
    skeleton = examined.skeleton
    circuits = HuggingFaceHeads(examined.source, skeleton, list(description.family.attentions))
    fit, ties = skeleton.fit, skeleton.ties
    return Contents(description, examined.source, fit, circuits, read_tokenizer, ties, faults)


def _examined(path: Path, theirs: Any) -> Examined:
    """Raises CheckpointError for what would open as another model than it is."""
    examined = examine(path, theirs, open_weights(path))
    require_whole(path, examined)
    return examined


def _clause(path: Path, error: CheckpointError) -> str:
    return str(error).removeprefix(f"{path.name}: ").removeprefix(CONFIG).lstrip(": ").rstrip(".")


def files(path: Path) -> Sequence[Path]:
    """All files of the folder itself, and those that say how it pools and how it chats."""
    pipeline = pipeline_of(path)
    around = () if pipeline == path else pipeline_files(pipeline)
    further = (*module_files(path), *sorted(path.glob(TEMPLATES)), *around)
    return [file for file in (*path.iterdir(), *further) if file.is_file()]


def _described(
    path: Path, examined: Examined, tokenizer: Tokenizer, adapter: Adapter | None = None
) -> Description:
    notes, size = examined.notes, vocab_size_of(examined.config)
    n_pieces = tokenizer.n_pieces if isinstance(tokenizer, HuggingFaceTokenizer) else size
    if n_pieces > size:
        text = f"Its tokenizer has {n_pieces:,} pieces, and the model knows the first {size:,}."
        notes = (*notes, text)
    if isinstance(tokenizer, HuggingFaceTokenizer) and (text := tokenizer.unlike(path / WHOLE)):
        notes = (*notes, text)
    if adapter is None:
        return described(path, examined.skeleton.model, tokenizer, notes)
    others = (each for each in notes if not each.startswith(ADAPTER))
    notes = (*adapter.notes_on(path), *others)
    plain = described(path, examined.skeleton.model, tokenizer, notes)
    title = f"{plain.about.title}, with a {adapter.kind} adapter"
    return replace(plain, about=replace(plain.about, title=title))


FORMAT = Format(
    name="hugging_face",
    title="a folder of Hugging Face's, with config.json, weights and a tokenizer",
    fits=fits,
    describe=describe,
    load=load,
    files=files,
    contents=contents,
)
