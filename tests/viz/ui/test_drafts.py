"""A sentence that is being typed is answered with what the page would show once it is entered."""

import asyncio
import gc
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.routing import Router
from streamlit.testing.v1 import AppTest

from tests.viz.ui.test_app import widget
from viz.components.kit.pack import unpack
from viz.ui import drafts, layout
from viz.ui.drafts import AS_ENTERED, BUSY, MOST_BYTES, Drafts, draft_route
from viz.ui.page import Page, Pane
from viz.ui.payloads import PAYLOADS
from viz.ui.request import answer

APP = Path(__file__).parents[3] / "app.py"
FIRST, TYPED = "3 7 2 9 4 11 5", "5 5 2 8"


@pytest.fixture(autouse=True)
def router(monkeypatch: pytest.MonkeyPatch) -> Iterator[Router]:
    """The server's part, beside an app whose sessions think that it is there."""
    monkeypatch.setattr(drafts, "_is_served", False)
    return Router([draft_route()])


def post(router: Router, path: str, body: bytes) -> tuple[int, bytes]:
    """Status and content of what a server would answer."""
    sent: list[dict[str, object]] = []

    async def receive() -> dict[str, object]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: dict[str, object]) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": path, "headers": [], "query_string": b""}
    asyncio.run(router(scope, receive, send))
    return sent[0]["status"], b"".join(part.get("body", b"") for part in sent[1:])  # type: ignore


def start(**query: str) -> AppTest:
    app = AppTest.from_file(str(APP), default_timeout=60)
    for name, value in ({"checkpoint": "copy"} | query).items():
        app.query_params[name] = value
    app.run()
    assert not app.exception
    return app


def drafts_of(app: AppTest) -> Drafts:
    known: Drafts = app.session_state["drafts"]
    return known


def given(app: AppTest) -> dict[str, bytes]:
    """What the components of the page were given, by their names."""
    protos = [component.proto for component in app.get("bidi_component")]
    return {proto.component_name.split(".")[-1]: proto.bytes for proto in protos}


def drawn(data: bytes) -> tuple[dict[str, object], bytes]:
    """All but what the server has heard: a draft says nothing of that."""
    header, (payload,) = unpack(data)
    return header | {"heard": None}, payload.tobytes()


def typed(router: Router, app: AppTest, text: str) -> dict[str, bytes]:
    status, content = post(router, f"/drafts/{drafts_of(app).ticket}", text.encode())
    assert status == 200
    header, parts = unpack(content)
    return dict(zip(header["names"], (part.tobytes() for part in parts), strict=True))


@pytest.mark.parametrize(
    "query",
    [
        {"picture": "arrows"},
        {"picture": "map", "path": "yes", "kind": "encoder_self"},
        {"picture": "inside", "rows": "read", "kind": "decoder_self"},
        {"picture": "map", "lens": "score", "show": "entropy", "top": "5"},
        {"checkpoint": "sentiment", "picture": "arrows", "words": "yes"},
    ],
    ids=lambda query: " ".join(query.values()),
)
def test_a_draft_is_what_the_page_shows_once_it_is_entered(
    router: Router, query: dict[str, str]
) -> None:
    app = start(**query)
    text = "A quiet, funny film." if "checkpoint" in query else TYPED
    before, draft = given(app), typed(router, app, f"  {text} ")
    widget(app.text_input, "text").set_value(text).run()
    entered = given(app)
    assert len(draft) == 3
    assert all(drawn(entered[name]) == drawn(draft[name]) for name in draft)
    assert all(drawn(before[name]) != drawn(draft[name]) for name in draft)


@pytest.mark.parametrize(
    "text", [FIRST, f" {FIRST}  ", "", "cat", "3 " * 8, "3" * (MOST_BYTES + 1)]
)
def test_what_is_shown_already_or_cannot_be_read_has_no_draft(router: Router, text: str) -> None:
    address = f"/drafts/{drafts_of(start()).ticket}"
    assert post(router, address, text.encode()) == (AS_ENTERED, b"")


@pytest.mark.parametrize(
    ("picture", "status"), [("arrows", AS_ENTERED), ("map", AS_ENTERED), ("inside", 200)]
)
def test_a_map_without_rows_has_no_draft(router: Router, picture: str, status: int) -> None:
    app = start(kind="decoder_self", special="hidden", picture=picture)
    address = f"/drafts/{drafts_of(app).ticket}"
    assert post(router, address, b"3 4")[0] == 200
    assert post(router, address, b"3")[0] == status


def test_a_ticket_is_a_session_s_own_and_ends_with_it(router: Router) -> None:
    app, other = start(), start()
    tickets = [drafts_of(session).ticket for session in (app, other)]
    assert tickets[0] != tickets[1]
    assert post(router, "/drafts/none", b"3 4") == (AS_ENTERED, b"")
    assert post(router, f"/drafts/{tickets[0]}", b"3 4")[0] == 200
    del app
    gc.unfreeze()  # as a checkpoint does that is loaded
    gc.collect()
    assert post(router, f"/drafts/{tickets[0]}", b"3 4") == (AS_ENTERED, b"")
    assert post(router, f"/drafts/{tickets[1]}", b"3 4")[0] == 200


def test_one_draft_is_made_at_a_time(router: Router) -> None:
    address = f"/drafts/{drafts_of(start()).ticket}"
    with drafts._one_at_a_time:
        assert post(router, address, b"3 4") == (BUSY, b"")
    assert post(router, address, b"3 4")[0] == 200


def test_a_letter_typed_while_the_page_is_drawn_is_asked_for_again(
    router: Router, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers, row = [], layout.token_row

    def typed_into(page: Page, pane: Pane) -> None:
        row(page, pane)
        answers.append(post(router, drafts.draft_address(), b"3 4"))

    monkeypatch.setattr(layout, "token_row", typed_into)
    address = f"/drafts/{drafts_of(start()).ticket}"
    assert answers == [(BUSY, b"")]
    assert post(router, address, b"3 4")[0] == 200


@pytest.mark.parametrize(
    "query", [{"checkpoint": "shakespeare"}, {"checkpoint": "everyday"}], ids=str
)
def test_a_text_that_streams_waits_for_enter(router: Router, query: dict[str, str]) -> None:
    app = start(**query)
    assert drafts_of(app).ready is None
    header, _ = unpack(given(app)["token_rows"])
    assert header["drafts"] == ""


def test_a_much_longer_text_waits_for_enter(router: Router) -> None:
    app = start(checkpoint="en-de-small", text="It rains.")
    address = f"/drafts/{drafts_of(app).ticket}"
    assert post(router, address, b"It rains " * 10)[0] == 200
    assert post(router, address, b"It rains " * 30)[0] == AS_ENTERED


def test_drafts_leave_nothing_in_the_caches(router: Router) -> None:
    app = start()
    shown, n_bytes = app.session_state["session"].shown, PAYLOADS.n_bytes
    for n in range(80):
        typed(router, app, f"{2 + n % 9} {2 + n // 9}")
    assert answer(shown.request) is shown
    assert PAYLOADS.n_bytes == n_bytes


def test_what_is_entered_was_made_as_a_draft(
    router: Router, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = start()
    typed(router, app, "9 9 4 2 7")
    draft = drafts_of(app).last
    assert draft is not None
    for picture in draft.payloads:
        monkeypatch.setattr(type(picture), "payload", lambda *_: pytest.fail("it was there"))
    widget(app.text_input, "text").set_value("9 9 4 2 7").run()
    assert not app.exception
    assert app.session_state["session"].shown is draft.answer
    assert drafts_of(app).last is None


def test_a_checkpoint_that_cannot_be_opened_has_no_drafts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("copy", "damaged"):
        shutil.copytree(APP.parent / "checkpoints" / "copy", tmp_path / name)
    (tmp_path / "damaged" / "model.safetensors").write_bytes(b"no weights")
    monkeypatch.setenv("HEADSCOPE_CHECKPOINTS", str(tmp_path))
    app = start()
    assert drafts_of(app).ready is not None
    widget(app.selectbox, "checkpoint").set_value("damaged").run()
    assert app.error
    assert drafts_of(app).ready is None
    widget(app.selectbox, "checkpoint").set_value("copy").run()
    widget(app.text_input, "text").set_value("cat").run()
    assert app.warning
    assert drafts_of(app).ready is not None


def test_a_slow_model_waits_for_enter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drafts, "MOST_SECONDS", 0)
    assert drafts_of(start()).ready is None


def test_a_long_text_waits_for_enter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drafts, "MOST_CELLS", 8)
    assert drafts_of(start()).ready is None


def test_without_a_server_of_drafts_nothing_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drafts, "_is_served", False)
    header, _ = unpack(given(start())["token_rows"])
    assert header["drafts"] == ""


def test_drafts_stand_below_the_base_of_the_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drafts.st, "get_option", {"server.baseUrlPath": "/lab/heads/"}.get)
    assert draft_route().path == "/lab/heads/drafts/{ticket}"
