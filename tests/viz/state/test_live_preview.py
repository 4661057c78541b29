"""A sentence that is being typed is answered with what the page would show once it is entered."""

import asyncio
import gc
import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from starlette.routing import Router
from streamlit.testing.v1 import AppTest

from tests.representatives import thorough
from tests.viz.ui.test_app import turn, widget
from transformer.refusal import Refusal
from viz.causes.card import signs_of
from viz.causes.needs import Causes
from viz.components.kit.browser import unpack
from viz.components.token_rows.token_rows import TokenRows
from viz.run import previews as preview_work
from viz.run import request
from viz.run.cache import CACHE
from viz.run.line import PREVIEW, Line, Runner
from viz.run.previews import UNASKED, WHY, Drawn, LivePreview, Preview, Ready
from viz.run.request import answer
from viz.run.work import at_hand
from viz.state import live_preview
from viz.state.page import Page, Pane
from viz.state.preview_route import AGAIN, AS_ENTERED, MOST_BYTES, preview_route
from viz.theme import LIGHT
from viz.ui import layout

APP = Path(__file__).parents[3] / "app.py"
FIRST, TYPED = "3 7 2 9 4 11 5", "5 5 2 8"


OPEN: list[AppTest] = []
"""Of the test: a session that nobody holds may be collected, and has no previews then."""


@pytest.fixture(autouse=True)
def router(monkeypatch: pytest.MonkeyPatch) -> Iterator[Router]:
    """The server's part, beside an app whose sessions think that it is there."""
    monkeypatch.setattr(live_preview, "_is_served", False)
    yield Router([preview_route()])
    OPEN.clear()


@pytest.fixture
def copies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The shipped checkpoints, and a second one that splits texts as copy does."""
    for folder in (APP.parent / "checkpoints").iterdir():
        (tmp_path / folder.name).symlink_to(folder)
    (tmp_path / "copy-2").symlink_to(APP.parent / "checkpoints" / "copy")
    monkeypatch.setenv("HEADSCOPE_CHECKPOINTS", str(tmp_path))


def post(router: Router, path: str, body: bytes, query: bytes = b"") -> tuple[int, bytes]:
    """Status and content of what a server would answer."""
    return asyncio.run(posted(router, path, body, query))


def text(typed: str) -> bytes:
    return json.dumps({"text": typed}).encode()


async def posted(router: Router, path: str, body: bytes, query: bytes = b"") -> tuple[int, bytes]:
    """The same, in a loop that goes on."""
    sent: list[dict[str, object]] = []

    async def receive() -> dict[str, object]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: dict[str, object]) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": path, "headers": []}
    scope["query_string"] = query
    await router(scope, receive, send)
    return sent[0]["status"], b"".join(part.get("body", b"") for part in sent[1:])  # type: ignore


def start(page: str = "explore", **query: str) -> AppTest:
    app = AppTest.from_file(str(APP), default_timeout=60)
    for name, value in ({"checkpoint": "copy"} | query).items():
        app.query_params[name] = value
    turn(app, page).run()
    assert not app.exception
    OPEN.append(app)
    return app


def live_of(app: AppTest) -> LivePreview:
    known: LivePreview = app.session_state["session"].of(LivePreview)
    return known


def address_of(app: AppTest) -> str:
    return f"/preview/{live_of(app).ticket}"


def given(app: AppTest) -> dict[str, bytes]:
    """The data of the page's components, by the keys they are mounted with."""
    found = {}
    for data in (component.proto.bytes for component in app.get("bidi_component")):
        if data:
            found[unpack(data)[0]["key"]] = data
    return found


def parts(content: bytes) -> dict[str, bytes]:
    header, arrays = unpack(content)
    return dict(zip(header["keys"], (array.tobytes() for array in arrays), strict=True))


def typed(router: Router, app: AppTest, what: str) -> dict[str, bytes]:
    status, content = post(router, address_of(app), text(what))
    assert status == 200
    return parts(content)


def unheard(data: bytes) -> tuple[dict[str, Any], list[bytes]]:
    """All but what belongs to where it is mounted: a preview is not."""
    header, arrays = unpack(data)
    # Of the one on the page:
    names = ("heard", "opened", "key", "caption", "session", "version", "node", "end")
    mounted = dict.fromkeys(names)
    return header | mounted, [array.tobytes() for array in arrays]


@pytest.mark.parametrize(
    ("page", "query"),
    [
        ("explore", {"picture": "arrows"}),
        ("explore", {"picture": "map", "path": "yes", "kind": "encoder_self"}),
        ("explore", {"picture": "inside", "rows": "read", "kind": "decoder_self"}),
        ("explore", {"picture": "map", "lens": "score", "show": "entropy", "top": "5"}),
        ("explore", {"checkpoint": "sentiment", "picture": "arrows", "words": "yes"}),
        ("explore", {"checkpoint": "everyday", "decoding": "greedy", "picture": "arrows"}),
        ("decode", {"layer": "1", "head": "2"}),
        ("decode", {"mean": "yes"}),
        ("compare", {"picture": "arrows", "kind": "cross", "kind_b": "cross", "head_b": "3"}),
        ("compare", {"picture": "map", "checkpoint_b": "copy-2"}),
        ("compare", {"checkpoint_b": "sentiment"}),
    ],
    ids=lambda case: case if isinstance(case, str) else " ".join(case.values()),
)
def test_a_preview_is_what_the_page_shows_once_it_is_entered(
    router: Router, copies: None, page: str, query: dict[str, str]
) -> None:
    app = start(page, **query)
    what = TYPED if {"sentiment", "everyday"}.isdisjoint({query.get("checkpoint")}) else "A film."
    before, made = given(app), typed(router, app, f"  {what} ")
    widget(app.text_input, "text").set_value(what).run()
    assert not app.exception
    entered = given(app)
    assert len(made) == {"explore": 3, "decode": 3, "compare": 3}[page]
    for key, data in made.items():
        assert unheard(entered[key]) == unheard(data)
        assert before[key] != data


def edits(*spelled: object) -> bytes:
    return json.dumps({"edits": spelled}).encode()


@pytest.mark.parametrize("picture", ["arrows", "map", "inside"])
def test_a_preview_of_edits_is_what_the_page_shows_once_they_are_made(
    router: Router, picture: str
) -> None:
    made = ("head-off:encoder_self.0.1", "cut:cross.0.2.1.1")
    app = start(picture=picture)
    status, content = post(router, address_of(app), edits(*made))
    assert status == 200
    before, entered = given(app), given(start(picture=picture, edits="/".join(made)))
    assert len(parts(content)) == 3
    for key, data in parts(content).items():
        assert unpack(data)[0]["nonce"] == unpack(entered[key])[0]["nonce"]
        assert unheard(data)[1] == unheard(entered[key])[1]
        if key != "tokens":
            assert unheard(data)[1] != unheard(before[key])[1]


@pytest.mark.parametrize(
    "body",
    [
        *map(text, (FIRST, f" {FIRST}  ", "", "cat", "3 " * 8, "3" * (MOST_BYTES + 1))),
        b"3 4",
        b"[1]",
        edits(),
        edits(3),
        edits("head-off"),
        edits("head-off:cross.9.9"),
        b'{"edits": "head-off:cross.0.0"}',
        b'{"text": 3}',
        b'{"checkpoint": "en-de"}',
        b"[" * 5000,
    ],
    ids=lambda body: body[:12].decode(),
)
def test_what_is_shown_already_or_cannot_be_read_has_no_preview(
    router: Router, body: bytes
) -> None:
    assert post(router, address_of(start()), body) == (AS_ENTERED, b"")


@pytest.mark.parametrize(
    ("picture", "status"), [("arrows", AS_ENTERED), ("map", AS_ENTERED), ("inside", 200)]
)
def test_a_map_without_rows_has_no_preview(router: Router, picture: str, status: int) -> None:
    address = address_of(start(kind="decoder_self", special="hidden", picture=picture))
    assert post(router, address, text("3 4"))[0] == 200
    assert post(router, address, text("3"))[0] == status


@pytest.mark.parametrize(
    "page", ["positions", "masks", *map(thorough, ("training", "inspect", "gallery"))]
)
def test_tokens_follow_only_where_a_picture_does(router: Router, page: str) -> None:
    assert post(router, address_of(start(page)), text(TYPED)) == (AS_ENTERED, b"")


def test_a_ticket_is_a_session_s_own_and_ends_with_it(router: Router) -> None:
    app, other = start(), start()
    addresses = [address_of(session) for session in (app, other)]
    assert addresses[0] != addresses[1]
    assert post(router, "/preview/none", text("3 4")) == (AS_ENTERED, b"")
    assert post(router, addresses[0], text("3 4"))[0] == 200
    del app, OPEN[0]
    gc.unfreeze()  # as a checkpoint does that is loaded
    gc.collect()
    gc.freeze()
    assert post(router, addresses[0], text("3 4")) == (AS_ENTERED, b"")
    assert post(router, addresses[1], text("3 4"))[0] == 200


def test_a_letter_typed_while_the_page_is_drawn_is_asked_for_again(
    router: Router, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers, row = [], layout.token_row

    def typed_into(page: Page, pane: Pane, **given: bool) -> Pane:
        pane_below = row(page, pane, **given)
        answers.append(post(router, live_preview.preview_address(), text("3 4")))
        return pane_below

    monkeypatch.setattr(layout, "token_row", typed_into)
    address = address_of(start())
    assert answers == [(AGAIN, b"")]
    assert post(router, address, text("3 4"))[0] == 200


def sessions(n: int) -> list[LivePreview]:
    """Of people who look at the same page."""
    shown = live_of(start()).ready
    assert shown is not None
    people = [LivePreview(ready=shown) for _ in range(n)]
    live_preview._sessions.update({person.ticket: person for person in people})
    return people


def tokens_shown(content: bytes) -> list[str]:
    _, (payload,) = unpack(parts(content)["tokens"])
    return [piece for piece, *_ in unpack(payload.tobytes())[0]["source"]]


def test_of_twenty_people_who_type_at_once_each_sees_what_was_typed_last(router: Router) -> None:
    people = sessions(20)
    letters = [["2", "2 3", "2 3 4", f"2 3 4 {2 + n % 10} {2 + n // 10}"] for n in range(20)]

    async def everybody() -> list[list[tuple[int, bytes]]]:
        async def types(person: LivePreview, texts: list[str]) -> list[tuple[int, bytes]]:
            address = f"/preview/{person.ticket}"
            return await asyncio.gather(*(posted(router, address, text(it)) for it in texts))

        return await asyncio.gather(*map(types, people, letters))

    for answers, texts in zip(asyncio.run(everybody()), letters, strict=True):
        assert {status for status, _ in answers[:-1]} <= {200, AGAIN}
        status, content = answers[-1]
        assert status == 200
        assert tokens_shown(content) == texts[-1].split()


@dataclass(frozen=True)
class SlowRows(TokenRows):
    """Tokens that wait for somebody."""

    go: Event = field(default_factory=Event, hash=False)

    def payload(self, *made: Any) -> bytes:
        assert self.go.wait(60)
        return super().payload(*made)


def test_one_who_is_slow_does_not_stop_the_others(router: Router) -> None:
    slow, *others = sessions(20)
    assert slow.ready is not None
    rows = SlowRows()
    drawn = [Drawn("tokens", rows, LIGHT, {}, True, None)]
    slow.ready = Ready(slow.ready.answer, drawn)

    async def everybody() -> None:
        waits = asyncio.create_task(posted(router, f"/preview/{slow.ticket}", text("2 2 3")))
        addresses = [f"/preview/{person.ticket}" for person in others]
        made = await asyncio.gather(*(posted(router, it, text("4 4 5")) for it in addresses))
        assert [status for status, _ in made] == [200] * 19
        assert not waits.done()
        rows.go.set()
        status, content = await waits
        assert status == 200 and tokens_shown(content) == ["2", "2", "3"]

    asyncio.run(everybody())


class Replaced(Refusal):
    """Something newer was typed."""


def replaced_after(n: int, live: LivePreview, typed: str) -> int:
    """Type a text, and another one when a model asks whether to go on for the last of n times."""
    heard = 0

    def check() -> None:
        nonlocal heard
        heard += 1
        if heard == n:
            raise Replaced("Another text was typed.")

    assert live.ready is not None
    study = Preview(live.ready, json.dumps({"text": typed}))
    with pytest.raises(Replaced):
        next(study.run(None, Runner(PREVIEW, check=check)))
    return heard


def test_a_text_that_grows_stops_when_something_newer_is_typed(router: Router) -> None:
    app = start(checkpoint="shakespeare")
    while app.session_state["session"].studies:
        app.run()  # until all of the text is there
    live = live_of(app)
    assert replaced_after(3, live, "To be") == 3


def test_a_search_with_beams_stops_when_something_newer_is_typed(router: Router) -> None:
    live = live_of(start(checkpoint="en-de-small", decoding="beam", text="It rains."))
    assert replaced_after(3, live, "It rains again.") == 3


def test_a_much_longer_text_waits_for_enter(router: Router) -> None:
    address = address_of(start(checkpoint="en-de-small", text="It rains."))
    assert post(router, address, text("It rains " * 10))[0] == 200
    assert post(router, address, text("It rains " * 2000))[0] == AS_ENTERED


def test_previews_leave_nothing_in_the_caches(router: Router) -> None:
    app = start()
    shown, n_bytes = app.session_state["session"].answer, CACHE.n_bytes
    for n in range(80):
        typed(router, app, f"{2 + n % 9} {2 + n // 9}")
    assert answer(shown.request) is shown
    assert CACHE.n_bytes == n_bytes


def test_what_is_entered_was_made_as_a_preview(
    router: Router, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = start()
    typed(router, app, "9 9 4 2 7")
    (last,) = live_of(app).recent
    for _, picture in last.payloads:
        monkeypatch.setattr(type(picture), "payload", lambda *_: pytest.fail("it was there"))
    widget(app.text_input, "text").set_value("9 9 4 2 7").run()
    assert not app.exception
    assert [app.session_state["session"].answer] == last.answers
    assert not live_of(app).recent


def test_a_checkpoint_that_cannot_be_opened_has_no_preview(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("copy", "damaged"):
        shutil.copytree(APP.parent / "checkpoints" / "copy", tmp_path / name)
    (tmp_path / "damaged" / "model.safetensors").write_bytes(b"no weights")
    monkeypatch.setenv("HEADSCOPE_CHECKPOINTS", str(tmp_path))
    app = start()
    assert live_of(app).ready is not None
    widget(app.selectbox, "checkpoint").set_value("damaged").run()
    assert app.error
    assert live_of(app).ready is None
    widget(app.selectbox, "checkpoint").set_value("copy").run()
    widget(app.text_input, "text").set_value("cat").run()
    assert app.warning
    assert live_of(app).ready is not None


@pytest.mark.parametrize("bound", ["MOST_WORK", "MOST_CELLS"])
def test_a_large_model_and_a_long_text_wait_for_enter(
    bound: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preview_work, bound, 8)
    app = start()
    assert live_of(app).ready is None
    header, _ = unpack(given(app)["tokens"])
    assert header["address"] == ""


def test_work_counts_each_weight_once_for_each_token_that_passes() -> None:
    shown = start(**{"options.beam_size": "3"}).session_state["session"].answer
    n_weights = sum(weight.numel() for weight in shown.checkpoint.model.parameters())
    assert preview_work.work_of(shown) == n_weights * (7 + 7 * (1 + 3))


def test_without_a_server_of_previews_nothing_is_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(live_preview, "_is_served", False)
    header, _ = unpack(given(start())["tokens"])
    assert header["address"] == ""


def test_previews_stand_below_the_base_of_the_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streamlit.get_option", {"server.baseUrlPath": "/lab/heads/"}.get)
    assert preview_route().path == "/lab/heads/preview/{ticket}"


def test_what_is_asked_ahead_of_a_click_gives_way_to_what_is_waited_for(
    router: Router, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = address_of(start())
    head_off = json.dumps({"edits": ["head-off:cross.0.0"]}).encode()
    assert post(router, address, head_off, b"ahead")[0] == 200
    monkeypatch.setattr(Line, "n_waiting", 1)
    assert post(router, address, head_off, b"ahead")[0] == AS_ENTERED
    assert post(router, address, head_off)[0] == 200


@pytest.mark.parametrize(("is_public", "is_first"), [(False, False), (True, False), (True, True)])
def test_who_points_at_a_written_word_finds_its_card_made(
    is_public: bool, is_first: bool, router: Router, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a public server each visitor pays for it, and asks for it by a click; but not for what
    everybody sees first.
    """
    typed = f"3 7 2 9 4 {4 + is_public}"
    app = start() if is_first else start(text=typed)
    CACHE.clear()
    causes = Causes(app.session_state["session"].answer.request)
    monkeypatch.setenv("HEADSCOPE_PUBLIC", "yes" if is_public else "no")
    why = json.dumps(WHY).encode()
    assert at_hand(causes) is None
    status, answer = post(router, address_of(app), why, b"ahead")
    awaited = unpack(given(app)["tokens"])[0]["awaited"]
    assert awaited == ("marks" if is_first else "")
    assert (at_hand(causes) is None) == (is_public and not is_first)
    if is_public:
        assert status == (200 if is_first else AS_ENTERED)
        return
    monkeypatch.setattr(Causes, "run", lambda *_: pytest.fail("it was there"))
    _, (packed,) = unpack(answer)
    cards, _ = unpack(packed.tobytes())
    evidence = at_hand(causes)
    assert evidence is not None
    recording = app.session_state["session"].answer.recording
    assert cards["signs"] == signs_of(recording, evidence).data()
    assert cards["of"] == unpack(given(app)["tokens"])[0]["nonce"]
    assert cards["opens"] == {str(row): word for word, row in enumerate(cards["rows"])}
    pinned = start(text="3 7 2 9 4 4", pins="q1")
    header, (payload,) = unpack(given(pinned)["word-card"])
    card = unpack(payload.tobytes())[0]["card"]
    assert header["pins"] == [1] and "looks at" in json.dumps(card)
    assert [cards["style"], *cards["cards"][1]] == card


@pytest.mark.parametrize("is_public", [False, True])
def test_what_is_lost_is_asked_for_where_it_can_be_said_and_keeps_nobody_waiting(
    is_public: bool, router: Router, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADSCOPE_PUBLIC", "yes" if is_public else "no")
    app = start(checkpoint="en-de-small", text="The dog slept.", decoding="greedy")
    tokens = unpack(given(app)["tokens"])[0]
    assert tokens["judges"] and tokens["awaited"] == ("" if is_public else "lost")
    causes = Causes(app.session_state["session"].answer.request)
    unasked, address = json.dumps(UNASKED).encode(), address_of(app)
    monkeypatch.setattr(Line, "n_free", 1)
    assert post(router, address, unasked)[0] == AGAIN
    monkeypatch.setattr(Line, "n_free", 2)
    assert post(router, address, unasked)[0] == (AS_ENTERED if is_public else 200)
    assert (at_hand(causes) is None) == is_public


def test_a_click_is_taken_over_by_its_run_whatever_was_asked_ahead_after_it(
    router: Router, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = start()
    for typed in ("9 9 4 2 7", "9 9 4 2 6"):
        assert post(router, address_of(app), text(typed))[0] == 200
    monkeypatch.setattr(request, "make_answer", lambda *_, **__: pytest.fail("it was there"))
    widget(app.text_input, "text").set_value("9 9 4 2 7").run()
    assert app.session_state["session"].answer.request.text == "9 9 4 2 7"
    assert not app.exception and not app.error


@pytest.mark.parametrize("typed", [FIRST, TYPED])
def test_a_beginning_is_previewed_with_its_own_text_alone(typed: str) -> None:
    """As the Screen drops it: it is that of the old text's output."""
    live = live_of(start(text=FIRST, decoding="greedy", prefix="6.5", edits="head-off:cross.0.1"))
    assert live.ready is not None
    study = Preview(live.ready, json.dumps({"text": typed, "edits": []}))
    (made,) = study.run(None, Runner())
    assert made.request.constraints.prefix == ((6, 5) if typed == FIRST else ())
    assert (made.answers[0].recording.target[0].id == 6) == (typed == FIRST)


def test_an_edit_of_a_word_is_previewed_with_its_own_text_alone() -> None:
    """Another text has another word there; a head is off in both."""
    edits = ["hide:source.1", "head-off:cross.0.1"]
    live = live_of(start(text=FIRST, decoding="greedy", edits="/".join(edits)))
    assert live.ready is not None
    (made,) = Preview(live.ready, json.dumps({"text": TYPED})).run(None, Runner())
    assert list(made.request.edits) == edits[1:]
