"""A fault in a copy of the tree, and the tests that run there until one of them fails."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.mutants.faults import ROOT, Fault
from tests.mutants.reporting import FAILED, UNCOLLECTED

FOUND = Path(__file__).with_name("found.md")
OWN = "tests/test_mutants.py"
"""It says that every fault can be put in: of one that is in, it would say the contrary."""
BROWSER, GOLDEN = "tests/browser", "tests/golden"
LONGEST = 3600
"""Seconds after which a fault counts as one that ends nothing."""
NO_TESTS = 5
"""What pytest returns where it has found none."""


@dataclass(frozen=True)
class Result:
    """What came of a fault."""

    test: str | None
    """The id of the first test that fails; None: no test does."""
    seconds: float
    broken: str = ""
    """What could not be imported or collected: that is found by no fact."""
    n_tried: int = 0
    """The number of groups of tests that ran."""

    @property
    def is_found(self) -> bool:
        return self.test is not None

    @property
    def text(self) -> str:
        """Say it in a clause."""
        if self.test is not None:
            return f"found by {self.test}"
        if self.broken:
            return f"not found by a fact: {self.broken} cannot be imported or collected"
        return "NOT FOUND"


def trying(fault: Fault, is_all: bool = False, workers: int = 0) -> Result:
    """Put a fault into a copy of the tree, and run tests there until one finds it."""
    began, done, known = time.monotonic(), list[str](), list[str]()
    with copied() as tree:
        fault.put_in(tree)
        for n, paths in enumerate(groups(fault), 1):
            while True:
                failed, broken = first_failure(tree, paths, [*done, OWN], known, is_all, workers)
                if failed is None or broken or not _fails_without(failed):
                    break
                known.append(failed)
            if failed is not None or broken:
                return Result(failed, time.monotonic() - began, broken, n)
            done += paths
    return Result(None, time.monotonic() - began)


@contextmanager
def copied() -> Iterator[Path]:
    """Copy what the checkout has, what is not committed too, and link its environment."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, check=True).stdout.decode()
    with TemporaryDirectory(prefix="fault-") as folder:
        tree = Path(folder)
        for name in filter(None, names.split("\0")):
            if (ROOT / name).is_file():  # not one that is deleted, and not the link .venv
                (tree / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, tree / name)
        (tree / ".venv").symlink_to((ROOT / ".venv").resolve())
        yield tree


def groups(fault: Fault) -> Iterator[list[str]]:
    """Groups of tests, the nearest first; of those that are in several the first one counts."""
    path, room = Path(fault.file), fault.file.split("/")[0]
    is_script = path.suffix == ".js"
    own = [path.stem, path.parent.name] if is_script else [path.stem]
    wanted = [
        [*_called(own, f"tests/{room}"), *([] if room == "viz" else [fault.file])],
        _mirror(path),
        _naming(_name(path)),
        *((_called(own, BROWSER), _naming(path.parent.name, BROWSER)) if is_script else ()),
        *(_naming(_name(each)) for each in path.parents[:-2]),
        *([[BROWSER]] if is_script else []),
        *([f"tests/{room}"], [GOLDEN], ["tests", "transformer"], [BROWSER]),
    ]
    done: list[str] = []
    for paths in wanted:
        new = [each for each in paths if (ROOT / each).exists() and not _is_among(each, done)]
        if new:
            yield new
        done += new


def _is_among(path: str, done: Sequence[str]) -> bool:
    """Tell whether all tests of a path have run: those of the browser never run with others."""
    above = [each for each in done if Path(path).is_relative_to(each)]
    return any(each.startswith(BROWSER) or not path.startswith(BROWSER) for each in above)


def _mirror(file: Path) -> list[str]:
    """The folder of tests that mirrors the file's, or the next one above it within its room."""
    folder = Path("tests") / file.parent
    while not (ROOT / folder).is_dir():
        folder = folder.parent
    return [str(folder)] if len(folder.parts) > 2 else []


def _name(file: Path) -> str:
    """The name under which tests know a file: of a script its path."""
    return str(file) if file.suffix == ".js" else ".".join(file.with_suffix("").parts)


def _called(names: Sequence[str], folder: str) -> list[str]:
    """The tests in a folder that are called after one of these."""
    return [file for file in _texts(folder) if Path(file).stem.removeprefix("test_") in names]


def _naming(name: str, folder: str = "tests") -> list[str]:
    """The tests in a folder that name something; of all tests, the browser's are left out."""
    wanted = re.compile(rf"\b{re.escape(name)}\b")
    return [file for file, text in _texts(folder).items() if name in text and wanted.search(text)]


@cache
def _texts(folder: str) -> dict[str, str]:
    """The text of each file of tests in a folder, by its path."""
    files = sorted(each.relative_to(ROOT) for each in (ROOT / folder).rglob("test_*.py"))
    return {
        str(each): (ROOT / each).read_text(encoding="utf-8")
        for each in files
        if (folder == BROWSER or not each.is_relative_to(BROWSER)) and str(each) != OWN
    }


def first_failure(
    tree: Path,
    paths: Sequence[str],
    done: Sequence[str] = (),
    known: Sequence[str] = (),
    is_all: bool = False,
    workers: int = 0,
) -> tuple[str | None, str]:
    """Run tests up to the first failure: the id of that test, and else what is not collected.

    done: paths that have run. known: ids of tests that fail anyway.
    """
    command = [sys.executable, "-m", "pytest", *paths, "-x", "-n", str(workers)]
    command += ["-p", "no:cacheprovider", "-p", "tests.mutants.reporting"]
    command += ["--dist", "loadfile"] if workers else []
    command += ["-m", "" if is_all else "not thorough"]
    if not any(path.startswith(BROWSER) for path in paths):
        command += [f"--ignore={BROWSER}"]
    inside = [each for each in done if not any(Path(it).is_relative_to(each) for it in paths)]
    command += [f"--ignore={each}" for each in inside]
    command += [f"--deselect={test}" for test in known]
    variables = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
    with subprocess.Popen(
        command,
        cwd=tree,
        env=variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as running:
        try:
            printed, _ = running.communicate(timeout=LONGEST)
        except subprocess.TimeoutExpired:
            os.killpg(running.pid, signal.SIGKILL)
            return None, f"pytest {' '.join(paths)} came to no end, which"
    lines = printed.splitlines()
    failed = next((it.removeprefix(FAILED) for it in lines if it.startswith(FAILED)), None)
    broken = [it.removeprefix(UNCOLLECTED) for it in lines if it.startswith(UNCOLLECTED)]
    if failed is None and not broken and running.returncode not in (0, NO_TESTS):
        broken = [next(filter(None, reversed(lines)), f"pytest {' '.join(paths)}")]
    return failed, "" if failed else ", ".join(broken)


def _fails_without(test: str) -> bool:
    """Tell whether a test fails in a copy without the fault, too."""
    with copied() as tree:
        return first_failure(tree, [test], is_all=True) != (None, "")


def markdown(results: Sequence[tuple[Fault, Result]], is_all: bool) -> str:
    """Write a table of all results."""
    command = f"python -m tests.mutants{' --all' * is_all} --write"
    n_found = sum(result.is_found for _, result in results)
    lines = [
        "# Faults that the tests find",
        "",
        f"`{command}` wrote this: {n_found} of {len(results)} faults were found.",
        "",
        "| fault | file | what it does | found by | seconds |",
        "| --- | --- | --- | --- | --- |",
    ]
    for fault, result in results:
        test = f"`{result.test}`" if result.test else result.text
        cells = (f"`{fault.name}`", f"`{fault.file}`", fault.why, test, f"{result.seconds:.0f}")
        lines.append(f"| {' | '.join(each.replace('|', chr(92) + '|') for each in cells)} |")
    return "\n".join(lines) + "\n"
