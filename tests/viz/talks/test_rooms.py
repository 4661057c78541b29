"""Rooms of talks: bounded, unguessable, moved by whoever has the key, heard of by all others."""

import json
import math
import random
from collections.abc import Iterator
from dataclasses import replace
from statistics import mean
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient, WebSocketTestSession

from viz.lessons.task import shares
from viz.screen import Screen, link
from viz.server.guard import Guard
from viz.talks import room_routes, rooms
from viz.talks.room_links import seen_by
from viz.talks.room_routes import KEY, NO_MORE, NO_ROOM, screen_of
from viz.talks.room_routes import room_routes as routes
from viz.talks.rooms import (
    LONGEST,
    MOST_ANSWERS,
    MOST_WORDS,
    Listener,
    RoomError,
    Rooms,
    code_of,
    holds,
    new_key,
    question_of,
)

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
    monkeypatch.setattr(room_routes, "PAUSE", 0)
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


def of_phone(path: str, who: str) -> str:
    return f"{path.replace('stage', 'audience')}&who={who}"


def spread(rng: random.Random) -> list[int]:
    """Points on three words."""
    first = rng.randrange(1, 101)
    second = rng.randrange(0, 101 - first)
    return [first, second, rng.randrange(0, 101 - first - second)]


def answer(socket: WebSocketTestSession, of: str, points: list[int]) -> None:
    socket.send_text(json.dumps({"of": of, "points": points}))


def until(socket: WebSocketTestSession, tally: dict[str, Any]) -> None:
    """Hear on, until the tally is this one."""
    while socket.receive_json()["tally"] != tally:
        pass


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
        of_phones = path.replace("stage", "audience")
        phones = [audience(server).websocket_connect(of_phones) for _ in range(200)]
        opened = [phone.__enter__() for phone in phones]
        assert {phone.receive_json()["n"] for phone in opened} == {1}
        with audience(server).websocket_connect(path) as late:
            assert closed_with(late) == NO_MORE
        lead(stage, 2, SECOND)
        assert {phone.receive_json()["n"] for phone in opened} == {2}
        for phone in phones:
            phone.__exit__(None, None, None)


def test_two_hundred_answer_once_each_and_are_told_of_no_other_before_the_reveal(
    server: TestClient, known: Rooms
) -> None:
    code, path = begun(server)
    room = known.get(code)
    assert room is not None
    room.ask(FIRST, ("a", "b", "c"))
    of, rng = question_of(FIRST), random.Random(3)
    said = {f"phone-{i:04d}": spread(rng) for i in range(200)}
    with server.websocket_connect(path) as stage:
        phones = [audience(server).websocket_connect(of_phone(path, who)) for who in said]
        opened = [phone.__enter__() for phone in phones]
        for phone in opened:
            assert phone.receive_json()["tally"] == {"of": of, "revealed": False, "mine": None}
        for phone, points in zip(opened, said.values(), strict=True):
            answer(phone, of, [100, 0, 0])  # and thinks again
            answer(phone, of, points)
            while (told := phone.receive_json()["tally"])["mine"] != points:
                assert told.keys() == {"of", "revealed", "mine"}
        sums = [sum(points[word] for points in said.values()) for word in range(3)]
        counted = {"answered": 200, "asked": 200, "points": sums}
        until(stage, {"of": of, "revealed": False} | counted)
        phones[0].__exit__(None, None, None)  # it comes back, and is the same one
        with audience(server).websocket_connect(of_phone(path, "phone-0000")) as again:
            assert again.receive_json()["tally"]["mine"] == said["phone-0000"]
        until(stage, {"of": of, "revealed": False} | counted)
        lead(stage, 1, replace(FIRST, guess=()))
        logs = [mean(math.log(shares(each)[word]) for each in said.values()) for word in range(3)]
        for phone, points in list(zip(opened, said.values(), strict=True))[1:]:
            while not (told := phone.receive_json()["tally"])["revealed"]:
                pass
            assert (told["mine"], told["answered"], told["asked"]) == (points, 200, 200)
            assert told["points"] == counted["points"] and told["logs"] == pytest.approx(logs)
        answer(opened[1], of, [0, 0, 100])  # too late
        assert opened[1].receive_json()["tally"]["mine"] == said["phone-0001"]
        for phone in phones[1:]:
            phone.__exit__(None, None, None)


def test_only_what_is_asked_now_is_answered_in_whole_points(
    server: TestClient, known: Rooms
) -> None:
    code, path = begun(server)
    room = known.get(code)
    assert room is not None
    room.ask(FIRST, ("a", "b"))
    of = question_of(FIRST)
    phone_path = of_phone(path, "phone-0000")
    with (
        server.websocket_connect(path) as stage,
        audience(server).websocket_connect(phone_path) as phone,
    ):
        phone.receive_json()
        for question, points in [(of, [50, 40, 10]), (of, [100]), ("", [1, 1]), ("x", [1, 1])]:
            answer(phone, question, points)
            assert phone.receive_json()["tally"]["mine"] is None
        answer(phone, of, [60, 40])
        assert phone.receive_json()["tally"]["mine"] == [60, 40]
        answer(phone, of, [0, 0])  # nothing is no answer
        assert phone.receive_json()["tally"]["mine"] is None
        answer(phone, of, [0, 7])
        lead(stage, 1, SECOND)
        while (told := phone.receive_json()["tally"])["of"] == of:
            pass
        room.ask(SECOND, ("a", "b", "c"))
        assert told == {"of": question_of(SECOND), "revealed": False, "mine": None}
        answer(phone, of, [100, 0])
        assert phone.receive_json()["tally"]["mine"] is None
        lead(stage, 2, FIRST)  # what was said there is still known
        while (told := phone.receive_json()["tally"])["of"] != of:
            pass
        assert told["mine"] == [0, 7]


@pytest.mark.parametrize(
    "points",
    [
        *("[-1, 50]", "[101, 0]", "[60, 41]", "[NaN, 1]", "[1e400, 0]", "[0.5, 0.5]", "[true, 1]"),
        *("[[1], 2]", "{}", '"10"', "null", f"[{'9' * 4000}, 0]", f"[{'0, ' * 900}0]"),
    ],
)
def test_no_other_points_are_an_answer_and_an_audience_says_nothing_else(
    server: TestClient, known: Rooms, points: str
) -> None:
    code, path = begun(server)
    room = known.get(code)
    assert room is not None
    room.ask(FIRST, ("a", "b"))
    for told in (f'"points": {points}', f'"points": [1, 1], "of": 7, "to": {points}'):
        with audience(server).websocket_connect(of_phone(path, "phone-0000")) as phone:
            phone.send_text(f'{{"of": "{room.question}", {told}}}')
            assert closed_with(phone) == 1008
    with audience(server).websocket_connect(of_phone(path, "phone-0000")) as phone:
        lead(phone, 1, SECOND)
        assert closed_with(phone) == 1008
    assert room.n == 1 and not room.tallies[room.question].answers


def test_whoever_answers_without_end_is_shown_out(server: TestClient, known: Rooms) -> None:
    code, path = begun(server)
    room = known.get(code)
    assert room is not None
    room.ask(FIRST, ("a", "b"))
    with audience(server).websocket_connect(of_phone(path, "x" * 100)) as phone:
        for i in range(100):
            answer(phone, room.question, [i, 0])
        assert closed_with(phone) == 1008
    assert len(room.tallies[room.question].answers) == 1
    listener = Listener(holds=False)
    assert all(listener.may_answer(float(second)) for second in range(1000))


def test_a_question_that_was_revealed_stays_so_and_another_sentence_is_asked_anew() -> None:
    found = Rooms()
    room = found.open("here", new_key())
    found.move(room, FIRST)
    room.ask(replace(FIRST, layer=1), ("who", "wandered"))
    assert room.question not in room.tallies
    room.ask(replace(FIRST, role="audience", room=room.code), ("a", "b"))
    phone = room.enter(holds=False, who="phone-0000", answers=True)
    room.answer(phone, room.question, (100, 0))
    found.move(room, replace(FIRST, guess=(0, 100), lines=0))
    found.move(room, replace(FIRST, guess=(0, 100), edits=("head-off:cross.0.0",)))
    found.move(room, SECOND)
    assert room.guess_of(room.question) is None
    found.move(room, FIRST)
    assert room.guess_of(room.question) == (0, 100)
    assert room.news_for(phone)["mine"] == [100, 0] and room.news_for(phone)["points"] == [100, 0]
    found.move(room, replace(FIRST, text="Another."))
    assert room.news_for(phone) == {"of": room.question, "revealed": False, "mine": None}


def test_what_a_room_remembers_of_questions_is_bounded() -> None:
    found = Rooms()
    room = found.open("here", new_key())
    for i in range(100):
        screen = replace(FIRST, text=str(i))
        found.move(room, screen)
        room.ask(screen, ("a", "b"))
    assert len(room.tallies) <= rooms.MOST_QUESTIONS + 1 and room.question in room.tallies
    for i in range(2 * MOST_ANSWERS):
        room.answer(Listener(holds=False, who=f"phone-{i:04d}"), room.question, (1, 2))
    tally = room.tallies[room.question]
    assert len(tally.answers) == MOST_ANSWERS
    assert tally.sums == [MOST_ANSWERS, 2 * MOST_ANSWERS]
    room.ask(screen, ("w",) * (MOST_WORDS + 1))
    assert room.tallies[room.question].words == ("a", "b")


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
