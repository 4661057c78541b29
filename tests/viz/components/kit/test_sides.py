"""Every token of the page's two lines finds the row and the column that bear its name."""

from dataclasses import replace

import pytest

from transformer.analysis.reading import Reading, read
from transformer.recording import Recording
from viz.components.kit.picture import second, sides


def test_an_encoder_reads_its_source(recording: Recording) -> None:
    places = sides(read(recording, "encoder_self"))
    assert places["rows"] == places["columns"] == {"source": list(range(7))}
    assert not places["writes"]


def test_a_row_of_cross_attention_is_named_by_what_it_wrote_or_by_what_it_read(
    recording: Recording,
) -> None:
    attention = recording.attentions["cross"]
    for rows in ("produced", "read"):
        map = read(recording, "cross", Reading(rows=rows))
        places = sides(map)
        assert places["columns"] == {"source": list(range(7))}
        assert places["writes"] == (rows == "produced")
        written = attention.produced
        assert written is not None
        for position, row in enumerate(places["rows"]["target"]):
            assert map.rows[row] == written[position]


def test_a_decoder_reads_its_target_after_the_start(recording: Recording) -> None:
    places = sides(read(recording, "decoder_self"))
    n_rows = len(recording.attentions["decoder_self"].queries)
    assert places["rows"] == places["columns"] == {"target": list(range(1, n_rows))}


def test_the_text_of_a_generator_begins_with_its_prompt(recordings: dict[str, Recording]) -> None:
    recording = recordings["generator"]
    map = read(recording, "decoder_self")
    places = sides(map)
    named = places["rows"]["source"] + places["rows"]["target"]
    assert named == list(range(len(map.rows)))
    assert len(places["rows"]["source"]) == len(recording.source)


def test_hidden_and_merged_tokens(recording: Recording) -> None:
    """Positions 0 and 1 in one row, position 2 left out."""
    map = read(recording, "encoder_self")
    merged = replace(
        map, row_groups=((0, 1), (3,), (4,), (5, 6)), column_groups=((1,), (2,), (3,), (4,))
    )
    places = sides(merged)
    assert places["rows"] == {"source": [0, 0, -1, 1, 2, 3, 3]}
    assert places["columns"] == {"source": [-1, 0, 1, 2, 3]}


@pytest.mark.parametrize(
    ("between", "places"),
    [("all", {"second": [4, 4]}), ("a-a", {}), ("a-b", {}), ("b-b", {})],
)
def test_a_line_stands_where_the_second_text_begins(
    between: str, places: dict[str, list[int]], recording: Recording
) -> None:
    attention = recording.attentions["encoder_self"]
    tokens = tuple(
        replace(token, segment="A" if i < 4 else "B") for i, token in enumerate(attention.queries)
    )
    pair = replace(
        recording,
        attentions={"encoder_self": replace(attention, queries=tokens, keys=tokens)},
    )
    assert second(read(pair, "encoder_self", Reading(between=between))) == places
    assert second(read(recording, "encoder_self")) == {}
