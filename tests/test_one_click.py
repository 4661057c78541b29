"""What one click leads to: a notebook whose cells run, a container whose commands exist."""

import ast
import json
import re
import sys
import tomllib
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.transformer.hugging_face.saving import save, writer
from viz.notebook.picture import Picture

ROOT = Path(__file__).parents[1]
NOTEBOOK = ROOT / "docs" / "notebooks" / "first-look.ipynb"
README = (ROOT / "README.md").read_text("utf-8")


def cells(kind: str) -> list[dict[str, Any]]:
    """The cells of a kind: "code" or "markdown"."""
    whole = json.loads(NOTEBOOK.read_text("utf-8"))
    assert whole["nbformat"] == 4 and len({each["id"] for each in whole["cells"]}) > 5
    return [each for each in whole["cells"] if each["cell_type"] == kind]


def test_the_notebook_holds_no_outputs() -> None:
    for each in cells("code"):
        assert each["outputs"] == [] and each["execution_count"] is None


def test_the_cells_of_the_notebook_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a small model of the same kind at the name of the one that is fetched."""
    install, *others = ("".join(each["source"]) for each in cells("code"))
    assert all(re.match("[!%]", line) for line in install.splitlines())
    (name,) = re.findall(r'load_checkpoint\("(.+?/.+?)"\)', "".join(others))
    sizes = dict.fromkeys(("encoder_layers", "decoder_layers"), 6)
    sizes |= dict.fromkeys(("encoder_attention_heads", "decoder_attention_heads"), 8)
    folder = tmp_path / name
    folder.mkdir(parents=True)
    save(writer("Marian", **sizes), folder)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "headscope", import_module("viz.headscope"))
    scope: dict[str, Any] = {}
    values = [run(cell, scope) for cell in others]
    assert scope["checkpoint"].path.resolve() == folder and isinstance(values[0], str)
    assert [type(each) for each in values[1:]] == [Picture] * 4
    for picture in values[1:]:
        assert "<iframe" in picture._repr_html_()


def run(cell: str, scope: dict[str, Any]) -> Any:
    """Run a cell as a notebook does. Return the value of its last line."""
    *statements, last = ast.parse(cell).body
    exec(compile(ast.Module(statements, []), NOTEBOOK.name, "exec"), scope)
    assert isinstance(last, ast.Expr)
    return eval(compile(ast.Expression(last.value), NOTEBOOK.name, "eval"), scope)


def test_the_addresses_of_the_notebook_follow_from_the_repository() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    repository = project["urls"]["Repository"]
    (install, *_) = ("".join(each["source"]) for each in cells("code"))
    assert f"git clone --depth 1 {repository} {project['name']}\n" in install
    place = NOTEBOOK.relative_to(ROOT).as_posix()
    (link,) = re.findall(r"\((https://colab[^)]+)\)", README)
    opener = "https://colab.research.google.com/github/"
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    assert f'repository-code: "{repository}"\n' in citation
    assert link == f"{repository.replace('https://github.com/', opener)}/blob/main/{place}"
    extras = re.findall(r'install -q "\.\[([\w,]+)\]"', install)[0].split(",")
    assert {*extras} <= {*project["optional-dependencies"]}


def test_the_container_runs_commands_of_the_readme_that_exist() -> None:
    container = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text("utf-8"))
    commands = [each for name, each in container.items() if name.endswith("Command")]
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text("utf-8"), re.M)
    for command in commands:
        made = re.fullmatch(r"make ([\w-]+)", command)
        assert made is not None and made[1] in targets
    assert "make run" in commands and "\nmake run " in README
    options = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text("utf-8"))
    assert container["forwardPorts"] == [options["server"].get("port", 8501)]
    (version,) = re.findall(r"^python:(\d+\.\d+)$", container["image"])
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    least = project["requires-python"].removeprefix(">=")
    assert tuple(map(int, version.split("."))) >= tuple(map(int, least.split(".")))
