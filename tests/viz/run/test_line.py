"""Who waits goes by rank and then by who came first; nobody waits for ever, and anybody may go."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event

import pytest

from tests.transformer.decoding.test_shared_batch import until
from viz.run import line as line_module
from viz.run.line import Line, Place


class Gone(Exception):
    """Nobody waits any more."""


def queue(line: Line, ranks: dict[str, int], pool: ThreadPoolExecutor) -> list[str]:
    """They come one after the other while the place is taken; the order in which they had it."""
    order: list[str] = []

    def use(name: str, rank: int) -> None:
        with Place(line, rank).held():
            order.append(name)

    for n, (name, rank) in enumerate(ranks.items()):
        pool.submit(use, name, rank)
        until(lambda n=n: line.n_waiting == n + 1)  # type: ignore[misc]
    return order


def test_the_lowest_rank_is_first_and_of_one_rank_who_came_first() -> None:
    line = Line(clock=lambda: 0.0)
    line.enter()
    with ThreadPoolExecutor(5) as pool:
        asked = {"work": 2, "preview": 1, "a": 0, "b": 0, "other preview": 1}
        order = queue(line, asked, pool)
        line.leave()
    assert order == ["a", "b", "preview", "other preview", "work"]


def test_who_has_waited_for_long_goes_by_rank_no_more() -> None:
    now = [0.0]
    line = Line(patience=1.0, clock=lambda: now[0])
    line.enter()
    with ThreadPoolExecutor(3) as pool:
        queue(line, {"work": 2}, pool)
        now[0] = 2.0
        # What gives way lets it go first: it has waited for longer than it is patient.
        given = pool.submit(line.give_way)
        until(lambda: given.done() and not line.n_waiting)
        given.result()
    line.leave()


def test_what_nobody_waits_for_is_last_however_long_it_waits() -> None:
    now = [0.0]
    line = Line(patience=1.0, clock=lambda: now[0])
    line.enter()
    with ThreadPoolExecutor(5) as pool:
        asked = {"idle": line_module.IDLE, "other idle": line_module.IDLE, "work": 2}
        order = queue(line, asked, pool)
        now[0] = 100.0
        line.leave()
    assert order == ["work", "idle", "other idle"]


def test_only_those_who_are_before_it_are_given_way() -> None:
    line, order = Line(clock=lambda: 0.0), list[str]()
    line.enter(1)
    with ThreadPoolExecutor(2) as pool:
        later = queue(line, {"work": 2}, pool)
        line.give_way(1)
        assert later == [] and not line.is_wanted(1)
        entered = pool.submit(lambda: (line.enter(0), order.append("entered"), line.leave()))
        until(lambda: line.is_wanted(1))
        line.give_way(1)
        entered.result(60)
        assert later == [] and order == ["entered"]
        line.leave()
    assert later == ["work"]


def test_equals_take_turns_where_they_are_let() -> None:
    line, order = Line(clock=lambda: 0.0), list[str]()
    line.enter()
    with ThreadPoolExecutor(1) as pool:
        equal = pool.submit(lambda: (line.enter(), order.append("equal"), line.leave()))
        until(lambda: line.n_waiting == 1)
        line.give_way(to_equals=False)
        assert order == [] and line.n_waiting == 1
        line.give_way()
        equal.result(60)
    assert order == ["equal"]
    line.leave()


@pytest.fixture
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_module, "EVERY", 0.005)


def waits(line: Line, told: list[int], leaves: Event) -> Callable[[], None]:
    def tell(n_before: int) -> None:
        told.append(n_before)
        if leaves.is_set():
            raise Gone

    return lambda: line.enter(0, tell)


@pytest.mark.usefixtures("often")
def test_who_waits_is_told_its_place_and_may_leave() -> None:
    line, leaves, told = Line(), [Event(), Event()], [list[int](), list[int]()]
    line.enter()
    with ThreadPoolExecutor(2) as pool:
        first: Future[None] = pool.submit(waits(line, told[0], leaves[0]))
        until(lambda: 0 in told[0])
        second = pool.submit(waits(line, told[1], leaves[1]))
        until(lambda: 1 in told[1])
        leaves[0].set()
        with pytest.raises(Gone):
            first.result(60)
        until(lambda: 0 in told[1])
        assert line.n_waiting == 1
        line.leave()
        second.result(60)
    line.leave()
    line.enter()  # the place was given back once for each time that it was taken
    assert line.n_waiting == 0


@pytest.mark.usefixtures("often")
def test_who_leaves_while_it_is_called_passes_the_place_on() -> None:
    line = Line()
    line.enter()

    def tell(_: int) -> None:
        line.leave()  # it is called by this
        raise Gone

    with ThreadPoolExecutor(1) as pool, pytest.raises(Gone):
        pool.submit(line.enter, 0, tell).result(60)
    line.enter()


@pytest.mark.usefixtures("often")
def test_a_place_that_was_lost_is_not_given_away_twice() -> None:
    """Who gives way and then is not wanted any more has no place to leave."""
    line = Line()

    def tell(_: int) -> None:
        raise Gone

    def works() -> None:
        with Place(line, 0, tell).held() as place:
            begun.set()
            until(lambda: line.n_waiting == 1)
            place.give_way()

    begun, ends = Event(), Event()
    with ThreadPoolExecutor(2) as pool:
        worker = pool.submit(works)
        assert begun.wait(60)
        other = pool.submit(lambda: (line.enter(), ends.wait(60)))
        with pytest.raises(Gone):
            worker.result(60)
        ends.set()
        other.result(60)
    line.leave()
    line.enter()
    with ThreadPoolExecutor(1) as pool:
        late = pool.submit(line.enter)
        until(lambda: line.n_waiting == 1)
        line.leave()
        late.result(60)
