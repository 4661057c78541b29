"""Folders of Sentence Transformers' whose model lies within them, as older ones keep it."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import torch

from transformer.checkpoint import About, Checkpoint, CheckpointError, Description
from transformer.formats import hugging_face
from transformer.formats.format import Format
from transformer.hugging_face.description import title_of
from transformer.hugging_face.pooling import model_within, pipeline_files, pipeline_of
from transformer.inspection.tensor_statistics import Contents


def fits(path: Path) -> bool:
    """A folder whose modules.json names a folder within it that holds a model."""
    inner = model_within(path)
    return inner is not None and hugging_face.fits(inner)


def describe(path: Path) -> Description:
    """Describe the model within, under the folder's own name. Raises CheckpointError."""
    description = hugging_face.describe(_inner(path))
    return replace(description, about=_about(path, description.about, description.config))


def load(path: Path, device: torch.device) -> Checkpoint:
    """Open the model within. Raises CheckpointError."""
    inner = hugging_face.load(_inner(path), device)
    return replace(inner, path=path, about=_about(path, inner.about, inner.config))


def files(path: Path) -> Sequence[Path]:
    """The files of the model, and those that tell what becomes of its output."""
    inner = _inner(path)
    further = () if pipeline_of(inner) == path else pipeline_files(path)
    return [*hugging_face.files(inner), *further]


def contents(path: Path) -> Contents:
    """The tensors of the model within. Raises CheckpointError."""
    return hugging_face.contents(_inner(path))


def _inner(path: Path) -> Path:
    inner = model_within(path)
    if inner is None:
        raise CheckpointError(f"{path.name}: the model that its modules.json names is not there.")
    return inner


def _about(path: Path, about: About, config: object) -> About:
    return replace(about, title=title_of(path, config))


FORMAT = Format(
    name="sentence_pipeline",
    title="a folder of Sentence Transformers', with modules.json and the model within it",
    fits=fits,
    describe=describe,
    load=load,
    files=files,
    contents=contents,
)
