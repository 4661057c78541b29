"""The coverage penalty: what it adds, and that its passes can be ended."""

from typing import Any

import pytest

from tests.conftest import SENTENCES
from transformer import Checkpoint, decode


class Stop(Exception):
    """Nobody waits any more."""


def test_its_passes_are_steps_that_can_be_stopped(text_checkpoint: Checkpoint) -> None:
    def n_steps(most: int = 10_000, **options: Any) -> tuple[int, int]:
        n = 0

        def step() -> None:
            nonlocal n
            n += 1
            if n > most:
                raise Stop

        made = decode(text_checkpoint, SENTENCES[0], "beam", max_len=6, on_step=step, **options)
        return n, len(made.hypotheses)

    without, n_texts = n_steps()
    assert n_steps(coverage_penalty=0.4) == (without + n_texts, n_texts)
    with pytest.raises(Stop):
        n_steps(without + 1, coverage_penalty=0.4)
