"""What learners hand in is read as far as it is a result, and nothing in it is computed."""

import csv
import io
import json
from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest

from viz.commands import results as command
from viz.lessons.results import FORMAT, ResultError, read_results

RESULT: dict[str, Any] = {
    "format": FORMAT,
    "name": "=HYPERLINK(1)",
    "lesson": "masks",
    "digest": "ab",
    "saved": "2026-11-30T10:00:00Z",
    "before": {"answers": [1, 2, 3], "right": [True, False, False]},
    "after": {"answers": None, "right": None},
    "tasks": [
        {"answers": 2, "right": False, "shown": False, "seconds": 31},
        {"answers": 0, "right": False, "shown": True, "seconds": None},
    ],
}


def put(folder: Path, name: str, content: Any) -> None:
    (folder / name).write_text(content if isinstance(content, str) else json.dumps(content))


def test_a_row_for_each_learner(tmp_path: Path) -> None:
    put(tmp_path, "b.json", RESULT)
    put(tmp_path, "a.json", RESULT | {"after": {"right": [True, True, False]}, "tasks": []})
    for name, content in (("c.json", "{"), ("d.json", []), ("e.json", "[" * 10**5)):
        put(tmp_path, name, content)
    put(tmp_path, "f.json", {"format": FORMAT, "tasks": [7], "before": 1, "after": {"right": 2}})
    results = read_results(tmp_path)
    assert results.left_out == ["c.json", "d.json", "e.json"]
    first, second, third = results.rows
    assert (first["file"], first["before right"], first["after right"]) == ("a.json", 1, 2)
    assert (second["before 1"], second["before 2"], second["after right"]) == (1, 0, "")
    assert (second["task 1 answers"], second["task 1 seconds"]) == (2, 31)
    assert (second["task 2 shown"], second["task 2 seconds"]) == (1, "")
    assert (third["name"], third["before of"], third["task 1 right"]) == ("", "", "")


def test_the_command_writes_a_table_in_which_no_name_is_a_formula(tmp_path: Path) -> None:
    put(tmp_path, "a.json", RESULT)
    printed = command.COMMAND.text(command.run(Namespace(folder=tmp_path, out=None)))
    (row,) = csv.DictReader(io.StringIO(printed))
    assert row["name"] == "'=HYPERLINK(1)" and row["before right"] == "1"
    out = tmp_path / "class.csv"
    assert command.run(Namespace(folder=tmp_path, out=out))["rows"] == 1
    assert out.read_text().splitlines()[0].startswith("file,name,lesson,digest,saved,before right")


def test_a_folder_without_results_is_refused_in_a_sentence(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "none"):
        with pytest.raises(ResultError, match=r"^[^\n]+\.$"):
            read_results(folder)
