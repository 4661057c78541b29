"""Recordings take turns with the steps of decodings, and with each other."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from tests.transformer.decoding.test_shared_batch import until
from transformer import Recording
from viz.run.cache import CACHE
from viz.run.line import PREVIEW, Line, Runner, device_line, entered
from viz.run.models import place as here_module
from viz.run.request import Answer, make_answer, make_request, recording_of_text


class Gone(Exception):
    """Nobody waits any more."""


@pytest.fixture
def made() -> Answer:
    """Of a text; a request that follows it is only recorded."""
    CACHE.clear()
    return make_answer(make_request("copy", "3 7 2 9", "greedy"))


@pytest.fixture
def steps(made: Answer, monkeypatch: pytest.MonkeyPatch) -> Iterator[Line]:
    """The line of the device, whose place is taken by the test; nobody loses patience."""
    line = device_line(made.checkpoint.model).steps
    monkeypatch.setattr(line, "_clock", lambda: 0.0)
    line.enter()
    yield line
    line.enter()  # it is free again
    line.leave()
    assert line.n_waiting == 0


def test_recordings_wait_for_the_device_and_entered_ones_go_first(
    made: Answer, steps: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    order, record = list[str](), here_module.record

    def recorded(checkpoint: Any, text: str, *more: Any, **named: Any) -> Recording:
        order.append(text)
        return record(checkpoint, text, *more, **named)

    monkeypatch.setattr(here_module, "record", recorded)
    follows = replace(made.request, method="none", follows=made.request)
    runners = {"3 4": Runner(PREVIEW), "5 6": entered}
    with ThreadPoolExecutor(2) as pool:
        found = []
        for n, (text, runner) in enumerate(runners.items(), 1):
            asked = replace(follows, text=text)
            found.append(pool.submit(make_answer, asked, followed=made, runner=runner))
            until(lambda n=n: steps.n_waiting == n)
        assert order == []
        steps.leave()
        texts = [each.result(60).request.text for each in found]
    assert texts == ["3 4", "5 6"] and order == ["5 6", "3 4"]


def test_a_recording_that_nobody_waits_for_leaves_the_line(
    made: Answer, steps: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("viz.run.line.EVERY", 0.005)

    def check() -> None:
        raise Gone

    follows = replace(made.request, method="none", follows=made.request)
    with ThreadPoolExecutor(1) as pool:
        runner = Runner(PREVIEW, check=check)
        left = pool.submit(make_answer, follows, followed=made, runner=runner)
        assert isinstance(left.exception(60), Gone)
    assert steps.n_waiting == 0
    steps.leave()


def test_what_is_recorded_of_a_prompt_waits_too(made: Answer, steps: Line) -> None:
    prompt = make_request("shakespeare", "JULIET: Good", "sample")
    with ThreadPoolExecutor(1) as pool:
        found = pool.submit(recording_of_text, prompt)
        until(lambda: steps.n_waiting == 1)
        steps.leave()
        assert [token.piece for token in found.result(60).source][:2] == ["J", "U"]
