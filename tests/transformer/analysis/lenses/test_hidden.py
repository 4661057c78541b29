"""The cost of hiding is that of `evidence`, cell by cell, however the map is read."""

from dataclasses import replace

import pytest
import torch

from transformer import Checkpoint, Recording, load_checkpoint, record
from transformer.analysis.reading import Reading, read
from transformer.causes import Evidence, evidence

RIVER = "The bank on the river didn't grow."


@pytest.fixture(scope="module")
def checkpoint() -> Checkpoint:
    return load_checkpoint("checkpoints/en-de", "cpu")


@pytest.fixture(scope="module")
def result(checkpoint: Checkpoint) -> Evidence:
    return evidence(checkpoint, RIVER, "Die Bank wuchs nicht.")


@pytest.fixture(scope="module")
def recording(checkpoint: Checkpoint, result: Evidence) -> Recording:
    recording = record(checkpoint, RIVER, "Die Bank wuchs nicht.")
    return replace(recording, hidden=result.hidden)


@pytest.mark.parametrize("rows", ["produced", "read"])
@pytest.mark.parametrize("layer", [0, 2])
def test_words_have_the_costs_of_evidence(
    recording: Recording, result: Evidence, rows: str, layer: int
) -> None:
    map = read(recording, "cross", Reading("hidden", rows, words=True))  # type: ignore[arg-type]
    (values,) = map.values(layer)
    torch.testing.assert_close(values, result.hidden.float(), rtol=0, atol=1e-6)
    assert [token.piece for token in map.rows] == list(result.target_words)
    assert [token.piece for token in map.columns] == list(result.source_words)
    assert map.is_produced and map.bounds[0] == -map.bounds[1] < 0


def test_pieces_show_what_their_words_cost(recording: Recording) -> None:
    words = read(recording, "cross", Reading("hidden", words=True, special="hidden"))
    pieces = read(recording, "cross", Reading("hidden"))
    (of_words,), (of_pieces,) = words.values(0), pieces.values(0)
    assert len(pieces.columns) > len(words.columns) + 1, "no word has several pieces"
    for row, queries in enumerate(words.row_groups):
        for column, keys in enumerate(words.column_groups):
            cells = of_pieces[list(queries)][:, list(keys)]
            torch.testing.assert_close(cells, of_words[row, column].expand_as(cells))


def test_a_recording_without_costs_says_how_they_are_known(checkpoint: Checkpoint) -> None:
    plain = record(checkpoint, RIVER, "Die Bank wuchs nicht.")
    with pytest.raises(ValueError, match="evidence"):
        read(plain, "cross", Reading("hidden"))
    for kind in ("encoder_self", "decoder_self"):
        with pytest.raises(ValueError, match="cross-attention"):
            read(replace(plain, hidden=torch.zeros(1)), kind, Reading("hidden"))
