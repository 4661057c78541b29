"""Lessons without a server: answers are graded there as they are in the app."""

import gzip
import json
import random
import re
import subprocess
from base64 import b64decode
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.node import node
from tests.representatives import cases
from tests.viz.live.engine import checkpoint_of
from tests.viz.live.payloads import tables_of
from tests.viz.ui.test_lessons import LESSONS
from transformer import decode, evidence, record
from transformer.checkpoint import Checkpoint
from viz.lessons.answers import Attempt, answered, attempt_of, entry_of, reveal
from viz.lessons.exercise import WORDS, Exercise, read_task
from viz.lessons.own import own_tasks
from viz.lessons.sheet import grading_words, sheet
from viz.lessons.subject import Place, Subject, find_place
from viz.lessons.task import Task, read_number
from viz.pages.lessons import saved
from viz.stories.reading import shipped_stories

GRADE = Path(saved.__file__).parents[2] / "live" / "lessons" / "grade.js"
FEW = {"numbers and words": "attention-by-hand"}
"""What hints and reasons are about; the others differ in their tasks, which Python grades."""
Asked = tuple[Task, Subject]
NUMBERS = (
    *("1/2", "0,5", "1,234", "1,234.5", "½", "5e-1", "−0.5", ".5", "5.", "0", "", "  ", "x"),
    *("1/0", "12 %", "3 nats", "1e30", "--1", "1,2,3", "0x10", "1e-9", "9" * 50, "Infinity"),
)


@cache
def page_of(lesson: str) -> tuple[bytes, tuple[Asked, ...]]:
    """The page of a lesson, and all that is asked in it."""
    asked = list[Asked]()

    def noted(task: Task, subject: Subject) -> dict[str, Any]:
        asked.append((task, subject))
        return sheet(task, subject)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(saved, "sheet", noted)
        page = saved.lesson_page(lesson, checkpoints())
    return page, tuple(asked)


def checkpoints() -> list[Checkpoint]:
    return [checkpoint_of("en-de-small")]


def content_of(page: bytes) -> dict[str, Any]:
    text = page.decode().split('id="content">')[1].split("</script>")[0]
    content: dict[str, Any] = json.loads(text)
    return content


def replies(task: Task, subject: Subject) -> Iterator[Any]:
    """Options, numbers beside every border, and points: of words, as somebody types them."""
    yield None
    truth = task.truth(subject)
    if isinstance(truth, tuple):
        drawn, n = random.Random(len(truth)), len(truth)
        yield from ([100.0 * (i == j) for j in range(n)] for i in range(n))
        yield from ([float(drawn.randint(0, 100)) for _ in range(n)] for _ in range(20))
        yield [100 * share for share in truth]
    elif task.form == "number":
        likely = [each.answer(subject) for each in task.reasons]
        for value in (truth, *(it for it in likely if isinstance(it, int | float))):
            tolerance = task.tolerance(value)
            for sign in (1, -1):
                for off in (0, 0.999 * tolerance, 1.001 * tolerance, 3 * tolerance + 1):
                    yield {"text": f"{sign * value + off:.12f}"}
                    yield {"text": f"{sign * value - off:.12f}"}
            for factor in (100, 0.01, 11, 2.5, 1.05, 0.3):
                yield {"text": f"{factor * value:.12f}"}
        yield from ({"text": text} for text in NUMBERS)
    else:
        yield from range(len(task.options(subject)))


def grade(asked: list[tuple[dict[str, Any], list[Any]]]) -> Any:
    given = [{"sheet": of, "replies": those} for of, those in asked]
    message = {"grade": str(GRADE), "words": grading_words(), "cases": given}
    command = [node(), str(Path(__file__).with_name("grade.mjs"))]
    done = subprocess.run(
        command, input=json.dumps(message), capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def as_python(task: Task, subject: Subject, given: Any) -> dict[str, Any]:
    """What the app does with a reply, in the words of the browser."""
    try:
        reply = read_number(given["text"], task.unit) if isinstance(given, dict) else given
    except ValueError as error:
        return {"fault": str(error)}
    reply = tuple(reply) if isinstance(reply, list) else reply
    attempt = answered(Attempt(), reply, task, subject)
    again = answered(attempt, reply, task, subject)
    kept = Attempt() if reply is None else attempt_of(entry_of(attempt), task, subject)
    repeated = "" if reply is None else task.repeat(subject, reply)
    told = reveal(attempt)
    each = {"attempt": attempt, "again": again, "kept": kept, "told": told}
    return {name: said(it) for name, it in each.items()} | {"repeated": repeated}


def said(attempt: Attempt) -> dict[str, Any]:
    answer = [*attempt.answer] if isinstance(attempt.answer, tuple) else attempt.answer
    return {
        "answer": answer,
        "n": attempt.n,
        "hint": attempt.hint,
        "hasReason": attempt.has_reason,
        "isRight": attempt.is_right,
        "isWrong": attempt.is_wrong,
        "isOver": attempt.is_over,
    }


@pytest.mark.parametrize("lesson", cases(LESSONS, FEW))
def test_answers_are_graded_and_remarked_on_as_in_the_app(lesson: str) -> None:
    _, asked = page_of(lesson)
    assert asked
    given = [(sheet(*each), [*replies(*each)]) for each in asked]
    for each, (_, those), found in zip(asked, given, grade(given), strict=True):
        for reply, outcome in zip(those, found, strict=True):
            assert outcome == as_python(*each, reply), (each[0].name, reply)


@pytest.mark.parametrize("lesson", cases(LESSONS, FEW))
def test_a_page_shows_no_truth_before_an_answer(lesson: str) -> None:
    page, asked = page_of(lesson)
    for task, subject in asked:
        assert task.explain(subject) not in page.decode()
        assert json.dumps(task.explain(subject), ensure_ascii=False) not in page.decode()


OWN = {
    lesson: scene
    for lesson in LESSONS
    for scene in shipped_stories()[lesson].scenes
    if scene.exercise.own and "emerged" not in scene.exercise.tasks
}
"""The scene of each lesson that asks about a sentence of the learner's own."""
FEW_OWN = {
    "a row of words": "attention-by-hand",
    "evidence": "two-meanings",
}
SENTENCES = (
    "Tom lives in Boston.",
    "It rains.",
    "The animal didn't cross the street because it was too tired.",
    "He lit a match because it was dark in the cellar.",
    "I can't believe that she gave me all of the money.",
    "My daughter is allergic to nuts, so please make sure that there are none in the cake.",
    "The the the cat saw the other cat.",
    "Where were you born, and when did you move to Germany?",
    "Beethoven's symphonies are unforgettable!",
    "After the storm, thousands of people in the north were without electricity for three days.",
)


@pytest.mark.parametrize("lesson", cases(OWN, FEW_OWN))
def test_a_sentence_of_ones_own_is_asked_about_as_in_the_app(lesson: str) -> None:
    name, exercise = "en-de-small", OWN[lesson].exercise
    checkpoint = checkpoint_of(name)
    method, of = "beam", own_tasks(exercise, checkpoint, record(checkpoint, "A", "A"))
    message = {
        "live": str(GRADE.parents[1]),
        "tables": tables_of(name),
        "checkpoint": str(checkpoint.path),
        "cases": [{"text": text, "method": method, "of": of} for text in SENTENCES],
    }
    command = [node(), str(Path(__file__).with_name("own.mjs"))]
    done = subprocess.run(
        command, input=json.dumps(message), capture_output=True, text=True, check=True
    )
    asked = 0
    for text, found in zip(SENTENCES, json.loads(done.stdout), strict=True):
        assert "error" not in found, found["error"]
        for i, task in enumerate(read_task(each)[0] for each in exercise.tasks):
            subject = subject_of(checkpoint, exercise, text, method)
            if why := task.absent(subject):
                assert found["why"] == why
                continue
            own = sheet(task, subject)
            own["sealed"] = json.loads(b64decode(own["sealed"]))
            other = {key: value for key, value in found["sheets"][i].items() if key in own}
            assert list(faults("", plain(own), other)) == [], text
            asked += 1
            about = found["sheets"][i]["about"]
            assert about in ("", subject.about_row)
            assert bool(about) == (task.of_row and f"‘{subject.row_word}’" in task.ask(subject))
    assert asked > len(SENTENCES) / 2


def subject_of(checkpoint: Checkpoint, exercise: Exercise, text: str, method: str) -> Subject:
    recording = record(checkpoint, text, decode(checkpoint, text, method).target)
    if exercise.is_of_evidence:
        found = evidence(checkpoint, text, recording.target)
        return Subject(checkpoint, recording, Place("cross", 0, 0, 0), (), text, result=found)
    place = find_place(recording, exercise.head, exercise.row)
    assert place is not None
    return Subject(checkpoint, recording, place, (), text)


def plain(value: Any) -> Any:
    return json.loads(json.dumps(value))


def faults(where: str, own: Any, other: Any) -> Iterator[str]:
    """Where two sheets differ: numbers by more than a hundredth part, or by their last digit."""
    if isinstance(own, dict) and isinstance(other, dict) and own.keys() == other.keys():
        for key in own:
            yield from faults(f"{where}.{key}", own[key], other[key])
    elif isinstance(own, list) and isinstance(other, list) and len(own) == len(other):
        for i, (one, two) in enumerate(zip(own, other, strict=True)):
            yield from faults(f"{where}.{i}", one, two)
    elif isinstance(own, str) and isinstance(other, str):
        numbers = [NUMBER.findall(text) for text in (own, other)]
        apart = [abs(float(a) - float(b)) for a, b in zip(*numbers, strict=False)]
        digits = [10 ** -len(a.partition(".")[2]) for a in numbers[0]]
        is_near = all(off <= 1.01 * digit for off, digit in zip(apart, digits, strict=False))
        if NUMBER.sub("#", own) != NUMBER.sub("#", other) or not is_near:
            yield f"{where}: {own!r} {other!r}"
    elif isinstance(own, float) and isinstance(other, int | float):
        if abs(own - other) > 1e-3 * max(1, abs(own)):
            yield f"{where}: {own} {other}"
    elif own != other:
        yield f"{where}: {own!r} {other!r}"


NUMBER = re.compile(r"\d+(?:\.\d+)?")


def test_the_first_task_comes_within_half_a_minute_and_before_any_weight() -> None:
    page, _ = page_of("first-look")
    text = page.decode().split("<main>")[1].split('<div class="tasks">')[0]
    text = re.sub(r"<p [^>]*hidden>[^<]*</p>", "", text)
    first = content_of(page)["parts"][0]["tasks"][0]
    words = [*re.sub(r"<[^>]*>", " ", text).split(), *first["question"].split()]
    assert len(words) + len(first["about"].split()) <= WORDS / 2, "a minute has WORDS words"
    assert len(content_of(page)["parts"]) <= 3
    assert len(gzip.compress(page)) < 400_000
    assert content_of(page)["models"][0]["files"]["model"][0]["path"].startswith("weights/")


@pytest.mark.parametrize("lesson", cases(LESSONS, {"numbers": "attention-by-hand"}))
def test_what_is_asked_before_and_after_is_about_no_sentence_of_a_scene(lesson: str) -> None:
    story = shipped_stories()[lesson]
    assert len(story.measures) == (0 if lesson == "first-look" else 3)
    texts = {scene.screen.text for scene in story.scenes} - {None}
    examples = {text for it in checkpoints() for text in it.about.examples}
    assert not {it.screen.text for it in story.measures} & (texts | examples)
    asked = content_of(page_of(lesson)[0])["questions"]
    assert len(asked) == len(story.measures)
