"""The traces of a training in its folder: a log of its steps, and the model at some of them."""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transformer.checkpoint import (
    CONFIG,
    HISTORY,
    LEFT_OUT,
    SNAPSHOTS,
    CheckpointError,
    checkpoints_folder,
)
from transformer.files.foreign_file import read_json
from transformer.files.weights_file import SUFFIXES

# Numbered names: checkpoint-500, step_9, ckpt_500.pt, iter_0001000, epoch=3-step=400.

TRAINERS = "checkpoint-"
"""The beginning of their names in Hugging Face's Trainer."""
_NUMBERED = re.compile(
    r"(?P<words>|.*[-_=. ]|.*(?:step|steps|iter|epoch|checkpoint|ckpt|update|batch|snapshot))"
    r"(?P<step>[0-9]{1,15})",
    re.DOTALL | re.IGNORECASE,
)
_NO_STEPS = re.compile(
    r"(^|[^a-z])(v|run|seed|fold|trial|exp|rank|shard|part|of|rng|random|optim|sched|scaler|"
    r"consolidated|version)([^a-z]|$)|optimizer|scheduler|rng_state",
    re.IGNORECASE,
)
"""Words before numbers that count something else than a training's steps."""


def numbered_beside(path: Path) -> Mapping[int, Path]:
    """The snapshots that one of them belongs to, by number; empty where it is none."""
    words = _words(path)
    if words is None or (path.parent == checkpoints_folder() and not words.startswith(TRAINERS)):
        return {}
    series = _series(_children(path.parent)).get(words, {})
    return series if len(series) > 1 or words.startswith(TRAINERS) else {}


def numbered_in(folder: Path) -> Mapping[int, Path]:
    """The snapshots in a folder: Trainer's, else the longest series of one name."""
    series = _series(_children(folder))
    if TRAINERS in series:
        return series[TRAINERS]
    return max((series[words] for words in sorted(series)), key=len, default={})


def _series(paths: Iterable[Path]) -> dict[str, dict[int, Path]]:
    series: dict[str, dict[int, Path]] = {}
    for path in paths:
        words = _words(path)
        if words is not None:
            match = _NUMBERED.fullmatch(_stem(path))
            assert match is not None
            series.setdefault(words, {})[int(match["step"])] = path
    return series


def _words(path: Path) -> str | None:
    """Return what stands before the number, and the ending; None for a name of another sort.

    Other numbers in it may differ: epoch=3-step=400 and epoch=4-step=600 are of one training.
    """
    match = _NUMBERED.fullmatch(_stem(path))
    if match is None or _NO_STEPS.search(match["words"]):
        return None
    return re.sub("[0-9]+", "0", match["words"]) + path.name.removeprefix(_stem(path))


def _stem(path: Path) -> str:
    return path.stem if path.suffix in SUFFIXES else path.name


def _children(folder: Path) -> list[Path]:
    """List what may be a snapshot, by its name and what is in it."""
    try:
        return [each for each in folder.iterdir() if _may_open(each)]
    except OSError:
        return []


def _may_open(path: Path) -> bool:
    try:
        if path.is_dir():
            return (path / CONFIG).exists() or any(
                each.suffix in SUFFIXES for each in path.iterdir()
            )
        return path.suffix in SUFFIXES and path.is_file()
    except OSError:
        return False


# The traces of a training in its folder: a log of its steps, and the model at some of them.
#
# Ours are in history.json and snapshots/, those of Hugging Face's Trainer in trainer_state.json
# and in folders checkpoint-500; others keep folders or files of any name that ends in a number.

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
