"""Numbered names: checkpoint-500, step_9, ckpt_500.pt, iter_0001000, epoch=3-step=400."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from transformer.checkpoint import CONFIG, checkpoints_folder
from transformer.files.weights_file import SUFFIXES

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
