"""Edits of rows behind what is judged leave its numbers as they are, as a decoder is causal."""

from collections.abc import Iterator

import pytest
import torch

from tests.conftest import random_checkpoint
from tests.transformer.recording.test_families import CONFIGS, SOURCE, TARGET
from transformer import Checkpoint, record
from transformer.analysis.needed import needed
from transformer.causes import contrast
from transformer.causes.arrows import arrows
from transformer.causes.contrast import another_word
from transformer.causes.pruning import reference
from transformer.causes.repairs import Change, Forecasting
from transformer.editing.editor import within
from transformer.edits import Edit, edit_kinds, edits_of, parse
from transformer.edits.edit import NUMBERS

FIRST = {"post-norm": 0, "gpt2": len(SOURCE.split()) - 1}
"""The row that writes the first of the three tokens of TARGET."""
OF_ROWS = [name for name, kind in edit_kinds().items() if "query" in NUMBERS[kind.of]]
EMPHASISED = "emphasise:decoder_self.0.0=0.5"


def of_row(name: str, row: int) -> Edit:
    """An edit of this kind, of a row of a decoder."""
    kind = edit_kinds()[name]
    numbers = {"layer": 0, "head": 0, "query": row, "key": 1}
    place = ".".join(str(numbers[each]) for each in NUMBERS[kind.of])
    values = ",".join([*["1"] * row, "3"] if kind.further else ["0.5"] * len(kind.values))
    values = SOURCE if kind.text == "needed" else values
    return parse(f"{name}:decoder_self.{place}" + f"={values}" * bool(values))


def numbers(checkpoint: Checkpoint, edits: tuple[Edit, ...]) -> Iterator[float]:
    """Everything that is judged of the second word of TARGET, or of a reference of two words."""
    target = record(checkpoint, SOURCE, TARGET).target
    result = contrast(checkpoint, SOURCE, target, 1, "8", edits)
    yield from (result.log_prob, result.log_prob_written)
    yield from (*result.of_source.tolist(), *result.of_prefix.tolist())
    cut = arrows(checkpoint, SOURCE, TARGET, 1, edits)
    yield cut.log_prob
    yield from (cost for cost, _ in cut.strongest(10**6))
    yield from (word.log_prob for word in reference(checkpoint, SOURCE, "5 6", edits).words)
    yield needed(checkpoint, SOURCE, target, 1, 8, edits=edits).after.probability
    place = another_word(checkpoint, target, 1, "8")
    right = (*place.before, *place.other)
    judged = Forecasting(checkpoint, SOURCE, target[:2], place, right, edits)
    (forecast,) = judged.of([Change("head off", edits_of("head-off:decoder_self.1.0"))])
    yield from (forecast.cost, forecast.lead, forecast.margin)


@pytest.mark.parametrize("family", FIRST)
def test_edits_of_later_rows_change_nothing_before_them(family: str) -> None:
    checkpoint = random_checkpoint(CONFIGS[family])
    plain = [*numbers(checkpoint, ())]
    assert {"cut", "row-force", "arrow-scale", "state-from"} <= {*OF_ROWS}
    last = FIRST[family] + 2
    # A state of another text is, in a decoder by itself, one of a word that is read.
    later = [of_row(it, last) for it in OF_ROWS if family != "gpt2" or it != "state-from"]
    later += edits_of([f"{EMPHASISED},{last}", f"cut:decoder_self.0.0.1.{last}"])
    assert [*numbers(checkpoint, tuple(later))] == pytest.approx(plain, abs=1e-5)


@pytest.mark.parametrize("name", ["cut", "row-force", "arrow-scale"])
def test_edits_of_its_own_row_are_in_force(name: str) -> None:
    checkpoint = random_checkpoint(CONFIGS["gpt2"])
    edit = of_row(name, FIRST["gpt2"] + 1)
    result = contrast(checkpoint, SOURCE, record(checkpoint, SOURCE, TARGET).target, 1, "8", [edit])
    logits = record(checkpoint, SOURCE, "5 8", [edit]).logits.double().log_softmax(-1)
    assert result.log_prob == pytest.approx(float(logits[1, 8]), abs=1e-5)
    plain = record(checkpoint, SOURCE, "5 8").logits.double().log_softmax(-1)
    assert result.log_prob != pytest.approx(float(plain[1, 8]), abs=1e-6)


def test_keys_behind_the_end_are_left_out_of_an_edit_that_stays() -> None:
    checkpoint = random_checkpoint(CONFIGS["post-norm"])
    edits = edits_of([f"{EMPHASISED},0,2", "row-force:decoder_self.0.0.1=3,1,0", "hide:source.2"])
    part = within(checkpoint, SOURCE, "5 6", edits)
    assert [*map(str, part)] == [
        f"{EMPHASISED},0",
        "row-force:decoder_self.0.0.1=3,1",
        "hide:source.2",
    ]
    whole = record(checkpoint, SOURCE, TARGET, edits).logits[:2]
    torch.testing.assert_close(record(checkpoint, SOURCE, "5 6", part).logits, whole)


def test_a_source_has_no_end_that_others_lie_behind() -> None:
    checkpoint = random_checkpoint(CONFIGS["post-norm"])
    edits = edits_of(["cut:encoder_self.0.0.4.1", "cut:cross.0.0.1.4"])
    assert within(checkpoint, SOURCE, "5 6", edits) == edits
