"""What a command reads and writes is UTF-8, whatever the locale says of its streams."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from io import StringIO
from pathlib import Path

import pytest

from tests import warm
from tests.conftest import SENTENCES
from tests.representatives import MARK
from transformer.__main__ import main
from transformer.commands.command import csv_file

ROOT = Path(__file__).parents[3]
ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
"""A locale in which a pipe has ASCII."""
Run = Callable[..., warm.Ended]


def run_anew(
    *arguments: object, given: bytes = b"", stdout: str = "", closed: bool = False, **variables: str
) -> warm.Ended:
    """A command in a new interpreter. stdout: a file in the place of a pipe."""
    environment = {key: it for key, it in os.environ.items() if key != "PYTHONIOENCODING"}
    command = [sys.executable, "-m", "transformer", *map(str, arguments)]
    end = f">'{stdout}'" if stdout else ">&-" if closed else ""
    done = subprocess.run(
        ["sh", "-c", f'"$@" {end}', "sh", *command],
        input=given,
        capture_output=True,
        cwd=ROOT,
        env={**environment, **variables},
        timeout=120,
    )
    return warm.Ended(done.returncode, done.stdout, done.stderr)


def run_in_a_fork(
    *arguments: object, given: bytes = b"", stdout: str = "", closed: bool = False, **variables: str
) -> warm.Ended:
    """The same command, in a process whose streams are made as an interpreter makes them."""
    return warm.run(
        warm.COMMAND,
        *arguments,
        given=given,
        stdout="" if closed else stdout or "stdout",
        encoding=variables.get("PYTHONIOENCODING", "utf-8"),
        variables=variables,
    )


@pytest.fixture(params=[run_in_a_fork, pytest.param(run_anew, marks=MARK)])
def run(request: pytest.FixtureRequest) -> Run:
    result: Run = request.param
    return result


@pytest.mark.thorough
def test_every_encoding_of_a_pipe(text_folder: Path) -> None:
    """Windows says cp1252 of a pipe, and LC_ALL=C ASCII: neither has all that a model writes."""
    text = f"{SENTENCES[0]} ▁é"
    given = f"\ufeff{text}\tnot read\r\n".encode()
    ended = run_anew("decode", text_folder, "--data", "-", given=given, **ASCII)
    assert not ended.returncode, ended.stderr
    assert json.loads(ended.stdout)["source"] == text


@pytest.mark.thorough
def test_an_encoding_that_a_person_names(text_folder: Path, run: Run) -> None:
    given = f"{SENTENCES[0]} é\n".encode("latin-1")
    ended = run("decode", text_folder, "--data", "-", given=given, PYTHONIOENCODING="latin-1")
    assert not ended.returncode, ended.stderr
    assert json.loads(ended.stdout.decode("latin-1"))["source"] == f"{SENTENCES[0]} é"


def test_errors_lose_nothing(tmp_path: Path, run: Run) -> None:
    name = str(tmp_path / "é▁")
    ended = run("decode", name, SENTENCES[0], PYTHONIOENCODING="ascii")
    assert ended.returncode == 1 and rb"\xe9\u2581" in ended.stderr


def test_a_standard_input_of_ones_own(
    text_folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Notebooks, tests and wrappers put another one in its place."""
    monkeypatch.setattr(sys, "stdin", StringIO(f"\ufeff{SENTENCES[0]}\tnot read\r\n"))
    assert not main(["decode", str(text_folder), "--data", "-"])
    assert json.loads(capsys.readouterr().out)["source"] == SENTENCES[0]


def test_a_standard_input_that_is_closed(
    text_folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    assert main(["decode", str(text_folder), "--data", "-"]) == 1
    assert "closed" in capsys.readouterr().err


def test_what_is_no_utf8_is_refused_from_a_pipe_too(
    text_folder: Path, tmp_path: Path, run: Run
) -> None:
    given = SENTENCES[0].encode() + b"\xff\n"
    (tmp_path / "text").write_bytes(given)
    for file, more in (("-", given), (tmp_path / "text", b"")):
        ended = run("decode", text_folder, "--data", file, given=more)
        assert (ended.returncode, ended.stdout) == (1, b"")
        assert ended.stderr.splitlines()[-1].endswith(b"it is not text in UTF-8.")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a disk that is full")
@pytest.mark.parametrize("how", [["decode", SENTENCES[0]], ["decode", "--data", "-"]])
def test_a_full_disk_is_one_sentence(text_folder: Path, how: list[str], run: Run) -> None:
    command, *rest = how
    given = SENTENCES[0].encode()
    ended = run(command, text_folder, *rest, given=given, stdout="/dev/full")
    assert ended.returncode == 1
    assert b"Traceback" not in ended.stderr and b"cannot be written" in ended.stderr


def test_a_stdout_that_is_closed_is_no_fault(text_folder: Path, run: Run) -> None:
    ended = run("decode", text_folder, SENTENCES[0], closed=True)
    assert (ended.returncode, ended.stderr) == (0, b"")


@pytest.mark.parametrize("command", ["heads", "evidence", "changes"])
@pytest.mark.parametrize("name", ["folder", "table.xlsx", "table.parquet", "table.json"])
def test_a_table_is_a_csv_file(
    text_folder: Path, tmp_path: Path, command: str, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before any work is done: what is computed would be lost, or lie in a file of another kind."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "text").write_text(SENTENCES[0])
    more = [text_folder, "--data", tmp_path / "text"] if command == "changes" else [SENTENCES[0]]
    arguments = [command, text_folder, *more, "--out", tmp_path / name]
    with suppress(SystemExit):
        assert main([*map(str, arguments)])
    assert ("folder" if name == "folder" else ".csv") in capsys.readouterr().err
    assert not (tmp_path / name).is_file()


@pytest.mark.parametrize("name", ["run-1.2", "table", "table.csv", "TABLE.CSV"])
def test_a_name_with_a_point_is_a_table_s(tmp_path: Path, name: str) -> None:
    assert csv_file(str(tmp_path / name)).name == name


@pytest.mark.parametrize("number", ["0", "1025", "100000", "x"])
def test_threads_that_no_process_has(text_folder: Path, number: str) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["decode", str(text_folder), SENTENCES[0], "--threads", number])
    assert ended.value.code == 2
