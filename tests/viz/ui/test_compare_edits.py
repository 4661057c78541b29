"""Compare, where B is A with edits: what is the same in both, what differs, and what is said."""

import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.ui.test_app import EXAMPLE, folder, said, screen, start, widget
from tests.viz.ui.test_experiment import press
from transformer import decode, load_checkpoint, record
from viz.page_fields import CompareFields
from viz.screen import Screen, put

__all__ = ["folder"]

HEAD = "head-off:decoder_self.0.1"
EDITED = {"page": "compare", "edited_b": "yes", "same_head": "yes", "kind": "decoder_self"}


def metrics(app: AppTest) -> list[str]:
    """The Jensen-Shannon divergence and the largest difference, where there are any."""
    lines = [each.value for each in app.markdown if each.value.startswith("**These two heads**")]
    return [number for line in lines for number in re.findall(r"\*\*(\d\S*(?: bits)?)\*\*", line)]


def headings(app: AppTest) -> list[str]:
    found = [each.value for each in app.markdown if re.match(r"\*\*[AB]\*\* ·", each.value)]
    return [re.sub(r"\\(\W)", r"\1", each) for each in found]


@pytest.mark.parametrize("layer", [0, 1])
def test_layers_up_to_the_edited_one_are_those_of_a(folder: Path, layer: int) -> None:
    app = start(**EDITED, edits=HEAD, layer=str(layer), head="1")
    bits, largest = metrics(app)
    expected = _largest(folder, layer)
    assert largest == f"{expected:.4f}"
    if layer == 0:
        assert (bits, expected) == ("0.0000 bits", 0)
    off = " (off)" if layer == 0 else ""
    name = f"Decoder L{layer} H1"
    assert headings(app) == [f"**A** · {name} unchanged", f"**B** · {name}{off} with 1 edit"]
    shown = app.session_state["session"].answer
    assert shown.request.edits == ()
    assert not app.dataframe  # no parameters of another checkpoint
    assert not said(app)


def _largest(folder: Path, layer: int) -> float:
    """Difference of the weights of the head, where both read the same output."""
    checkpoint = load_checkpoint(folder / "copy")
    target = decode(checkpoint, EXAMPLE, "beam").target
    a, b = (record(checkpoint, EXAMPLE, target, edits=edits) for edits in ((), (HEAD,)))
    a, b = (each.attentions["decoder_self"].weights(layer, 1) for each in (a, b))
    return float((a - b).abs().max())


def test_b_is_chosen_edited_and_unlocked(copied: Path) -> None:
    app = start(page="compare", kind="decoder_self", layer="1", head="2")
    widget(app.selectbox, "checkpoint_b").set_value("A with these edits").run()
    assert screen(app).of(CompareFields).edited_b and screen(app).of(CompareFields).same_head
    assert any("Nothing is changed" in each.proto.body for each in app.get("html"))
    assert metrics(app) == ["0.0000 bits", "0.0000"]
    press(app, "Switch Decoder L1 H2 off")
    assert screen(app).edits == ("head-off:decoder_self.1.2",)
    assert headings(app)[1].endswith("L1 H2 (off) with 1 edit")
    press(app, "Switch Decoder L1 H2 on")
    assert screen(app).edits == ()
    widget(app.selectbox, "checkpoint_b").set_value("same checkpoint").run()
    assert (
        not screen(app).of(CompareFields).edited_b and not screen(app).of(CompareFields).same_head
    )
    assert not said(app)


def test_b_reads_what_a_wrote_or_writes_by_itself(copied: Path) -> None:
    edits = "/".join(f"head-off:cross.0.{head}" for head in range(4))
    app = start(**EDITED, edits=edits, layer="1", head="0")
    assert len(metrics(app)) == 2
    widget(app.toggle, "own_b").set_value(True).run()
    assert screen(app).of(CompareFields).own_b
    request = app.session_state["session"].answer.request
    assert request.edits == ()
    captions = " ".join(each.value for each in app.caption)
    assert "B is given A's output" not in captions
    assert metrics(app) or "other words are written" in captions


def test_an_edit_of_what_is_not_there_is_dropped(copied: Path) -> None:
    app = start(**EDITED, edits="head-off:cross.9.9/head-off:cross.0.1")
    assert screen(app).edits == ("head-off:cross.0.1",)
    assert any("It was dropped" in each.value for each in app.info)


def test_another_checkpoint_is_not_edited(copied: Path) -> None:
    app = start(page="compare", checkpoint_b="nowhere", edited_b="yes", edits="head-off:cross.0.1")
    assert "there is no checkpoint nowhere" in said(app)
    assert any("changed by 1 edit" in each.value for each in app.caption)
    edited = Screen("compare", edits=("head-off:cross.0.1",))
    assert screen(app) == put(edited, checkpoint_b="nowhere", edited_b=True)


def test_the_row_of_the_largest_difference_is_named_as_pictures_name_it(folder: Path) -> None:
    """By what was written in cross-attention, not by what was read before."""
    at = {"layer": "0", "head": "0", "layer_b": "0", "head_b": "1"}
    app = start(page="compare", kind="cross", kind_b="cross", **at)
    (line,) = (each.value for each in app.markdown if each.value.startswith("**These two heads**"))
    checkpoint = load_checkpoint(folder / "copy")
    recording = record(checkpoint, EXAMPLE, decode(checkpoint, EXAMPLE, method="beam").target)
    attention = recording.attentions["cross"]
    apart = (attention.weights(0, 0) - attention.weights(0, 1)).abs()
    query, key = divmod(int(apart.argmax()), apart.size(1))
    assert attention.produced is not None
    written, read = attention.produced[query].piece, attention.queries[query].piece
    assert written != read and f"“{written}” to “{attention.keys[key].piece}”" in line


def test_nothing_stands_in_the_place_of_b_while_it_is_awaited(
    copied: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as slow:
        slow.setattr("viz.pages.compare.second.whole", lambda *_: None)
        app = start(**EDITED, edits=HEAD, layer="0", head="1")
        assert headings(app) == [] and not metrics(app)
    app.run()
    assert len(headings(app)) == 2
