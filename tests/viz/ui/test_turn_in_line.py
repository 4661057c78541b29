"""What pages run a model for beside answers stands in the line too, and says where it stands."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from tests.representatives import cases
from tests.transformer.decoding.test_shared_batch import until
from tests.viz.ui.test_app import start
from viz.causes.needs import Causes
from viz.run import line as line_module
from viz.run.cache import CACHE
from viz.run.line import device_line
from viz.run.request import make_request
from viz.run.work import Study, Work
from viz.ui import progress

TEXT = "6 2 9 4"
HERE = {"checkpoint": "copy", "text": TEXT, "decoding": "greedy"}
Act = Callable[[], AppTest]


def said(app: AppTest) -> str:
    return "\n".join(str(each.proto) for each in app.main)


def proof() -> tuple[Act, str]:
    app = start(tool="heads", **HERE)
    app.session_state["proofs"] = True
    return app.run, "largest error"


def lab() -> tuple[Act, str]:
    start(**HERE)
    return lambda: start(page="positions", view="lab", **HERE), "Position dependence"


def terms() -> tuple[Act, str]:
    """The lab, whose runs are at hand."""
    here = {"page": "positions", "view": "lab", "kind": "encoder_self", "layer": "0"} | HERE
    start(head="0", **here)
    return lambda: start(head="1", **here), "Content and position in one score"


def film() -> tuple[Act, str]:
    start(**HERE)
    return lambda: start("save", page="training", topic="heads", **HERE), "Metrics as CSV"


def task(lesson: str, scene: int) -> Act:
    """The truth of a scene's task, once those before it are over."""
    app = start(page="lessons", story=lesson, **HERE)
    for n in range(1, scene + 1):
        (button,) = (each for each in app.button if str(each.key).startswith(f"show {lesson} {n} "))
        if n < scene:
            button.click().run()
    return lambda: button.click().run()


def head_that_emerged() -> tuple[Act, str]:
    return task("heads-emerge", 2), "Alignment|alignment"


def words_that_moved() -> tuple[Act, str]:
    return task("positions", 3), "lands elsewhere"


@pytest.mark.parametrize(
    "prepare",
    cases(
        [proof, lab, terms, film, head_that_emerged, words_that_moved],
        {"the panel": proof, "a page": lab, "a film": film, "a task": words_that_moved},
    ),
    ids=lambda each: each.__name__,
)
def test_who_waits_is_told_the_place_and_then_sees_the_result(
    prepare: Callable[[], tuple[Act, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    CACHE.clear()
    act, result = prepare()
    told = set[str]()
    spoken = st.delta_generator.DeltaGenerator.caption

    def caption(self: object, body: str, **more: object) -> object:
        told.add(body)
        return spoken(self, body, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(st.delta_generator.DeltaGenerator, "caption", caption)
    monkeypatch.setattr(line_module, "EVERY", 0.005)
    steps = device_line().steps
    with ThreadPoolExecutor(1) as pool:
        steps.enter()  # somebody else's text
        try:
            app = pool.submit(act)
            until(lambda: "Yours is the next one." in told or app.done())
            assert not app.done()
        finally:
            steps.leave()
        shown = app.result()
    assert not shown.exception
    assert any(each in said(shown) for each in result.split("|"))
    assert not [each.value for each in shown.caption if "next one" in each.value]
    assert not steps.n_waiting
    assert all(isinstance(each, Study) for each in CACHE._things)  # one sort of key


def test_who_waits_behind_many_waits_on_when_those_are_answered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    work = Work(Causes(make_request("copy", TEXT, "greedy")))
    crowd = [10 * progress.FEW]
    monkeypatch.setattr(progress, "LONG", 100.0)
    monkeypatch.setattr(progress, "n_going_on", lambda: crowd[0])
    is_long = progress.long_wait(work)
    work.began -= 5 * progress.LONG
    assert not is_long()
    crowd = [1]
    assert not is_long(), "half of the time that ten times as many take"
    work.began -= 5 * progress.LONG
    assert is_long()
    assert progress.long_wait(work)(), "of one who never waited with others"
