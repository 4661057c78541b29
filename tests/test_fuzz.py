"""A few damaged inputs of every kind; `python -m tests.fuzz` tries thousands of each."""

import sys
from pathlib import Path

import pytest

from tests.fuzz.__main__ import outcomes
from tests.fuzz.kind import Kind, attempted
from tests.representatives import thorough
from transformer.discover import discover

KINDS: dict[str, Kind] = discover("tests.fuzz", "KIND")


@pytest.mark.filterwarnings("ignore:enable_nested_tensor")
@pytest.mark.parametrize("part", [1, thorough(4)])
@pytest.mark.parametrize("name", KINDS)
def test_what_is_not_taken_is_refused_in_a_sentence(name: str, part: int, tmp_path: Path) -> None:
    """The first quarter of a kind's inputs, and all of them."""
    kind = KINDS[name]
    attempt = kind.start(tmp_path)
    said = [attempted(kind, attempt, number) for number in range(kind.n_quick * part // 4)]
    assert any(said), "nothing was refused: these inputs are not damaged"


PROCESS = """
import os, sys, time
first, n = int(sys.argv[2]), int(sys.argv[4])
for number in range(first, first + n):
    if number == 1:
        sys.stderr.write("its last words")
        os._exit(3)
    if number == 3:
        time.sleep(1000)
    print('{"outcome": "taken", "said": ""}', flush=True)
"""


@pytest.mark.thorough  # of the tool alone: it waits for a process that hangs
def test_an_input_that_ends_the_process_or_hangs_is_a_fault_and_the_run_goes_on() -> None:
    found = list(outcomes([sys.executable, "-c", PROCESS], 0, 5, seconds=6))
    assert [(number, outcome) for number, outcome, _ in found] == [
        *((0, "taken"), (1, "fault"), (2, "taken"), (3, "fault"), (4, "taken"))
    ]
    assert found[1][2] == "ended with status 3:\nits last words"
    assert found[3][2].startswith("ended with status -6")
