"""The page about training without a browser: what it shows and says for a checkpoint."""

import shutil
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.ui.test_app import start, widget
from viz.run.cache import CACHE, forget

ROOT = Path(__file__).parents[3]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(ROOT / "checkpoints" / "copy", tmp_path / "copy")
    monkeypatch.setenv("HEADSCOPE_CHECKPOINTS", str(tmp_path))
    forget()  # an answer of another test's folder names that folder's files
    CACHE.clear()
    return tmp_path


def training(topic: str = "smoothing") -> AppTest:
    app = start(page="training")
    widget(app.segmented_control, "topic").set_value(topic).run()
    assert not app.exception
    return app


def test_the_loss_is_the_sum_of_its_parts(folder: Path) -> None:
    app = training()
    widget(app.slider, "epsilon").set_value(0.2).run()
    nats = app.table[0].value["nats"].astype(float).tolist()
    assert nats[0] + nats[1] == pytest.approx(nats[2], abs=2e-4)
    bits = app.table[0].value["bits"].astype(float).tolist()
    assert bits == pytest.approx([value / 0.693147 for value in nats], abs=2e-4)
    assert nats[1] == pytest.approx(0.9160, abs=1e-4)  # V = 12, epsilon = 0.2


def test_a_shorter_sentence_leaves_no_position_that_it_lacks(folder: Path) -> None:
    app = training()
    widget(app.selectbox, "position").set_value(6).run()
    assert widget(app.selectbox, "position").value == 6
    widget(app.text_input, "text").set_value("3 4").run()
    assert not app.exception
    assert widget(app.selectbox, "position").value in (0, 1)


def test_without_a_history_it_says_so(folder: Path) -> None:
    (folder / "copy" / "history.json").unlink()
    app = training("loss")
    assert "copy came without a history.json" in app.info[0].value.replace("\\", "")
    assert not app.get("plotly_chart")


def test_a_damaged_history_is_named_and_the_schedule_is_drawn(folder: Path) -> None:
    (folder / "copy" / "history.json").write_text("[")
    app = training("rate")
    assert app.warning[0].value.startswith("copy: history.json cannot be read")
    assert len(app.get("plotly_chart")) == 1
