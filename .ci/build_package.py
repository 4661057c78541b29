"""What `pip install .` puts into site-packages: one package, headscope, and nothing beside it.

In the repository `transformer` and `viz` stand at the top, as code is easiest to read so. Installed
there they would hide a `transformer.py` of somebody's own: so the copies move into headscope, and
what they import moves with them. All else is in pyproject.toml, which names this file.
"""

import re
import shutil
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

from setuptools import build_meta
from setuptools.build_meta import *  # noqa: F403
from setuptools.command.build_py import build_py
from setuptools.command.egg_info import egg_info

ROOT = Path(__file__).parents[1]
ROOMS = ("transformer", "viz")
PLACES = {
    **{name: name for name in (*ROOMS, "checkpoints", ".streamlit")},
    "viz/headscope.py": "__init__.py",
    "viz/__main__.py": "__main__.py",
    "app.py": "script/headscope_app.py",
    "CITATION.cff": "CITATION.cff",
}
"""In the repository -> in the package. Streamlit lets everybody import from the folder of its
script: it holds nothing else."""
SNAPSHOTS, LEFT_OUT = "snapshots", "left-out.txt"
"""The folder of a checkpoint whose files are not installed: 46 MB of a wheel of 105, for one topic
of one page. In its place stands a file by which transformer/training/history.py knows where they
are."""
REPOSITORY_ONLY = ("sentiment-mean",)
"""Checkpoints that no story, lesson or document needs: 1 MB each of a wheel of 60."""
IS_THERE = "This checkpoint is in the same folder of the repository.\n"
IN_PLACE = "The {n} snapshots of this training are in the same folder of the repository.\n"
RECIPES = ROOT / "transformer" / "training" / "recipes"
"""What makes the data of one recipe has a folder here, and is not installed."""
NEW_NAMES = (
    (r"^(\s*)from (transformer|viz)(?=[. ])", r"\1from headscope.\2"),
    (r"^(\s*)import (transformer|viz)$", r"\1import headscope.\2 as \2"),
    (r'\b(discover|import_module)\("(transformer|viz)\.', r'\1("headscope.\2.'),
    (r"python -m (transformer|viz)(?!\.)", "headscope"),
)
"""How modules are imported, and called from a shell."""
TYPED = "py.typed"
"""An empty file by which type checkers know that a package has types (PEP 561)."""
LINK = re.compile(r"(!?)(\[[^\]]*\])\((?![a-z]+:|#)([^)]+)\)")
"""A link of Markdown that is relative, or with a ! before it a picture."""


def build_wheel(*arguments: Any, **named: Any) -> str:
    """Build it as setuptools does, and leave nothing of that in the tree.

    build/ is where other commands write too: only setuptools' own folders there go.
    """
    try:
        return str(build_meta.build_wheel(*arguments, **named))
    finally:
        build = ROOT / "build"
        for folder in (build / "lib", *build.glob("bdist.*"), *ROOT.glob("headscope.egg-info")):
            shutil.rmtree(folder, ignore_errors=True)
        if build.is_dir() and not any(build.iterdir()):
            build.rmdir()


def moved(code: str) -> str:
    """The same code, where its modules are found in headscope."""
    for old, new in NEW_NAMES:
        code = re.sub(old, new, code, flags=re.MULTILINE)
    return code


def whole_links(text: str, repository: str) -> str:
    """The same Markdown, whose relative links lead into the repository from wherever it is read.

    >>> whole_links("[a](docs/a.md) ![b](b.png) [c](https://c) [d](#d)", "https://e")
    '[a](https://e/blob/main/docs/a.md) ![b](https://e/raw/main/b.png) [c](https://c) [d](#d)'
    """

    def whole(link: re.Match[str]) -> str:
        kind = "raw" if link[1] else "blob"  # a page about a picture is no picture
        return f"{link[1]}{link[2]}({urljoin(f'{repository}/{kind}/main/', link[3])})"

    return LINK.sub(whole, text)


class WholeLinks(egg_info):
    """Metadata, with links of the README that lead somewhere on a package index, too."""

    def run(self) -> None:
        of: Any = self.distribution.metadata
        of.long_description = whole_links(of.long_description, of.project_urls["Repository"])
        super().run()


class BuildPackage(build_py):
    """Copies, with the imports of Python files changed."""

    def run(self) -> None:
        package = Path(self.build_lib) / "headscope"
        shutil.rmtree(package, ignore_errors=True)
        for source, place in PLACES.items():
            for file in self.files_of(ROOT / source):
                copy = package / place / file.relative_to(ROOT / source)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, copy)
                if file.suffix == ".py":
                    copy.write_text(moved(file.read_text(encoding="utf-8")), encoding="utf-8")
        (package / TYPED).touch()
        for folder in (ROOT / "checkpoints").glob(f"*/{SNAPSHOTS}"):
            copy = package / folder.relative_to(ROOT) / LEFT_OUT
            copy.parent.mkdir(parents=True)
            copy.write_text(IN_PLACE.format(n=len(list(folder.iterdir()))), encoding="utf-8")
        for name in REPOSITORY_ONLY:
            copy = package / "checkpoints" / name / LEFT_OUT
            copy.parent.mkdir(parents=True)
            copy.write_text(IS_THERE, encoding="utf-8")

    def get_source_files(self) -> list[str]:
        """None that setuptools would look for by itself: there is no folder of this name."""
        return []

    @staticmethod
    def files_of(path: Path) -> list[Path]:
        """The file itself, or all in a folder that are installed and not made by running."""
        inside = [path] if path.is_file() else path.rglob("*")
        return [
            file
            for file in inside
            if file.is_file()
            and "__pycache__" not in file.parts
            and not (file.is_relative_to(RECIPES) and file.parent != RECIPES)
            and not (file.parent.name == SNAPSHOTS and file.is_relative_to(ROOT / "checkpoints"))
            and not any(file.is_relative_to(ROOT / "checkpoints" / it) for it in REPOSITORY_ONLY)
        ]
