"""The numbers of a figure say which tokens they are of, whatever is hidden or merged."""

import csv
import io

import pytest

from transformer import decode, load_checkpoint, record
from transformer.checkpoint import checkpoints_folder
from transformer.recording import Recording
from viz.figure_at import page_of
from viz.screen import parse
from viz.ui.printing import figure_of

TEXT = "The animals were tired."


@pytest.fixture(scope="module")
def recording() -> Recording:
    checkpoint = load_checkpoint(checkpoints_folder() / "en-de", "cpu")
    return record(checkpoint, TEXT, decode(checkpoint, TEXT).target)


def numbers(exhibit: str, **choices: str) -> list[dict[str, str]]:
    """The rows of the CSV beside a figure of Explore."""
    parts = {"checkpoint": "en-de", "text": TEXT, "kind": "cross", "layer": "1", "head": "2"}
    pane, figures = page_of(parse({**parts, "lines": "0", **choices}))
    file = figure_of(pane, figures[exhibit], name=exhibit).table("csv").decode()
    return list(csv.DictReader(io.StringIO(file.removeprefix("\ufeff"))))


@pytest.mark.parametrize("special", ["shown", "hidden"])
@pytest.mark.parametrize("picture", ["grid", "arrows", "map"])
def test_each_cell_names_its_tokens(picture: str, special: str, recording: Recording) -> None:
    exhibit = "grid" if picture == "grid" else "picture"
    chosen = {} if picture == "grid" else {"picture": picture}
    rows = numbers(exhibit, special=special, tokens="pieces", **chosen)
    assert len(rows) > 10
    for row in rows:
        kind = row["kind"] if picture == "grid" else "cross"
        layer, head = (int(row.get(name, 1)) for name in ("layer", "head"))
        attention = recording.attentions[kind]
        query, key = int(row["query_position"]), int(row["key_position"])
        weight = float(attention.weights(layer, head)[query, key])
        assert float(row["weight"]) == pytest.approx(weight, rel=1e-4, abs=1e-6)
        assert row["query_piece"] == attention.queries[query].piece
        assert row["key_piece"] == attention.keys[key].piece
        produced = attention.produced
        assert row["written_piece"] == ("" if produced is None else produced[query].piece)
    assert any(row["key_position"] == "0" for row in rows) or special == "hidden"


def test_a_word_names_all_its_pieces(recording: Recording) -> None:
    keys = recording.attentions["cross"].keys
    for row in numbers("picture", picture="map", tokens="words"):
        places = [int(place) for place in row["key_position"].split()]
        assert row["key_piece"].split() == [keys[place].piece for place in places]
