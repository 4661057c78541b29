"""What words promise happens: each row of tests/promises.py, run on the shipped weights.

And no promise is without a row: edits in an address, a command or a line of Python, and sentences
that say what is written with something off, hidden or cut.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.browser.screenshots import PICTURES
from tests.browser.server import ROOT
from tests.gallery.facts import opened
from tests.promises import PROMISES, TOUR, Promise
from tests.representatives import cases
from transformer import decode
from transformer.decoding import default_method
from transformer.edits import parse as parse_edit
from viz.components.tour.tour import CHECKPOINT, EFFECTS, RECIPE, Step, effect_of, steps
from viz.screen import Screen
from viz.stories.reading import FOLDER, shipped_stories
from viz.stories.story import read_address

STORIES = {f"{(FOLDER / name).relative_to(ROOT)}.md": it for name, it in shipped_stories().items()}
DOCUMENTS = ["README.md", *sorted(f"docs/{each.name}" for each in (ROOT / "docs").glob("*.md"))]
PAGES = "tests/browser/screenshots.py"
FEW = {
    **{f"the tour: {each.words}": each for each in TOUR},
    "another text": next(each for each in PROMISES if each.instead),
    "another method": next(each for each in PROMISES if "method" in each.options),
    "a beginning": next(each for each in PROMISES if "prefix" in each.options),
    "words hidden, and nothing changes": next(
        each for each in PROMISES if each.edits.startswith("hide:") and not each.gone
    ),
    "a state of another sentence": next(each for each in PROMISES if "state-from" in each.edits),
}
EACH = pytest.mark.parametrize(
    "promise", cases(PROMISES, FEW), ids=lambda it: f"{Path(it.file).stem}: {it.words[:40]}"
)


def words(text: str) -> Counter[str]:
    return Counter(re.findall(r"\w+", text))


def plain(text: str) -> str:
    """With one space between words, as paragraphs have them."""
    return " ".join(text.split())


@cache
def written(checkpoint: str, text: str, edits: str, options: tuple[tuple[str, Any], ...]) -> str:
    changes = [parse_edit(each) for each in edits.split("/") if each]
    return decode(opened(checkpoint), text, edits=changes, **dict(options)).text


def before_and_after(promise: Promise) -> tuple[str, str]:
    method: Mapping[str, Any] = {"method": promise.method}
    first, second = method, {**method, **promise.options}
    frozen = [
        tuple((name, tuple(it) if isinstance(it, list) else it) for name, it in each.items())
        for each in (first, second)
    ]
    return (
        written(promise.checkpoint, promise.text, "", frozen[0]),
        written(promise.checkpoint, promise.instead or promise.text, promise.edits, frozen[1]),
    )


@EACH
def test_what_is_promised_happens(promise: Promise) -> None:
    assert plain(promise.words) in plain((ROOT / promise.file).read_text("utf-8"))
    before, after = before_and_after(promise)
    assert (words(before) - words(after), words(after) - words(before)) == (
        words(promise.gone),
        words(promise.new),
    )
    assert (before != after) == bool(promise.gone or promise.new)


def test_each_sentence_to_try_has_heads_that_the_tour_names() -> None:
    about = opened(CHECKPOINT).about
    assert about.recipe == RECIPE
    assert list(EFFECTS) == list(about.examples)
    assert {each.method for each in TOUR} == {default_method("source")}
    assert effect_of(CHECKPOINT, about, about.examples[0]) == EFFECTS[about.examples[0]]


@pytest.mark.parametrize("writes", [True, False])
def test_the_tour_names_heads_and_words_only_where_they_are_known(writes: bool) -> None:
    about = opened(CHECKPOINT).about
    for name, text in (("en-de-1", about.examples[0]), (CHECKPOINT, "It rains.")):
        assert effect_of(name, about, text) is None
    assert effect_of(CHECKPOINT, opened("en-de-1").about, about.examples[0]) is None
    silent = experiment(steps("translates", writes))
    assert not re.search(r"L\d|“", silent.text + silent.plain)
    for effect in EFFECTS.values():
        step = experiment(steps("translates", writes, effect))
        for said in (step.text, step.plain):
            assert effect.squares in said and effect.outcome in said


def experiment(tour: Iterable[Step]) -> Step:
    return next(step for step in tour if step.place == "experiment")


# Where words promise something


def promised(file: str) -> set[tuple[str, str, str, str]]:
    """Checkpoint, text, method and edits of the rows of a file."""
    return {(it.checkpoint, it.text, it.method, it.edits) for it in PROMISES if it.file == file}


def of_screen(screen: Screen) -> tuple[str, str, str, str]:
    """The same of a screen; where it names none, those that the app opens with."""
    checkpoint = screen.checkpoint or CHECKPOINT
    text = opened(checkpoint).about.examples[0] if screen.text is None else screen.text
    return checkpoint, text, screen.decoding or default_method("source"), "/".join(screen.edits)


def screens() -> Iterator[tuple[str, Screen]]:
    """File and screen of each address of stories, documents and their pictures."""
    for file, story in STORIES.items():
        yield from ((file, scene.screen) for scene in story.scenes)
    for address, *_ in PICTURES.values():
        yield PAGES, read_address(f".{address}").screen
    for file in DOCUMENTS:
        for address in re.findall(r"(?:localhost:8501|\.)(/[^\s\")`]*\?[^\s\")`]*)", read(file)):
            yield file, read_address(f".{address}").screen


def read(file: str) -> str:
    return (ROOT / file).read_text("utf-8")


def test_each_address_with_edits_has_a_row() -> None:
    edited = [(file, of_screen(screen)) for file, screen in screens() if screen.edits]
    assert len(edited) >= 6
    assert [(file, each) for file, each in edited if each not in promised(file)] == []


def test_a_scene_with_edits_says_what_is_written_with_them() -> None:
    scenes = [scene for story in STORIES.values() for scene in story.scenes if scene.screen.edits]
    assert scenes
    for scene in scenes:
        checkpoint, text, method, _ = of_screen(scene.screen)
        plainly = written(checkpoint, text, "", (("method", method),))
        assert scene.writes and scene.writes != plainly, scene.heading


DECODES = (
    r"^(?:\w+ = )?decode\(.*\b(?:edits|prefix|force|forbid)=.*$|^.* transformer decode .*--edit.*$"
)


def test_each_decode_that_changes_something_has_a_row() -> None:
    found = [
        (file, line) for file in DOCUMENTS for line in re.findall(DECODES, read(file), re.MULTILINE)
    ]
    assert len(found) >= 4
    for file, line in found:
        assert any(it.file == file and it.words in line for it in PROMISES), f"{file}: {line}"


CAUSE = r"\b(?:off|hid(?:e|es|den|ing)|cut)\b"
OUTCOME = r"\b(?:writ(?:e|es|ten)|gone|lost|back|becomes?|right|changes?|loses)\b"
COST = r"\bnats\b|\blikely\b"
"""Costs are numbers, which have tests of their own."""
NAMED = r"[‘“\"]\w"
"""A word in quotation marks: other sentences of documents say what can be done."""


def sentences(text: str) -> Iterator[str]:
    for paragraph in re.split(r"\n\s*\n|\n(?=\* |#)|\|", text):
        yield from re.split(r"(?<=[.?!:])\s+(?=[A-Z‘“\"])", plain(paragraph))


def promising(texts: Iterable[str]) -> list[str]:
    """The sentences that say what an edit does to words."""
    return [
        sentence
        for text in texts
        for sentence in sentences(text)
        if re.search(CAUSE, sentence)
        and re.search(OUTCOME, sentence)
        and not re.search(COST, sentence)
    ]


def words_of(file: str) -> Iterator[str]:
    """The texts that people read."""
    if file not in STORIES:
        yield re.sub(r"```.*?```|`[^`]*`", "", read(file), flags=re.DOTALL)
        return
    story = STORIES[file]
    yield story.introduction
    for scene in story.scenes:
        yield from (scene.heading, scene.text, scene.notes, scene.exercise.riddle.solution)
        yield scene.question.words if scene.question else ""


@pytest.mark.parametrize("file", [*STORIES, *DOCUMENTS])
def test_each_sentence_that_promises_other_words_has_a_row(file: str) -> None:
    rows = [plain(each.words) for each in PROMISES if each.file == file]
    for sentence in promising(words_of(file)):
        if file in STORIES or re.search(NAMED, sentence):
            assert any(row in sentence or sentence in row for row in rows), sentence


def test_a_promise_is_noticed() -> None:
    found = promising(
        [
            "Two heads off, one word gone",
            "It is long. With “tired” hidden it is right.\nHiding it costs 0.4 nats, and is right.",
            "Press here: all is written anew.",
        ]
    )
    assert found == ["Two heads off, one word gone", "With “tired” hidden it is right."]
