"""Heads over steps without a browser: what the page shows and says for a checkpoint."""

import re
import shutil
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.representatives import cases
from tests.viz.ui.test_app import components, said, screen, start, widget
from transformer import load_checkpoint, record
from transformer.training.history import list_snapshots
from transformer.training.snapshots import Course, _size, watch
from viz.pages.training.heads import allowed, metric_rows
from viz.run.cache import CACHE, forget

ROOT = Path(__file__).parents[3]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(ROOT / "checkpoints" / "copy", tmp_path / "copy")
    monkeypatch.setenv("HEADSCOPE_CHECKPOINTS", str(tmp_path))
    forget()  # an answer of another test's folder names that folder's files
    CACHE.clear()
    return tmp_path


def opened(**query: str) -> AppTest:
    app = start(page="training", **query)
    widget(app.segmented_control, "topic").set_value("heads").run()
    assert not app.exception
    return app


def test_the_player_stands_under_the_choice_of_a_head(folder: Path) -> None:
    app = opened()
    assert "snapshot_player" in components(app)
    courses = [each for each in CACHE._things.values() if isinstance(each.value, Course)]
    (n_tensors,) = (sum(map(_size, each.value.recordings)) for each in courses)
    assert n_tensors < courses[0].n_bytes < CACHE.n_bytes  # snapshots are in the one budget
    widget(app.segmented_control, "kind").set_value("decoder_self").run()
    assert widget(app.selectbox, "metric").value == "entropy"
    widget(app.selectbox, "metric").set_value("previous").run()
    widget(app.segmented_control, "kind").set_value(
        "cross"
    ).run()  # there is no previous token here
    assert widget(app.selectbox, "metric").value != "previous"
    assert not app.exception and not said(app)
    widget(app.segmented_control, "topic").set_value("loss").run()
    assert not [each for each in app.segmented_control if each.key == "kind"]


@pytest.mark.parametrize(
    "log",
    cases(
        [
            *("{", '"a"', "[[]]", '[{"step": 1, "loss": "a"}]'),
            f'[{{"step": 1, "loss": 1{"0" * 5000}}}]',
        ],
        {"no JSON": "{", "no number": '[{"step": 1, "loss": "a"}]'},
    ),
)
def test_a_damaged_log_takes_nothing_but_the_losses(folder: Path, log: str) -> None:
    (folder / "copy" / "history.json").write_text(log)
    app = opened()
    assert "snapshot_player" in components(app)
    assert said(app).count("copy: history.json ") == 1
    for topic in ("loss", "rate"):
        widget(app.segmented_control, "topic").set_value(topic).run()
        assert not app.exception
        assert said(app).count("copy: history.json ") == 1


def told(app: AppTest) -> list[str]:
    """The sentences on the page, as they read."""
    return [re.sub(r"\\(\W)", r"\1", each.value) for each in app.markdown]


@pytest.fixture
def bare(folder: Path) -> Path:
    """A checkpoint without snapshots beside the copy task."""
    shutil.copytree(folder / "copy", folder / "bare")
    shutil.rmtree(folder / "bare" / "snapshots")
    return folder


@pytest.mark.usefixtures("bare")
def test_training_opens_on_heads_and_another_checkpoint_stands_in() -> None:
    app = start(page="training", checkpoint="bare", text="3 4 5")
    assert "snapshot_player" in components(app)
    sentence = "bare has no snapshots: these are the heads of copy, over the same sentence."
    assert sentence in told(app)
    widget(app.segmented_control, "kind").set_value("encoder_self").run()
    assert screen(app).kind == "encoder_self" and not app.exception
    assert "snapshot_player" in components(app)
    widget(app.segmented_control, "topic").set_value("smoothing").run()
    assert not [each for each in told(app) if "no snapshots" in each]


def test_what_stands_in_may_read_its_own_example_and_have_other_heads(folder: Path) -> None:
    shutil.copytree(ROOT / "checkpoints" / "sentiment", folder / "sentiment")
    app = start(page="training", checkpoint="sentiment")
    sentence = "sentiment has no snapshots: these are the heads of copy, over its own example."
    assert sentence in told(app)
    widget(app.segmented_control, "kind").set_value("decoder_self").run()
    assert screen(app).kind == "decoder_self"  # the classifier has no decoder
    assert widget(app.segmented_control, "kind").value == "decoder_self"


def test_without_snapshots_anywhere_it_says_how_to_get_them(bare: Path) -> None:
    shutil.rmtree(bare / "copy" / "snapshots")
    app = start(page="training", checkpoint="bare")
    assert app.info[0].value.startswith("bare has no snapshots, so its heads")
    assert "snapshot_player" not in components(app)


def test_a_damaged_snapshot_is_named_beside_the_player(folder: Path) -> None:
    (folder / "copy/snapshots/000050.safetensors").write_bytes(b"{")
    app = opened()
    assert len(app.warning) == 1 and "000050" in app.warning[0].value
    assert "snapshot_player" in components(app)


def test_a_snapshot_is_never_another_without_a_word(folder: Path) -> None:
    app = start(page="training", checkpoint="copy", topic="heads", snapshot="126")
    assert not app.info
    (folder / "copy/snapshots/000126.safetensors").unlink()
    app.run()
    steps = [each.step for each in list_snapshots(folder / "copy")]
    nearest = min(steps, key=lambda step: abs(step - 126))
    sentence = f"There is no snapshot of step 126 here: that of step {nearest} is shown."
    assert [each.value for each in app.info] == [sentence]
    assert "snapshot_player" in components(app)


def test_neighbours_outside_the_allowed_folders_are_not_opened(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    snapshots = list(list_snapshots(folder / "copy"))
    opened_by_path = str(folder / "copy")
    monkeypatch.setenv("HEADSCOPE_FOLDERS", str(folder / "copy"))
    assert allowed(snapshots, opened_by_path) == allowed(snapshots, "copy") == snapshots
    (folder / "copy/snapshots/000050.safetensors").unlink()
    (folder / "copy/snapshots/000050.safetensors").symlink_to(ROOT / "README.md")
    monkeypatch.setenv("HEADSCOPE_FOLDERS", str(folder / "elsewhere"))
    assert allowed(snapshots, opened_by_path) == []
    monkeypatch.setenv("HEADSCOPE_FOLDERS", str(folder / "copy"))
    assert [each.step for each in snapshots if each not in allowed(snapshots, opened_by_path)] == [
        50
    ]


def test_the_table_has_every_head_at_every_step() -> None:
    path = ROOT / "checkpoints" / "copy"
    checkpoint = load_checkpoint(path, "cpu")
    some = list_snapshots(path)[::6]
    course = watch(checkpoint, "3 7", record(checkpoint, "3 7", "3 7"), some)
    rows = metric_rows(course)
    assert len(rows) == 2 * 3 * 2 * 4  # steps, kinds, layers, heads
    for row in rows:
        values = course.measured(row["kind"])["entropy"]
        place = course.steps.index(row["step"])
        assert row["entropy"] == float(values[place, row["layer"], row["head"]])
