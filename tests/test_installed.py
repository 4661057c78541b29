"""`pip install .`: one package that works beside somebody's own transformer.py, and no other."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
USES = """
import json, sys
import torch
import transformer, viz
from headscope import decode, explore, head_view, load_checkpoint, record

checkpoint = load_checkpoint(sys.argv[1] + "/headscope/checkpoints/copy")
recording = record(checkpoint, "3 7 2", decode(checkpoint, "3 7 2").target)
page = head_view(recording)._repr_html_()
layer = torch.nn.TransformerEncoderLayer(4, 2, 4, batch_first=True)
table = torch.nn.Embedding(3, 4)
explore(
    layer, lambda text: [ord(c) - 97 for c in text], "abc", "abcab",
    run=lambda ids: layer(table(ids)), block=False, opens_browser=False,
)

from streamlit.testing.v1 import AppTest
app = AppTest.from_file(sys.argv[1] + "/headscope/script/headscope_app.py", default_timeout=60)
app.run()
print(json.dumps({
    "own": [transformer.WHOSE, viz.WHOSE],
    "loaded": [name for name in sys.modules if name.startswith(("transformer.", "viz."))],
    "written": [token.piece for token in recording.target],
    "page": len(page),
    "errors": [each.value for each in (*app.exception, *app.error, *app.warning)],
    "drawn": len(app.get("bidi_component")),
}))
"""


def run(*command: str, folder: Path, target: Path | None = None) -> str:
    variables = {**os.environ, "OMP_NUM_THREADS": "1"}
    if target is not None:
        variables["PYTHONPATH"] = str(target)
    done = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which the tree was installed, with one of the checkpoints."""
    tree = tmp_path_factory.mktemp("tree")
    target = tmp_path_factory.mktemp("site-packages")
    for name in ("transformer", "viz", ".ci", ".streamlit", "checkpoints/copy"):
        ignored = shutil.ignore_patterns("__pycache__", "snapshots")
        shutil.copytree(ROOT / name, tree / name, ignore=ignored)
    for name in ("app.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tree)
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet")
    offline = ("--no-build-isolation", "--no-deps", "--no-index")
    run(*pip, *offline, "--target", str(target), ".", folder=tree)
    return target


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """A folder with modules of somebody's own."""
    for name in ("transformer", "viz"):
        (tmp_path / f"{name}.py").write_text(f"WHOSE = 'my {name}'")
    return tmp_path


def test_it_puts_one_package_and_one_command_there(target: Path) -> None:
    names = {path.name for path in target.iterdir() if not path.name.endswith(".dist-info")}
    assert names == {"headscope", "bin"}
    assert [path.name for path in (target / "bin").iterdir()] == ["headscope"]
    ours = {
        path.relative_to(ROOT) for room in ("transformer", "viz") for path in files(ROOT / room)
    }
    there = {path.relative_to(target / "headscope") for path in files(target / "headscope")}
    assert ours <= there


def files(folder: Path) -> list[Path]:
    return [
        each for each in folder.rglob("*") if each.is_file() and "__pycache__" not in each.parts
    ]


def test_no_file_in_it_imports_by_the_names_of_the_repository(target: Path) -> None:
    for file in (target / "headscope").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names: list[str] = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [str(node.module)]
            elif isinstance(node, ast.Call) and ast.unparse(node.func) in (
                "discover",
                "import_module",
                "importlib.import_module",
            ):
                names = [each.value for each in node.args[:1] if isinstance(each, ast.Constant)]
            assert not {name.partition(".")[0] for name in names} & {"transformer", "viz"}, file


def test_it_works_beside_modules_of_the_same_names(target: Path, desk: Path) -> None:
    (desk / "uses.py").write_text(USES)
    said = run(sys.executable, "uses.py", str(target), folder=desk, target=target)
    found: dict[str, Any] = json.loads(said.splitlines()[-1])
    assert found.pop("page") > 10_000 and found.pop("drawn") > 3
    assert found == {
        "own": ["my transformer", "my viz"],
        "loaded": [],
        "written": ["3", "7", "2"],
        "errors": [],
    }


def test_the_command(target: Path, desk: Path) -> None:
    module = (sys.executable, "-m", "headscope")
    said = run(*module, "--help", folder=desk, target=target)
    assert said.startswith("usage: headscope ") and "explore" in said and "decode" in said
    copy = str(target / "headscope" / "checkpoints" / "copy")
    assert run(*module, "decode", copy, "5 6 7", folder=desk, target=target) == "5 6 7\n"


def test_what_it_depends_on_is_what_was_tested() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    asked = dict(re.split("[>~]=", each) for each in project["dependencies"])
    tested = dict(
        line.split("==") for line in (ROOT / "requirements.txt").read_text().splitlines() if line
    )
    assert list(asked) == list(tested)
    assert all(tested[name].startswith(least.removesuffix(".0")) for name, least in asked.items())
