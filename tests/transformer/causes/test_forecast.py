"""A forecast of cut arrows: its identity, its slope, and what it forecasts."""

from math import exp
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import torch

from tests.conftest import random_checkpoint
from tests.representatives import cases, part
from tests.transformer.causes.test_own_modules import WORDS, ids_of
from tests.transformer.own_module.test_from_module import Copier
from tests.transformer.recording.test_families import CONFIGS, FEW, SOURCE, TARGET, WRITING
from tests.transformer.watch.hugging_face import build
from transformer import Checkpoint, InputError, decode, from_module, load_checkpoint, record
from transformer.analysis.scored import output_of, scored
from transformer.causes.arrows import forecast
from transformer.edits import Edit

SMALL = 0.1
TEXT = "7 9 11 13"
HUGGING_FACE = ("Marian", "T5", "BART", "GPT-2", "GPT-NeoX", "Llama", "Gemma-2", "BLOOM", "Jamba")


def opened(family: str, folder: Path) -> Checkpoint:
    model: Any = build(family)
    model.save_pretrained(folder)
    return load_checkpoint(folder, "cpu")


def lost(checkpoint: Checkpoint, text: str, target: Any, step: int, *edits: Edit) -> list[float]:
    """What each edit by itself takes from the token."""
    groups = [(), *((edit,) for edit in edits)]
    parts = scored(checkpoint, output_of(checkpoint, text, target), groups)
    before, *after = torch.cat([part.log_probs for part in parts])[:, step].tolist()
    return [before - each for each in after]


def check(checkpoint: Checkpoint, text: str, target: Any, step: int) -> None:
    """Rows sum to 0, and a weight that is changed a little changes the token as is forecast."""
    result = forecast(checkpoint, text, target, step)
    assert result.error < 1e-5
    pairs = result.strongest(2) + result.strongest(10**6)[-2:]
    assert pairs[0][0] > 2e-5 > -2e-5 > pairs[-1][0], "nothing is at stake"
    # A weight times exp(-e), and then shared out anew: to the first order e (1 - a) of a cut.
    less, more = (
        lost(
            checkpoint,
            text,
            target,
            step,
            *(Edit("arrow-scale", it.place, it.numbers, (exp(size),)) for _, it in pairs),
        )
        for size in (-SMALL, SMALL)
    )
    exact = [(one - other) / 2 for one, other in zip(less, more, strict=True)]
    attentions = record(checkpoint, text, target).attentions
    for (cost, cut), wanted in zip(pairs, exact, strict=True):
        layer, head, query, key = cut.numbers
        weight = float(attentions[cut.place].weights(layer, head)[query, key])
        assert SMALL * (1 - weight) * cost == pytest.approx(wanted, rel=0.05, abs=3e-6)


SLOPES = {"a source": "Marian", "a bias": "T5", "grouped heads": "Llama", "by hand": "Gemma-2"}
"""How weights are computed that a slope is of -> the family that shows it."""


@pytest.mark.parametrize("family", cases(HUGGING_FACE, SLOPES))
def test_it_is_the_slope_of_a_cut_in_models_of_others(family: str, tmp_path: Path) -> None:
    checkpoint = opened(family, tmp_path)
    target = decode(checkpoint, TEXT, max_len=4).target
    check(checkpoint, TEXT, target, len(target) - 1)


@pytest.mark.parametrize("name", part(WRITING, FEW))
def test_it_is_the_slope_of_a_cut_in_models_of_ours(name: str) -> None:
    checkpoint = random_checkpoint(CONFIGS[name])
    if "plain" in name:  # nothing joins its heads
        with pytest.raises(InputError, match="one by one"):
            forecast(checkpoint, SOURCE, TARGET, 2)
    else:
        check(checkpoint, SOURCE, TARGET, 2)


def test_what_cannot_be_forecast_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="step"):
        forecast(random_checkpoint(CONFIGS["gpt2"]), SOURCE, TARGET, 9)
    with pytest.raises(InputError, match="writes nothing"):
        forecast(opened("BERT", tmp_path), TEXT, None or "", 0)


def test_a_module_of_one_s_own_that_uses_its_matrix_by_hand_is_refused() -> None:
    ends: Any = {"writes": "target", "start": "<s>", "end": 1, "max_len": 6}
    checkpoint = from_module(Copier().eval(), ids_of, WORDS, "a b c", **ends)
    target = [checkpoint.tokenizer.token(id) for id in (3, 2, 5)]
    with pytest.raises(InputError, match="one by one"):
        forecast(checkpoint, "a b c", target, 1)


def test_other_threads_run_the_same_model_meanwhile() -> None:
    checkpoint = random_checkpoint(CONFIGS["gpt2"])
    alone, others = forecast(checkpoint, SOURCE, TARGET, 2), []
    plain = record(checkpoint, TARGET, SOURCE).logits

    def run() -> None:
        others.extend(record(checkpoint, TARGET, SOURCE).logits for _ in range(20))

    thread = Thread(target=run)
    thread.start()
    together = [forecast(checkpoint, SOURCE, TARGET, 2) for _ in range(5)]
    thread.join()
    assert len(others) == 20 and all(torch.equal(each, plain) for each in others)
    for result in together:
        for place, costs in result.costs.items():
            torch.testing.assert_close(costs, alone.costs[place], equal_nan=True)
