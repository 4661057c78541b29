"""A library's words about a stranger's file end a sentence, without a server's folders."""

from pathlib import Path

import pytest

from transformer.files.foreign_text import reason

FOLDER = "/srv/models of ours/"


@pytest.mark.parametrize("kind", [ValueError, KeyError, OSError])
@pytest.mark.parametrize("words", [f"{FOLDER}a.json is damaged", f"no layer in {FOLDER}a.json."])
def test_a_server_s_folders_are_left_out(kind: type[Exception], words: str) -> None:
    text = reason(kind(words), without=[FOLDER])
    assert text == words.replace(FOLDER, "").rstrip(".")


@pytest.mark.parametrize("key", [f"{FOLDER}a.json", Path(FOLDER, "a.json"), "a.json"])
def test_a_key_alone_is_what_a_file_has_not(key: object) -> None:
    text = reason(KeyError(key), without=[FOLDER])
    assert "a.json" in text and text != "a.json" and "srv" not in text


def test_a_number_as_a_key_is_written_as_one() -> None:
    assert "'" not in reason(KeyError(5)) and "5" in reason(KeyError(5))
