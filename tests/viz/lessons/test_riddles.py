"""Riddles about real mistakes: what they say holds on the weights that they name."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from tests.representatives import cases
from tests.viz.lessons.test_every_task import of_riddle, opened
from transformer import decode
from transformer.checkpoint import shipped_path
from transformer.edits import Edit
from transformer.fingerprint import is_marked
from transformer.words import word_groups
from viz.lessons.answers import Attempt, answered
from viz.lessons.exercise import read_task
from viz.lessons.riddle import NO_RIDDLE, Riddle, mistake_line, numbered, read_mistake
from viz.lessons.riddles import (
    evidence_of,
    lost_words,
    mistakes_in,
    needed_words,
    words_read,
    written_words,
)
from viz.lessons.subject import Subject
from viz.lessons.tasks.written import LITTLE
from viz.pages.explore import PAGE
from viz.run.request import answer
from viz.state.focus import pinned_target, pinned_tokens
from viz.state.page import Pane
from viz.state.requests import request_on
from viz.stories.reading import shipped_stories
from viz.stories.story import Scene

NAME = "en-de-1"
SCENES = {
    scene.heading: scene
    for story in shipped_stories().values()
    for scene in story.scenes
    if scene.exercise.riddle != NO_RIDDLE
}
ASKED = {heading: scene for heading, scene in SCENES.items() if scene.exercise.tasks}
FEW = {
    "words that are left out": "After the storm",
    "two mistakes, of which one moved": "A theft",
    "a word that is undecided": "A cake without nuts",
    "the second of two like words, which agrees": "On the balcony",
    "a picture of why instead of a card": "Who was stolen?",
}
"""The others are of one of these sorts, in other sentences."""
EACH = pytest.mark.parametrize("heading", cases(SCENES, FEW))


def subject_of(scene: Scene) -> Subject:
    return of_riddle(opened(NAME), scene)


def at(heading: str) -> Subject:
    return subject_of(SCENES[heading])


def test_they_are_of_the_weights_that_they_name() -> None:
    wanted = "f814bd7a4a338947d434887780ad0b0c195cd04d3f611656d2295c42d2a9904b"
    assert is_marked(shipped_path(NAME), wanted)
    assert {scene.screen.checkpoint for scene in SCENES.values()} == {NAME}
    assert len(ASKED) >= 12 and all(scene.exercise.riddle.solution for scene in ASKED.values())


@EACH
def test_the_mistake_is_made_and_the_verdict_is_as_said(heading: str) -> None:
    scene = SCENES[heading]
    subject, riddle = subject_of(scene), scene.exercise.riddle
    found = mistakes_in(subject)
    assert [mistake for _, mistake in found] == list(riddle.mistakes)
    for number, mistake in found:
        assert evidence_of(subject).verdicts[number].kind == mistake.kind
        assert needed_words(subject, number)[0] == mistake.needs
        assert mistake.right and mistake.right != mistake.word
    assert lost_words(subject) == [words_read(subject).index(word) for word in riddle.left_out]
    for said in scene.exercise.tasks:
        task, _ = read_task(said)
        assert not task.absent(subject) and task.options(subject)


@EACH
def test_its_link_pins_the_word_that_it_is_about(heading: str) -> None:
    scene = SCENES[heading]
    subject, riddle, screen = subject_of(scene), scene.exercise.riddle, scene.screen
    request = request_on(PAGE, NAME, subject.text, screen)
    pane = PAGE.pane(Pane(screen, request, answer(request)))
    pieces = pinned_tokens(pane)
    if riddle.mistakes:
        groups, word = word_groups(subject.recording.target), mistakes_in(subject)[0][0]
        assert pieces == [("target", i) for i in groups[word]]
        assert pinned_target(pane) == groups[word][0]
        assert screen.why or screen.picture == "why"
    else:
        groups, word = word_groups(subject.recording.source), lost_words(subject)[0]
        assert pieces == [("source", i) for i in groups[word]]


def cost(heading: str, word: str, of: str) -> float:
    """What hiding `of` costs a written word, in nats."""
    subject = at(heading)
    return float(
        evidence_of(subject).hidden[
            written_words(subject).index(word), words_read(subject).index(of)
        ]
    )


def chance(heading: str, word: str, piece: str = "") -> float:
    """The probability of a piece where a word begins; of none, the word's own."""
    subject = at(heading)
    number = written_words(subject).index(word)
    if not piece:
        return float(evidence_of(subject).log_probs[number].exp())
    row = subject.recording.logits[word_groups(subject.recording.target)[number][0]].softmax(-1)
    tokenizer = subject.checkpoint.tokenizer
    return max(float(row[id]) for id in range(len(row)) if tokenizer.token(id).piece == piece)


def writes(heading: str, hidden: Sequence[str] = (), method: str = "beam") -> str:
    subject = at(heading)
    edits = [Edit("hide", "source", (words_read(subject).index(word),)) for word in hidden]
    return decode(subject.checkpoint, subject.text, method, edits=edits).text


@pytest.mark.thorough
def test_the_figures_of_two_meanings() -> None:
    assert cost("It was dark in the cellar", "Spiel", "lit") == pytest.approx(0.06, abs=0.005)
    assert chance("It was dark in the cellar", "Spiel", "▁Streich") == pytest.approx(0.12, abs=5e-3)
    assert abs(cost("Over the lake", "Kran", "flew")) < 0.1
    assert chance("A broken watch", "Frühling") > 0.95
    chocolate = cost("Something for the children", "Kneipe", "chocolate")
    assert chocolate == pytest.approx(-1.30, abs=0.005)
    assert "Marmelade" in writes("From the garden", method="greedy")
    assert chance("From the garden", "Jazz", "▁Mar") > chance("From the garden", "Jazz", "▁Jazz")
    assert abs(cost("A place to sit", "Bank", "river")) == pytest.approx(0.02, abs=0.005)


def test_the_figures_of_lost_words() -> None:
    storm, office = "After the storm", "At the office"
    assert writes(storm, ("for", "three", "days")) == writes(storm)
    assert list(evidence_of(at(storm)).lost_words) == lost_words(at(storm))
    assert writes(office, ("run", "out")) == writes(office)
    assert writes(office, ("again",)) == "Der Drucker hat kein Papier mehr."
    assert cost("A theft", "die", "whose") == pytest.approx(-0.91, abs=0.01)  # exp: 2.5 times
    cake = at("A cake without nuts")
    looks = evidence_of(cake).verdicts[mistakes_in(cake)[0][0]].looks_at
    assert looks is not None and words_read(cake)[looks] == "none"
    assert chance("A cake without nuts", "in", "▁keine") == pytest.approx(0.10, abs=0.005)
    assert chance("A cake without nuts", "in") == pytest.approx(0.09, abs=0.005)


@pytest.mark.thorough
def test_the_figures_of_one_for_another() -> None:
    assert (
        evidence_of(at("Two birthdays")).runner_ups[mistakes_in(at("Two birthdays"))[0][0]]
        == "vier"
    )
    assert evidence_of(at("The exam")).runner_ups[mistakes_in(at("The exam"))[0][0]] == "durch"
    pieces = [token.piece for token in at("Five eggs").recording.source]
    assert pieces[-4:-2] == ["▁hat", "ched"]
    rates = "The interest rates"
    assert chance(rates, "Parlament", "▁Jahr") == pytest.approx(0.09, abs=0.005)
    assert chance(rates, "Parlament") == pytest.approx(0.01, abs=0.005)
    assert chance("New teachers", "der", "▁dem") == pytest.approx(0.09, abs=0.005)


def test_any_of_several_answers_is_right() -> None:
    storm, (task, _) = at("After the storm"), read_task("left_out")
    options = task.options(storm)
    for word in ("for", "three", "days"):
        assert task.is_right(storm, options.index(word))
    assert not task.is_right(storm, options.index("of #1"))
    both = at("Two birthdays")  # German has no word for an “of” in a date
    assert str(LITTLE) in task.hint(both, task.options(both).index("of #1"))
    theft, (wrong, _) = at("A theft"), read_task("wrong_word")
    assert wrong.is_right(theft, wrong.options(theft).index("gestohlen"))
    one = answered(Attempt(), wrong.options(theft).index("Supermarkt"), wrong, theft)
    assert not one.is_over and "“Supermarkt” looks at “supermarket”" in one.hint
    assert answered(one, wrong.options(theft).index("die"), wrong, theft).is_right


def test_a_model_that_makes_no_such_mistake_is_not_asked_about_it() -> None:
    lit, storm = at("It was dark in the cellar"), at("After the storm")
    mended = read_mistake("Zündhölzchen Streichholz agrees match")
    asked = replace(lit, riddle=Riddle((mended,)))
    for name in ("wrong_word", "needed_word"):
        assert "“Zündhölzchen”" in read_task(name)[0].absent(asked)
    kept = replace(storm, riddle=Riddle(left_out=("storm",)))
    assert "“storm”" in read_task("left_out")[0].absent(kept)


def test_a_mistake_is_read_as_it_is_written() -> None:
    line = "König%20#2 - backed%20up Königin"
    found = read_mistake(line)
    assert (found.word, found.right, found.kind) == ("König #2", "", "backed up")
    assert mistake_line(found) == line
    for bad in ("Spiel Streichholz agrees", "Spiel Streichholz sure match"):
        with pytest.raises(ValueError, match="agrees"):
            read_mistake(bad)
    assert numbered(["a", "b", "a"]) == ("a #1", "b", "a #2")
