"""The name of a file that is offered, whatever a folder is called."""

from typing import Any

import pytest

from viz.ui import save_menu


@pytest.mark.parametrize("hidden", ["\u202e", "\u2066", "\u200b", "\n"])
def test_no_name_of_a_file_hides_its_ending(monkeypatch: pytest.MonkeyPatch, hidden: str) -> None:
    names: list[str] = []

    def offer(title: str, make: Any, file: str, **look: Any) -> None:
        names.append(file)

    monkeypatch.setattr(save_menu.st, "download_button", offer)
    save_menu.download("Modules as CSV", bytes, f"headscope-a{hidden}vsc.exe-modules.csv", "All")
    assert hidden not in names[0] and names[0].endswith("vsc.exe-modules.csv")
    save_menu.download("Modules as CSV", bytes, "headscope-می\u200cخواهم.csv", "All")
    assert names[1] == "headscope-می\u200cخواهم.csv"
