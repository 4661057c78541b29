"""`pip install .`: one package that works beside somebody's own transformer.py, and no other.

An environment that lacks the packages of an extra is this one, where they cannot be imported.
"""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from importlib.metadata import Distribution, distribution, packages_distributions
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

import transformer
from transformer.checkpoint import LEFT_OUT
from transformer.discover import discover
from transformer.extras import EXTRAS

ROOT = Path(__file__).parents[1]
WHEEL = 60 * 10**6
"""The most bytes of the package: a download that one waits for. Weights are nearly all of it, and
hardly smaller packed. Where it is reached, look which checkpoint no story or lesson names, and
leave it to the repository as sentiment-mean is: REPOSITORY_ONLY in .ci/build_package.py."""
USES = """
import json, sys
import torch
import transformer, viz
from headscope import CheckpointError, Evidence, decode, explore, head_view, load_checkpoint, record

checkpoint = load_checkpoint(sys.argv[1] + "/headscope/checkpoints/copy")
recording = record(checkpoint, "3 7 2", decode(checkpoint, "3 7 2").target)
page = head_view(recording)._repr_html_()
layer = torch.nn.TransformerEncoderLayer(4, 2, 4, batch_first=True)
table = torch.nn.Embedding(3, 4)
explored = {
    explore(
        layer, lambda text: [ord(c) - 97 for c in text], "abc", "abcab",
        run=lambda ids: layer(table(ids)), block=False, opens_browser=False,
    )
    for _ in range(2)
}

try:
    head_view(recording).save("a.pdf")
except CheckpointError as error:
    refused = str(error)

from streamlit.testing.v1 import AppTest
app = AppTest.from_file(sys.argv[1] + "/headscope/script/headscope_app.py", default_timeout=60)
app.run()
print(json.dumps({
    "own": [transformer.WHOSE, viz.WHOSE],
    "loaded": [name for name in sys.modules if name.startswith(("transformer.", "viz."))],
    "written": [token.piece for token in recording.target],
    "page": len(page),
    "figure": refused,
    "addresses": len(explored),
    "errors": [each.value for each in (*app.exception, *app.error, *app.warning)],
    "drawn": len(app.get("bidi_component")),
    "fields": Evidence.__doc__.count("[T, S]"),
}))
"""


MODEL = """
import torch
layer = torch.nn.TransformerEncoderLayer(12, 6, 16, batch_first=True)
model = torch.nn.TransformerEncoder(layer, 3, enable_nested_tensor=False).eval()
inputs, tokens = torch.rand(1, 3, 12), ["one", "two", "three"]
"""
BY_NAME = """
import json
from headscope import evidence, survey
print(json.dumps([
    decoding.text,
    decode("checkpoints/en-de", "It rains.").text,
    record("en-de", "It rains.", "Es regnet.").attentions["cross"].n_layers,
    len(evidence("copy", "3 7 2").target_words) > 2,
    len(survey("en-de", ["It rains."]).heads),
]))
"""
BLOCKS = """
import os, sys
sys.modules.update(dict.fromkeys(os.environ["BLOCKED"].split()))
"""
"""As sitecustomize.py: Python reads it before anything else, and imports nothing that is None."""
BARE = """
import json, sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from headscope import *
import headscope
from headscope.__main__ import main
from headscope.transformer.corpus.shards import write_part
from headscope.transformer.engines.ray import ENGINE as RAY
from headscope.transformer.hugging_face.loading import Placement
from headscope.viz.server.models.on_ray import Plan, serving

def refused(call):
    try:
        call()
    except headscope.CheckpointError as error:
        return str(error)

def printed(*arguments):
    with redirect_stderr(StringIO()) as stream:
        assert main(arguments) == 1
    return stream.getvalue()

def usage():
    with redirect_stdout(StringIO()) as stream:
        try:
            main(["--help"])
        except SystemExit:
            return stream.getvalue()

checkpoint = load_checkpoint("copy")
recording = record(checkpoint, "3 7 2", decode(checkpoint, "3 7 2").target)
sweep = "sweep", "copy", "--data", "pairs.tsv"
print(json.dumps({
    "usage": usage(),
    "written": [token.piece for token in recording.target],
    "page": len(headscope.head_grid(recording)._repr_html_()),
    "app": [
        refused(lambda: headscope.figure(recording, "head_heatmap")),
        refused(lambda: explore(None)),
        printed(), printed("explore", "own.py"), printed("open", "talk.md"),
    ],
    "paper": [printed("figure", "./explore", "--out", "a.pdf")],
    "hf": [refused(lambda: load_checkpoint("theirs")), printed("inspect", "theirs")],
    "yaml": [printed("inspect", "marian.npz")],
    "scores": [printed(*sweep, "--bleu", "1")],
    "parquet": [printed(*sweep, "--out", "a.parquet")],
    "cluster": [refused(lambda: list(RAY.run(None, [None])))],
    "serve": [refused(lambda: serving(Plan("127.0.0.1:1")).__enter__())],
    "large": [refused(lambda: Placement(None, None, "auto").options().__enter__())],
    "survey": [refused(lambda: write_part(None, Path("parts"), 0))],
    "repository": [printed("train", "en-de"), printed("train", "en-de-small")],
}))
"""


NOT_HERE = ["inspect", "sentiment-mean"]
LACKS = """
import json, sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash
from headscope.__main__ import main

PACKAGE = sys.argv[1] + "/headscope"
SMALL = PACKAGE + "/checkpoints/en-de-small"
SNAPSHOT = SMALL + "/snapshots/000020.safetensors"

def printed(*arguments):
    with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as errors:
        main(arguments)
    return out.getvalue() + errors.getvalue()

def page(name, **query):
    app = AppTest.from_file(PACKAGE + "/script/headscope_app.py", default_timeout=60)
    app._page_hash = calc_hash(name)
    app.query_params.update(query)
    app.run()
    assert not app.exception and not app.error
    return " ".join(each.value for each in (*app.info, *app.caption))

print(json.dumps({
    "list": printed("list"),
    "inspect": printed("inspect", SMALL),
    "a snapshot": printed("decode", SNAPSHOT, "Tom lives."),
    "tensors of one": printed("inspect", SNAPSHOT),
    "a figure": printed("figure", "./training?checkpoint=en-de-small", "--out", "a.svg"),
    "training": page("training", checkpoint="en-de-small"),
    "training of another": page("training", checkpoint="sentiment"),
    "a lesson": page("lessons", story="heads-emerge", checkpoint="en-de-small"),
    "a head": page("heads", heads_of="one", checkpoint="en-de-small"),
}))
"""


def run(
    *command: str, folder: Path, target: Path | None = None, blocked: Iterable[str] = ()
) -> str:
    """What a command prints. target: where the package is; blocked: what cannot be imported."""
    variables = {**os.environ, "OMP_NUM_THREADS": "1", "BLOCKED": " ".join(blocked)}
    if target is not None:
        (folder / "blocks").mkdir(exist_ok=True)
        (folder / "blocks" / "sitecustomize.py").write_text(BLOCKS)
        variables["PYTHONPATH"] = os.pathsep.join([str(target), str(folder / "blocks")])
    done = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def needed(package: Distribution, extras: Iterable[str] = ()) -> set[str]:
    """All distributions that a package and these of its extras bring, as pip would decide."""
    names, left = set(), [(package, ("", *extras))]
    while left:
        package, with_extras = left.pop()
        for each in map(Requirement, package.requires or ()):
            is_asked = each.marker is None or any(
                each.marker.evaluate({"extra": extra}) for extra in with_extras
            )
            asked = each.name, *sorted(each.extras)
            if is_asked and asked not in names:
                names.add(asked)
                own = package if each.name == package.name else distribution(each.name)
                left.append((own, ("", *each.extras)))
    return {canonicalize_name(name) for name, *_ in names}


def blocked(target: Path, *extras: str) -> list[str]:
    """What cannot be imported where pip installed the package with these extras, and no more."""
    (ours,) = Distribution.discover(name="headscope", path=[str(target)])
    there = needed(ours, extras) | {"headscope"}  # which this tree has told pip of, at times
    return [
        module
        for module, names in packages_distributions().items()
        if not there & set(map(canonicalize_name, names)) and module.isidentifier()
    ]


PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet")
OFFLINE = ("--no-build-isolation", "--no-deps", "--no-index")


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what a package is made of, where something else was built already."""
    tree = tmp_path_factory.mktemp("tree")
    for name in ("transformer", "viz", ".ci", ".streamlit"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, tree / name, ignore=ignored)
    shutil.copytree(ROOT / "checkpoints", tree / "checkpoints", copy_function=os.symlink)
    for name in ("app.py", "pyproject.toml", "README.md", "LICENSE", "CITATION.cff"):
        shutil.copy(ROOT / name, tree)
    (tree / "build").mkdir()
    (tree / "build" / "bench.json").touch()
    return tree


@pytest.fixture(scope="module")
def wheel(tree: Path) -> Path:
    """The package, built once; nothing of that is left in the tree."""
    before = set(files(tree))
    run(*PIP, "wheel", *OFFLINE, "--wheel-dir", str(tree.parent / "wheels"), ".", folder=tree)
    assert set(files(tree)) == before and [*(tree / "build").iterdir()] == [
        tree / "build" / "bench.json"
    ]
    (wheel,) = (tree.parent / "wheels").iterdir()
    return wheel


@pytest.fixture(scope="module")
def target(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which it was installed."""
    target = tmp_path_factory.mktemp("site-packages")
    run(*PIP, "install", *OFFLINE, "--target", str(target), str(wheel), folder=wheel.parent)
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
    recipes = Path("transformer", "training", "recipes")
    makers = {path for path in ours if recipes in path.parents and path.parent != recipes}
    assert len(makers) > 5 and ours - there == makers


def test_the_package_is_light(wheel: Path) -> None:
    assert 10**6 < wheel.stat().st_size <= WHEEL


def test_what_a_package_index_shows_stands_by_itself(wheel: Path, target: Path) -> None:
    assert (target / "headscope" / "py.typed").read_text() == ""
    assert (target / "headscope" / "CITATION.cff").is_file()
    (ours,) = Distribution.discover(name="headscope", path=[str(target)])
    facts = ours.metadata
    assert facts["Version"] == transformer.__version__ and facts["Author"] and facts["Keywords"]
    assert "Typing :: Typed" in facts.get_all("Classifier")
    shown = str(facts.get_payload() or facts["Description"])
    images, links = (re.findall(rf"{sign}\[[^\]]*\]\(([^)]+)\)", shown) for sign in ("!", "(?<!!)"))
    assert len(images) > 5 and len(links) > 20
    repository = facts["Project-URL"].split(", ")[1]
    assert all(link.startswith(f"{repository}/raw/main/docs/images/") for link in images)
    assert all(link.startswith(("https://", "#")) for link in links)


@pytest.mark.thorough
def test_where_snapshots_are_left_out_a_sentence_says_where_they_are(
    target: Path, tmp_path: Path
) -> None:
    weights = target.glob("headscope/checkpoints/*/snapshots/*")
    assert {file.name for file in weights} == {LEFT_OUT}
    script = (sys.executable, "-c", LACKS, str(target))
    printed = run(*script, folder=tmp_path, target=target)
    sentence = (
        "The snapshots of the training of en-de-small are not installed: they lie in "
        "checkpoints/en-de-small/snapshots of a clone of the repository."
    )
    places: dict[str, str] = json.loads(printed.splitlines()[-1])
    for place, text in places.items():
        assert sentence in re.sub(r"\\(\W)", r"\1", text), place
    assert places["a snapshot"] == places["tensors of one"] == f"error: {sentence}\n"
    assert places["a lesson"].count("scene is left to its words") == 4


@pytest.mark.thorough
def test_a_checkpoint_that_is_left_out_is_said_with_its_place(target: Path, tmp_path: Path) -> None:
    folder = target / "headscope" / "checkpoints" / "sentiment-mean"
    assert [file.name for file in folder.iterdir()] == [LEFT_OUT]
    script = f"from headscope.__main__ import main\nmain({NOT_HERE})"
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(target)},
    )
    assert "checkpoints/sentiment-mean of a clone" in done.stderr and not done.stdout
    listed = run(sys.executable, "-m", "headscope", "list", folder=tmp_path, target=target)
    assert "sentiment " in listed and "sentiment-mean" not in listed


def files(folder: Path) -> list[Path]:
    return [
        each for each in folder.rglob("*") if each.is_file() and "__pycache__" not in each.parts
    ]


@pytest.mark.thorough
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


@pytest.mark.thorough
def test_with_app_it_works_beside_modules_of_the_same_names(target: Path, desk: Path) -> None:
    (desk / "uses.py").write_text(USES)
    script = (sys.executable, "uses.py", str(target))
    said = run(*script, folder=desk, target=target, blocked=blocked(target, "app"))
    found: dict[str, Any] = json.loads(said.splitlines()[-1])
    assert found.pop("page") > 10_000 and found.pop("drawn") > 3
    assert "[paper]" in found.pop("figure")
    assert found.pop("fields") > 3  # sources are installed, of which help() makes these lines
    assert found == {
        "own": ["my transformer", "my viz"],
        "loaded": [],
        "written": ["3", "7", "2"],
        "addresses": 1,  # the second one joins the first
        "errors": [],
    }


def test_the_command_needs_no_extra(target: Path, desk: Path) -> None:
    copy = str(target / "headscope" / "checkpoints" / "copy")
    decoding = (sys.executable, "-m", "headscope", "decode", copy, "5 6 7")
    assert run(*decoding, folder=desk, target=target, blocked=blocked(target)) == "5 6 7\n"


def test_the_examples_of_the_readme_run_where_it_is_installed(target: Path, desk: Path) -> None:
    """As they stand, one after the other, outside the clone; and with names alone."""
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.S)
    assert len(blocks) == 2
    (desk / "uses.py").write_text(MODEL + "\n".join(blocks) + BY_NAME)
    script = (sys.executable, "uses.py")
    said = run(*script, folder=desk, target=target, blocked=blocked(target))
    assert json.loads(said.splitlines()[-1]) == ["Es regnet.", "Es regnet.", 3, True, 72]
    assert "L2 H5" in (desk / "head.html").read_text("utf-8")


@pytest.mark.thorough  # what paper needs: tests/viz/paper/test_without_app.py, in the tree
def test_with_paper_alone_a_shell_makes_figures(target: Path, desk: Path) -> None:
    module, figure = (sys.executable, "-m", "headscope", "figure"), desk / "figure.pdf"
    asked = ("./explore?checkpoint=copy&text=3+7+2&picture=map", "--out", str(figure))
    caption = run(*module, *asked, folder=desk, target=target, blocked=blocked(target, "paper"))
    assert "copy" in caption and figure.read_bytes().startswith(b"%PDF-")


def test_without_an_extra_every_command_is_listed_and_says_what_to_install(
    target: Path, tmp_path: Path
) -> None:
    (tmp_path / "copy").symlink_to(target / "headscope" / "checkpoints" / "copy")
    (tmp_path / "pairs.tsv").write_text("3 7 2\t3 7 2\n")
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "config.json").write_text('{"model_type": "gpt2"}')
    options = np.frombuffer(b"type: transformer", dtype=np.int8)
    np.savez(tmp_path / "marian.npz", **{"special:model.yml": options})
    script = (sys.executable, "-c", BARE)
    printed = run(*script, folder=tmp_path, target=target, blocked=blocked(target))
    found: dict[str, Any] = json.loads(printed.splitlines()[-1])
    assert found.pop("written") == ["3", "7", "2"] and found.pop("page") > 10_000
    usage = found.pop("usage")
    assert usage.startswith("usage: headscope ")
    commands = {*discover("transformer.commands", "COMMAND"), *discover("viz.commands", "COMMAND")}
    assert commands <= set(re.findall(r"^    ([\w-]+)\s", usage, re.M))
    for why in found.pop("repository"):
        assert why.startswith("error: en-de") and "repository" in why and why.count("\n") == 1
    assert set(found) == set(EXTRAS)
    for extra, sentences in found.items():
        for sentence in sentences:
            what = rf'(.+) (?:is|are) not installed here: pip install "\.\[{extra}\]" in the clone'
            match = re.fullmatch(rf"(error: |){what} .*\n?", sentence)
            assert match and match[2].split(", ") == list(EXTRAS[extra]), sentence


def test_its_bounds_are_the_lowest_versions_that_pass() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras: dict[str, list[str]] = project["optional-dependencies"]
    # Alone, and tested in an environment of its own.
    cluster = [*extras.pop("cluster"), *extras.pop("serve")]
    tests = (ROOT / "tests/cluster/requirements.txt").read_text().splitlines()
    (ray,) = (Requirement(line).specifier for line in tests if line.startswith("ray=="))
    for line in cluster[-2:]:
        assert all(each.version in Requirement(line).specifier for each in ray)
    every = extras.pop("all")
    assert every == sorted({each for names in extras.values() for each in names})
    lists = (project["dependencies"], *extras.values())
    asked = {each.name: each for names in lists for each in map(Requirement, names)}
    tested, oldest = versions("requirements.txt"), versions("tests/oldest.txt")
    assert asked.keys() == tested.keys() == oldest.keys()
    assert all(asked[name].specifier.contains(it) for name, it in tested.items())
    for name, lowest in oldest.items():
        (least,) = (each.version for each in asked[name].specifier)
        assert Version(least) == Version(lowest), name


def versions(file: str) -> dict[str, str]:
    """Package -> its version, of a file that names one version of each."""
    lines = (line.partition("#")[0].strip() for line in (ROOT / file).read_text().splitlines())
    return dict(line.split("==") for line in lines if line)


def test_extras_are_those_that_sentences_name() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    owners = packages_distributions()
    for extra, modules in EXTRAS.items():
        asked = project["optional-dependencies"][extra]
        names = {canonicalize_name(Requirement(each).name) for each in asked}
        # ray is not installed here: its name is its module's.
        assert names == {canonicalize_name(owners.get(each, [each])[0]) for each in modules}
