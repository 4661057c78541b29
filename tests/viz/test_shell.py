"""--help and --version are there before torch is; help says what the commands declare."""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

import transformer
from transformer.__main__ import main as transformer_main
from viz import shell
from viz.__main__ import _parser
from viz.__main__ import main as viz_main

ROOT = Path(__file__).parents[2]
SCRIPT = f"import sys; sys.path.insert(0, {str(ROOT)!r}); import viz.headscope"
"""The script that an installer writes imports the package first."""


@pytest.mark.parametrize("option", ["--help", "--version", "-V"])
@pytest.mark.parametrize("is_script", [False, True])
def test_help_and_version_need_no_torch(
    is_script: bool, option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    script = tmp_path / "headscope"
    script.write_text(SCRIPT)
    program = [str(script)] if is_script else ["-m", "viz"]
    command = [sys.executable, "-X", "importtime", *program, option]
    done = subprocess.run(
        command, cwd=ROOT, env=os.environ, capture_output=True, text=True, timeout=90
    )
    version = f"headscope {transformer.__version__}\n"
    text = _parser().format_help() if option == "--help" else version
    assert done.returncode == 0 and done.stdout == text
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


@pytest.mark.parametrize("main", [transformer_main, viz_main])
def test_a_version_is_given_wherever_it_stands(
    main: Callable[[Sequence[str]], int], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match=r"^0$"):
        main(["--version", "--unknown"])
    assert capsys.readouterr().out == f"headscope {transformer.__version__}\n"


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
