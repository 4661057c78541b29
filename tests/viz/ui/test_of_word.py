"""Further studies of a pinned word: their figures have the numbers of the library."""

import csv
import io
from pathlib import Path
from typing import Any

import pytest

from tests.representatives import thorough
from tests.transformer.watch.hugging_face import build
from transformer.analysis.ablation import sweep
from transformer.analysis.reading import read
from transformer.analysis.scored import output_of, scored
from transformer.causes.arrows import arrows, forecast
from viz.causes.of_word import CAUSES
from viz.components.kit.picture import sides
from viz.exhibits.exhibit import Exhibit
from viz.exhibits.table import Table
from viz.figure_at import page_of
from viz.screen import parse
from viz.state.focus import pinned_step, pinned_target
from viz.state.page import Pane
from viz.ui.saving import figure_of

TIRED = "The animal didn't cross the street because it was too tired."

NICHT = 6
"""Its place among the pieces that are written; among words it is 5."""


def figures(cause: str, **choices: str) -> tuple[Pane, dict[str, Exhibit]]:
    base = {"page": "explore", "checkpoint": "en-de-1", "text": TIRED, "decoding": "greedy"}
    pane, figures = page_of(parse({**base, "cause": cause, **choices}))
    return pane, dict(figures)


def lines(pane: Pane, exhibit: Exhibit) -> list[dict[str, Any]]:
    text = figure_of(pane, exhibit).table("csv").decode()
    return list(csv.DictReader(io.StringIO(text)))


@pytest.mark.parametrize(
    ("page", "kind"),
    [
        ("explore", "cross"),
        thorough(("decode", "cross")),
        thorough(("explore", "decoder_self")),
        ("decode", "decoder_self"),
    ],
)
def test_each_arrow_is_cut(page: str, kind: str) -> None:
    pane, made = figures("arrows", page=page, kind=kind, pins="q5")
    place = (pinned_step if page == "decode" else pinned_target)(pane)
    assert place is not None
    assert place == NICHT or kind == "decoder_self"
    result = arrows(pane.checkpoint, TIRED, pane.recording.target, place)
    expected = [
        cost
        for (place, _), costs in result.costs.items()
        if place == kind
        for cost in costs.flatten().tolist()
    ]
    costs = [float(line["nats lost"]) for line in lines(pane, made["arrows"])]
    assert costs == pytest.approx(expected, abs=1e-6)
    table = made["strongest"].content
    assert isinstance(table, Table)
    cost, edit = result.strongest(1)[0]
    assert table.rows[0].cells[0] is not None
    assert table.rows[0].cells[0].value == pytest.approx(cost, abs=1e-6)
    assert str(edit) in table.rows[0].head.link


def test_none_is_open_without_a_word_or_a_known_name() -> None:
    assert "arrows" not in figures("arrows")[1]
    assert "arrows" not in figures("nothing", pins="q5")[1]


def test_models_of_others_have_a_forecast_that_runs_confirm(tmp_path: Path) -> None:
    model: Any = build("GPT-2")
    model.save_pretrained(tmp_path)
    at = {"checkpoint": str(tmp_path), "text": "7 9 11", "options.max_len": "6"}
    pane, _ = figures("", **at)
    place = sides(read(pane.recording, "decoder_self", pane.reading))["rows"]["target"][2]
    pane, made = figures("arrows", pins=f"q{place}", **at)
    step = pinned_target(pane)
    assert step is not None
    result = forecast(pane.checkpoint, "7 9 11", pane.recording.target, step)
    costs = [float(line["nats lost"] or "nan") for line in lines(pane, made["arrows"])]
    expected = [cost for each in result.costs.values() for cost in each.flatten().tolist()]
    assert costs == pytest.approx(expected, abs=1e-6, nan_ok=True)
    for exhibit in (made["arrows"], made["strongest"]):
        assert "orecast" in exhibit.says + str(getattr(exhibit.content, "foot", ""))
    table = figures("exact", pins=f"q{place}", **at)[1]["exact"].content
    assert isinstance(table, Table)
    cut = result.strongest(1)[0][1]
    output = output_of(pane.checkpoint, "7 9 11", pane.recording.target)
    before, after = (
        part.log_probs[0, step] for part in scored(pane.checkpoint, output, [(), (cut,)])
    )
    cell = table.rows[0].cells[1]
    assert cell is not None and cell.value == pytest.approx(float(before - after), abs=1e-5)


def test_what_is_not_offered_says_why() -> None:
    pane, made = figures("exact", pins="q5")
    assert not CAUSES["exact"].is_offered(pane) and "exact" not in made


@pytest.mark.parametrize(("name", "pin"), [("en-de-1", "q5"), ("everyday", "q8")])
def test_the_parts_of_a_logit_sum_to_its_lead(name: str, pin: str) -> None:
    text, kind = (TIRED, "cross") if name == "en-de-1" else ("She told me that she", "decoder_self")
    pane, made = figures("parts", checkpoint=name, text=text, kind=kind, pins=pin)
    place = pinned_target(pane)
    assert place is not None
    logits = pane.recording.logits[-len(pane.recording.target) :][place].double()
    own, *others = logits.argsort(descending=True).tolist()
    if (written := pane.recording.target[place].id) != own:
        own, others = written, [own]
    lead = float(logits[own] - logits[others[0]])
    bars = [float(line["logit"]) for line in lines(pane, made["parts"])]
    assert sum(bars) == pytest.approx(lead, abs=1e-4)
    table = made["every-part"].content
    assert isinstance(table, Table)
    wholes = [row.cells[-1].value for row in table.rows if row.cells[-1] is not None]
    assert sum(value or 0 for value in wholes) == pytest.approx(lead, abs=1e-4)
    is_post = pane.checkpoint.config.norm_order == "post"
    assert is_post == (name == "en-de-1") == ("last layer only" in table.foot)


def test_parts_are_of_the_model_unchanged() -> None:
    pane, made = figures("parts", pins="q5", edits="head-off:cross.2.0")
    assert "parts" not in made
    assert "edits" in (CAUSES["parts"].why_not(pane) or "")


def test_the_grid_has_what_each_head_is_worth_to_the_word() -> None:
    pane, made = figures("", pins="q5", show="worth", kind="cross")
    target = pane.recording.target
    result = sweep(pane.checkpoint, TIRED, target)
    wanted = {
        (edit.place, edit.layer, edit.head): -float(changes[NICHT])
        for edit, changes in zip(result.edits, result.changes, strict=True)
    }
    costs = {
        (line["kind"], int(line["layer"]), int(line["head"])): float(line["worth"])
        for line in lines(pane, made["grid"])
    }
    assert costs == pytest.approx(wanted, abs=1e-6)
    assert costs["cross", 2, 0] > 0.5


@pytest.mark.parametrize("choices", [{}, {"pins": "q5", "edits": "head-off:cross.2.0"}])
def test_a_grid_without_a_word_or_under_edits_shows_no_worth(choices: dict[str, str]) -> None:
    pane, made = figures("", show="worth", kind="cross", **choices)
    assert all("worth" not in line for line in lines(pane, made["grid"]))
