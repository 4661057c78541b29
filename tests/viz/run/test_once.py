"""What a run looks up is looked up once; outside of one, and in the next one, again."""

from threading import Thread

from viz.run.cache import once_a_run, one_run


def test_a_run_looks_once_for_each_argument() -> None:
    looked: list[str] = []

    @once_a_run
    def look(name: str) -> int:
        looked.append(name)
        return len(looked)

    assert [look("a"), look("a")] == [1, 2], "no run goes on"
    with one_run():
        assert [look("a"), look("b"), look("a"), look("b")] == [3, 4, 3, 4]
        other = Thread(target=look, args=("a",))
        other.start()
        other.join()
        assert looked == ["a", "a", "a", "b", "a"], "another thread is in no run"
    with one_run():
        assert look("a") == 6
    assert look("a") == 7
