"""The committed table of what each test file takes: `python -m tests.times [FILE ...]` renews it.

Without files it reads what the last `make test` and `make test-all` left in build/tests; files that
are named are run now. The table orders the files of a run, longest first, and shows which have
grown; no run is judged by a clock.
"""

import csv
import re
import subprocess
import sys
from dataclasses import dataclass, replace
from functools import cache
from math import ceil
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.suite import RESULTS, ROOT, RUNS, SOME, Case, read

TABLE, DOCUMENT = Path(__file__).with_suffix(".tsv"), ROOT / "CONTRIBUTING.md"
COLUMNS = ("file", "cases", "seconds", "all_cases", "all_seconds", "reason")
MOST_SECONDS, MOST_IN_BROWSER = 20.0, 40.0
"""Of a file's tests one after the other, before the table has to say why it takes longer."""
TOGETHER = "together"
"""The row of both runs: their seconds by pytest's own clock, with two workers."""

Figures = dict[str, tuple[int, float]]
"""File -> its cases, and their seconds."""


@dataclass(frozen=True)
class Row:
    """A file: its cases and their seconds in `make test`, and in `make test-all`."""

    file: str
    cases: int = 0
    seconds: float = 0.0
    all_cases: int = 0
    all_seconds: float = 0.0
    reason: str = ""
    """Why it takes long, written by hand; it stays when the table is renewed."""

    @property
    def is_long(self) -> bool:
        most = MOST_IN_BROWSER if self.file.startswith("tests/browser/") else MOST_SECONDS
        return max(self.seconds, self.all_seconds) > most and self.file != TOGETHER


@cache
def table() -> dict[str, Row]:
    """File -> its row; empty where there is no table yet."""
    if not TABLE.is_file():
        return {}
    with TABLE.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t")
        return {row["file"]: _row(**row) for row in rows}


def _row(file: str, cases: str, seconds: str, all_cases: str, all_seconds: str, reason: str) -> Row:
    return Row(file, int(cases), float(seconds), int(all_cases), float(all_seconds), reason)


def figures(cases: tuple[Case, ...]) -> Figures:
    """The figures of each test file; doctests stand in files of the product, and are left out."""
    of_files: Figures = {}
    for case in cases:
        if case.file.startswith("tests/"):
            n, seconds = of_files.get(case.file, (0, 0.0))
            of_files[case.file] = (n + 1, seconds + case.seconds)
    return of_files


def renewed(rows: dict[str, Row], new: Figures, prefix: str) -> dict[str, Row]:
    """The rows with new figures; prefix: "" of `make test`, "all_" of `make test-all`."""
    after = dict(rows)
    for file, (n, seconds) in new.items():
        change = {f"{prefix}cases": n, f"{prefix}seconds": round(seconds, 1)}
        after[file] = replace(rows.get(file, Row(file)), **change)  # type: ignore[arg-type]
    return after


def of_last_runs(rows: dict[str, Row]) -> dict[str, Row]:
    """The rows with the figures of whatever ran whole; files that are gone have none."""
    rows = {file: row for file, row in rows.items() if file == TOGETHER or (ROOT / file).is_file()}
    for end, prefix in (("", ""), ("-all", "all_")):
        paths = [RESULTS / f"{name}{end}.xml" for name in RUNS]
        if all(path.is_file() for path in paths):
            runs = [read(path) for path in paths]
            new = dict.fromkeys(rows, (0, 0.0))  # what a run has not takes nothing of it
            new |= figures(tuple(case for _, cases in runs for case in cases))
            n = sum(len(cases) for _, cases in runs)
            rows = renewed(rows, new | {TOGETHER: (n, sum(wall for wall, _ in runs))}, prefix)
    return rows


def of_files(rows: dict[str, Row], files: list[str]) -> dict[str, Row]:
    """The rows with the figures of these files, run now, one after the other."""
    for marks, prefix in ((SOME, ""), ([], "all_")):
        with TemporaryDirectory() as folder:
            path = Path(folder) / "results.xml"
            command = [sys.executable, "-m", "pytest", "-n", "0", *marks, f"--junitxml={path}"]
            subprocess.run([*command, *files], cwd=ROOT, check=False)
            new: Figures = dict.fromkeys(files, (0, 0.0))
            rows = renewed(rows, new | figures(read(path)[1]), prefix)
    return rows


def write(rows: dict[str, Row]) -> None:
    """Longest first, so that what grows is seen to move."""
    ordered = sorted(rows.values(), key=lambda it: (it.file != TOGETHER, -it.all_seconds, it.file))
    with TABLE.open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file, delimiter="\t", lineterminator="\n")
        out.writerow(COLUMNS)
        for row in ordered:
            out.writerow([getattr(row, name) for name in COLUMNS])


def in_document(text: str, rows: dict[str, Row]) -> str:
    """The text of DOCUMENT with what the table says in its place."""
    both = rows[TOGETHER]
    said = (
        f"On two cores, where the environment is ready, `make test` took "
        f"{ceil(both.seconds / 60)} minutes ({both.cases:,} cases), `make test-all` "
        f"{ceil(both.all_seconds / 60)} ({both.all_cases:,}). `tests/times.tsv` has each file's "
        f"share, and the reason of one over {MOST_SECONDS:.0f} seconds "
        f"({MOST_IN_BROWSER:.0f} in the browser)."
    )
    begin, end = "<!-- made by `.venv/bin/python -m tests.times` -->\n", "<!-- end -->"
    return re.sub(f"{begin}.*?{end}", lambda _: f"{begin}{said}\n{end}", text, flags=re.S)


def main(files: list[str]) -> int:
    """Returns 1 where a file takes long and the table does not say why."""
    rows = of_files(table(), files) if files else of_last_runs(table())
    write(rows)
    if TOGETHER in rows:
        DOCUMENT.write_text(in_document(DOCUMENT.read_text("utf-8"), rows), encoding="utf-8")
    unexplained = [row for row in rows.values() if row.is_long and not row.reason]
    for row in unexplained:
        print(f"{row.file}: {row.seconds} s, {row.all_seconds} s. Shorten it, or give a reason.")
    return int(bool(unexplained))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
