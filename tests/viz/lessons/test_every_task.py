"""Every kind of task: its truth follows the sentence and is in nothing that is shown before."""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import islice, product
from pathlib import Path

import pytest

from tests.representatives import thorough
from transformer import Checkpoint, decode, evidence, load_checkpoint, record
from transformer.checkpoint import shipped_path
from viz.lessons.answers import Attempt, answered, reveal
from viz.lessons.exercise import lacking, tasks
from viz.lessons.subject import Place, Subject, find_place
from viz.lessons.task import Reply, Task, distance, even, log_loss, shares
from viz.stories.reading import stories_of
from viz.stories.story import Scene

TASKS = tasks()
EACH = pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
OF_SENTENCE = [task for task in TASKS.values() if task.of_sentence]
SOME_AND_ALL = pytest.mark.parametrize("step", [5, thorough(1)])
"""Of the rows that are seen, each so many-eth: each head, each row and each checkpoint once."""
SENTENCES = {
    "copy": ("3 7 2 9 4 11 5", "8 2 10 6 3", "4 9 2 8 6", "11 3 5 5 7 2"),
    "en-de-small": (
        "Tom lives in Boston.",
        "The animal was too tired to cross the street.",
        "It rains.",
    ),
}
HEADS = (
    "most alignment in cross",
    "most previous in decoder_self",
    "least entropy in encoder_self",
)


@cache
def seen(
    checkpoint: str, text: str, head: str, row: str, arguments: tuple[int, ...] = ()
) -> Subject:
    opened = load_checkpoint(Path("checkpoints") / checkpoint, "cpu")
    recording = record(opened, text, decode(opened, text, "greedy").target)
    place = find_place(recording, head, row)
    assert place is not None
    return Subject(opened, recording, place, arguments, text)


RIDDLES = tuple(name for name, task in TASKS.items() if task.of_evidence)
"""Tasks about what written words need: of the sentences of riddles."""


def riddles(task: str) -> Iterator[Subject]:
    """Of each scene that could ask it."""
    checkpoint = opened("en-de-1")
    for scene in (scene for story in stories_of("lesson") for scene in story.scenes):
        riddle = scene.exercise.riddle
        if riddle.left_out if task == "left_out" else riddle.mistakes:
            yield of_riddle(checkpoint, scene)


@cache
def opened(name: str) -> Checkpoint:
    return load_checkpoint(shipped_path(name), "cpu")


@cache
def of_riddle(checkpoint: Checkpoint, scene: Scene) -> Subject:
    """A scene's subject, as its page has it."""
    text = scene.screen.text or ""
    recording = record(checkpoint, text, decode(checkpoint, text, "beam").target)
    result, place = evidence(checkpoint, text, recording.target), Place("cross", 0, 0, 0)
    riddle = scene.exercise.riddle
    return Subject(checkpoint, recording, place, (), text, result=result, riddle=riddle)


@cache
def run_for(task: Task, subject: Subject) -> Subject:
    """The same with the last value of the task's run, as a page has it that waited for it."""
    if task.run is None:
        return subject
    *_, result = task.run(subject, None)
    return replace(subject, result=result)


def all_seen(task: Task, step: int = 1) -> Iterator[Subject]:
    """Rows of several heads of several sentences, as far as they have what the task needs."""
    if task.name in RIDDLES:
        yield from islice(riddles(task.name), 3)
        return
    arguments = (2,) * len(task.takes)
    dear = {"emerged": "copy", "shifted": "en-de-small"}  # these run models anew
    is_dear = task.name in dear
    for checkpoint, texts in SENTENCES.items():
        if dear.get(task.name, checkpoint) != checkpoint:
            continue
        rows = product(texts[:2] if is_dear else texts, HEADS, ("divided", "sharpest"))
        for text, head, row in list(rows)[:: 6 if is_dear else step]:
            found = seen(checkpoint, text, head, row, arguments)
            if lacking(task.needs, found.checkpoint, found.recording) is None:
                yield run_for(task, found)


def said_before(task: Task, of: Subject) -> str:
    """All that is on the page before an answer."""
    return "\n".join((task.ask(of), *map(" ".join, task.material(of))))


def wrong(task: Task, of: Subject) -> Reply:
    truth = task.truth(of)
    if isinstance(truth, tuple):
        least = min(range(len(truth)), key=truth.__getitem__)
        return tuple(100.0 * (i == least) for i in range(len(truth)))
    if task.form == "number":
        return float(truth) + 10 * task.tolerance(truth) + 1
    return next(others(task, of))


def others(task: Task, of: Subject) -> Iterator[int]:
    """The options that are not right, from the one behind the right one."""
    n, truth = len(task.options(of)), task.truth(of)
    assert not isinstance(truth, tuple)
    for i in range(1, n + 1):
        if not task.is_right(of, (int(truth) + i) % n) or i == n:
            yield (int(truth) + i) % n


def otherwise(task: Task, of: Subject) -> Reply:
    """Another answer than the wrong one: of a word or a choice perhaps the right one."""
    given = wrong(task, of)
    if isinstance(given, tuple):
        return tuple(each / 2 for each in given)
    return given + 1 if task.form == "number" else (int(given) + 1) % len(task.options(of))


def right(task: Task, of: Subject) -> Reply:
    truth = task.truth(of)
    if isinstance(truth, tuple):
        return tuple(100 * each for each in truth)
    return round(float(truth), task.decimals) if task.form == "number" else int(truth)


@SOME_AND_ALL
@pytest.mark.parametrize("task", OF_SENTENCE, ids=lambda task: task.name)
def test_the_truth_changes_with_the_sentence(task: Task, step: int) -> None:
    """Of other tasks it follows the model or the scene."""
    truths = {
        (text, task.truth(each)) for each in all_seen(task, step) for text in [str(each.words)]
    }
    assert len({truth for _, truth in truths}) > 1


@SOME_AND_ALL
@EACH
def test_an_answer_is_graded_and_explained_with_a_number(task: Task, step: int) -> None:
    for each in all_seen(task, step):
        if task.form == "choice" or len(each.words) > 1:
            assert task.is_right(each, right(task, each)), task.explain(each)
            assert not task.is_right(each, wrong(task, each))
        assert re.search(r"\d", task.explain(each))
        assert task.explain(each).endswith(".") and task.ask(each)[-1] in "?."
        assert task.hint(each, wrong(task, each)).endswith((".", "?"))


@SOME_AND_ALL
@EACH
def test_the_truth_is_not_in_what_is_shown_before(task: Task, step: int) -> None:
    for each in all_seen(task, step):
        truth = task.truth(each)
        before = re.sub("‘[^’]*’", "", said_before(task, each))  # words that are numbers
        assert task.explain(each) not in before
        for argument in each.arguments:  # what the scene itself says
            before = re.sub(rf"\b{argument}\b", "", before)
        is_one_term = task.name == "mix" and float(each.weights.max()) > 0.99  # and is that term
        if task.form == "number" and not isinstance(truth, tuple) and not is_one_term:
            number = f"{truth:.{task.decimals}f}".replace("-", "−")
            found = re.findall(r"−?\d+(?:\.\d+)?", before)
            assert number not in found, before


@SOME_AND_ALL
@EACH
def test_nothing_is_asked_that_chance_decides(task: Task, step: int) -> None:
    for each in all_seen(task, step):
        assert not asks_for_chance(task.ask(each)) or task.of_writing, task.ask(each)


def asks_for_chance(question: str) -> bool:
    """What a model says or writes may be drawn; what it looks at, or ranks, is not."""
    return bool(re.search(r"\b(say|said|says|writes? next|will (it|the model) write)\b", question))


@pytest.mark.parametrize(
    ("question", "is_chance"),
    [
        ("What will the model write?", True),
        ("Which word did it say last?", True),
        ("Which word does the row ‘Haus’ look at most?", False),
    ],
)
def test_the_rule_finds_what_it_is_for(question: str, is_chance: bool) -> None:
    assert asks_for_chance(question) == is_chance


@EACH
def test_one_nudge_then_the_truth(task: Task) -> None:
    each = next(all_seen(task))
    nudged = answered(Attempt(), wrong(task, each), task, each)
    assert nudged.hint and not nudged.is_over
    assert answered(nudged, wrong(task, each), task, each) == nudged  # a button pressed twice
    assert answered(answered(nudged, None, task, each), wrong(task, each), task, each) == nudged
    again = answered(nudged, otherwise(task, each), task, each)
    assert again.is_over and not again.hint
    corrected = answered(nudged, right(task, each), task, each)
    assert corrected.is_over and corrected.is_right and not corrected.hint
    nothing = answered(Attempt(), None, task, each)
    assert nothing.n == 0 and nothing.hint and not nothing.is_over
    assert reveal(nudged).is_over and not reveal(nudged).is_right


def test_points_cost_what_the_formula_says() -> None:
    weights = (0.5, 0.25, 0.25)
    assert log_loss(weights, weights) == pytest.approx(1.0397, abs=1e-4)  # the entropy, in nats
    assert log_loss(weights, even(3)) == pytest.approx(1.0986, abs=1e-4)  # ln 3
    assert shares((0, 0, 0)) == even(3)
    assert sum(shares((7, 0, 1))) == pytest.approx(1)
    assert log_loss(weights, shares((100, 0, 0))) < 5  # no guess costs without end


@pytest.mark.parametrize(
    "task", [it for it in TASKS.values() if it.reasons], ids=lambda it: it.name
)
def test_a_likely_wrong_answer_gets_its_reason_and_the_hint(task: Task) -> None:
    """Each reason is somewhere one of an answer that is wrong."""
    met = set()
    for each in all_seen(task, 3):
        for i, reason in enumerate(task.reasons):
            likely = reason.answer(each)
            if likely is None or task.is_right(each, likely):
                continue
            after = answered(Attempt(), likely, task, each)
            assert after.has_reason and after.is_wrong
            assert (
                after.hint.endswith(task.hint(each, likely))
                and task.explain(each) not in after.hint
            )
            met.add(i)
    assert met == set(range(len(task.reasons))) - NOT_HERE.get(task.name, set())


NOT_HERE = {"turn": {0}, "rate": {0}, "strongest": {0}}
"""Reasons that these heads, or these numbers behind the name of a task, give no cause for."""


@pytest.mark.parametrize(
    ("name", "arguments", "says"),
    [
        ("strongest", (), "of the last layer"),
        ("rate", (4000, 1000), "up to its end the rate grows evenly"),
        ("rate", (4000, 16000), "more slowly"),
        ("turn", (5,), "longer way"),
    ],
)
def test_the_others_are_given_where_there_is_cause(
    name: str, arguments: tuple[int, ...], says: str
) -> None:
    """A head of cross-attention that does not align, and a turn by more than half."""
    task, (text, *_) = TASKS[name], SENTENCES["en-de-small"]
    of = seen("en-de-small", text, "least alignment in cross", "divided", arguments)
    likely = task.reasons[0].answer(of)
    assert likely is not None and not task.is_right(of, likely)
    assert says in answered(Attempt(), likely, task, of).hint


@pytest.mark.parametrize(
    ("given", "truth", "says"),
    [
        (5, -5, "sign"),
        (5.4, 5, "large, by less than a tenth"),
        (3, 5, "small"),
        (2, 5, "small, more than twice"),
        (-3, 5, "small"),
        (60, 5, "large, more than ten times"),
    ],
)
def test_a_wrong_number_is_told_how_far_off_it_is(given: float, truth: float, says: str) -> None:
    assert says in distance(given, truth, 0.01)
