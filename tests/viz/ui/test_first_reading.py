"""The first picture is read as its checkpoint says, and every other as its address says."""

import json
import shutil
from pathlib import Path
from urllib.parse import parse_qsl

import pytest

from tests.viz.ui.test_app import ROOT, screen, start, widget
from transformer import load_checkpoint
from transformer.checkpoint import CONFIG
from viz.choice import SESSION
from viz.figure_at import page_of
from viz.screen import Screen, parse
from viz.state.page import as_opened, opening_special


@pytest.fixture
def copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A checkpoint that opens with special tokens hidden, alone in its folder."""
    folder = Path(shutil.copytree(ROOT / "checkpoints" / "copy", tmp_path / "all" / "copy"))
    values = json.loads((folder / CONFIG).read_text()) | {"special": "hidden"}
    (folder / CONFIG).write_text(json.dumps(values))
    monkeypatch.setenv("HEADSCOPE_CHECKPOINTS", str(folder.parent))
    return folder.name


@pytest.mark.parametrize(
    ("address", "special"),
    [
        ({}, "hidden"),
        ({"lens": "score"}, "hidden"),
        ({"special": "shown"}, "shown"),
        ({"special": "renormalised"}, "renormalised"),
        ({"layer": "1", "head": "1"}, "shown"),
        ({"kind": "encoder_self"}, "shown"),
        ({"pins": "q2"}, "shown"),
        ({"heads": "0,1"}, "shown"),
        ({"cell": "2,3"}, "shown"),
        ({"head": "1", "special": "hidden"}, "hidden"),
    ],
)
def test_an_address_that_names_a_head_means_what_it_meant(
    copy: str, address: dict[str, str], special: str
) -> None:
    pane, _ = page_of(parse(address))
    assert pane.reading.special == special
    resolved = as_opened(pane.screen, pane.checkpoint.about)
    assert (resolved.special or "shown") == special


@pytest.mark.parametrize("before", ["hidden", "shown"])
def test_another_head_is_read_as_the_one_before_it(copy: str, before: str) -> None:
    """Also where it is the one that the checkpoint opens at."""
    start_at = {"hidden": {}, "shown": {"layer": "1", "head": "1", "kind": "encoder_self"}}[before]
    app, about = start(**start_at), load_checkpoint(copy).about
    named = {"hidden": "hidden", "shown": None}[before]
    for layer, head in ((0, 1), (1, 0)):
        widget(app.selectbox, "layer").set_value(layer).run()
        widget(app.selectbox, "head").set_value(head).run()
        assert not app.exception
        address = dict(parse_qsl(app.session_state[SESSION].address.query))
        shown = screen(app)
        if {shown.kind, shown.layer, shown.head} != {None}:
            assert address.get("special") == named
        elif before == "hidden":
            assert "special" not in address
        assert (shown.special or opening_special(shown, about)) == before
    widget(app.selectbox, "kind").set_value("cross").run()
    assert (screen(app).kind, screen(app).layer, screen(app).head) == (None, None, None)
    assert (screen(app).special or opening_special(screen(app), about)) == before


def test_the_choice_of_special_tokens_holds_against_the_checkpoint(copy: str) -> None:
    app = start()
    assert screen(app) == Screen()
    app.session_state[SESSION].screen = Screen(special="shown")
    app.run()
    assert not app.exception and screen(app).special == "shown"
