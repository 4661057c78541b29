"""Results that are kept: made once, whatever fails or is pushed out meanwhile."""

from threading import Event, Thread

import pytest

from viz.run.cache import keep


def test_the_last_ones_are_kept() -> None:
    made: list[int] = []
    kept = keep(most=2)(lambda n: made.append(n) or n)
    assert [kept(n) for n in (1, 2, 1, 3, 1, 2)] == [1, 2, 1, 3, 1, 2]
    assert made == [1, 2, 3, 2]
    assert kept.is_at_hand(2) and not kept.is_at_hand(3)


def test_one_that_failed_is_made_by_whoever_waits_and_then_kept() -> None:
    begun, fails, made = Event(), Event(), []

    def make(n: int) -> int:
        made.append(n)
        if len(made) == 1:
            begun.set()
            assert fails.wait(30)
            raise KeyError
        return n

    kept, failed = keep(most=2)(make), []

    def first() -> None:
        with pytest.raises(KeyError):
            kept(1)
        failed.append(True)

    threads = [Thread(target=first), Thread(target=kept, args=(1,))]
    threads[0].start()
    assert begun.wait(30)
    threads[1].start()
    fails.set()
    for each in threads:
        each.join(30)
    assert failed and kept(1) == 1 and made == [1, 1]


def test_one_that_is_being_made_is_not_pushed_out() -> None:
    begun, goes_on, made = Event(), Event(), []

    def make(n: int) -> int:
        made.append(n)
        if n == 1:
            begun.set()
            assert goes_on.wait(30)
        return n

    kept = keep(most=1)(make)
    thread = Thread(target=kept, args=(1,))
    thread.start()
    assert begun.wait(30)
    assert [kept(2), kept(3)] == [2, 3]
    goes_on.set()
    thread.join(30)
    assert kept(1) == 1 and made == [1, 2, 3]


def test_many_failures_leave_no_more_than_the_last() -> None:
    def make(n: int) -> int:
        raise KeyError(n)

    kept = keep(most=2)(make)
    for n in range(9):
        with pytest.raises(KeyError):
            kept(n)
    assert len(kept._results) <= 2
