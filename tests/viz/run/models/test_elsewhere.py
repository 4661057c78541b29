"""Models elsewhere answer as those here do, to the bit; what they cannot do is said."""

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import count
from threading import Thread
from typing import Any

import pytest
import torch
from starlette.responses import PlainTextResponse, StreamingResponse

from tests.viz.run.models.serving import served
from transformer import InputError
from transformer.decoding.constraints import Constraints
from transformer.decoding.decode import Written
from transformer.decoding.wire import to_data
from viz.run.line import Runner
from viz.run.models import choosing, elsewhere
from viz.run.models import elsewhere as frames
from viz.run.models import elsewhere as listening
from viz.run.models.place import ModelsError
from viz.run.request import Answer, Request, make_answer, make_request, open_checkpoint, with_length
from viz.server.models import answering as there_module
from viz.server.models.answering import answering

MOST = 60.0


def until(condition: Any) -> None:
    ends = time.monotonic() + MOST
    while not condition():
        assert time.monotonic() < ends
        time.sleep(0.01)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with served(answering()) as address:
        yield address


@pytest.fixture
def there(address: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """From here on requests are answered there."""
    monkeypatch.setenv("HEADSCOPE_MODELS", address)
    return address


def is_answered_there(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that are answered there from now on."""
    texts, run = [], elsewhere.Elsewhere.run

    def heard(self: Any, task: Any, *more: Any) -> Any:
        texts.append(task.text)
        return run(self, task, *more)

    monkeypatch.setattr(elsewhere.Elsewhere, "run", heard)
    return texts


def assert_equal(one: Answer, two: Answer) -> None:
    """The same answer, to the bit."""
    assert one.request == two.request
    assert (one.decoding is None) == (two.decoding is None)
    if one.decoding is not None and two.decoding is not None:
        assert to_data(one.decoding) == to_data(two.decoding)
        assert one.decoding.source == two.decoding.source
        assert one.decoding.search.nodes == two.decoding.search.nodes
    assert_same_recording(one, two)


def assert_same_recording(one: Answer, two: Answer) -> None:
    first, second = one.recording, two.recording
    assert (first.source, first.target) == (second.source, second.target)
    assert torch.equal(first.logits, second.logits)
    assert list(first.attentions) == list(second.attentions)
    for kind, attention in first.attentions.items():
        other = second.attentions[kind]
        assert (attention.queries, attention.keys) == (other.queries, other.keys)
        for layer in range(attention.n_layers):
            assert torch.equal(attention.weights(layer), other.weights(layer))
    assert first.checked == second.checked


TEXTS = {
    "copy": ("3 7 2 9", "greedy"),
    "en-de": ("The keys are here.", "beam"),
    "en-de-small": ("It rains.", "beam"),
    "everyday": ("I like it.", "beam"),
    "shakespeare": ("To be, or", "sample"),
    "sentiment": ("A warm film.", "none"),
    "sentiment-mean": ("A cold film.", "none"),
}


@pytest.mark.parametrize("name", TEXTS)
def test_every_shipped_model_answers_the_same(
    name: str, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, method = TEXTS[name]
    options = () if method == "none" else (("max_len", 12),)
    request = make_request(name, text, method, options)
    edits = (f"head-scale:{next(iter(open_checkpoint(request).family.attentions))}.0.1=2",)
    asked = [request, replace(request, edits=edits)]
    here = [make_answer(each) for each in asked]
    monkeypatch.setenv("HEADSCOPE_MODELS", address)
    texts = is_answered_there(monkeypatch)
    for one in here:
        assert_equal(one, make_answer(one.request))
    assert texts == [text, text]


def test_what_follows_is_decided_or_judged_is_the_same(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = make_request("en-de", "The keys are here.", "beam")
    first = make_answer(request)
    assert first.decoding is not None
    ids = first.decoding.hypotheses[-1].ids
    asked = [
        replace(request, branch=ids),
        replace(request, constraints=Constraints(prefix=ids[:2], forbid=((ids[-2],),))),
        replace(request, edits=("hide:source.1",)).made_to_read(request),
    ]
    here = [make_answer(each, first) for each in asked]
    monkeypatch.setenv("HEADSCOPE_MODELS", address)
    for one in here:
        assert_equal(one, make_answer(one.request, first))


def test_a_text_is_seen_while_it_is_written_and_ends_where_nobody_waits(
    there: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(there_module, "FIRST", 0.0)
    monkeypatch.setattr(there_module, "BETWEEN", 0.0)
    request = make_request("shakespeare", "To be, or", "sample", (("max_len", 200),))
    drafts: list[Written] = []

    class Left(Exception):
        pass

    def hear(draft: Written) -> None:
        drafts.append(draft)
        if len(drafts) == 5:
            raise Left

    works = list[there_module.Work]()
    do = there_module.Work._do
    monkeypatch.setattr(
        there_module.Work, "_do", lambda self, tell: (works.append(self), do(self, tell))
    )
    with pytest.raises(Left):
        make_answer(request, runner=Runner(hear=hear))
    until(works[0].is_over.is_set)
    until(lambda: not any(it.name == "task" for it in threading.enumerate()))
    part = drafts[2]
    assert part.n_tokens == 3
    shorter = make_answer(with_length(request, part.n_tokens))
    assert shorter.decoding is not None
    assert to_data(shorter.decoding.without_distributions()) == to_data(part.decoding())


def test_a_place_in_the_line_is_told_and_who_leaves_it_frees_it(there: str) -> None:
    from viz.run.line import device_line

    request = make_request("copy", "3 7 2 8", "greedy")
    line = device_line(open_checkpoint(request).model).steps
    places: list[int | None] = []

    class Left(Exception):
        pass

    def check() -> None:
        if places:
            raise Left

    line.enter()
    try:
        with pytest.raises(Left):
            make_answer(
                replace(request, method="none", follows=request),
                make_answer_of(request),
                Runner(on_wait=places.append, check=check),
            )
        assert places == [0]
        until(lambda: line.n_waiting == 0)
    finally:
        line.leave()


def make_answer_of(request: Request) -> Answer:
    """Any answer whose target is that long: only its ids are sent."""
    checkpoint = open_checkpoint(request)
    from transformer import record

    return Answer(request, checkpoint, None, record(checkpoint, "3 7", "3 7"), 0.0)


def test_refusals_are_those_of_this_process(there: str) -> None:
    with pytest.raises(InputError, match="empty"):
        make_answer(make_request("copy", " ", "greedy"))
    with pytest.raises(InputError, match=r"cross\.9"):
        make_answer(make_request("copy", "3", "greedy", edits=("head-off:cross.9.0",)))


def test_other_weights_are_refused(there: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elsewhere, "mark_of", lambda *_: "ab" * 32)
    with pytest.raises(ModelsError, match="other weights of copy"):
        make_answer(make_request("copy", "3 8", "greedy"))


def test_another_token_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    request = make_request("copy", "3 2", "greedy")
    with served(answering("secret")) as address:
        monkeypatch.setenv("HEADSCOPE_MODELS", address)
        with pytest.raises(ModelsError, match="HEADSCOPE_MODELS_TOKEN"):
            make_answer(request)
        monkeypatch.setenv("HEADSCOPE_MODELS_TOKEN", "secret")
        assert make_answer(request).decoding is not None


def test_a_dead_server_is_a_sentence_and_answers_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elsewhere, "PAUSES", (0.0,))
    request = make_request("copy", "3 3 9", "greedy")
    with served(answering()) as address:
        monkeypatch.setenv("HEADSCOPE_MODELS", address)
        answer = make_answer(request)
    with pytest.raises(ModelsError, match=f"models at {address} do not answer"):
        make_answer(request)
    monkeypatch.setenv("HEADSCOPE_MODELS_INSTEAD", "here")
    for _ in range(2):  # the second one does not ask there, and says the same
        assert_equal(answer, instead := make_answer(request))
        assert not answer.instead and f"models at {address} do not answer" in instead.instead
    choosing._REST.until.clear()
    monkeypatch.delenv("HEADSCOPE_MODELS_INSTEAD")
    with served(answering(), int(address.rpartition(":")[2])):
        assert_equal(answer, make_answer(request))


def test_a_refused_checkpoint_keeps_no_other_from_there(
    there: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = elsewhere.mark_of
    monkeypatch.setattr(
        elsewhere, "mark_of", lambda path, v: "ab" * 32 if path.name == "copy" else own(path, v)
    )
    monkeypatch.setenv("HEADSCOPE_MODELS_INSTEAD", "here")
    assert "other weights of copy" in make_answer(make_request("copy", "3 9", "greedy")).instead
    heard = is_answered_there(monkeypatch)
    assert not make_answer(make_request("sentiment", "Good.", "none")).instead
    assert heard == ["Good."]


@pytest.mark.parametrize(
    ("status", "content"),
    [
        (404, b""),
        (200, b"<html>"),
        (200, frames.frame(b"D", b"{}")),
        (200, frames.frame(b"P", b"-1")),
        (200, frames.frame(b"A", b"\xff\xff\xff\xff{}")),
        (200, frames.frame(b"E", b"[1]")),
        (200, frames.frame(b"B")),
        (200, b"A" + b"\xff" * 8),
        (503, b""),
    ],
)
def test_whatever_else_answers_is_a_sentence(
    status: int, content: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(elsewhere, "PAUSES", (0.0,))

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await PlainTextResponse(content, status)(scope, receive, send)

    with served(app) as address:
        monkeypatch.setenv("HEADSCOPE_MODELS", address)
        runner = Runner(on_wait=lambda _: None, hear=lambda _: None)
        with pytest.raises(ModelsError, match="answer"):
            make_answer(make_request("copy", "3 4 9", "greedy"), runner=runner)


def test_an_answer_that_breaks_off_is_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elsewhere, "PAUSES", (0.0,))
    whole, n = answering(), [0]

    async def app(scope: Any, receive: Any, send: Any) -> None:
        n[0] += 1
        if n[0] > 1:
            return await whole(scope, receive, send)

        async def some() -> Any:
            yield frames.frame(b"B")
            raise ConnectionError

        try:
            await StreamingResponse(some())(scope, receive, send)
        except BaseException:
            return

    request = make_request("copy", "3 5 9", "greedy")
    answer = make_answer(request)
    with served(app) as address:
        monkeypatch.setenv("HEADSCOPE_MODELS", address)
        assert_equal(answer, make_answer(request))
    assert n[0] == 2


@pytest.mark.parametrize(
    "head", [b"HTTP/1.1 ", b"HTTP/1.1 200 OK\r\n\r\nA" + b"\1" * 4 + b"\0" * 4]
)
def test_who_speaks_a_byte_at_a_time_keeps_nobody(
    head: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither in the head nor in a frame: who leaves is gone at once, and who stays has an end."""
    monkeypatch.setattr(elsewhere, "PAUSES", ())
    monkeypatch.setattr(listening, "LONGEST", 1.0)
    with socket.create_server(("127.0.0.1", 0)) as server:

        def drip() -> None:
            for _ in range(2):
                with suppress(OSError), server.accept()[0] as line:
                    line.sendall(head)
                    while True:
                        time.sleep(0.1)
                        line.sendall(b"2")

        Thread(target=drip, daemon=True).start()
        monkeypatch.setenv("HEADSCOPE_MODELS", f"127.0.0.1:{server.getsockname()[1]}")
        looks = count()

        def check() -> None:
            if next(looks) == 4:
                raise KeyError

        request = make_request("copy", "3 7 4", "greedy")
        with pytest.raises(KeyError):
            make_answer(request, runner=Runner(check=check))
        with pytest.raises(ModelsError, match="too slowly"):
            make_answer(request)


def test_models_that_are_opened_by_path_run_here(
    there: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    texts = is_answered_there(monkeypatch)
    path = open_checkpoint(make_request("copy", "3", "greedy")).path.absolute()
    (tmp_path / "mine").symlink_to(path)
    assert make_answer(make_request(str(tmp_path / "mine"), "3 6", "greedy")).decoding is not None
    assert texts == []


@pytest.mark.parametrize("name", ["../copy", "/etc", ".", "a/b", "", "a\\b", 7])
def test_a_task_names_a_folder_and_no_path(name: Any) -> None:
    from viz.run.models.place import Task, TaskError, task_of

    values = json.loads(Task("copy", "3").to_json())
    assert task_of(values) == Task("copy", "3")
    with pytest.raises(TaskError):
        task_of({**values, "checkpoint": name})
