"""Files that leave the app say exactly what is on the screen."""

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from transformer import record
from transformer.analysis.metrics.metrics import measure
from transformer.analysis.reading import Selection
from transformer.analysis.tables import alignment_text, metrics_csv
from transformer.batch_masks import batch_masks
from transformer.checkpoint import Checkpoint
from transformer.decoding import Decoding
from transformer.files.foreign_text import of_text
from transformer.recording import Attention, Recording
from transformer.token import Token
from viz.export import (
    attention_csv,
    coverage_csv,
    decoding_csv,
    masks_csv,
    recording_npz,
    rows_csv,
)
from viz.painters.chart_plotly import figure as paint
from viz.painters.chart_plotly import figure_html
from viz.theme import DARK
from viz.views.heads import chart_head_heatmap

ROOT = Path(__file__).parents[1]


def rows_of(data: bytes) -> list[dict[str, str]]:
    rows = csv.DictReader(io.StringIO(data.decode(), newline=""))
    return [{name: of_text(cell) for name, cell in row.items()} for row in rows]


@pytest.mark.parametrize("kind", ["encoder_self", "decoder_self", "cross"])
def test_csv_has_every_cell(nasty: Recording, kind: str) -> None:
    attention = nasty.attentions[kind]
    rows = rows_of(attention_csv(attention, 1, 0))
    weights, allowed = attention.weights(1, 0), attention.allowed(1)[0]
    assert len(rows) == weights.numel()
    for row in rows:
        i, j = int(row["query_position"]), int(row["key_position"])
        assert row["query_piece"] == attention.queries[i].piece
        written = attention.produced[i].piece if attention.produced else ""
        assert row["written_piece"] == written
        assert row["key_piece"] == attention.keys[j].piece
        assert float(row["weight"]) == pytest.approx(float(weights[i, j]), rel=1e-7)
        assert row["masked"] == str(int(not allowed[i, j]))


def test_npz_has_every_weight_and_token(nasty: Recording) -> None:
    loaded = np.load(io.BytesIO(recording_npz(nasty)), allow_pickle=False)
    tokens = json.loads(str(loaded["tokens"]))
    assert set(loaded.files) == {"tokens", *nasty.attentions}
    for kind, attention in nasty.attentions.items():
        for layer in range(attention.n_layers):
            assert torch.equal(torch.from_numpy(loaded[kind][layer]), attention.weights(layer))
        assert [t["piece"] for t in tokens[kind]["keys"]] == [t.piece for t in attention.keys]
        assert ("produced" in tokens[kind]) == (attention.produced is not None)


def test_csv_has_every_candidate(checkpoint: Checkpoint, decoding: Decoding) -> None:
    recording = record(checkpoint, "3 7 2 9", decoding.target)
    rows = rows_of(decoding_csv(decoding, recording))
    assert len(rows) == sum(len(step.candidates) for step in decoding.steps)
    for t, step in enumerate(decoding.steps):
        mine = [row for row in rows if int(row["step"]) == t]
        assert [int(row["rank"]) for row in mine] == list(range(1, len(step.candidates) + 1))
        assert {row["chosen_piece"] for row in mine} == {step.chosen.token.piece}
        total = sum(float(row["candidate_prob"]) for row in mine) + float(mine[0]["rest"])
        assert total == pytest.approx(1)
        assert {row["candidate_prob_after"] for row in mine} == {""}
    ruled = replace(decoding.steps[0].candidates[0], after=0.25)
    steps = (replace(decoding.steps[0], candidates=(ruled,)), *decoding.steps[1:])
    row = rows_of(decoding_csv(replace(decoding, steps=steps), recording))[0]
    assert row["candidate_prob_after"] == "0.25"


def test_csv_has_every_metric_of_every_head(nasty: Recording) -> None:
    rows = {
        (row["kind"], int(row["layer"]), int(row["head"]), row["metric"]): row["value"]
        for row in rows_of(metrics_csv(nasty))
    }
    for kind, attention in nasty.attentions.items():
        for layer in range(attention.n_layers):
            for name, values in measure(attention, layer).items():
                for head, value in enumerate(values.tolist()):
                    text = rows.pop((kind, attention.number(layer), head, name))
                    assert float(text or "nan") == pytest.approx(value, rel=1e-7, nan_ok=True)
    assert rows == {}


def aligned(
    recording: Recording, source: list[Token], target: list[Token], weights: torch.Tensor
) -> Recording:
    """Return a recording whose only head of cross-attention has these weights."""
    call = replace(
        recording.attentions["cross"].calls[0],
        q=weights.clamp_min(1e-9).log()[None],
        k=torch.eye(weights.size(1))[None],
        v=torch.zeros(1, weights.size(1), 1),
        scale=1.0,
        mask=None,
        projection=None,
        sample=None,
    )
    queries = (Token(0, "<s>", special=True), *target[:-1])
    attention = Attention("cross", queries, tuple(source), [call], tuple(target))
    return replace(recording, attentions={"cross": attention})


def test_a_head_links_each_target_word_to_what_it_gives_most(recorder) -> None:
    recording = recorder(4, 3)
    source = [Token(5, "▁a"), Token(6, "b"), Token(7, "▁c"), Token(1, "</s>", special=True)]
    target = [Token(8, "▁x"), Token(9, "y"), Token(1, "</s>", special=True)]
    weights = torch.zeros(3, 4)
    weights[0] = torch.tensor([0.3, 0.3, 0.4, 0.0])  # the pieces of a word count together
    weights[1] = torch.tensor([0.1, 0.1, 0.8, 0.0])
    weights[2] = torch.tensor([0.0, 0.0, 0.0, 1.0])
    linked = aligned(recording, source, target, weights)
    assert alignment_text(linked, 0, 0).decode().splitlines()[1] == "1-0"
    weights[1] = torch.tensor([0.0, 0.0, 0.1, 0.9])
    linked = aligned(recording, source, target, weights)
    assert alignment_text(linked, 0, 0).decode().splitlines()[1:] == [
        ""
    ]  # the special one has more


def test_half_a_character_is_written_as_its_number() -> None:
    assert rows_csv([{"piece": "\ud800"}]).decode().splitlines() == ["piece", "\\ud800"]


@pytest.mark.parametrize("kind", ["encoder_self", "decoder_self", "cross"])
def test_csv_has_every_cell_of_every_mask(nasty: Recording, recorder, kind: str) -> None:
    pad = Token(99, "<pad>", special=True)  # the nasty tokens are 0, 1, 2, ...
    batch = batch_masks([each.attentions[kind] for each in (nasty, recorder(3, 2))], pad)
    rows = rows_of(masks_csv(batch))
    assert len(rows) == sum(masks.combined.numel() for masks in batch)
    for row in rows:
        i, j = int(row["query_position"]), int(row["key_position"])
        masks = batch[int(row["sentence"])]
        assert row["query_piece"] == masks.queries[i].piece
        assert row["key_piece"] == masks.keys[j].piece
        assert row["padding"] == str(int(row["key_piece"] == "<pad>"))
        assert row["subsequent"] == str(int(kind == "decoder_self" and j > i))
        assert row["allowed"] == str(int(row["padding"] == row["subsequent"] == "0"))


def test_html_is_one_page_that_asks_nobody(nasty: Recording) -> None:
    figure = paint(chart_head_heatmap(nasty, Selection("cross", 0, 1)), DARK)
    page = figure_html(figure, "<script>").decode()
    assert page.count("</script>") == page.count("<script")
    assert "<title>&lt;script&gt;</title>" in page
    assert "<script>alert(1)" not in page
    assert '"showSendToCloud": false' in page
    assert "default-src 'none'" in page
    assert "src=" not in page.split("<body>")[0]
    assert DARK.background in page


def test_rows_keep_every_digit_and_leave_what_is_missing_empty() -> None:
    rows = rows_of(rows_csv([{"step": 1, "loss": 0.1 + 0.2}, {"step": 2, "BLEU": 1 / 3}]))
    assert [row["step"] for row in rows] == ["1", "2"]
    assert float(rows[0]["loss"]) == 0.1 + 0.2
    assert (rows[0]["BLEU"], rows[1]["loss"]) == ("", "")
    assert float(rows[1]["BLEU"]) == 1 / 3


@pytest.mark.parametrize(
    "text",
    ["=1+1", "+1+1", "-", "--1", "-1-1", "@a", "\t=1", "\r=1", '=cmd|" /C calc"!A0', "'a", "''"],
)
def test_text_that_a_spreadsheet_would_compute_stays_text(text: str) -> None:
    content = rows_csv([{"path": text, "value": -0.5}])
    ((cell, number),) = list(csv.reader(io.StringIO(content.decode(), newline="")))[1:]
    assert (cell[0], number) == ("'", "-0.5")
    assert rows_of(content) == [{"path": text, "value": "-0.5"}]  # no two become the same


@pytest.mark.parametrize("text", ["", "a", "-1", "+1", "-1e-3", "-.5", "-inf", "a'b", "a=b"])
def test_other_text_is_as_it_is(text: str) -> None:
    content = rows_csv([{"path": text}, {"path": "x"}])
    assert list(csv.reader(io.StringIO(content.decode(), newline="")))[-2:] == [
        [text] if text else [""],
        ["x"],
    ]


def columns_of_files() -> Iterator[tuple[str, list[str]]]:
    """Name and columns of every file that pages offer, as the golden files have them."""
    for file in sorted((ROOT / "golden" / "files" / "screens").glob("*.csv.txt")):
        head = next(line for line in file.read_text("utf-8").splitlines() if "head: " in line)
        yield file.name.split(".")[1].removeprefix("headscope-"), head[6:].split(",")


def test_every_file_about_tokens_has_position_piece_and_word() -> None:
    of_tokens = set()
    for name, columns in columns_of_files():
        sides = {it.removesuffix("position") for it in columns if it.endswith("position")}
        of_tokens |= {name} if sides else set()
        assert not [s for s in sides if not {f"{s}piece", f"{s}word"} <= set(columns)], name
        if name != "search":  # its tokens stand in a tree, and in no text
            assert not {"piece", "key", "query"} & set(columns) or sides, name
    assert of_tokens >= {"steps", "needed", "sweep", "patches", "smoothing-parts"}


def test_coverage_is_the_sum_of_the_steps_so_far(recorder: object, decoding: Decoding) -> None:
    recording = record(recorder.checkpoint, "3 7 2 9", decoding.target)  # type: ignore[attr-defined]
    rows = list(csv.DictReader(io.StringIO(coverage_csv(recording, 1).decode())))
    weights = recording.attentions["cross"].weights(1).mean(0)
    assert len(rows) == weights.numel()
    for row in rows:
        t, s = int(row["step"]), int(row["key_position"])
        wanted = float(weights[: t + 1, s].sum())
        assert float(row["received"]) == pytest.approx(wanted, abs=1e-5)
