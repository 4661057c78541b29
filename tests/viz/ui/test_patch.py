"""The page Patch without a browser: effects, what is kept, and sentences that do not suit."""

import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.ui.test_app import SHIPPED, folder, screen, start
from tests.viz.ui.test_experiment import outputs, press
from transformer import decode, load_checkpoint
from transformer.analysis.patching import pair_of, patching
from viz.page_fields import ExperimentFields
from viz.pages.sweep.patch import EXAMPLES

__all__ = ["folder"]

A, B = EXAMPLES["numbers"]
SHOWN = sorted(each.name for each in SHIPPED.parent.iterdir() if (each / "config.json").exists())


def opened(**query: str) -> AppTest:
    return start(page="sweep", experiment="patch", **query)


def maps(app: AppTest) -> str:
    return " ".join(
        each.proto.body for each in app.get("html") if 'class="tables"' in each.proto.body
    )


def n_kept(app: AppTest) -> int:
    return len(re.findall(r'<td class="[^"]* marked"', maps(app)))


def test_the_example_fills_in_both_sentences_and_every_effect_is_shown(folder: Path) -> None:
    app = press(opened(), "Example")
    assert (screen(app).of(ExperimentFields).patch_from, screen(app).text) == (A, B)
    *_, last = patching(load_checkpoint(folder / "copy"), B, A)
    shown = re.findall(r'title="[^"]*: effect ([+−]?[\d.]+)"', maps(app))
    assert [float(each.replace("−", "-")) for each in shown] == pytest.approx(
        list(last.effects.values()), abs=1e-4
    )


def test_a_patch_of_the_address_is_kept_and_the_output_follows(folder: Path) -> None:
    edit = f"state-from:encoder_self.1.2={A}"
    app = opened(text=B, patch_from=A, edits=edit, decoding="greedy")
    assert n_kept(app) == 1
    assert app.session_state["session"].answer.request.edits == ()
    written = decode(load_checkpoint(folder / "copy"), B, edits=[edit]).text
    assert written != decode(load_checkpoint(folder / "copy"), B).text
    assert written in " ".join(outputs(app).split())
    press(app, "Take all back")
    assert screen(app).edits == () and n_kept(app) == 0


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ("3 9 4", "(A) has 3 tokens and the text (B) 4"),
        (B, "are the same sentence"),
        ("99 99 99 99", "99"),
    ],
)
def test_what_does_not_suit_is_a_sentence(copied: Path, other: str, said: str) -> None:
    app = opened(text=B, patch_from=other)
    assert said in " ".join(each.value.replace("\\", "") for each in app.info)
    assert "data-state" not in maps(app)
    assert ("A, 3" in maps(app)) == (other == "3 9 4")


@pytest.mark.parametrize("name", SHOWN)
def test_examples_suit_the_shipped_checkpoints(name: str) -> None:
    checkpoint = load_checkpoint(SHIPPED.parent / name)
    reads, tokens = checkpoint.family.reads, checkpoint.about.tokenizer
    other, text = EXAMPLES.get(tokens) or EXAMPLES[reads]
    pair = pair_of(checkpoint, text, other)
    assert pair.clean - pair.plain > 2


@pytest.mark.parametrize("experiment", ["sweep", "patch"])
def test_who_searches_the_page_finds_an_experiment_by_its_names(
    copied: Path, experiment: str
) -> None:
    app = start(page="sweep", experiment=experiment)
    buttons = [option.content for each in app.get("button_group") for option in each.proto.options]
    texts = " ".join((*buttons, *(each.value for each in app.caption))).lower()
    for name in ("head ablation", "activation patching", "intervention"):
        assert name in texts, name
