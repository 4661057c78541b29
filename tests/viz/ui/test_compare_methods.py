"""Compare: A beside itself by another decoding method, and the texts of both."""

from streamlit.testing.v1 import AppTest

from tests.viz.ui.test_app import SHIPPED, start
from transformer import decode, load_checkpoint
from viz.components.kit.browser import unpack
from viz.exhibits.exhibit import Words
from viz.figure_at import page_of
from viz.screen import parse

TEXT = "My daughter is allergic to nuts, so please make sure that there are none in the cake."
PAGE = {"page": "compare", "checkpoint": "en-de", "text": TEXT, "kind": "cross", "layer": "2"}


def test_b_writes_by_another_method_and_shows_the_same_head() -> None:
    more = {"head": "3", "method_b": "greedy", "same_head": "yes"}
    pane, exhibits = page_of(parse({**PAGE, **more}))
    b = exhibits["b"].pane
    checkpoint = load_checkpoint("checkpoints/en-de", "cpu")
    assert b.answer.decoding.text == decode(checkpoint, TEXT).text
    assert pane.answer.decoding.text == decode(checkpoint, TEXT, "beam").text
    assert b.selection == pane.selection
    assert "beam search" in exhibits["a"].title and "greedy" in exhibits["b"].title


def test_the_method_in_use_is_no_other_one() -> None:
    pane, exhibits = page_of(parse({**PAGE, "method_b": "beam"}))
    assert exhibits["b"].pane.answer is pane.answer


def written(lines: Words) -> list[tuple[str, list[str]]]:
    """Each text, and the words of it that the other one has not."""
    return [
        (" ".join(it.text for it in line.spans), [it.text for it in line.spans if it.role])
        for line in lines.lines
    ]


def test_both_texts_stand_over_each_other_with_what_differs() -> None:
    _, exhibits = page_of(parse({**PAGE, "method_b": "greedy"}))
    content = exhibits["texts"].content
    assert isinstance(content, Words)
    (a, only_a), (b, only_b) = written(content)
    checkpoint = load_checkpoint("checkpoints/en-de", "cpu")
    for text, by in ((a, "beam"), (b, "greedy")):
        plain = decode(checkpoint, TEXT, by).text
        assert text.replace(" ", "") == plain.replace(" ", "")
    assert bool(only_a or only_b) == (a != b)
    assert bool(content.foot) == (a == b)


def line(app: AppTest) -> str:
    """The sentence that says what the page shows."""
    (told,) = (each for each in app.get("bidi_component") if each.proto.component_name == "tour")
    says: list[str] = unpack(told.proto.bytes)[0]["line"]
    return says[0]


COPY = {"page": "compare", "checkpoint": "copy", "text": "3 7 2 9", "decoding": "greedy"}


def test_b_of_another_checkpoint_is_said_by_its_own_words() -> None:
    """It reads what A wrote for the pictures, and its own text was nowhere."""
    first, *_, last = sorted((SHIPPED / "snapshots").glob("*.safetensors"))
    for snapshot in (first, last):
        checkpoint = load_checkpoint(snapshot, "cpu")
        app = start(**COPY, checkpoint_b=str(snapshot))
        own = decode(checkpoint, "3 7 2 9").text
        bodies = [it.proto.body for it in app.get("html")]
        (lines,) = (body for body in bodies if body.startswith('<div class="text-lines'))
        if own == "3 7 2 9":
            assert "both write the same" in line(app) and "<b>" not in lines
        else:
            assert all(f">{word}<" in lines for word in own.split()) and "<b>" in lines
            assert " / " in line(app)


def test_where_there_is_no_difference_there_is_no_file_of_it() -> None:
    at = {"kind": "cross", "layer": "0", "head": "0", "kind_b": "decoder_self"}
    app = start("save", **COPY, **at, layer_b="0", head_b="1")
    assert not figures_of_difference(app)
    assert any("No difference" in each.value for each in app.caption)
    assert app.table
    app = start("save", **COPY, kind="cross", kind_b="cross")
    assert figures_of_difference(app)


def figures_of_difference(app: AppTest) -> list[str]:
    keys = [str(it.key) for it in app.get("download_button")]
    return [key for key in keys if "difference" in key]
