"""Arguments of the public functions: one name for a thing, one order, old names that warn."""

import warnings
from collections.abc import Callable, Iterable
from typing import Any

import pytest

import transformer
from tests.vocabulary import FORMER, ORDER, signatures
from transformer import (
    Checkpoint,
    InputError,
    Survey,
    align,
    contrast,
    decode,
    evidence,
    labels,
    load_checkpoint,
    patch,
    record,
    survey,
    sweep,
    sweep_corpus,
    translating,
)
from transformer.old_spelling import Respelled

TEXT, OTHER, TARGET = "3 7 2", "3 7 4", "2 7 3"


@pytest.fixture(scope="module")
def copy() -> Checkpoint:
    return load_checkpoint("copy", "cpu")


def test_public_functions_name_their_arguments_in_one_order() -> None:
    seen = set()
    for name, parameters in signatures(transformer):
        places = [ORDER.index(each) for each in parameters if each in ORDER]
        assert places == sorted(places), f"{name}: {parameters}"
        assert not {*FORMER} & {*parameters}, name
        seen.update(parameters)
    assert {"text", "target", "edits", "on_step"} <= seen


def once(of: Callable[[], Any]) -> Any:
    """Run it, and see that it warns just once of an old spelling, at the line of whoever calls."""
    with warnings.catch_warnings(record=True) as all_warnings:
        warnings.simplefilter("always")
        value = of()
    own = [each for each in all_warnings if issubclass(each.category, Respelled)]
    assert len(own) == 1 and own[0].filename == __file__
    return value


def test_old_names_of_the_text_work_on_and_warn(copy: Checkpoint) -> None:
    assert once(lambda: decode("copy", source=TEXT)).text == decode(copy, TEXT).text
    old: Any = record  # whose types have the new name alone
    assert (
        once(lambda: old(copy, source=TEXT, target=TARGET)).target
        == record(copy, TEXT, TARGET).target
    )
    swept = once(lambda: sweep(copy, source=TEXT, target=TARGET))
    assert swept.totals.tolist() == sweep(copy, TEXT, TARGET).totals.tolist()


def test_old_places_of_decode_work_on_and_warn(copy: Checkpoint) -> None:
    edits, heard, steps = ["head-off:cross.0.0"], [], []
    by_place: Any = decode
    old = once(
        lambda: by_place(
            copy, TEXT, "greedy", heard.append, edits, lambda: steps.append(1), None, "2"
        )
    )
    new = decode(copy, TEXT, "greedy", edits=edits, prefix="2")
    assert old.target == new.target and heard and steps


def test_the_old_name_of_a_language_warns(copy: Checkpoint) -> None:
    def by_old_names() -> None:
        with pytest.raises(InputError):  # it has no languages to choose from
            translating(copy, source="en")

    once(by_old_names)


SENTENCES = [f"{i} {i + 1} {i + 2}" for i in range(3, 8)]
TELLING: dict[str, Callable[..., Any]] = {
    "align": lambda it, **more: align(it, SENTENCES, SENTENCES, batch=2, **more),
    "contrast": lambda it, **more: contrast(it, TEXT, TARGET, 0, "9", **more),
    "decode": lambda it, **more: decode(it, TEXT, **more),
    "evidence": lambda it, **more: evidence(it, TEXT, TARGET, **more),
    "patch": lambda it, **more: patch(it, TEXT, OTHER, **more),
    "survey": lambda it, **more: survey(it, SENTENCES, batch=2, **more),
    "sweep": lambda it, **more: sweep(it, TEXT, TARGET, **more),
    "sweep_corpus": lambda it, **more: sweep_corpus(it, SENTENCES, **more),
}


def test_whoever_waits_long_is_told_of_each_step() -> None:
    told = {name for name, names in signatures(transformer) if "on_step" in names}
    assert told == TELLING.keys()


@pytest.mark.parametrize("name", TELLING)
def test_a_step_is_told_without_arguments_before_it_and_may_end_the_run(
    name: str, copy: Checkpoint
) -> None:
    steps: list[int] = []

    def on_step() -> None:
        steps.append(1)

    whole = repr(TELLING[name](copy, on_step=on_step))
    assert whole == repr(TELLING[name](copy))
    n = len(steps)
    assert n > 0

    def ends() -> None:
        steps.append(1)
        if len(steps) == n:
            raise KeyError("enough")

    steps.clear()
    with pytest.raises(KeyError, match="enough"):
        TELLING[name](copy, on_step=ends)
    assert len(steps) == n
    with pytest.raises(InputError, match="on_step"):
        TELLING[name](copy, on_step=5)


def test_a_survey_tells_of_each_batch(copy: Checkpoint) -> None:
    steps: list[int] = []
    survey(copy, SENTENCES, SENTENCES, batch=2, on_step=lambda: steps.append(1))
    assert len(steps) == 3
    survey(copy, SENTENCES, batch=2, on_step=lambda: steps.append(1))
    assert len(steps) == 3 + 1 + 3  # whose targets are written together


WRONG: Iterable[tuple[str, Callable[[Checkpoint], object]]] = [
    ("text", lambda it: patch(it, 5, OTHER)),  # type: ignore[arg-type]
    ("other", lambda it: patch(it, TEXT, None)),  # type: ignore[arg-type]
    ("word", lambda it: contrast(it, TEXT, TARGET, 1.5, "9")),  # type: ignore[arg-type]
    ("other", lambda it: contrast(it, TEXT, TARGET, 1, 9)),  # type: ignore[arg-type]
    ("tokens", lambda it: contrast(it, TEXT, 5, 1, "9")),  # type: ignore[arg-type]
    ("string", lambda it: sweep(it, 5)),  # type: ignore[arg-type]
    ("evidence", lambda it: contrast(it, TEXT, TARGET, 1, "9", evidence_at_hand=5)),  # type: ignore[arg-type]
    ("survey", lambda it: labels([1])),  # type: ignore[arg-type]
    ("source_language", lambda it: translating(it, 5)),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(
    "name", ["chatting", "contrast", "pairing", "patch", "sweep", "translating"]
)
def test_what_is_no_checkpoint_is_a_sentence(name: str) -> None:
    more: dict[str, tuple[Any, ...]] = {
        "contrast": (TEXT, TARGET, 0, "9"),
        "pairing": (TEXT,),
        "patch": (TEXT, OTHER),
        "sweep": (TEXT,),
    }
    with pytest.raises(transformer.Refusal, match="checkpoint"):
        getattr(transformer, name)(5, *more.get(name, ()))


@pytest.mark.parametrize(("name", "call"), WRONG)
def test_a_wrong_argument_is_a_sentence(
    name: str, call: Callable[[Checkpoint], object], copy: Checkpoint
) -> None:
    with pytest.raises(transformer.Refusal, match=name):
        call(copy)


def test_a_word_is_contrasted_by_its_number_or_as_it_is_written(copy: Checkpoint) -> None:
    tokens = record(copy, TEXT, TARGET).target
    by_number = contrast(copy, TEXT, tokens, 1, "9")
    for target, word in ((TARGET, 1), (TARGET, "7"), (tokens, "7")):
        other = contrast(copy, TEXT, target, word, "9")
        assert other.lead == by_number.lead and other.written == "7"
    assert contrast(copy, TEXT, None, 0, "9").written == decode(copy, TEXT).text.split()[0]


def test_a_patch_puts_states_of_the_other_sentence_into_the_text(copy: Checkpoint) -> None:
    result = patch(copy, TEXT, OTHER)
    assert (result.pair.text, result.pair.other) == (TEXT, OTHER)
    assert result.effects.keys() == {*result.edits}
    assert {edit.text for edit in result.edits} == {OTHER}


def test_labels_are_of_a_survey() -> None:
    assert labels(Survey(0, ())) == {}
