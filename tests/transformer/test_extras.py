"""A package that is missing is a sentence."""

from pathlib import Path

import pytest

from transformer.extras import EXTRAS, NotInstalled, missing, require


def test_a_folder_of_its_name_is_no_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As Ray's own files in /tmp are, for who works there."""
    monkeypatch.setitem(EXTRAS, "none", ("headscope_none",))
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "headscope_none").mkdir()
    with pytest.raises(NotInstalled, match="headscope_none"):
        require("none")
    (tmp_path / "headscope_none" / "__init__.py").touch()
    assert missing("none") == []
