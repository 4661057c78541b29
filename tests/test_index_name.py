"""Nothing names Headscope to a package index, which has no project of ours by that name.

Whoever registers it there runs code wherever somebody follows such a line. What is installed is a
folder, a file, or an address.
"""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from transformer.extras import EXTRAS, how_to_install

ROOT = Path(__file__).parents[1]
SUFFIXES = (".cff", ".cfg", ".css", ".html", ".ipynb", ".js", ".json", ".lock", ".md", ".py")
SUFFIXES += (".service", ".sh", ".toml", ".txt", ".yaml", ".yml")
NAMES = ("Dockerfile", "Makefile", "run")
INSTALLERS = r"(?:pip3?|pipx|uvx?|conda|mamba|poetry|pdm|easy_install)"
NAMED = re.compile(
    # With extras, wherever it stands, but for an address or a file behind it.
    r"\bheadscope\[[\w, -]*\](?!\s*@)"
    # As a word of an installer's line, which is no part of a path, a file or an address.
    rf"|\b{INSTALLERS}[ \t](?:[^\n`;&|#]*?(?<! of)[\"' ])?[\"']?headscope(?![\w./-]|\s*@\s*\w)",
    re.IGNORECASE,
)


@pytest.mark.parametrize(
    "line",
    [
        'pip install "headscope[paper]"',
        "python -m pip install --upgrade headscope",
        "pip install headscope==0.2.0",
        "uv pip install 'headscope'",
        "uvx headscope explore",
        "pipx run headscope",
        "with `headscope[parquet]`",
        'all = ["headscope[app,hf]"]',
    ],
)
def test_such_a_line_is_found(line: str) -> None:
    assert NAMED.search(line)


@pytest.mark.parametrize(
    "line",
    [
        'pip install ".[paper]"',
        'pip install "./headscope[paper] @ file:///models/headscope"',
        "pip install headscope-0.2.0-py3-none-any.whl",
        'pip install "headscope @ git+ADDRESS@0123abc"',
        'pip install ".[paper]" in the clone of Headscope',
        "git clone --depth 1 ADDRESS headscope && cd headscope && pip install .",
        "docker build -f docs/deploy/Dockerfile -t headscope .",
    ],
)
def test_a_folder_a_file_and_an_address_are_not(line: str) -> None:
    assert not NAMED.search(line)


def test_no_file_names_it_to_an_index() -> None:
    found = [
        f"{file.relative_to(ROOT)}: {match[0]}"
        for file in _files(ROOT)
        for match in NAMED.finditer(file.read_text(encoding="utf-8"))
        if file != Path(__file__)
    ]
    assert not found


def _files(root: Path) -> list[Path]:
    """Text that people or tools read: of the folders that are the project's."""
    rooms = ("transformer", "viz", "docs", "tests", "checkpoints", ".ci", ".github")
    inside = [each for room in rooms for each in (root / room).rglob("*")]
    files = [
        each
        for each in (*root.iterdir(), *inside)
        if (each.suffix in SUFFIXES or each.name in NAMES) and each.is_file()
    ]
    assert len(files) > 1000
    return files


def test_no_requirement_is_the_project_itself() -> None:
    """A resolver that looks such a one up asks the index."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lists = [project["dependencies"], *project["optional-dependencies"].values()]
    assert project["name"] not in {Requirement(each).name for names in lists for each in names}


@pytest.mark.parametrize("extra", EXTRAS)
def test_every_extra_is_installed_from_the_clone(extra: str) -> None:
    assert not NAMED.search(how_to_install(extra))
    assert f'".[{extra}]" in the clone' in how_to_install(extra)
