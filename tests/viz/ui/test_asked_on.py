"""The browser asks for a part that grows only as long as it grows."""

from collections.abc import Callable
from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from tests.viz.run.made import Made
from viz.run.work import Follower, Work
from viz.ui import progress


class Rerun(Exception):
    """The whole app is drawn."""


def test_a_page_drawn_after_the_end_stops_the_asking(monkeypatch: pytest.MonkeyPatch) -> None:
    """And the last part has another name: what the browser asks for late, of the old one, is gone.

    Of the same name it would be drawn twice, and be away from the page in between.
    """
    asked: list[tuple[str, float | None]] = []

    def fragment(part: Callable[[], None], run_every: float | None) -> Callable[[], None]:
        asked.append((part.__qualname__, run_every))
        return part

    def rerun() -> None:
        raise Rerun

    now = Follower(Work(Made("a", lambda before, give_way: iter(()))))
    monkeypatch.setattr(progress, "st", SimpleNamespace(fragment=fragment, rerun=rerun))
    monkeypatch.setattr(progress, "session", lambda: SimpleNamespace(studies={"one": now}))
    monkeypatch.setattr(progress, "_row", lambda key: nullcontext())
    monkeypatch.setattr(progress, "_progress", lambda now: None)
    progress._watch(now)
    now.work.ended.set()
    with pytest.raises(Rerun):  # the page's part is drawn before the timer comes
        progress._watch(now)
    progress._watch(now)
    names, every = zip(*asked, strict=True)
    assert every == (progress.TICK, progress.TICK, None)
    assert names[0] == names[1] != names[2]
