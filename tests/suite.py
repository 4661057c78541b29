"""Run the suite and sum it up: `python -m tests.suite` is `make test`; `--all`: `make test-all`.

Two runs of pytest, as a browser needs an event loop that units must not have. Both run whatever the
other one found; the summary, with what was skipped and why, stands at the end, and one exit code.
Their results as JUnit XML, in build/tests, are what `python -m tests.times` reads.
"""

import argparse
import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "build" / "tests"
RUNS = {"units": ["--ignore=tests/browser"], "browser": ["tests/browser"]}
WORKERS = ["-n", "2", "--dist", "loadfile", "--no-loadscope-reorder", "--max-worker-restart=1"]
SOME = ["-m", "not thorough"]
"""What `make test` runs of them."""
NOTHING_RAN = 5
"""Pytest's exit code where no test was collected: a run that is empty has not passed."""


@dataclass(frozen=True)
class Case:
    """One test of one run: its file, its outcome, and why where it did not pass."""

    file: str
    name: str
    outcome: str
    reason: str
    seconds: float


@dataclass(frozen=True)
class Result:
    """What a run of pytest left behind."""

    run: str
    exit_code: int
    seconds: float
    cases: tuple[Case, ...]

    def count(self, outcome: str) -> int:
        return sum(case.outcome == outcome for case in self.cases)


def read(path: Path) -> tuple[float, tuple[Case, ...]]:
    """The seconds of a run by pytest's own clock, and its cases, of its JUnit XML."""
    suite = next(ET.parse(path).getroot().iter("testsuite"))
    return float(suite.attrib["time"]), tuple(map(_case, suite.iter("testcase")))


def _case(element: ET.Element) -> Case:
    outcome, reason = "passed", ""
    for child in element:
        if child.tag in ("failure", "error", "skipped"):
            outcome = "skipped" if child.tag == "skipped" else "failed"
            reason = child.attrib.get("message", "")
    module, name = element.attrib["classname"], element.attrib["name"]
    # What could not be imported has its module's name alone.
    return Case(_file(module or name), name, outcome, reason, float(element.attrib["time"]))


def _file(module: str) -> str:
    """The file of a dotted name, in which a class of tests may follow the module."""
    parts = module.split(".")
    for n in range(len(parts), 0, -1):
        path = f"{'/'.join(parts[:n])}.py"
        if (ROOT / path).is_file():
            return path
    return module


def run(name: str, *, whole: bool) -> Result:
    """Run one of RUNS in a process of its own, whose lines go to the terminal."""
    path = RESULTS / f"{name}{'-all' if whole else ''}.xml"
    path.unlink(missing_ok=True)
    marks = [] if whole else SOME
    command = [sys.executable, "-m", "pytest", *WORKERS, *marks, f"--junitxml={path}", *RUNS[name]]
    # Two workers and thirty servers import the same modules: compiled once, wherever that is
    # forbidden.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    exit_code = subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode
    if not path.is_file():  # pytest stopped before it could write
        return Result(name, exit_code or NOTHING_RAN, 0.0, ())
    return Result(name, exit_code, *read(path))


def summary(results: Iterable[Result]) -> Iterator[str]:
    """Lines of text: what passed, failed and was skipped in each run, and why it was skipped."""
    results = list(results)
    yield f"{'':10}{'passed':>8}{'failed':>8}{'skipped':>9}{'minutes':>9}"
    for each in results:
        numbers = (each.count("passed"), each.count("failed"), each.count("skipped"))
        yield "{:10}{:8}{:8}{:9}{:9.1f}".format(each.run, *numbers, each.seconds / 60)
    yield f"{'together':35}{sum(each.seconds for each in results) / 60:9.1f}"
    skips = [case for each in results for case in each.cases if case.outcome == "skipped"]
    for reason, n in Counter(case.reason for case in skips).most_common():
        files = sorted({case.file for case in skips if case.reason == reason})
        more = f" and {len(files) - 1} more files" if len(files) > 1 else ""
        yield f"skipped {n}: {reason or 'no reason given'} ({files[0]}{more})"
    for each in results:
        for case in each.cases:
            if case.outcome == "failed":
                yield f"FAILED {case.file}::{case.name}"
        if each.exit_code:
            yield f"The run of {each.run} ended with exit code {each.exit_code}."


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser("python -m tests.suite", description=__doc__)
    parser.add_argument("--all", action="store_true", help="what is marked thorough, too")
    whole = parser.parse_args(arguments).all
    RESULTS.mkdir(parents=True, exist_ok=True)
    results = [run(name, whole=whole) for name in RUNS]
    print("", *summary(results), sep="\n", flush=True)
    return int(any(each.exit_code for each in results))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
