"""Lessons without a server: answers are graded there as they are in the app."""

import json
import random
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.node import node
from tests.representatives import cases
from tests.viz.live.engine import checkpoint_of
from tests.viz.ui.test_lessons import FEW, LESSONS
from transformer.checkpoint import Checkpoint
from viz.lessons.answers import Attempt, answered, attempt_of, entry_of, reveal
from viz.lessons.sheet import grading_words, sheet
from viz.lessons.subject import Subject
from viz.lessons.task import Task, read_number
from viz.pages.lessons import saved

GRADE = Path(saved.__file__).parents[2] / "live" / "lessons" / "grade.js"
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
