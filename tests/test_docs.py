"""The documents say what the code is."""

import ast
import re
import shlex
import sys
from collections import Counter
from dataclasses import fields
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml

import transformer
import viz
from tests.transformer.analysis.lenses.given import recording_of, self_attention
from transformer.analysis.lenses.lens import Lens
from transformer.analysis.metrics.metric import Metric
from transformer.analysis.reading import lenses
from transformer.causes.arrows import MOST_RUNS as MOST_ARROWS
from transformer.causes.evidence import MOST_RUNS, Evidence
from transformer.causes.verdict import KINDS, LEAST
from transformer.checkpoint import shipped_path
from transformer.config import ModelConfig
from transformer.discover import discover
from transformer.edits.edit import Edit, EditKind
from transformer.fingerprint import is_marked
from transformer.training.evaluation.stage import N_SENTENCES
from viz.state.limits import Limits
from viz.state.page import Page
from viz.stories.reading import read_story

ROOT = Path(__file__).parents[1]
README, CONTRIBUTING, ARCHITECTURE, GLOSSARY, EXTENDING, DEPLOY, EVIDENCE = (
    (ROOT / name).read_text(encoding="utf-8")
    for name in (
        "README.md",
        "CONTRIBUTING.md",
        "docs/architecture.md",
        "docs/glossary.md",
        "docs/extending.md",
        "docs/deploy.md",
        "docs/evidence.md",
    )
)


def test_the_tree_names_every_file_of_the_first_two_levels() -> None:
    tree = CONTRIBUTING.split("## The tree")[1].split("```")[1]
    named = set(re.findall(r"[\w/]+(?:\.py|/)", tree))
    for room in ("transformer", "viz"):
        for path in sorted((ROOT / room).iterdir()):
            if path.name.startswith(("__init__", "__pycache__")):
                continue
            if path.is_dir() and not any(path.glob("[!_]*")):
                continue  # a room that has moved: a checkout keeps what Python left there
            assert (f"{path.name}/" if path.is_dir() else path.name) in named, path


def test_paths_in_the_documents_exist() -> None:
    for text in (README, CONTRIBUTING, ARCHITECTURE, EXTENDING, EVIDENCE):
        for name in re.findall(r"`((?:tests|transformer|viz|docs)/[\w/.]*)`", text):
            assert (ROOT / name).exists(), name


def test_every_plug_in_kind_has_its_folder_and_constant() -> None:
    rows = re.findall(r"\| [\w' ]+ \| `([\w/]+)/` \| `([A-Z]+)` \|", EXTENDING)
    assert len(rows) >= 8
    for folder, constant in rows:
        assert discover(folder.replace("/", "."), constant), folder


def test_every_codebase_that_opens_is_listed() -> None:
    table = (ROOT / "docs/formats.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| (.+?) \| .*\| `(\w+)` \|$", table, re.M)
    found = discover("transformer.formats.mappings", "MAPPING")
    assert {name: found[name].title for _, name in listed} == {n: title for title, n in listed}
    assert len(listed) >= 8


def example(section: str, constant: str) -> Any:
    """What the whole file that a section shows declares."""
    code = re.search(r"```python\n(.*?)```", EXTENDING.split(f"## {section}\n")[1], re.S)
    assert code is not None
    scope: dict[str, object] = {}
    exec(code.group(1), scope)  # our own document
    return scope[constant]


def test_the_example_of_a_metric_works() -> None:
    metric = example("A head metric", "METRIC")
    assert isinstance(metric, Metric)
    uniform = torch.full((2, 3, 4), 0.25)
    assert metric.compute(uniform).tolist() == [4.0, 4.0]


def test_the_example_of_a_lens_works() -> None:
    lens = example("A lens", "LENS")
    assert isinstance(lens, Lens)
    recording = recording_of(encoder_self=self_attention([torch.full((2, 4, 4), 0.25)]))
    assert lens.compute(recording, "encoder_self", 0).tolist() == [[[0.0] * 4] * 4] * 2


def test_the_example_of_an_edit_works() -> None:
    edit = example("An edit", "EDIT")
    assert isinstance(edit, EditKind)
    z = torch.tensor([[1.0, -2.0]])
    assert edit.heads(Edit(edit.name, "cross", (0, 0)), z, None).tolist() == [[-1.0, 2.0]]


def test_the_example_of_a_page_is_a_page() -> None:
    page = example("A page", "PAGE")
    assert isinstance(page, Page) and page.name not in discover("viz.pages", "PAGE")


def test_the_example_of_a_story_is_read() -> None:
    text = EXTENDING.split("## A story\n")[1].split("```markdown\n")[1].split("```")[0]
    (scene,) = read_story(text, "example").scenes
    assert scene.screen.picture == "map" and scene.question is not None and scene.notes


def test_the_glossary_names_every_lens() -> None:
    shipped = ("weight", "score", "value_norm", "sum_norm", "rollout", "flow")
    assert set(shipped) <= set(lenses())
    for word in (*shipped, "lens", "reading"):
        assert f"`{word}`" in GLOSSARY, word


def test_the_glossary_explains_the_sizes() -> None:
    sizes = {
        field.name.replace("encoder_", "").replace("decoder_", "") for field in fields(ModelConfig)
    }
    for word in sizes & {"d_model", "d_ff", "n_heads", "n_layers", "vocab_size", "max_len"}:
        assert f"`{word}`" in GLOSSARY, word


def test_every_setting_is_documented_with_its_default() -> None:
    rooms = (ROOT / "transformer", ROOT / "viz")
    code = "".join(path.read_text("utf-8") for room in rooms for path in room.rglob("*.py"))
    rows = dict(re.findall(r"^\| `(HEADSCOPE_\w+)` \|.*\| (.*) \|$", DEPLOY, re.M))
    assert set(re.findall(r"HEADSCOPE_[A-Z_]+", code)) == set(rows)
    for each in fields(Limits):
        assert rows[each.metadata["variable"]] == str(each.metadata["usual"])


def test_the_lock_has_the_required_versions_with_their_hashes() -> None:
    folder = ROOT / "docs" / "deploy"
    lines = (folder / "requirements.lock").read_text("utf-8").splitlines()[1:]
    whole = (re.fullmatch(r"(\S+)==(\S+) --hash=sha256:[0-9a-f]{64}", line) for line in lines)
    locked = dict(found.groups() for found in whole if found)
    assert len(locked) == len(lines)
    required = dict(
        line.split("==") for line in (ROOT / "requirements.txt").read_text("utf-8").split()
    )
    assert required.items() <= locked.items()
    listed = re.findall(r"^\| (\S+) \| (\S+) \| \S", (folder / "licences.md").read_text(), re.M)
    assert locked.items() <= dict(listed).items()


def test_evidence_is_explained_with_the_names_and_numbers_of_the_code() -> None:
    names = {name.split("`")[1] for name in re.findall(r"^\| (`\w+`.*?) \|", EVIDENCE, re.M)}
    numbers = {field.name for field in fields(Evidence)} - {"source_words", "target_words"}
    numbers -= {"log_probs", "unit", "origin", "target"}
    assert names == numbers | {name for name in lenses() if name != "flow"}
    verdicts = re.findall(r"^\| \*(.+?)\* \|", EVIDENCE, re.M)
    assert sorted(verdicts) == sorted(KINDS)
    assert f"more than {MOST_ARROWS:,} arrows" in EVIDENCE
    assert f"`LEAST` = {LEAST} " in EVIDENCE and f"`MOST_RUNS` = {MOST_RUNS} " in EVIDENCE
    marks = re.findall(r"`([0-9a-f]{64})`", EVIDENCE)
    assert any(is_marked(shipped_path("en-de-1"), each) for each in marks), "measure it again"
    assert f", {N_SENTENCES}, as greedy" in EVIDENCE


def test_every_public_name_stands_in_the_documents() -> None:
    texts = [README, CONTRIBUTING, *(path.read_text("utf-8") for path in ROOT.glob("docs/**/*.md"))]
    code = "\n".join(re.findall(r"```python.*?```|`[^`\n]+`", "\n".join(texts), re.S))
    names = {*transformer.__all__, *viz.__all__}
    assert {name for name in names if not re.search(rf"\b{name}\b", code)} == set()


def test_links_between_the_documents_lead_somewhere() -> None:
    for path in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/**/*.md")]:
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[\w-]+)?\)", path.read_text("utf-8")):
            if ":" not in target and not target.startswith("."):
                assert (path.parent / target).exists(), f"{path.relative_to(ROOT)}: {target}"


def a_model() -> dict[str, Any]:
    """What examples of "any module" are given."""
    layer = torch.nn.TransformerEncoderLayer(12, 6, 16, batch_first=True)
    model = torch.nn.TransformerEncoder(layer, 3, enable_nested_tensor=False).eval()
    return {"model": model, "inputs": torch.rand(1, 3, 12), "tokens": ["one", "two", "three"]}


def a_recording() -> dict[str, Any]:
    checkpoint = transformer.load_checkpoint(ROOT / "checkpoints" / "en-de", "cpu")
    text = "She took the phone because it was new."
    return {"recording": transformer.record(checkpoint, text, "Sie nahm das Telefon.")}


EXAMPLES = {
    "docs/library.md": dict,
    "docs/how-do-i.md": dict,
    "docs/evidence.md": dict,
    "docs/survey.md": a_recording,
    "docs/models.md": a_model,
    "README.md": a_model,
}
"""Page -> what its examples begin with. Those of docs/extending.md are files, which are tried above
and by tests/test_plug_ins.py; those of docs/own_model.md by tests/transformer/own_module."""


@pytest.mark.parametrize("page", EXAMPLES)
def test_the_examples_of_a_page_run(
    page: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """One after the other, as in one session; what an expression gives is something."""
    (tmp_path / "checkpoints").symlink_to(ROOT / "checkpoints")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "headscope", import_module("viz.headscope"))
    code = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text("utf-8"), re.S)
    assert code
    scope = EXAMPLES[page]()
    for statement in [each for block in code for each in ast.parse(block).body]:
        if isinstance(statement, ast.Expr):
            value = eval(compile(ast.Expression(statement.value), page, "eval"), scope)
            assert value is not None
        else:
            exec(compile(ast.Module([statement], []), page, "exec"), scope)


def test_pages_with_examples_are_tried() -> None:
    pages = [ROOT / "README.md", *ROOT.glob("docs/**/*.md")]
    have = {p.relative_to(ROOT).as_posix() for p in pages if "```python" in p.read_text("utf-8")}
    assert have == {*EXAMPLES, "docs/extending.md", "docs/own_model.md"}


COMMANDS = re.compile(r"`python -m (transformer|viz) ([^`]+)`")
NO_PARSER_OF_ITS_OWN = ("explore", "figure", "models", "open")


@pytest.mark.parametrize("page", ["how-do-i.md"])
def test_commands_of_a_page_are_read(page: str) -> None:
    from transformer.__main__ import _parser

    commands = COMMANDS.findall((ROOT / "docs" / page).read_text("utf-8"))
    assert len(commands) >= 4
    for _, line in commands:
        if line.split()[0] not in NO_PARSER_OF_ITS_OWN:
            _parser().parse_args(shlex.split(line))


def test_one_version() -> None:
    version = transformer.__version__
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert citation["version"] == version
    assert f"## {version}" in (ROOT / "CHANGELOG.md").read_text("utf-8")
    (bibtex,) = re.findall(
        r"```bibtex\n(.*?)```", (ROOT / "docs/library.md").read_text("utf-8"), re.S
    )
    fields = dict(re.findall(r"^  (\w+) += \{(.+)\},?$", bibtex, re.M))
    assert fields["version"] == version
    assert fields["year"] == str(citation["date-released"].year)
    assert fields["url"] == citation["repository-code"]


def test_a_change_is_told_once() -> None:
    """A merge of two branches may keep the lines of both."""
    lines = [line for line in (ROOT / "CHANGELOG.md").read_text("utf-8").splitlines() if line]
    twice = [line for line, n in Counter(lines).items() if n > 1]
    assert not twice, twice
