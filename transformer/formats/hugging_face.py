"""Folders that Hugging Face's `save_pretrained` wrote, or that its hub holds."""

from collections.abc import Iterator, Sequence
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
from transformer.hugging_face.description import described, described_by_config
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
from transformer.hugging_face.sizes import vocab_size_of
from transformer.hugging_face.tokenizer import WHOLE, HuggingFaceTokenizer
from transformer.inspection.circuits import NoHeads
from transformer.inspection.tensor_statistics import Contents, Fit
from transformer.tokenizer import IdTokenizer, Tokenizer
from transformer.vocabulary import sides_of

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
    examined = _examined(path, theirs)
    adapter = None if folder is None else read_adapter(folder, examined.skeleton.model)
    return _described(path, examined, open_tokenizer(path, theirs), adapter)


def load(path: Path, device: torch.device, folder: Path | None = None) -> Checkpoint:
    """Open it with the library. folder: of a LoRA adapter to apply. Raises CheckpointError."""
    theirs = open_config(path)
    examined = _examined(path, theirs)
    tokenizer = open_tokenizer(path, theirs)
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
    read_tokenizer = cache(partial(open_tokenizer, path, theirs))
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
    vocab_size_of(theirs)  # what reads something else than text is told first
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
    notes = (*examined.notes, *_on_vocabulary(path, tokenizer))
    if adapter is None:
        return described(path, examined.skeleton.model, tokenizer, notes)
    others = (each for each in notes if not each.startswith(ADAPTER))
    notes = (*adapter.notes_on(path), *others)
    plain = described(path, examined.skeleton.model, tokenizer, notes)
    title = f"{plain.about.title}, with a {adapter.kind} adapter"
    return replace(plain, about=replace(plain.about, title=title))


PADDING = 64
"""Rows of an embedding that no piece has, at most, beside a twentieth: many are made a round number
long, and that is no news."""


def _on_vocabulary(path: Path, tokenizer: Tokenizer) -> Iterator[str]:
    """A sentence for each way in which a tokenizer is another than the model's."""
    sides = sides_of(tokenizer)
    theirs = [each for each in sides if isinstance(each, HuggingFaceTokenizer)]
    if len(theirs) < len(sides) and theirs:
        side, other = ("source", "target") if sides[0] is theirs[0] else ("target", "source")
        yield (
            f"The model reads one vocabulary and writes another, and its tokenizer has "
            f"{theirs[0].n_pieces:,} pieces, as many as the {side}: a {other} is ids of tokens."
        )
    for each in theirs:
        if each.n_pieces > each.vocab_size:
            yield (
                f"Its tokenizer has {each.n_pieces:,} pieces, and the model knows the first "
                f"{each.vocab_size:,}."
            )
        if each.vocab_size > 1.05 * each.n_pieces + PADDING:
            yield (
                f"Its tokenizer has {each.n_pieces:,} pieces, and the model {each.vocab_size:,} "
                "rows for them: a token of a row without a piece is its number."
            )
        if text := each.unlike(path / WHOLE):
            yield text


FORMAT = Format(
    name="hugging_face",
    title="a folder of Hugging Face's, with config.json, weights and a tokenizer",
    fits=fits,
    describe=describe,
    load=load,
    files=files,
    contents=contents,
)
