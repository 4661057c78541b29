"""A task as data: all that a page without a server asks of it, grades it by, and says then.

Python computes the truth and every sentence; viz/live/lessons/grade.js has the rules only.
"""

import json
from base64 import b64encode
from typing import Any
from unicodedata import numeric

from viz.lessons.answers import NO_ANSWER
from viz.lessons.subject import Subject
from viz.lessons.task import (
    DISTANCES,
    FLOOR,
    LEAST_SHARE,
    LONGEST,
    MOST_SHARE,
    NO_NUMBER,
    REPEATED,
    REPEATED_BARE,
    Task,
    percent_of,
)
from viz.lessons.tasks.maps import SPREAD_HINT

FRACTIONS = "¼½¾⅐⅑⅒⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞"
"""Signs that are numbers by themselves."""


def sheet(task: Task, subject: Subject) -> dict[str, Any]:
    """Return what is shown of a task before an answer, and under "sealed" what is not.

    The seal keeps the truth from a glance at the file, and from nobody who looks for it.
    """
    options = [] if task.form == "number" else [*task.options(subject)]
    return {
        "form": task.form,
        "question": task.ask(subject),
        "unit": task.unit,
        "options": options,
        "material": [*task.material(subject)],
        "sealed": seal(_sealed(task, subject, len(options))),
    }


def seal(value: Any) -> str:
    """Return a JSON value in base64."""
    return b64encode(json.dumps(value, ensure_ascii=False).encode()).decode()


def _sealed(task: Task, subject: Subject, n: int) -> dict[str, Any]:
    """n: the number of options."""
    truth = task.truth(subject)
    content: dict[str, Any] = {"truth": truth, "explanation": task.explain(subject)}
    if isinstance(truth, tuple):
        return content | {"hints": [SPREAD_HINT], "gets": [*map(percent_of, truth)], "reasons": []}
    if task.form == "number":
        content |= {"tolerance": task.tolerance(truth), "hints": [task.hint(subject, 0.0)]}
    else:
        right = [i for i in range(n) if task.is_right(subject, i)]
        hints = ["" if i in right else task.hint(subject, i) for i in range(n)]
        content |= {"right": right, "hints": hints}
    reasons: list[dict[str, Any]] = []
    for each in task.reasons:
        answer = each.answer(subject)
        if answer is not None and not isinstance(answer, tuple):
            near = {"tolerance": task.tolerance(answer)} if task.form == "number" else {}
            reasons.append({"answer": answer, "says": each.says(subject), **near})
    return content | {"reasons": reasons}


def grading_words() -> dict[str, Any]:
    """Return what the rules in JavaScript say, and what they take from here."""
    return {
        "noAnswer": NO_ANSWER,
        "noNumber": NO_NUMBER,
        "distances": DISTANCES,
        "repeated": REPEATED,
        "repeatedBare": REPEATED_BARE,
        "shares": [LEAST_SHARE, MOST_SHARE],
        "longest": LONGEST,
        "floor": FLOOR,
        "fractions": {sign: numeric(sign) for sign in FRACTIONS},
    }
