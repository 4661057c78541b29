"""What a visitor may ask of a public server, and what is said of more than that."""

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from transformer import InputError
from transformer.decoding import decoding_methods
from transformer.decoding.method import Option
from transformer.refusal import Refusal
from viz.figure_at import page_of
from viz.run.cache import CACHE
from viz.run.operating import COUNTS
from viz.run.request import make_request
from viz.screen import Screen, parse
from viz.state import limits as limits_module
from viz.state.limits import (
    Limits,
    Runs,
    charge,
    charge_more,
    check_text,
    limited,
    limits,
    may_preview,
    offered,
)
from viz.state.requests import chosen_options
from viz.state.state import Session

ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def public(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("HEADSCOPE_PUBLIC", "yes")
    monkeypatch.setenv("HEADSCOPE_CHECKPOINTS", str(ROOT / "checkpoints"))
    before = dict(COUNTS.values)
    yield
    limits_module._of_address.clear()
    limits_module._previews.clear()
    COUNTS.values = before


@pytest.fixture
def visitor(monkeypatch: pytest.MonkeyPatch) -> Session:
    here = Session()
    monkeypatch.setattr(limits_module, "session", lambda: here)
    return here


def test_at_home_nothing_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADSCOPE_PUBLIC", "no")
    assert limits() == Limits(*[None] * 7)
    check_text("a" * 10**6)


def test_each_limit_is_a_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    assert limits() == Limits(1000, 8, 200, 30, 300, 300, 250)
    monkeypatch.setenv("HEADSCOPE_MOST_RUNS", "7")
    assert limits().runs == 7
    for wrong in ("", "0", "-1", "many", "1e3", "9" * 5000, "\u0663"):
        monkeypatch.setenv("HEADSCOPE_MOST_RUNS", wrong)
        with pytest.raises(Refusal, match="HEADSCOPE_MOST_RUNS must be a whole number above 0"):
            limits()


def test_a_text_that_is_too_long_is_a_sentence() -> None:
    check_text("a" * 1000)
    with pytest.raises(InputError, match="up to 1,000 characters; this one has 1,001"):
        check_text("a" * 1001)


def test_what_is_read_together_counts_together() -> None:
    check_text("a" * 400, "b" * 300, "", "c" * 300)
    with pytest.raises(InputError, match="up to 1,000 characters; this one has 1,001, with all"):
        check_text("a" * 400, "b" * 300, "c" * 301)


def test_no_more_is_offered_than_may_be_asked() -> None:
    assert offered(Option("beam_size", "Beam", 4, 1, 16)).most == 8
    assert offered(Option("max_len", "Length", 500, 1, 1000)).default == 200
    temperature = Option("temperature", "Temperature", 0.8, 0.05, 2.0)
    assert offered(temperature) == temperature


@pytest.mark.parametrize("name", decoding_methods())
def test_a_visitor_has_no_method_follow_more_texts_at_once(name: str) -> None:
    method = decoding_methods()[name]
    screen = replace(Screen(), options=tuple((it.name, it.most) for it in method.options))
    assert method.n_rows(chosen_options(method, screen)) <= 8


def test_a_model_writes_so_many_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADSCOPE_MOST_TOKENS", "20")
    assert dict(limited(make_request("en-de", "a", "beam")).options) == {"max_len": 20}
    short = make_request("everyday", "a", "sample", (("max_len", 5),))
    assert limited(short) == short
    copy = make_request("copy", "3 7", "greedy")
    assert limited(copy) == copy  # writes 7 at most by itself


def test_runs_are_counted_within_a_minute(visitor: Session, monkeypatch: Any) -> None:
    now = 1000.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    monkeypatch.setenv("HEADSCOPE_MOST_RUNS", "3")
    for text in ("a", "b", "b", "b", "c"):
        charge(text)
    now += 20.5
    with pytest.raises(InputError, match=r"reads 3 texts per minute .* ask again in 40 seconds"):
        charge("d")
    charge("c")  # is being written
    now += 40
    charge("d")
    assert list(visitor.of(Runs).times) == [now]
    assert COUNTS.values['headscope_refused_total{reason="runs of visitor"}'] >= 1


def test_who_opens_many_sessions_is_one_address(monkeypatch: Any) -> None:
    monkeypatch.setenv("HEADSCOPE_MOST_RUNS_OF_ADDRESS", "3")
    asked: list[str] = []

    def ask(address: str) -> None:
        monkeypatch.setattr(limits_module, "session", Session)
        monkeypatch.setattr(limits_module, "_address", lambda: address)
        asked.append(address)
        charge(len(asked))

    for address in ("192.0.2.1", "192.0.2.1", "192.0.2.2", "192.0.2.1"):
        ask(address)
    with pytest.raises(InputError, match="reads 3 texts per minute for each address: ask again in"):
        ask("192.0.2.1")
    ask("192.0.2.2")


def test_previews_are_counted_too(monkeypatch: Any) -> None:
    monkeypatch.setenv("HEADSCOPE_MOST_PREVIEWS", "2")
    assert [may_preview(ticket) for ticket in "aabaab"] == [True, True, True, False, False, True]
    monkeypatch.setenv("HEADSCOPE_PUBLIC", "no")
    assert may_preview("a")


def test_the_page_says_so_and_keeps_what_it_showed(monkeypatch: Any) -> None:
    monkeypatch.setenv("HEADSCOPE_MOST_RUNS", "3")
    monkeypatch.setenv("HEADSCOPE_MOST_CHARACTERS", "40")
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    app.query_params["checkpoint"] = "copy"
    app.query_params["text"] = "2 9 8 7 11"
    app.run()
    assert not app.exception and not app.warning

    def enter(text: str) -> list[str]:
        (field,) = (each for each in app.text_input if each.label == "Sentence")
        field.set_value(text).run()
        assert not app.exception
        return [each.value.replace("\\", "") for each in app.warning]

    assert [enter(f"{n} 9 8 7 11") for n in (3, 4)] == [[], []]
    (said,) = enter("5 9 8 7 11")
    assert "reads 3 texts per minute for each visitor" in said and "Still shown" in said
    assert enter("4 9 8 7 11") == []
    (said,) = enter("3 " * 30)
    assert "reads texts of up to 40 characters" in said


def test_work_that_goes_on_counts_what_it_reads(monkeypatch: Any) -> None:
    visitor, now = Session(), 1000.0
    monkeypatch.setattr(limits_module, "session", lambda: visitor)
    monkeypatch.setattr(time, "monotonic", lambda: now)
    monkeypatch.setenv("HEADSCOPE_MOST_RUNS", "3")
    charge("a sweep")
    charge_more(2)
    with pytest.raises(InputError, match=r"reads 3 texts per minute .* ask again in 60 seconds"):
        charge_more(2)
    assert len(visitor.of(Runs).times) == 5  # they were read
    now += 60
    charge_more(1)
    assert list(visitor.of(Runs).times) == [now]


@pytest.mark.parametrize(
    "query",
    [
        {"lens": "hidden", "kind": "cross"},
        {"show": "worth", "pins": "q1"},
        {"lens": "hidden", "kind": "cross", "show": "worth", "pins": "q1"},
    ],
    ids=lambda query: " ".join(query),
)
def test_what_a_wall_waits_for_is_paid_for(query: dict[str, str]) -> None:
    def n_charged(**more: str) -> int:
        app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
        screen = {"checkpoint": "copy", "text": "3 7 2 9 4 8", "decoding": "greedy"} | more
        for name, value in screen.items():
            app.query_params[name] = value
        app.run()
        assert not app.exception
        return len(app.session_state["session"].of(Runs).times)

    story = {"story": "in-the-translator", "scene": "4", "role": "stage"}
    plain = n_charged(**story)
    CACHE.clear()
    assert n_charged(**story, **query) > plain


@pytest.mark.parametrize("field", ["instead", "reference"])
def test_a_word_and_a_reference_count_with_the_text(field: str) -> None:
    choices = {"checkpoint": "copy", "text": "3 7 2", "page": "decode", "pins": "q1"}
    choices |= {"decode_as": "reference"} if field == "reference" else {}
    _, figures = page_of(parse({**choices, field: "4 " * 3}))
    _, fewer = page_of(parse({**choices, field: "4 " * 600}))
    assert set(dict(figures)) - set(dict(fewer))
