"""Whatever is done with a checkpoint: found, described, opened, inspected, run, and shown."""

import json
import shutil
from pathlib import Path
from typing import Any

from transformer import decode, load_checkpoint, record
from transformer.checkpoint import Checkpoint
from transformer.formats.opening import Unforeseen, describe_checkpoint, format_of
from transformer.inspection.survey import inspect
from transformer.refusal import Refusal
from transformer.training.history import list_snapshots, read_history, training_rows
from viz.state.page import first_head


def used(path: Path) -> None:
    """Everything, each thing though the one before was refused. Raises the last refusal."""
    refused: Refusal | None = None
    for use in (_described, _inspected, _trained, _run):
        try:
            use(path)
        except Unforeseen:
            raise
        except Refusal as error:
            refused = error
    if refused is not None:
        raise refused


def emptied(folder: Path) -> Path:
    """The same folder, with nothing in it."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def _described(path: Path) -> None:
    format_of(path).files(path)
    known = describe_checkpoint(path)
    _as_utf8([known.about.title, *known.about.examples, known.family.title])
    json.dumps(known.config.to_dict())
    chosen = first_head(known.about, known.family)
    assert chosen.kind in known.family.attentions, chosen


def _inspected(path: Path) -> None:
    _as_utf8(inspect(path))


def _trained(path: Path) -> None:
    read_history(path)
    training_rows(path, list_snapshots(path))


def _run(path: Path) -> None:
    checkpoint = load_checkpoint(path, "cpu")
    text = next(iter(checkpoint.about.examples), "a")
    target = decode(checkpoint, text, max_len=3).target if _decodes(checkpoint) else None
    _as_utf8(str(record(checkpoint, text, target).checked))


def _decodes(checkpoint: Checkpoint) -> bool:
    return checkpoint.family.decodes


def _as_utf8(values: Any) -> None:
    json.dumps(values, ensure_ascii=False).encode()
