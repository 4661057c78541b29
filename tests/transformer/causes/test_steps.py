"""Long work on causes can be ended after each of its batches, or runs."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest

from tests.conftest import random_checkpoint
from tests.transformer.recording.test_families import CONFIGS, SOURCE, TARGET
from tests.transformer.watch.hugging_face import build
from transformer import evidence, load_checkpoint, record
from transformer.causes.arrows import arrows
from transformer.causes.contrast import another_word
from transformer.causes.ladder import ladder
from transformer.causes.repairs import changes


class Stopped(Exception):
    """Nobody waits any more."""


def stops_at_each(run: Callable[[Callable[[], None]], object]) -> int:
    """Count its steps; stopped at any of them it takes no further one."""
    n_steps = 0

    def count() -> None:
        nonlocal n_steps
        n_steps += 1

    run(count)
    for last in range(1, n_steps + 1):
        left = last

        def stop() -> None:
            nonlocal left
            left -= 1
            if not left:
                raise Stopped

        with pytest.raises(Stopped):
            run(stop)
        assert not left
    return n_steps


@pytest.mark.parametrize("edits", [[], ["head-off:cross.0.0"]])
def test_arrows_stop_between_two_batches(edits: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_module("transformer.causes.arrows"), "ROWS", 20)
    monkeypatch.setattr(import_module("transformer.analysis.scored"), "ROWS", 20)
    checkpoint = random_checkpoint(CONFIGS["post-norm"])

    def run(on_step: Callable[[], None]) -> object:
        return arrows(checkpoint, SOURCE, TARGET, 2, edits, on_step)

    n_arrows = sum(costs.numel() for costs in arrows(checkpoint, SOURCE, TARGET, 2).costs.values())
    assert stops_at_each(run) == -(-(n_arrows + bool(edits)) // 20) > 1


def test_a_search_for_repairs_stops_within_its_passes_of_arrows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(import_module("transformer.causes.arrows"), "ROWS", 20)
    checkpoint = random_checkpoint(CONFIGS["post-norm"])
    target = record(checkpoint, SOURCE, TARGET).target
    place = another_word(checkpoint, target, 2, "9")

    def find(on_step: Callable[[], None]) -> object:
        return changes(checkpoint, SOURCE, target, place, (), on_step)

    n_arrows = sum(costs.numel() for costs in arrows(checkpoint, SOURCE, TARGET, 2).costs.values())
    assert stops_at_each(find) == 2 * -(-n_arrows // 20)


def test_models_of_others_stop_between_two_runs(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    model: Any = build("GPT-2")
    model.save_pretrained(tmp_path)
    checkpoint = load_checkpoint(tmp_path, "cpu")
    text, target = "7 9 11", "12 13 14"
    monkeypatch.setattr(import_module("transformer.analysis.watched_rows"), "FEW", 100)
    n_rungs = len(ladder(checkpoint, text, target, "cut:decoder_self.0.0.3.1"))

    def climb(on_step: Callable[[], None]) -> object:
        return ladder(checkpoint, text, target, "cut:decoder_self.0.0.3.1", (), on_step)

    assert stops_at_each(climb) == n_rungs  # all but the word deleted, and the run as it is
    of = evidence(checkpoint, text, target)
    n_read, n_written = len(of.source_words), len(of.target_words)

    def find(on_step: Callable[[], None]) -> object:
        return evidence(checkpoint, text, target, (), on_step)

    assert stops_at_each(find) == 1 + n_read + 1 + n_written


def test_runs_of_a_batch_are_one_step(tmp_path: Any) -> None:
    model: Any = build("GPT-2")
    model.save_pretrained(tmp_path)
    checkpoint = load_checkpoint(tmp_path, "cpu")

    def find(on_step: Callable[[], None]) -> object:
        return evidence(checkpoint, "7 9 11 12 13 14 15", "12 13", (), on_step)

    n_words = len(evidence(checkpoint, "7 9 11 12 13 14 15", "12 13").source_words)
    assert 1 <= stops_at_each(find) < n_words
