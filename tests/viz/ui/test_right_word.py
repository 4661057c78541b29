"""The right word below the card: the numbers of `contrast`, and repairs whose links keep them."""

from importlib import import_module
from itertools import islice
from urllib.parse import parse_qsl

import pytest
import torch

from tests.viz.ui.test_why_word import RIVER, card, tables, values
from transformer import decode, load_checkpoint, record
from transformer.causes import contrast, repairs
from transformer.causes.contrast import contrast_lines
from transformer.checkpoint import checkpoints_folder
from transformer.words import words_of
from viz.causes.needs import FindRepairs
from viz.causes.right_word import _others, heads_of_rows
from viz.causes.right_word_tables import forced_rows, rows_cost
from viz.exhibits.chart import Chart
from viz.exhibits.exhibit import Words
from viz.exhibits.table import Table
from viz.figure_at import page_of
from viz.run.line import entered
from viz.run.work import finish
from viz.screen import parse

CHOICES = {"checkpoint": "en-de-small", "text": "Tom lives in Boston.", "kind": "cross"}
PINNED = {**CHOICES, "pins": "q1", "instead": "lebt"}


@pytest.mark.parametrize("page", ["explore", "decode"])
def test_the_right_word_has_the_numbers_of_contrast(page: str) -> None:
    pane, figures = card(page, **PINNED)
    checkpoint = load_checkpoint(checkpoints_folder() / "en-de-small", "cpu")
    result = contrast(checkpoint, CHOICES["text"], pane.recording.target, 1, "lebt")
    source, prefix = tables(figures["contrast"])
    torch.testing.assert_close(values(source, "contrast"), result.of_source, atol=1e-4, rtol=0)
    torch.testing.assert_close(values(prefix, "contrast"), result.of_prefix, atol=1e-4, rtol=0)
    words = figures["right-word"].content
    assert isinstance(words, Words)
    numbers = {span.measure: span.value for span in words.lines[0].spans if span.measure}
    assert numbers["probability"] == pytest.approx(result.probability, rel=1e-3)
    assert (numbers["rank"],) == result.ranks
    assert "repairs" not in figures


def test_a_word_of_several_pieces_has_no_rank_of_its_own() -> None:
    pane, figures = card("decode", **{**PINNED, "instead": "Werksleiterin"})
    checkpoint = load_checkpoint(checkpoints_folder() / "en-de-small", "cpu")
    result = contrast(checkpoint, CHOICES["text"], pane.recording.target, 1, "Werksleiterin")
    words = figures["right-word"].content
    assert isinstance(words, Words) and len(result.pieces) > 1
    spans = [span for span in words.lines[0].spans if span.measure]
    assert [span.measure for span in spans] == ["probability", "rank of a piece"]
    assert spans[1].value == result.ranks[0]
    foot = [span.value for span in words.foot if span.measure == "rank of a piece"]
    assert tuple(foot) == result.ranks
    line = contrast_lines(result)[0]
    assert all(f"{it.token.piece} {it.rank:,}" in line for it in result.pieces)


def test_each_link_leads_to_a_screen_that_writes_the_word() -> None:
    pane, figures = card("explore", **PINNED, repairs="yes")
    table, value = figures["repairs"].content, finish(FindRepairs(pane.request, 1, "lebt"))
    assert isinstance(table, Table) and len(table.rows) == min(12, len(value.repairs)) > 1
    checkpoint = load_checkpoint(checkpoints_folder() / "en-de-small", "cpu")
    for row, repair in zip(table.rows, value.repairs, strict=False):
        keep, cost, written = row.cells
        assert keep is not None and cost is not None and written is not None
        assert cost.value == repair.cost and written.text == repair.text
        screen = parse(dict(parse_qsl(keep.link.partition("?")[2])))
        again = decode(checkpoint, CHOICES["text"], screen.decoding or "greedy", edits=screen.edits)
        assert again.text == repair.text and "lebt" in words_of(again.target)


def test_the_rows_of_a_repair_are_those_of_the_run_with_it() -> None:
    pane, figures = card("explore", **PINNED, repairs="yes")
    value = finish(FindRepairs(pane.request, 1, "lebt"))
    rows = forced_rows(value, pane.recording)
    (repair,) = [it for it in value.repairs if it.change.kind == "rows"]
    checkpoint = load_checkpoint(checkpoints_folder() / "en-de-small", "cpu")
    edited = record(checkpoint, CHOICES["text"], repair.target, repair.change.edits)
    assert rows
    for edit, now, needed in rows:
        assert edit in repair.change.edits
        before, after = (
            it.attentions[edit.place].weights(edit.layer, edit.head)[edit.query]
            for it in (pane.recording, edited)
        )
        torch.testing.assert_close(now, before)
        torch.testing.assert_close(needed, after, atol=1e-5, rtol=0)
    nats = sum(
        float((needed.double() * (needed.double() / now.double()).log()).nansum())
        for _, now, needed in rows
    )
    assert f"{len(rows)} heads would have to look elsewhere, {nats:.2f} nats" in rows_cost(
        rows, value
    )
    chart = figures["needed"].content
    assert isinstance(chart, Chart) and len(rows) * 2 == len(chart.y.labels or ())


@pytest.mark.thorough
def test_only_the_heads_that_are_chosen_look_elsewhere() -> None:
    choices = {**PINNED, "repairs": "yes", "repair_rows": "cross_layer", "layer": "1"}
    pane, figures = card("explore", **choices)
    chosen = heads_of_rows(pane)["cross_layer"][1]
    value = finish(FindRepairs(pane.request, 1, "lebt", _others(pane), chosen))
    assert {edit.layer for edit, *_ in forced_rows(value, pane.recording)} <= {1}
    assert ("needed" in figures) == bool(forced_rows(value, pane.recording))


def test_a_method_that_is_kept_writes_what_was_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_module("transformer.causes.repairs"), "MOST_DECODED", 1)
    choices = {**CHOICES, "text": RIVER, "pins": "q3", "instead": "dem", "repairs": "yes"}
    pane, figures = card("explore", **choices, **{"options.beam_size": "1"})
    assert dict(pane.screen.options) == {"beam_size": 1}
    table = figures["repairs"].content
    assert isinstance(table, Table)
    (row,) = [row for row in table.rows if row.head.text == "Method: Beam search"]
    keep, _, written = row.cells
    assert keep is not None and written is not None
    kept, _ = page_of(parse(dict(parse_qsl(keep.link.partition("?")[2]))))
    decoding = kept.answer.decoding
    assert kept.request.method == "beam" and decoding is not None
    assert decoding.text == written.text and "dem" in words_of(decoding.target)
    others = dict(_others(pane))
    assert others["beam"] == kept.request.options
    assert dict(others["sample"])["max_len"] == 80


@pytest.mark.thorough
def test_a_search_goes_on_where_it_was_stopped() -> None:
    checkpoint = load_checkpoint(checkpoints_folder() / "en-de-small", "cpu")
    inputs = checkpoint, CHOICES["text"], decode(checkpoint, CHOICES["text"]).target, 1, "lebt"
    whole = repairs(*inputs)
    pane, _ = card("explore", **PINNED)
    study = FindRepairs(pane.request, 1, "lebt")
    *_, part = islice(study.run(None, entered), 3)
    assert study.progress(part) == (3, part.n_to_decode)
    *_, last = study.run(part, entered)
    assert [it.text for it in last.repairs] == [it.text for it in whole.repairs]
    assert last.n_decoded == whole.n_decoded


def test_what_is_written_already_leaves_the_other_figures() -> None:
    for typed in ("wohnt", "  ", "#"):
        _, figures = card("explore", **{**PINNED, "instead": typed})
        assert "picture" in figures
