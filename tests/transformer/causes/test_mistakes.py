"""docs/mistakes.md says what the shipped translator does: every number of it that is cheap."""

import json
from typing import Any

import pytest

from tests.mistakes.__main__ import document, known_at_once
from tests.mistakes.mistakes import CHECKPOINT, DOCUMENT, METHOD, MISTAKES, RESULTS, Mistake
from tests.representatives import cases
from transformer import Checkpoint, decode, load_checkpoint
from transformer.causes.contrast import word_number
from transformer.causes.repairs import in_place
from transformer.fingerprint import is_marked
from transformer.words import text_words, words_of

RECORDED: dict[str, Any] = json.loads(RESULTS.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def en_de() -> Checkpoint:
    assert is_marked(CHECKPOINT, RECORDED["fingerprint"]), "python -m tests.mistakes --renew"
    return load_checkpoint(CHECKPOINT, "cpu")


FEW = {"it looks elsewhere": 0, "an arrow of a head, and an end": 2, "another method alone": 6}
"""What was found of a mistake, and repairs it -> its number."""


@pytest.mark.parametrize("number", cases(range(len(MISTAKES)), FEW))
def test_each_mistake_is_what_the_page_says(en_de: Checkpoint, number: int) -> None:
    mistake, wanted = MISTAKES[number], RECORDED["results"][number]
    result = known_at_once(en_de, mistake)
    for name in ("title", "text", "written", "greedy", "word", "other", "kind", "needs"):
        assert result[name] == wanted[name], name
    for one, other in zip(result["pieces"], wanted["pieces"], strict=True):
        assert (one["piece"], one["rank"]) == (other["piece"], other["rank"])
    for name in ("log_prob", "log_prob_word"):
        assert result[name] == pytest.approx(wanted[name], abs=1e-3)
    for name in ("score", "best"):
        assert result["search"][name] == pytest.approx(wanted["search"][name], abs=1e-3)
    for name in ("hypothesis", "n_after", "ending"):
        assert result["search"][name] == wanted["search"][name], name
    for side in ("source", "prefix"):
        for one, other in zip(result[side], wanted[side], strict=True):
            assert one["contrast"] == pytest.approx(other["contrast"], abs=1e-3)
    for repair in wanted["repairs"]["repairs"][:1]:
        check_repair(en_de, mistake, repair)


def check_repair(checkpoint: Checkpoint, mistake: Mistake, repair: dict[str, Any]) -> None:
    """It writes that sentence, in which the right word stands in its place."""
    target = decode(checkpoint, mistake.text, METHOD).target
    word = word_number(target, mistake.written)
    method = repair["method"] or METHOD
    again = decode(checkpoint, mistake.text, method, edits=repair["edits"])
    assert again.text == repair["text"]
    assert in_place(words_of(target), word, text_words(mistake.right), words_of(again.target))


def test_the_page_is_of_these_results() -> None:
    text = document(RECORDED["results"], RECORDED["fingerprint"])
    assert DOCUMENT.read_text(encoding="utf-8") == text
