"""Tasks about a sentence of the learner's own, as data for a page in which a model answers it.

The truth is computed there, by viz/live/lessons/tasks.js, and said in the words of the tasks here.
"""

from collections.abc import Mapping
from typing import Any

from transformer.analysis.metrics.metrics import metrics_of
from transformer.analysis.reading import merges_unasked
from transformer.checkpoint import Checkpoint
from transformer.recording import Recording
from viz.labels import IN_WORD, MOST_OF_WORD, SPACE_BEFORE
from viz.lessons.exercise import NEEDS, Exercise, read_task
from viz.lessons.sheet import grading_words
from viz.lessons.subject import ABOUT_ROW, FEW, read_head
from viz.lessons.task import NEAR, TIMES
from viz.lessons.tasks.counts import CLOSED
from viz.lessons.tasks.layers import FORMULAS, OPERATIONS
from viz.lessons.tasks.maps import STRONGEST
from viz.lessons.tasks.scale import OPTIONS, SAME, UNSCALED
from viz.lessons.tasks.written import LEAST_SURE, NEEDED, SPARED

WORDS: Mapping[str, Mapping[str, str]] = {
    "strongest": STRONGEST,
    "closed_cells": CLOSED,
    "least_sure": LEAST_SURE,
    "unscaled": UNSCALED,
    "operations": OPERATIONS,
    "spared": SPARED,
    "needed_word": NEEDED,
}
"""The tasks that a page without a server asks about any sentence -> what they say."""


def own_tasks(exercise: Exercise, checkpoint: Checkpoint, recording: Recording) -> dict[str, Any]:
    """Return what the worker of a page needs to ask this scene's tasks about a sentence.

    recording: of any text, for what no text changes.
    """
    tasks = [read_task(each)[0] for each in exercise.tasks]
    return {
        "tasks": [
            {"name": it.name, "form": it.form, "unit": it.unit, "decimals": it.decimals}
            | {"ofRow": it.of_row}
            for it in tasks
        ],
        "head": [[rule.is_most, rule.metric, rule.kind] for rule in read_head(exercise.head)],
        "row": exercise.row,
        "metrics": {kind: [*metrics_of(it)] for kind, it in recording.attentions.items()},
        "isOfWords": merges_unasked(checkpoint.about),
        "writesNothing": NEEDS["writes"].lacks if "writes" in _needs(exercise) else "",
        "words": {it.name: WORDS[it.name] for it in tasks},
        "rows": ABOUT_ROW,
        "names": {"inWord": IN_WORD, "space": SPACE_BEFORE, "most": MOST_OF_WORD},
        "few": FEW,
        "same": SAME,
        "options": OPTIONS,
        "formulas": FORMULAS,
        "near": NEAR,
        "times": TIMES,
        "grading": grading_words(),
    }


def _needs(exercise: Exercise) -> set[str]:
    return {*exercise.needs, *(need for it in exercise.tasks for need in read_task(it)[0].needs)}
