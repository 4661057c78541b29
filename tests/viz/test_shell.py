"""--help is there before torch is, and says what the commands themselves declare."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from viz import shell
from viz.__main__ import _parser

ROOT = Path(__file__).parents[2]
SCRIPT = f"import sys; sys.path.insert(0, {str(ROOT)!r}); import viz.headscope"
"""The script that an installer writes imports the package first."""


@pytest.mark.parametrize("is_script", [False, True])
def test_help_needs_no_torch_and_is_that_of_the_commands(
    is_script: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    script = tmp_path / "headscope"
    script.write_text(SCRIPT)
    program = [str(script)] if is_script else ["-m", "viz"]
    command = [sys.executable, "-X", "importtime", *program, "--help"]
    done = subprocess.run(
        command, cwd=ROOT, env=os.environ, capture_output=True, text=True, timeout=90
    )
    assert done.returncode == 0 and done.stdout == _parser().format_help()
    modules = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "viz.shell" in modules
    assert not {it for it in modules if re.match(r"(torch|numpy|transformer|streamlit)\b", it)}


@pytest.mark.parametrize(
    ("words", "is_asked"),
    [
        ("python -m viz --help", True),
        ("python -X importtime -m headscope -h", True),
        ("python /home/a/.venv/bin/headscope --help", True),
        ("headscope.exe -h", True),
        ("headscope decode --help", False),
        ("python -m transformer --help", False),
        ("python viz.py --help", False),
        ("python train.py --help", False),
        ("python -m headscope", False),
        ("python", False),
    ],
)
def test_only_the_help_of_all_commands_ends_at_once(words: str, is_asked: bool) -> None:
    assert shell.is_asked(words.split()) is is_asked


def test_a_title_that_is_computed_is_not_read_off_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("viz", "transformer"):
        (tmp_path / folder / "commands").mkdir(parents=True)
    file = tmp_path / "viz" / "commands" / "own.py"
    monkeypatch.setattr(shell, "__file__", str(tmp_path / "viz" / "shell.py"))
    file.write_text('COMMAND = Command("own", "do something", add, run)')
    assert shell.titles_in_files() == {"viz": {"own": "do something"}, "transformer": {}}
    file.write_text('COMMAND = Command("own", title(), add, run)')
    with pytest.raises(ValueError, match="malformed"):
        shell.titles_in_files()
