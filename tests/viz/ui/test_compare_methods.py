"""Compare: A beside itself by another decoding method."""

from transformer import decode, load_checkpoint
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
