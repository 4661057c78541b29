"""What stands over the tokens, and below a picture's sentence, is what the evidence says."""

import pytest

from transformer.analysis.reading import Reading, read
from transformer.causes import evidence
from transformer.words import words_in
from viz.causes.card import signs_of
from viz.components.kit.picture import sides
from viz.run.request import Answer, make_answer
from viz.screen import Screen
from viz.state.requests import request_of

TEXTS = {
    "en-de": "The bank on the river was full of flowers.",
    "copy": "3 7 2 9",
    "shakespeare": "O Romeo, Romeo",
}


def answer_of(name: str, text: str) -> Answer:
    return make_answer(request_of(name, text, Screen(decoding="greedy")))


@pytest.mark.parametrize("name", TEXTS)
def test_worth_is_the_evidence_of_the_words_at_each_position(name: str) -> None:
    answer = answer_of(name, TEXTS[name])
    recording, proof = answer.recording, evidence(answer.checkpoint, TEXTS[name])
    worth = signs_of(recording, proof).worth
    assert worth is not None
    for side, tokens in (("source", recording.source), ("target", recording.target)):
        numbers = [words_in(tokens).at(at).number for at in range(len(tokens))]
        assert worth.word_at[side] == numbers
        assert len(worth.words[side]) == max(numbers) + 1
    costs = [cost for row in worth.nats for cost in row]
    assert costs == pytest.approx(proof.hidden.flatten().tolist(), abs=0.0051)
    assert tuple(proof.hidden.shape) == (len(worth.words["target"]), len(worth.words["source"]))


def test_what_is_lost_is_hatched_and_said() -> None:
    text = "My colleague Ahmed speaks Arabic, French and Turkish."
    answer = answer_of("en-de-1", text)
    proof = evidence(answer.checkpoint, text, answer.recording.target)
    signs = signs_of(answer.recording, proof)
    hatched = [at for _, at, sign, _ in signs.marks if sign == "lost"]
    assert [answer.recording.source_words.at(at).number for at in hatched] == [2, 2, 2]
    assert "“Ahmed”" in signs.lost[0] and len(signs.lost) == 2
    whole = answer_of("en-de", TEXTS["en-de"])
    assert signs_of(whole.recording, evidence(whole.checkpoint, TEXTS["en-de"])).lost == ()


def test_a_classifier_has_none() -> None:
    answer = answer_of("sentiment", "A gorgeous film.")
    signs = signs_of(answer.recording, evidence(answer.checkpoint, "A gorgeous film."))
    assert signs.worth is None and not signs.marks


def test_only_rows_that_write_a_word_have_its_worth() -> None:
    """A row that is named by what it read writes the next word, of which something else is true."""
    recording = answer_of("en-de", TEXTS["en-de"]).recording
    written, taken = Reading(rows="produced"), Reading(rows="read")
    assert sides(read(recording, "cross", written))["writes"]
    assert not sides(read(recording, "cross", taken))["writes"]
    assert not sides(read(recording, "encoder_self", written))["writes"]
    copied = answer_of("shakespeare", TEXTS["shakespeare"]).recording
    assert not sides(read(copied, "decoder_self", written))["writes"]
