"""The three scripts of docs/own_model.md: what they say of a module is enough to look at it."""

import importlib.util
import inspect
import re
import textwrap
from pathlib import Path
from typing import Any

import pytest

from transformer import Checkpoint, decode, from_module, record

FOLDER = Path(__file__).parents[3] / "docs" / "own_model"
MOST_LINES = 10
"""Lines beside a class, which docs/features.md promises."""


def built(name: str, steps: int = 1) -> Checkpoint:
    """What a script builds after these steps of training."""
    spec = importlib.util.spec_from_file_location(f"own_{name}", FOLDER / f"{name}.py")
    assert spec and spec.loader
    script: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script.build(steps)


@pytest.mark.parametrize(
    ("name", "seen"),
    [
        ("digits", {"encoder_self": (2, 4), "decoder_self": (2, 4), "cross": (2, 4)}),
        ("characters", {"decoder_self": (2, 4)}),
        ("moods", {"encoder_self": (1, 1)}),
    ],
)
def test_each_decodes_and_records(name: str, seen: dict[str, tuple[int, int]]) -> None:
    checkpoint = built(name)
    for text in checkpoint.about.examples:
        target = decode(checkpoint, text).target if checkpoint.family.decodes else None
        recording = record(checkpoint, text, target)
        found = {kind: (each.n_layers, each.n_heads) for kind, each in recording.attentions.items()}
        assert found == seen
        assert recording.checked.is_right and not recording.unseen
        pieces = "".join(token.piece for token in recording.source)
        assert pieces.replace(" ", "") == text.replace(" ", "")
        assert (recording.classification is not None) == (name == "moods")


def test_the_classifier_learns_its_task() -> None:
    checkpoint = built("moods", 150)
    for text, mood in (("the film was very good", "good"), ("a dull and awful story", "bad")):
        said = record(checkpoint, text).classification
        assert said is not None and said.classes[int(said.logits.argmax())] == mood


def test_the_document_shows_what_the_scripts_say_in_ten_lines() -> None:
    text = FOLDER.with_suffix(".md").read_text(encoding="utf-8")
    shown = [each for each in re.findall(r"```python\n(.*?)```", text, re.S) if "return" in each]
    assert len(shown) == len(list(FOLDER.glob("*.py"))) == 3
    for code, name in zip(shown, re.findall(r"\(own_model/(\w+)\.py\)", text), strict=True):
        script = (FOLDER / f"{name}.py").read_text(encoding="utf-8")
        lines = [line for line in code.splitlines() if line]
        assert textwrap.indent("\n".join(lines), "    ") in re.sub(r"\n+", "\n", script)
        assert len(lines) <= MOST_LINES


def test_the_document_names_every_argument() -> None:
    text = FOLDER.with_suffix(".md").read_text(encoding="utf-8")
    named = {name for row in re.findall(r"^\| (`.+?) \|", text, re.M) for name in row.split(", ")}
    given = set(inspect.signature(from_module).parameters) - {"module", "title"}
    assert {name.strip("`") for name in named} == given
