"""Cells that are drawn: of one kind of attention, and of its map."""

from tests.viz.ui.test_app import screen, start, widget
from transformer.corpus.questions import Pattern
from viz.page_fields import HeadsFields


def test_another_kind_of_attention_has_a_map_without_the_cells_of_the_first() -> None:
    cells = str(Pattern(kind="cross", cells=((0, 0), (1, 1))))
    asked = {"heads_of": "ask", "heads_ask": cells, "text": "3 7 2 9", "kind": "cross"}
    app = start(page="heads", checkpoint="copy", **asked)
    kinds = widget(app.button_group, "kind")
    assert kinds.value == "cross"
    kinds.set_value("encoder_self").run()
    assert not app.exception
    assert widget(app.button_group, "kind").value == screen(app).kind == "encoder_self"
    assert not screen(app).of(HeadsFields).heads_ask
