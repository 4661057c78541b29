"""Modules are looked through for garbage once, and again only after an import; all else by time."""

import asyncio
import gc
from weakref import ref

import pytest

from viz.run import cache as garbage
from viz.server.serving import options_of_app


def test_modules_are_frozen_once(monkeypatch: pytest.MonkeyPatch) -> None:
    frozen: list[int] = []
    monkeypatch.setattr(gc, "freeze", lambda: frozen.append(1))
    monkeypatch.setattr(garbage, "_n_modules", 0)
    garbage.freeze_modules()
    garbage.freeze_modules()
    assert len(frozen) == 1


def test_a_new_module_is_frozen_too(monkeypatch: pytest.MonkeyPatch) -> None:
    frozen: list[int] = []
    monkeypatch.setattr(gc, "freeze", lambda: frozen.append(1))
    garbage.freeze_modules()
    frozen.clear()
    monkeypatch.setitem(garbage.sys.modules, "headscope_test_module", garbage)
    garbage.freeze_modules()
    assert len(frozen) == 1


class _Knot:
    """Garbage that only a look for it finds."""

    def __init__(self) -> None:
        self.itself = self


def test_what_runs_leave_is_collected_while_the_server_answers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert options_of_app()["runner.postScriptGC"] is False
    monkeypatch.setattr(garbage, "EVERY", 0.0)

    async def serves() -> None:
        collecting = asyncio.create_task(garbage.collect_garbage())
        for _ in range(2):  # it goes on after the first look
            left = ref(_Knot())
            while left() is not None:
                await asyncio.sleep(0)
        assert not collecting.done()
        collecting.cancel()

    gc.disable()
    try:
        asyncio.run(asyncio.wait_for(serves(), 30))
    finally:
        gc.enable()


def test_what_is_free_is_given_back_where_the_allocator_keeps_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[int] = []
    monkeypatch.setattr(garbage, "_trim", asked.append)
    garbage.collect()
    assert asked == [0]
    monkeypatch.setattr(garbage, "_trim", None)
    garbage.collect()  # another system's
