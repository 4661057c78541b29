"""The cost of hiding as a lens: pictures and their numbers are those of `evidence`."""

import csv
import io

import pytest

from transformer.causes import evidence
from viz.figure_at import page_of
from viz.screen import parse
from viz.ui.saving import figure_of

RIVER = "The bank on the river was full of flowers."
PAGE = {"page": "explore", "checkpoint": "en-de-1", "text": RIVER, "lens": "hidden"}


@pytest.mark.parametrize("picture", ["map", "arrows"])
def test_figures_have_the_costs_of_evidence(picture: str) -> None:
    pane, figures = page_of(parse({**PAGE, "kind": "cross", "picture": picture}))
    result = evidence(pane.checkpoint, RIVER, pane.recording.target)
    figure = figure_of(pane, figures["picture"], name="picture")
    assert "the cost of hiding" in figure.record.caption
    rows = list(csv.DictReader(io.StringIO(figure.table("csv").decode())))
    costs = {(int(row["row"]), int(row["column"])): float(row["hidden"]) for row in rows}
    assert len(costs) == result.hidden.numel() or picture == "arrows"
    assert costs[3, 4] == pytest.approx(2.34, abs=0.01)  # "dem" needs "river"
    for place, cost in costs.items():
        assert cost == pytest.approx(float(result.hidden[place]), abs=1e-5)


def test_the_weights_are_shown_where_nothing_is_written_and_that_is_said() -> None:
    _, figures = page_of(parse({**PAGE, "kind": "encoder_self"}))
    assert figures["picture"].note.endswith("Shown: the weights.")
    assert not page_of(parse({**PAGE, "kind": "cross"}))[1]["picture"].note
