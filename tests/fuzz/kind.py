"""What a kind of fuzzed input declares of itself, and one input put through the program."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

from transformer.formats.opening import Unforeseen
from transformer.refusal import Refusal

Attempt = Callable[[Random], object]
"""Make one input of these random numbers, and do with it what the program does."""


@dataclass(frozen=True)
class Kind:
    """A kind of input: a file in this folder with a constant KIND."""

    name: str
    start: Callable[[Path], Attempt]
    """Once a process: build in this empty folder what inputs are made from.

    What it gives is tried again and again. A Refusal says that an input was not taken; anything
    else that is raised is a fault.
    """
    n: int = 2000
    """Inputs of a long run."""
    n_quick: int = 40
    """Inputs of the run in the suite."""


def attempted(kind: Kind, attempt: Attempt, number: int) -> str:
    """Try one input: "" where it was taken, else the sentence that refuses it.

    The same number is the same input. Raises whatever is a fault.
    """
    try:
        attempt(Random(f"{kind.name} {number}"))
    except Unforeseen:
        raise
    except Refusal as error:
        said = str(error)
        if not said.strip() or "\n" in said or len(said) > 2000 or "Traceback" in said:
            raise AssertionError(f"a refusal must be one sentence, not {said!r:.300}") from error
        return said
    return ""
