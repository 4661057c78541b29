"""An error in somebody's own function ends in one sentence that names the place in their file."""

import sysconfig
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from logging import getLogger
from pathlib import Path

import torch

from transformer.inputs import InputError
from transformer.refusal import Refusal

MOST = 300
"""Characters of what an error says of itself."""
_FOLDERS = ("stdlib", "platstdlib", "purelib", "platlib")
_LIBRARIES = (
    *(Path(sysconfig.get_path(name)).resolve() for name in _FOLDERS),
    Path(torch.__file__).resolve().parent,
    Path(__file__).resolve().parents[1],
)


@contextmanager
def in_a_sentence(what: str, refusal: type[Refusal] = InputError, hint: str = "") -> Iterator[None]:
    """Turn what is raised inside into a Refusal of this class; its traceback is logged.

    what: the function that runs, as its author calls it. hint: another sentence, said after it.
    """
    try:
        yield
    except Refusal:
        raise
    except (Exception, SystemExit) as error:
        getLogger(__name__).exception("%s failed", what)
        raise refusal(f"{what} failed{_place(error, what)}: {_message(error)}.{hint}") from error


def _message(error: BaseException) -> str:
    first = next(iter(str(error).splitlines()), "").rstrip(".")[:MOST]
    return f"{type(error).__name__}: {first}" if first else type(error).__name__


def _place(error: BaseException, what: str) -> str:
    """The last line that is the author's own, not a library's; and in which function it is."""
    own = [
        (frame.f_code, line)
        for frame, line in traceback.walk_tb(error.__traceback__)
        if not _is_library(frame.f_code.co_filename)
    ]
    if not own:
        return ""
    code, line = own[-1]
    file = Path(code.co_filename)
    cell = "ipykernel" in str(file) or "ipython-input" in file.name
    names = code.co_qualname.split(".<locals>.")
    name = next((each for each in reversed(names) if not each.startswith("<")), what)
    within = f" in {name}" if name != what else ""
    return f"{within} at line {line} of {'a notebook cell' if cell else file.name}"


def _is_library(file: str) -> bool:
    if file.startswith("<frozen"):
        return True
    whole = Path(file).resolve()
    return any(whole.is_relative_to(folder) for folder in _LIBRARIES)
