"""Processes that have torch already: forks of one that imports it once, and then waits.

A fact about a process (how it ends, what it writes where, what it leaves behind) needs a process of
its own, but no new interpreter: to import torch takes longer than nearly all such facts. What only
a new interpreter shows runs in one, and is thorough where another test is of the same mechanism.
"""

import errno
import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from dataclasses import dataclass
from io import TextIOWrapper
from multiprocessing import forkserver, get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

ROOT = Path(__file__).parents[1]
COMMANDS = (f"transformer.commands.{it.stem}" for it in ROOT.glob("transformer/commands/[a-z]*.py"))
CONTEXT = get_context("forkserver")
CONTEXT.set_forkserver_preload([*COMMANDS, "transformer.engines.processes"])

LONGEST = 300
"""Seconds after which one that hangs is killed, and its test fails."""


@contextmanager
def at_hand() -> Iterator[None]:
    """Start the process that others are forks of, and let them import nothing of pytest's."""
    with chdir(ROOT):
        forkserver.ensure_running()
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


@dataclass(frozen=True)
class Ended:
    """What `subprocess.run` would say of it."""

    returncode: int | None
    stdout: bytes
    stderr: bytes


def start(
    code: str,
    *arguments: object,
    folder: Path,
    encoding: str = "utf-8",
    stdout: str = "stdout",
    variables: dict[str, str] | None = None,
) -> Any:
    """A fork that begins with a script, as `python -c code arguments` does.

    folder: holds what it is given as "stdin", if any, and then its "stdout" and "stderr". stdout:
    the name of a file there, a path, or "" where it is closed. encoding: of its three streams.
    """
    environment = {**os.environ, **(variables or {})}
    given = (str(folder), stdout, encoding, environment)
    process = CONTEXT.Process(target=_run, args=(code, [*map(str, arguments)], *given))
    with at_hand():
        process.start()
    return process


def run(code: str, *arguments: object, given: bytes = b"", **how: Any) -> Ended:
    """The same, to its end."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "stdin").write_bytes(given)
        process = start(code, *arguments, folder=folder, **how)
        process.join(LONGEST)
        process.kill()
        process.join()
        files = (folder / "stdout", folder / "stderr")
        return Ended(process.exitcode, *(it.read_bytes() if it.is_file() else b"" for it in files))


COMMAND = "import runpy; runpy.run_module('transformer', run_name='__main__', alter_sys=True)"
"""`python -m transformer`."""


def _run(
    code: str,
    arguments: list[str],
    folder: str,
    stdout: str,
    encoding: str,
    environment: dict[str, str],
) -> None:
    os.chdir(ROOT)
    os.environ.clear()
    os.environ.update(environment)
    _put_streams(Path(folder), stdout, encoding)
    sys.argv = ["-c", *arguments]
    status: Any = 0
    try:
        exec(compile(code, "<string>", "exec"), {"__name__": "__main__"})
    except SystemExit as ended:
        status = ended.code or 0
    except BaseException:
        traceback.print_exc()
        status = 1
    try:
        for stream in filter(None, (sys.stdout, sys.stderr)):
            stream.flush()
    except OSError as error:  # as Python ends then; it minds no descriptor that was closed
        status = status if error.errno == errno.EBADF else 120
    os._exit(status)


def _put_streams(folder: Path, stdout: str, encoding: str) -> None:
    errors = "strict" if encoding == "utf-8" else "surrogateescape"
    sys.stdin = TextIOWrapper(_opened(0, folder / "stdin"), encoding, errors)
    if stdout:
        sys.stdout = TextIOWrapper(_opened(1, folder / stdout), encoding, errors)
    else:
        os.close(1)
        sys.stdout = None  # type: ignore[assignment]
    stderr = _opened(2, folder / "stderr")
    sys.stderr = TextIOWrapper(stderr, encoding, "backslashreplace", line_buffering=True)


def _opened(number: int, file: Path) -> Any:
    """A file in the place of a standard stream."""
    opened = os.open(file, os.O_CREAT | (os.O_WRONLY if number else os.O_RDONLY))
    if opened != number:
        os.dup2(opened, number)
        os.close(opened)
    return os.fdopen(number, "wb" if number else "rb")
