"""Rooms of talks: bounded, unguessable, moved by whoever has the key, heard of by all others."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient, WebSocketTestSession

from viz.screen import Screen, link
from viz.ui import room_routes, rooms
from viz.ui.guard import Guard
from viz.ui.room_routes import KEY, NO_MORE, NO_ROOM, screen_of, seen_by
from viz.ui.room_routes import room_routes as routes
from viz.ui.rooms import LONGEST, RoomError, Rooms, code_of, holds, new_key

HOME, SOCKETS = "http://localhost:8501", "ws://localhost:8501"
FIRST = Screen(story="a-talk", text="It rains & pours.", layer=2)
SECOND = replace(FIRST, scene=2, page="decode", step=3)


class Clock:
    """Seconds that go forward when a test says so."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def known(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Rooms:
    """The server's rooms."""
    made = Rooms(now=clock)
    monkeypatch.setattr(room_routes, "ROOMS", made)
    monkeypatch.setenv("HEADSCOPE_PUBLIC", "yes")
    return made


@pytest.fixture
def server(known: Rooms) -> Iterator[TestClient]:
    with TestClient(Guard(Starlette(routes=routes())), base_url=HOME) as client:
        yield client


def audience(server: TestClient) -> TestClient:
    """Another browser of the same server: it has no key."""
    other = TestClient(server.app, base_url=HOME, follow_redirects=False)
    other.portal = server.portal  # of the same process
    return other


def begun(server: TestClient, screen: Screen = FIRST) -> tuple[str, str]:
    """The code of a new room, and the path of its socket."""
    answer = server.post("/talk", content=link(replace(screen, role="stage")))
    code = screen_of(answer.json()["stage"]).room
    assert code is not None
    return code, f"{SOCKETS}/talk/{code}/news?role=stage"


def lead(socket: WebSocketTestSession, n: int, screen: Screen, over: str = "") -> None:
    socket.send_text(json.dumps({"id": n, "to": link(screen), "over": over}))


def closed_with(socket: WebSocketTestSession) -> int:
    """How the server ends it, after all that it says before."""
    while (said := socket.receive())["type"] == "websocket.send":
        pass
    assert said["type"] == "websocket.close"
    return int(said["code"])


def test_a_code_is_made_of_its_key_and_says_nothing_of_it() -> None:
    keys = [new_key() for _ in range(100)]
    codes = {code_of(key) for key in keys}
    assert len(codes) == 100 and all(len(code) == 12 for code in codes)
    assert all(len(key) == 32 for key in keys)  # 192 bits
    assert holds(keys[0], code_of(keys[0])) and not holds(keys[1], code_of(keys[0]))
    assert not holds("", code_of("")) and not holds(code_of(keys[0]), code_of(keys[0]))


def test_a_room_ends_when_it_was_not_moved_for_long_whatever_clocks_on_walls_say(
    clock: Clock,
) -> None:
    found = Rooms(now=clock)
    room = found.open("here", new_key())
    clock.now = LONGEST
    found.move(room, FIRST)
    assert found.get(room.code) is room
    clock.now += LONGEST
    listener = room.enter(holds=False)
    listener.woken.clear()
    assert found.get(room.code) is room
    clock.now += 1
    assert found.get(room.code) is None and len(found) == 0
    assert room.is_over and listener.woken.is_set()  # who listens hears of it


def test_rooms_are_bounded_and_only_empty_ones_give_way() -> None:
    found = Rooms(most=3, most_of_address=2)
    first, second = (found.open("here", new_key()) for _ in range(2))
    first.enter(holds=True)
    assert found.open("here", new_key()) and len(found) == 2
    assert found.get(second.code) is None and found.get(first.code) is first
    others = [found.open(f"there {i}", new_key()) for i in range(5)]
    assert len(found) == 3 and others[-1] in (found.get(each.code) for each in others)
    full = Rooms(most=2, most_of_address=1)
    for address in ("here", "there"):
        full.open(address, new_key()).enter(holds=False)
    with pytest.raises(RoomError, match="All 1 rooms of this network are taken"):
        full.open("here", new_key())
    with pytest.raises(RoomError, match="All 2 rooms of this server are taken"):
        full.open("elsewhere", new_key())


def test_each_move_has_the_next_number_and_says_nothing_of_drafts_and_roles() -> None:
    found = Rooms()
    room = found.open("here", new_key())
    found.move(room, replace(FIRST, role="stage", room="x", draft="mine"))
    assert (room.n, room.over, room.screen) == (1, "", FIRST)
    found.move(room, SECOND, "blank")
    assert (room.n, room.over, room.screen) == (2, "blank", SECOND)


def test_whoever_opens_a_room_moves_it_and_all_others_only_hear(server: TestClient) -> None:
    code, path = begun(server)
    cookie = next(each for each in server.cookies.jar if each.name == KEY)
    assert cookie.path == f"/talk/{code}" and cookie.has_nonstandard_attr("HttpOnly")
    assert holds(cookie.value or "", code)
    with server.websocket_connect(path) as stage:
        told = stage.receive_json()
        assert told["to"] == seen_by(FIRST, "stage", code) and told["holds"]
        assert (told["n"], told["done"], told["following"]) == (1, 0, 0)
        phone_path = f"{SOCKETS}/talk/{code}/news?role=audience"
        with audience(server).websocket_connect(phone_path) as phone:
            told = phone.receive_json()
            assert told["to"] == seen_by(FIRST, "audience", code)
            assert not told["holds"] and "following" not in told
            assert stage.receive_json()["following"] == 1
            lead(stage, 1, SECOND, "blank")
            told = phone.receive_json()
            assert (told["n"], told["over"]) == (2, "blank")
            assert told["to"] == seen_by(SECOND, "audience", code)
            told = stage.receive_json()
            assert (told["n"], told["done"]) == (2, 1)
            with server.websocket_connect(path) as other:  # another window of the presenter's
                assert other.receive_json()["done"] == 0
                lead(other, 1, FIRST)
                lead(other, 2, SECOND)
                while (told := other.receive_json())["done"] < 2:
                    pass
                assert (told["n"], told["to"]) == (4, seen_by(SECOND, "stage", code))
            while (told := stage.receive_json())["n"] < 4:
                pass
            assert (told["done"], told["following"]) == (1, 1)
            lead(phone, 3, FIRST)
            assert closed_with(phone) == 1008
        while stage.receive_json()["following"]:
            pass
        stage.send_text("[")
        assert closed_with(stage) == 1008


def test_a_key_opens_its_room_again_after_the_server_has_ended(
    server: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, path = begun(server)
    monkeypatch.setattr(room_routes, "ROOMS", Rooms())  # as of a new process
    with audience(server).websocket_connect(path) as phone:
        assert closed_with(phone) == NO_ROOM
    with server.websocket_connect(path) as stage:
        told = stage.receive_json()
        assert told["holds"] and told["to"] is None and told["n"] == 0
        lead(stage, 1, SECOND)
        assert stage.receive_json()["to"] == seen_by(SECOND, "stage", code)


def test_two_hundred_listeners_hear_a_move_and_a_room_has_an_end(
    server: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rooms, "MOST_LISTENERS", 201)
    path = begun(server)[1]
    with server.websocket_connect(path) as stage:
        stage.receive_json()
        phones = [audience(server).websocket_connect(f"{path}&n={i}") for i in range(200)]
        opened = [phone.__enter__() for phone in phones]
        assert {phone.receive_json()["n"] for phone in opened} == {1}
        with audience(server).websocket_connect(path) as late:
            assert closed_with(late) == NO_MORE
        lead(stage, 2, SECOND)
        assert {phone.receive_json()["n"] for phone in opened} == {2}
        for phone in phones:
            phone.__exit__(None, None, None)


def test_the_short_link_leads_to_the_scene_or_says_that_the_talk_is_gone(
    server: TestClient,
) -> None:
    code, _ = begun(server)
    phone = audience(server)
    answer = phone.get(f"/talk/{code}")
    assert answer.status_code == 303
    assert answer.headers["location"] == seen_by(FIRST, "audience", code).removeprefix(".")
    assert "cookie" not in "".join(answer.headers)
    gone = phone.get("/talk/AAAAAAAAAAAA")
    assert gone.status_code == 404 and "This talk is not here" in gone.text


@pytest.mark.parametrize(
    "said", ["[", "[]", "null", '{"id": 2}', '{"id": true, "to": "./", "over": ""}', "9" * 5000]
)
def test_what_is_no_move_ends_the_socket(server: TestClient, said: str) -> None:
    _, path = begun(server)
    with server.websocket_connect(path) as stage:
        stage.send_text(said)
        assert closed_with(stage) == 1008
    with server.websocket_connect(path) as stage:
        lead(stage, 2, SECOND, "fire")
        assert closed_with(stage) == 1008
    with server.websocket_connect(path) as stage:
        stage.send_text(json.dumps({"id": 2, "to": "//[", "over": ""}))
        assert closed_with(stage) == 1008


def test_pages_of_other_servers_open_and_hear_nothing(server: TestClient) -> None:
    _, path = begun(server)
    elsewhere: dict[str, Any] = {"headers": {"origin": "http://localhost:3000"}}
    assert server.post("/talk", content="./", **elsewhere).status_code == 400
    with server.websocket_connect(path, **elsewhere) as socket:
        assert closed_with(socket) == NO_ROOM
    own = {"headers": {"origin": HOME}}
    with server.websocket_connect(path, **own) as socket:
        assert socket.receive_json()["holds"]
    assert server.post("/talk", content="x" * (room_routes.MOST_BYTES + 1)).status_code == 400
    assert server.post("/talk", content="//[").status_code == 400


def test_a_full_server_says_so(server: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room_routes, "ROOMS", Rooms(most=0))
    answer = server.post("/talk", content="./")
    assert answer.status_code == 503 and "rooms of this server are taken" in answer.json()["why"]
