"""The log: a line of JSON each where that is asked for, and never what somebody typed."""

import json
import logging

import pytest

from viz.run.operating import OneLine, failure


def failed(said: str) -> ValueError:
    try:
        raise ValueError(said)
    except ValueError as error:
        return error


def test_a_failure_says_where_and_not_what_was_typed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HEADSCOPE_LOG_TEXTS", raising=False)
    said = failure(failed("my secret"))
    assert said.startswith("ValueError\n") and "in failed" in said and "my secret" not in said
    monkeypatch.setenv("HEADSCOPE_LOG_TEXTS", "yes")
    assert "my secret" in failure(failed("my secret"))


def test_a_message_is_one_line_whatever_is_in_it() -> None:
    error = failed("x")
    record = logging.LogRecord(
        *("viz", logging.ERROR, __file__, 1, "a\n%s\u2028\x1b[31m", ("b",)),
        (type(error), error, error.__traceback__),
    )
    line = OneLine().format(record)
    assert len(line.splitlines()) == 1 and line.isascii() and "\x1b" not in line
    said = json.loads(line)
    assert said["message"] == "a\nb\u2028\x1b[31m" and said["level"] == "error"
    assert said["time"].endswith("Z") and "in failed" in said["failure"]
