"""An adapter in the app: opened by its path, listed beside its base, and compared with it."""

import shutil
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.transformer.hugging_face.test_adapters import write_pair
from tests.viz.ui.test_app import folder, said, screen, start, widget
from tests.viz.ui.test_compare_edits import metrics
from viz.page_fields import CompareFields

__all__ = ["folder"]


@pytest.fixture
def pair(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a base and an adapter that names it, elsewhere than the checkpoints."""
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    write_pair(elsewhere, "someone/base")
    return elsewhere


def opened(path: str) -> AppTest:
    app = start()
    widget(app.text_input, "open_text").set_value(path).run()
    return app


def links(app: AppTest) -> list[str]:
    return [each.proto.body for each in app.get("html") if "Compare base" in each.proto.body]


def test_an_adapter_is_listed_beside_its_base_and_leads_to_compare(
    folder: Path, pair: Path
) -> None:
    base, adapter = str(pair / "base"), str(pair / "adapter")
    app = opened(adapter)
    assert screen(app).checkpoint == adapter and not said(app)
    options = widget(app.selectbox, "checkpoint").options
    assert next(each for each in options if each.startswith("adapter")).endswith("LoRA adapter")
    assert any(each.startswith("base · ") for each in options)
    assert any("rank 2, alpha 4" in each.value for each in app.caption)
    (link,) = links(app)
    assert f"checkpoint={base}" in link and f"checkpoint_b={adapter}" in link
    app = start(page="compare", checkpoint=base, checkpoint_b=adapter, same_head="yes")
    assert screen(app).of(CompareFields).checkpoint_b == adapter and not said(app)
    assert metrics(app)[1] not in ("0.0000", "")
    assert not links(app)


def test_an_address_spells_both(folder: Path, pair: Path) -> None:
    path = f"{pair / 'base'}::{pair / 'adapter'}"
    app = start(checkpoint=path)
    assert screen(app).checkpoint == path and not said(app)
    shown = [each for each in widget(app.selectbox, "checkpoint").options if "LoRA" in each]
    assert [each.partition(" · ")[0] for each in shown] == ["base with adapter"]


def test_a_base_elsewhere_is_opened_after_a_word(
    folder: Path, pair: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    shutil.rmtree(pair / "adapter")
    base = tmp_path_factory.mktemp("third") / "model"
    write_pair(pair, str(base))
    (pair / "base").rename(base)
    app = opened(str(pair / "adapter"))
    assert str(base) in said(app) and screen(app).checkpoint is None
    (button,) = (each for each in app.button if each.label == "Open it with this base")
    button.click().run()
    assert screen(app).checkpoint == f"{base}::{pair / 'adapter'}" and not said(app)
    app.run()
    assert not said(app)
    assert not [each for each in app.button if each.label == "Open it with this base"]


def test_an_adapter_among_the_checkpoints_makes_two(folder: Path, pair: Path) -> None:
    shutil.move(pair / "base", folder / "mine")
    for file in (pair / "adapter").iterdir():
        shutil.copy(file, folder / "mine")
    both = f"{folder / 'mine'}::{folder / 'mine'}"
    app = start(checkpoint="mine")
    options = widget(app.selectbox, "checkpoint").options
    assert [each.partition(" · ")[0] for each in options] == [
        "copy",
        "mine",
        "mine with its adapter",
    ]
    (link,) = links(app)
    assert "checkpoint=mine" in link and f"checkpoint_b={both}" in link
