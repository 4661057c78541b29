"""Finished hypotheses ranked anew: passes that can be ended, and the fewest lost words first."""

from typing import Any

import pytest

from tests.conftest import SENTENCES
from transformer import Checkpoint, decode, evidence, load_checkpoint
from transformer.checkpoint import shipped_path
from transformer.decoding import OptionError


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


def test_the_text_that_loses_the_fewest_words_comes_first() -> None:
    """The printer has no paper, where the best score says that it has some again."""
    checkpoint, text = load_checkpoint(shipped_path("en-de-1"), "cpu"), "The printer has run out"
    plan = {"method": "beam", "beam_size": 8}
    plain = decode(checkpoint, f"{text} of paper again.", **plan)
    made = decode(checkpoint, f"{text} of paper again.", fewest_lost=True, **plan)
    assert {each.ids for each in made.hypotheses} == {each.ids for each in plain.hypotheses}
    ranks = [(each.n_lost, -each.score) for each in made.hypotheses]
    assert ranks == sorted(ranks) and ranks[0][0] == 0
    assert plain.hypotheses[0].n_lost is None and made.text != plain.text
    for decoding, is_lost in ((plain, True), (made, False)):
        assert (
            bool(evidence(checkpoint, f"{text} of paper again.", decoding.target).lost) == is_lost
        )
    assert [made.search.ids(end) for end in made.search.leaves] == [
        it.ids for it in made.hypotheses
    ]


def test_who_cannot_know_of_lost_words_refuses_to_rank_by_them(text_checkpoint: Checkpoint) -> None:
    with pytest.raises(OptionError):
        decode(text_checkpoint, SENTENCES[0], "beam", fewest_lost=1)
