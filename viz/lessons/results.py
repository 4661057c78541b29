"""Results of lessons, as learners hand them in: files of viz/live/lessons/result.js, as a table.

A file says what its lesson's page saw, and proves nothing: whoever edits it can change it.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transformer.files.foreign_text import clean
from transformer.files.regular_file import files_of, read_regular
from transformer.refusal import Refusal

FORMAT = "headscope lesson result 1"
LARGEST = 2**20
"""Bytes of a file."""
MOST_TASKS = 200
OF_TASK = ("answers", "right", "shown", "seconds")
Row = Mapping[str, Any]


class ResultError(Refusal):
    """There is no result to read; says so in one sentence."""


@dataclass(frozen=True)
class Results:
    """The results of a folder."""

    rows: Sequence[Row]
    """One a file: names of columns -> values."""
    left_out: Sequence[str]
    """Names of files that are no results."""


def read_results(folder: Path) -> Results:
    """Read every .json file of a folder. Raises ResultError where none is a result."""
    if not folder.is_dir():
        raise ResultError(f"{clean(folder)} is not a folder: name the one with the results.")
    rows, left_out = list[Row](), list[str]()
    for file in files_of(folder, [".json"]):
        row = _row(file)
        if row is None:
            left_out.append(file.name)
        else:
            rows.append(row)
    if not rows:
        raise ResultError(f"{clean(folder)} holds no result: a lesson's page saves one as .json.")
    return Results(rows, left_out)


def _row(file: Path) -> Row | None:
    try:
        data = json.loads(read_regular(file, LARGEST))
    except (OSError, ValueError, RecursionError, Refusal):
        return None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        return None
    row: dict[str, Any] = {"file": file.name}
    for name in ("name", "lesson", "digest", "saved"):
        row[name] = clean(data.get(name, ""))
    for when in ("before", "after"):
        marks = _marks(data.get(when))
        row[f"{when} right"] = "" if marks is None else sum(marks)
        row[f"{when} of"] = "" if marks is None else len(marks)
    for when in ("before", "after"):
        for i, mark in enumerate(_marks(data.get(when)) or (), 1):
            row[f"{when} {i}"] = int(mark)
    tasks = data.get("tasks")
    for i, task in enumerate(tasks[:MOST_TASKS] if isinstance(tasks, list) else (), 1):
        for name in OF_TASK:
            row[f"task {i} {name}"] = _plain(task.get(name) if isinstance(task, dict) else None)
    return row


def _marks(value: Any) -> list[bool] | None:
    """Tell whether each answer was right; None where the questions were skipped."""
    marks = value.get("right") if isinstance(value, dict) else None
    if not isinstance(marks, list) or len(marks) > MOST_TASKS:
        return None
    return [each is True for each in marks]


def _plain(value: Any) -> int | float | str:
    if isinstance(value, bool):
        return int(value)
    return value if isinstance(value, int | float) else ""
