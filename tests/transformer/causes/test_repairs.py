"""A repair is one only once the decoding in use has written the word in its place."""

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import random_checkpoint
from tests.representatives import MARK, cases
from tests.transformer.recording.test_families import CONFIGS, SOURCE, WRITING
from tests.transformer.watch.hugging_face import build
from transformer import Checkpoint, InputError, decode, load_checkpoint, record
from transformer.causes import Repairs, repairs
from transformer.causes.repairs import (
    Forecasting,
    in_place,
    repairing,
    repairs_lines,
    repairs_values,
)
from transformer.fingerprint import is_marked
from transformer.words import words_of

RISE = "The bank raised its interest rates by 0.75 percent, the largest increase since 1994."
OLD = ["damit", "es", "in", "dem", "Kuchen", "gibt", "."]


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Decode a few changes: what holds of them holds of all."""
    monkeypatch.setattr(import_module("transformer.causes.repairs"), "MOST_DECODED", 4)


@pytest.mark.parametrize(
    ("word", "right", "new", "is_it"),
    [
        (2, "keines im", "also dass es keines im Kuchen gibt .", True),
        (2, "keine", "damit es keine in dem Kuchen gibt .", True),
        (2, "keine", "damit keine Nuss es in dem Kuchen gibt .", False),
        (2, "in", "damit es in dem Kuchen gibt .", True),
        (0, "dass", "dass es in dem Kuchen gibt .", True),
        (6, "!", "damit es in dem Kuchen gibt !", True),
        (6, "!", "damit ! es in dem Kuchen gibt .", False),
        (4, "Brot", "", False),
        (5, "Jahr", "damit es in dem Jahr gibt .", False),
    ],
)
def test_the_right_words_stand_between_the_nearest_common_ones(
    word: int, right: str, new: str, *, is_it: bool
) -> None:
    assert in_place(OLD, word, right.split(), new.split()) is is_it


def check(checkpoint: Checkpoint, text: str, method: str, result: Repairs) -> None:
    """Each repair, made anew, writes that sentence, and the others lose what it says."""
    target = decode(checkpoint, text, method).target
    place, words = result.place, words_of(target)
    own = range(len(place.before), len(place.before) + len(place.written))

    def others(*edits: object) -> float:
        logits = record(checkpoint, text, target, map(str, edits)).logits.double().log_softmax(-1)
        return sum(float(logits[t, it.id]) for t, it in enumerate(target) if t not in own)

    for repair in result.repairs:
        change = repair.change
        again = decode(checkpoint, text, change.method or method, edits=change.edits)
        assert again.text == repair.text
        assert in_place(words, place.word, place.words, words_of(again.target))
        cost = 0.0 if change.method else others() - others(*change.edits)
        assert repair.cost == pytest.approx(cost, abs=1e-3)
    costs = [round(it.cost, 2) for it in result.repairs]
    assert costs == sorted(costs)
    lines, values = repairs_lines(result), repairs_values(result)["repairs"]
    for repair, value in zip(result.repairs, values, strict=True):
        assert value["edits"] == [*map(str, repair.change.edits)]
        assert any(repair.text in line for line in lines)


TRIED = [*((name, "greedy") for name in WRITING), ("post-norm", "beam")]
FEW = {
    "rows of three attentions": ("post-norm", "greedy"),
    "greedy decoding": ("post-norm", "beam"),
    "heads that nothing joins": ("encoder_decoder, plain", "greedy"),
    "rows of one attention": ("gpt2", "greedy"),
}
"""What may repair a word -> where it is tried. No norm and no position has a say in that."""


@pytest.mark.parametrize(("name", "method"), cases(TRIED, FEW))
def test_repairs_of_every_family_are_what_decoding_writes(name: str, method: str) -> None:
    checkpoint = random_checkpoint(CONFIGS[name])
    target = decode(checkpoint, SOURCE, method).target
    step = record(checkpoint, SOURCE, target).logits[2].argsort(descending=True).tolist()
    second = next(id for id in step[1:] if id > 2)
    first, *steps, result = repairing(checkpoint, SOURCE, target, 2, str(second), method)
    assert first.n_decoded == 1 and not first.n_changes  # nobody waits for forecasts to see it
    assert not any(step.has_rows for step in steps[:3])  # they take longest
    assert result.is_whole and result.n_changes > 4
    check(checkpoint, SOURCE, method, result)


@pytest.mark.parametrize("family", cases(("Marian", "GPT-2"), {"words behind a text": "GPT-2"}))
def test_models_of_the_library_run_change_by_change(tmp_path: Path, family: str) -> None:
    build(family).save_pretrained(tmp_path)
    checkpoint = load_checkpoint(tmp_path, "cpu")
    target = decode(checkpoint, "7 9 11", max_len=4).target
    other = "13" if words_of(target)[1] != "13" else "14"
    result = repairs(checkpoint, "7 9 11", target, 1, other, options={"max_len": 4})
    assert result.is_whole and result.n_changes > 4
    assert all(repair.change.kind != "rows" for repair in result.repairs)


@pytest.mark.parametrize("name", ["post-norm", "gpt2"])
def test_both_sentences_of_a_forecast_end_by_the_length_in_use(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    module, made = import_module("transformer.causes.repairs"), list[Forecasting]()

    def keep(*inputs: Any) -> Forecasting:
        made.append(Forecasting(*inputs))
        return made[-1]

    monkeypatch.setattr(module, "Forecasting", keep)
    checkpoint = random_checkpoint(CONFIGS[name])
    target = decode(checkpoint, SOURCE, max_len=4).target
    other = "13" if words_of(target)[1] != "13" else "14"
    for options in ({"max_len": 4}, {}):
        values = repairing(checkpoint, SOURCE, target, 1, other, options=options)
        next(it for it in values if it.n_changes)  # methods need no forecast
    limited, free = made
    assert len(target) == len(limited.right) == 4
    assert free.right[:4] == limited.right and len(free.right) > 4


@MARK
def test_jahr_instead_of_parlament() -> None:
    path = Path("checkpoints/en-de-1")
    wanted = "f814bd7a4a338947d434887780ad0b0c195cd04d3f611656d2295c42d2a9904b"
    assert is_marked(path, wanted), "other weights: numbers below are of those"
    checkpoint = load_checkpoint(path, "cpu")
    target = decode(checkpoint, RISE, "beam").target
    word = words_of(target).index("Parlament")
    *steps, result = repairing(checkpoint, RISE, target, word, "Jahr", "beam")
    check(checkpoint, RISE, "beam", result)
    kinds = {it.change.method or it.change.kind for it in result.repairs}
    assert {"greedy", "rows", "head off"} <= kinds and "sample" not in kinds
    first = result.repairs[0]
    assert [*map(str, first.change.edits)] == ["head-off:decoder_self.0.3"]
    assert first.cost == pytest.approx(-0.45, abs=0.01) and first.text.endswith("seit dem Jahr.")
    assert [it.n_decoded for it in (*steps, result)] == [*range(1, result.n_to_decode + 1)]
    assert any("greedy" in line for line in repairs_lines(result))
    assert repairs_values(result)["repairs"][0]["edits"] == ["head-off:decoder_self.0.3"]


@pytest.mark.thorough
def test_it_is_said_that_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_module("transformer.causes.repairs"), "MARGINS", (0.01,))
    checkpoint = load_checkpoint(Path("checkpoints/copy"), "cpu")
    target = decode(checkpoint, "3 7 2 9").target
    edits = [f"head-off:cross.0.{head}" for head in range(2)]
    result = repairs(checkpoint, "3 7 2 9", target, 1, "5 5 5 5 5 5", edits=edits)
    assert not result.repairs and result.is_whole
    assert "No repair" in result.text and "5 5 5" in result.text


def test_what_cannot_be_repaired_is_refused() -> None:
    name = next(it for it, config in CONFIGS.items() if config.family == "encoder_classifier")
    with pytest.raises(InputError):
        repairs(random_checkpoint(CONFIGS[name]), SOURCE, (), 0, "7")
