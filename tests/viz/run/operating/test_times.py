"""The time of a page by part, in the log where an operator asks for it."""

import logging
import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from viz.run.operating import timed, timed_run

ROOT = Path(__file__).parents[4]
LINE = re.compile(r"(\S[^/]*?) ([\d.]+) ms: (.*)")


def lines(caplog: pytest.LogCaptureFixture) -> list[tuple[str, float, dict[str, float]]]:
    """Title, milliseconds and parts of each line in the log."""
    messages = [each.message for each in caplog.records if each.name == "headscope.times"]
    matches = [match for match in map(LINE.fullmatch, messages) if match]
    assert len(matches) == len(messages)
    return [
        (
            title,
            float(total),
            {n: float(ms) for n, _, ms in (p.rpartition(" ") for p in parts.split(", "))},
        )
        for title, total, parts in (match.groups() for match in matches)
    ]


def test_parts_sum_up_and_know_what_is_inside(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("HEADSCOPE_TIMES", "yes")
    with timed_run("Explore"):
        for _ in range(2):
            with timed("page"), timed("grid"):
                sum(range(10_000))
    ((title, total, parts),) = lines(caplog)
    assert title == "Explore" and list(parts) == ["page", "page/grid"]
    assert parts["page/grid"] <= parts["page"] <= total


def test_a_page_that_fails_is_timed_too(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("HEADSCOPE_TIMES", "yes")
    with pytest.raises(ZeroDivisionError), timed_run("Explore"), timed("page"):
        _ = 1 / 0
    with timed("page"):
        pass  # of no run
    ((_, _, parts),) = lines(caplog)
    assert list(parts) == ["page"]


@pytest.mark.parametrize("setting", ["yes", "no"])
def test_the_app_says_what_a_page_took(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, setting: str
) -> None:
    monkeypatch.setenv("HEADSCOPE_TIMES", setting)
    caplog.set_level(logging.WARNING, "headscope.times")
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    app.query_params["checkpoint"], app.query_params["text"] = "copy", "3 7 2 9 4"
    app.run()
    assert not app.exception
    if setting == "no":
        assert not lines(caplog)
        return
    title, total, parts = lines(caplog)[-1]
    assert title == "Explore" and {"header", "tokens", "page"} <= parts.keys()
    assert sum(ms for name, ms in parts.items() if "/" not in name) <= total
    assert "3 7 2" not in caplog.text
