"""The traces of a training in its folder: a log of its steps, and the model at some of them.

Ours are in history.json and snapshots/, those of Hugging Face's Trainer in trainer_state.json and
in folders checkpoint-500; others keep folders or files of any name that ends in a number.
"""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transformer.checkpoint import HISTORY, LEFT_OUT, SNAPSHOTS, CheckpointError
from transformer.files.json_file import read_json
from transformer.training.numbered import numbered_beside, numbered_in

TRAINER_STATE = "trainer_state.json"
"""Hugging Face's log of a training, in its folder and in each checkpoint of it."""
LARGEST = 2**26
"""Bytes of a log that are read: some 300,000 rows."""

MOST_STEPS, MOST_NAMES = 10**15, 60
"""Steps of a training, and different values in its log, each of which is a curve."""


@dataclass(frozen=True)
class Snapshot:
    """A model as it was at one step of its training."""

    step: int
    path: Path
    """The path that `load_checkpoint` opens."""


def list_snapshots(path: Path) -> tuple[Snapshot, ...]:
    """The snapshots that belong to a checkpoint, by step; empty where none were kept.

    path: of a checkpoint, or of one of its snapshots. The final weights come last where their step
    is known and is another one. What a link points to outside the folder does not belong to it.
    """
    folder = run_folder(path)
    ours = {file.stem: file for file in (folder / SNAPSHOTS).glob("*.safetensors")}
    numbered = {int(s): file for s, file in ours.items() if re.fullmatch("[0-9]{1,15}", s)}
    theirs = numbered_beside(path) or numbered_in(folder)
    result = {
        step: Snapshot(step, file)
        for step, file in (*theirs.items(), *numbered.items())
        if _lies_in(file, folder)
    }
    end = _final_step(folder)
    if result and end is not None and end > max(result):
        result[end] = Snapshot(end, folder)
    return tuple(result[step] for step in sorted(result))


def _lies_in(file: Path, folder: Path) -> bool:
    try:
        return file.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError):  # a link that leads to itself
        return False


def run_folder(path: Path) -> Path:
    """The folder of the training that a checkpoint, or a snapshot, comes from."""
    if path.parent.name == SNAPSHOTS and path.suffix == ".safetensors":
        return path.parent.parent
    return path.parent if numbered_beside(path) else path


def left_out(path: Path) -> str | None:
    """Say where the snapshots of a checkpoint are, where the installed package lacks them.

    path: of the checkpoint, or of a snapshot that is missing. None where nothing was left out, or
    somebody has put it there.
    """
    folder = run_folder(path)
    if not (folder / SNAPSHOTS / LEFT_OUT).is_file() or list_snapshots(folder):
        return None
    return (
        f"The snapshots of the training of {folder.name} are not installed: they lie in "
        f"checkpoints/{folder.name}/{SNAPSHOTS} of a clone of the repository."
    )


def training_rows(path: Path, snapshots: Sequence[Snapshot]) -> list[dict[str, float]]:
    """Read what training logged: rows with a step and a loss, a validation_loss, or more.

    Ours are in history.json, those of Hugging Face's Trainer in its last snapshot. Raises
    CheckpointError as `read_history` does; empty where no log was kept.
    """
    folder = run_folder(path)
    rows = read_history(folder)
    if rows:
        return rows
    for place in (folder, *(snapshot.path for snapshot in reversed(snapshots))):
        log = _trainer_state(place).get("log_history")
        if isinstance(log, list):
            return [row for row in map(_row, log) if len(row) > 1]
    return []


def read_history(path: Path) -> list[dict[str, float]]:
    """The rows that training saved, in order: each has `step` and what was measured there.

    Empty where a folder has no history.json: a model from elsewhere keeps no log. Raises
    CheckpointError for a file that holds something else.
    """
    file = path / HISTORY
    if not os.path.lexists(file):
        return []
    rows = read_json(file, LARGEST)
    if not isinstance(rows, list) or not all(map(_is_history_row, rows)):
        raise CheckpointError(
            f"{path.name}: {HISTORY} must be a list of rows of numbers, each with a step."
        )
    names = {name for row in rows for name in row}
    if len(names) > MOST_NAMES:
        raise CheckpointError(
            f"{path.name}: {HISTORY} names {len(names):,} different values, where a training logs "
            f"at most {MOST_NAMES}."
        )
    return rows


def _is_history_row(row: Any) -> bool:
    """Numbers by name; a loss may be NaN where a run went astray, a step may not."""
    return (
        isinstance(row, dict) and _is_step(row.get("step")) and all(map(_is_number, row.values()))
    )


def _is_step(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < MOST_STEPS


def _is_number(value: Any) -> bool:
    """Tell whether a float can hold it: JSON may have an integer of thousands of digits."""
    return isinstance(value, float) or (isinstance(value, int) and abs(value) < 2**63)


def _final_step(folder: Path) -> int | None:
    """The step of the weights in the folder itself; None where nothing says so."""
    try:
        rows = read_history(folder)
    except CheckpointError:
        rows = []
    if rows:
        return max(int(row["step"]) for row in rows)
    step = _trainer_state(folder).get("global_step")
    return step if _is_step(step) else None


def _trainer_state(folder: Path) -> dict[str, Any]:
    """Empty where there is none that can be read."""
    try:
        state = read_json(folder / TRAINER_STATE, LARGEST)
    except CheckpointError:
        return {}
    return state if isinstance(state, dict) else {}


def _row(logged: Any) -> dict[str, float]:
    """A row of Trainer's log by our names; with less than two values it says nothing."""
    names = {"step": "step", "loss": "loss", "eval_loss": "validation_loss"}
    if not isinstance(logged, dict) or not _is_step(logged.get("step")):
        return {}
    return {
        ours: logged[theirs] for theirs, ours in names.items() if _is_number(logged.get(theirs))
    }
