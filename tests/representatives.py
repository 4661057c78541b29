"""Cases of a family, of which `make test` runs those that stand for a mechanism.

A family is a list of like cases: architectures, codebases, views. What differs between two of them
is seldom the code that runs. Its representatives name each mechanism that does differ, and the case
that shows it; all other cases carry the marker `thorough`, and `make test-all` runs them too.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import pytest


def cases(every: Iterable[Any], few: Mapping[str, Any]) -> list[Any]:
    """Parameters for `pytest.mark.parametrize`: every case, thorough unless few has it.

    few: what differs -> the case that shows it. A case is a value, or a tuple of values where the
    test has several parameters. Raises ValueError where few names a case that there is not.
    """
    every = list(every)
    missing = {what: case for what, case in few.items() if case not in every}
    if missing:
        raise ValueError(f"not of this family: {missing}")
    return [case if case in few.values() else thorough(case) for case in every]


def part(every: Iterable[Any], few: Mapping[str, Any]) -> list[Any]:
    """The same of a part of a family, where few is of the whole family."""
    every = list(every)
    return cases(every, {what: case for what, case in few.items() if case in every})


def thorough(case: Any) -> Any:
    """A case of the whole product, which `make test-all` alone runs."""
    return pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=MARK)


MARK = pytest.mark.thorough
