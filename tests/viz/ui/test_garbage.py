"""Modules are looked through for garbage once, and again only after an import."""

import gc

import pytest

from viz.ui import garbage


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
