"""Cells of a sentence pair, from one text to the other or within one, by hand."""

from pathlib import Path

import pytest
import torch

from tests.transformer.hugging_face.pairs import A, B, save_pair_reader
from transformer import Recording, load_checkpoint, pairing, record
from transformer.analysis.reading import BETWEEN, Between, Reading, is_pair, lenses, read
from transformer.words import word_groups

PARTS: tuple[Between, ...] = tuple(each for each in BETWEEN if each != "all")


@pytest.fixture(scope="module", params=["BERT", "RoBERTa", "XLNet", "BART"])
def recording(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Recording:
    folder = tmp_path_factory.mktemp("pairs")
    save_pair_reader(request.param, folder)
    return record(pairing(load_checkpoint(folder), B), A)


@pytest.mark.parametrize("between", PARTS)
def test_it_is_a_part_of_the_whole_map(recording: Recording, between: Between) -> None:
    for kind, attention in recording.attentions.items():
        assert is_pair(attention)
        map = read(recording, kind, Reading(between=between))
        of_query, of_key = between.upper().split("-")
        rows = [i for i, it in enumerate(attention.queries) if it.segment == of_query]
        columns = [i for i, it in enumerate(attention.keys) if it.segment == of_key]
        assert map.row_groups == tuple((i,) for i in rows)
        assert map.column_groups == tuple((i,) for i in columns)
        expected = attention.weights(0)[:, rows][:, :, columns]
        torch.testing.assert_close(map.values(0), expected)
        assert map.notes and not map.is_plain


def test_the_four_parts_are_all_cells(recording: Recording) -> None:
    for kind in recording.attentions:
        parts = [read(recording, kind, Reading(between=each)).values(0).sum() for each in PARTS]
        torch.testing.assert_close(sum(parts), read(recording, kind).values(0).sum())


@pytest.mark.parametrize("between", PARTS)
def test_rows_are_renormalised_and_words_merged(recording: Recording, between: Between) -> None:
    reading = Reading(words=True, special="renormalised", between=between)
    for kind, attention in recording.attentions.items():
        map = read(recording, kind, reading)
        is_open = map.allowed(1).any(-1)  # the first text of BART's decoder sees nothing of B
        torch.testing.assert_close(map.values(1).sum(-1), is_open.float())
        groups = word_groups(attention.keys)
        own = [it for it in groups if attention.keys[it[0]].segment == between[-1].upper()]
        assert map.column_groups == tuple(it for it in own if not attention.keys[it[0]].special)


@pytest.mark.parametrize("lens", [name for name in lenses() if name != "flow"])
def test_every_lens_has_parts(recording: Recording, lens: str) -> None:
    for kind in recording.attentions:
        if lenses()[lens].why_not(recording, kind):
            continue
        whole = read(recording, kind, Reading(lens))
        part = read(recording, kind, Reading(lens, between="b-a"))
        rows, columns = ([i for (i,) in it] for it in (part.row_groups, part.column_groups))
        expected = whole.values(1)[:, rows][:, :, columns]
        torch.testing.assert_close(part.values(1), expected)


def test_one_text_has_no_parts(tmp_path: Path) -> None:
    save_pair_reader("BERT", tmp_path)
    recording = record(load_checkpoint(tmp_path), A)
    assert not is_pair(recording.attentions["encoder_self"])
    map = read(recording, "encoder_self", Reading(between="a-b"))
    assert torch.equal(map.values(0), read(recording, "encoder_self").values(0))
    assert map.is_plain and not map.notes
