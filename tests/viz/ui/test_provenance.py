"""A link to weights that are nowhere here says what its reader can do."""

import pytest

from viz.screen import Screen
from viz.ui.notes import other_path


def test_the_sidebar_is_named_only_where_it_opens_paths(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Screen(checkpoint="/own/model", weights="accd12")
    assert "accd12" in other_path(screen) and "sidebar" in other_path(screen)
    monkeypatch.setenv("HEADSCOPE_PUBLIC", "yes")
    assert "accd12" in other_path(screen) and "sidebar" not in other_path(screen)
    monkeypatch.setenv("HEADSCOPE_FOLDERS", "/srv/models")
    assert "sidebar" in other_path(screen)
    assert other_path(Screen()) == ""
