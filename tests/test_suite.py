"""What `make test` promises: nothing skipped in silence, a reason for what takes long."""

import subprocess
from pathlib import Path

import pytest

from tests import times
from tests.representatives import cases
from tests.suite import ROOT, Case, Result, read, summary
from tests.times import COLUMNS, TOGETHER, Row, renewed, table

JUNIT = """<testsuites><testsuite time="61.5">
<testcase classname="tests.test_suite" name="test_a[x]" time="0.5" />
<testcase classname="tests.test_suite.TestB" name="test_c" time="1.5">
  <skipped message="no CUDA device">place</skipped></testcase>
<testcase classname="tests.test_suite" name="test_d" time="2.0"><error message="why" /></testcase>
</testsuite></testsuites>"""


@pytest.fixture
def results(tmp_path: Path) -> tuple[float, tuple[Case, ...]]:
    path = tmp_path / "results.xml"
    path.write_text(JUNIT)
    return read(path)


def test_results_of_pytest_are_read(results: tuple[float, tuple[Case, ...]]) -> None:
    seconds, found = results
    assert seconds == 61.5
    assert [(case.outcome, case.reason) for case in found] == [
        *(("passed", ""), ("skipped", "no CUDA device"), ("failed", "why"))
    ]
    assert {case.file for case in found} == {"tests/test_suite.py"}


def test_what_was_skipped_and_what_failed_stands_at_the_end(
    results: tuple[float, tuple[Case, ...]],
) -> None:
    text = "\n".join(summary([Result("units", 1, *results), Result("browser", 2, 0.0, ())]))
    for fact in ("no CUDA device", "tests/test_suite.py::test_d", "exit code 1", "exit code 2"):
        assert fact in text


def test_representatives_are_of_their_family() -> None:
    made = cases(["a", "b", ("c", 1)], {"mechanism": "b"})
    marks = [[mark.name for mark in getattr(case, "marks", ())] for case in made]
    assert marks == [["thorough"], [], ["thorough"]]
    with pytest.raises(ValueError, match="another"):
        cases(["a"], {"mechanism": "another"})


def test_a_row_keeps_its_reason_and_its_other_run() -> None:
    rows = {"tests/a.py": Row("tests/a.py", 1, 2.0, 3, 4.0, "a server")}
    after = renewed(rows, {"tests/a.py": (5, 6.0)}, "all_")
    assert after == {"tests/a.py": Row("tests/a.py", 1, 2.0, 5, 6.0, "a server")}
    assert renewed({}, {"tests/b.py": (1, 1.0)}, "")["tests/b.py"] == Row("tests/b.py", 1, 1.0)


def test_the_table_is_written_as_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = times.TABLE.read_text("utf-8")
    monkeypatch.setattr(times, "TABLE", tmp_path / "times.tsv")
    times.write(table())
    assert (tmp_path / "times.tsv").read_text("utf-8") == text
    assert tuple(text.splitlines()[0].split("\t")) == COLUMNS


def test_a_file_takes_less_than_its_limit_or_says_why() -> None:
    """Of the committed table, so that no run is judged by a clock: `python -m tests.times`."""
    assert not [row.file for row in table().values() if row.is_long and not row.reason]
    slow = Row("tests/a.py", seconds=20.1)
    assert slow.is_long and not Row("tests/browser/test_a.py", seconds=20.1).is_long
    assert Row("tests/browser/test_a.py", all_seconds=40.1).is_long


def test_contributing_says_how_long_both_runs_take() -> None:
    text = times.DOCUMENT.read_text("utf-8")
    assert times.in_document(text, table()) == text


def test_every_test_file_has_been_measured() -> None:
    """One that is new: `python -m tests.times FILE`."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "tests"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode:
        pytest.skip("not a checkout of git's")
    paths = [path for path in map(Path, listed.stdout.split()) if (ROOT / path).is_file()]
    files = {path.as_posix() for path in paths if path.match("test_*.py")}
    assert files and files == set(table()) - {TOGETHER}
