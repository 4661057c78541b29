"""The circuits of a head: of a model of one layer there are none, and that is said."""

from tests.viz.ui.test_app import start


def test_no_head_of_a_single_layer_has_circuits() -> None:
    told = [
        [each.value for each in start(page="heads", checkpoint=name, heads_of="one").info]
        for name in ("sentiment", "copy")
    ]
    assert [sum("No layer" in each for each in notes) for notes in told] == [1, 0]
