"""The figures about training: what stands in them."""

import json
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import pytest
import torch

from transformer.discover import discover
from transformer.recording import Recording
from transformer.token import Token
from transformer.training.history import read_history
from transformer.training.task import entropy, smoothed_target
from viz.labels import percent
from viz.pages.training import (
    OverSteps,
    chart_learning_rate,
    chart_loss_curve,
    chart_score_curves,
    describe_learning_rate,
    describe_loss_curve,
    describe_score_curves,
    last_step,
    paper_curve,
    peak,
    recipe_curve,
    saved,
    scores,
)
from viz.pages.training import smoothing as label_smoothing
from viz.pages.training.smoothing import (
    all_parts,
    chart_smoothing_parts,
    describe_smoothing_parts,
    parts,
)
from viz.painters.chart_plotly import figure as paint
from viz.theme import DARK, LIGHT

SHIPPED = Path(__file__).parents[3] / "checkpoints"
POSITION = 2


def piece(id: int) -> Token:
    return Token(id, f"<b>x{id}</b>")


@pytest.fixture
def log_probs(recording: Recording) -> torch.Tensor:
    return label_smoothing.log_probs_at(recording, POSITION)


def test_the_prediction_is_what_the_target_was_chosen_from(
    recording: Recording, log_probs: torch.Tensor
) -> None:
    expected = recording.logits[POSITION].softmax(-1)
    torch.testing.assert_close(log_probs.exp(), expected, check_dtype=False)


@pytest.mark.parametrize("rank", [0, -1])
def test_the_rows_hold_the_target_and_all_of_both_distributions(
    log_probs: torch.Tensor, rank: int
) -> None:
    target = int(log_probs.argsort(descending=True)[rank])
    smoothed = smoothed_target(target, 40, 0.1)
    rows = label_smoothing.rows(target, smoothed, log_probs, piece)
    assert len(rows) == 11
    assert target in [row.token.id for row in rows if row.token]
    assert rows[0].predicted == pytest.approx(float(log_probs.exp().max()))
    assert (rows[-1].token, rows[-1].n_pieces) == (None, 30)
    assert sum(row.predicted for row in rows) == pytest.approx(1)
    assert sum(row.smoothed for row in rows) == pytest.approx(1)
    figure = paint(
        label_smoothing.chart_label_smoothing(rows, POSITION, [piece(target)] * (POSITION + 1)),
        LIGHT,
    )
    assert [bars.name for bars in figure.data] == ["smoothed target", "prediction"]
    assert list(figure.data[1].x) == [row.predicted for row in rows]
    assert percent(0.9 + 0.1 / 40) in figure.data[0].text
    assert "<b>x" not in str(figure.to_json())


def test_a_small_vocabulary_leaves_no_others() -> None:
    log_probs = torch.zeros(4, dtype=torch.float64).log_softmax(-1)
    rows = label_smoothing.rows(1, smoothed_target(1, 4, 0.1), log_probs, piece)
    assert [row.n_pieces for row in rows] == [1, 1, 1, 1]


def test_the_description_says_both_probabilities(log_probs: torch.Tensor) -> None:
    rows = label_smoothing.rows(3, smoothed_target(3, 40, 0.2), log_probs, piece)
    said = label_smoothing.describe_label_smoothing(
        rows, POSITION, tuple(piece(3) for _ in range(POSITION + 1))
    )
    assert percent(0.8 + 0.2 / 40) in said
    assert percent(float(log_probs[3].exp())) in said


def test_without_a_target_it_is_said(recording: Recording) -> None:
    assert label_smoothing.why_not(recording) is None
    classifier = replace(recording, target=(), logits=torch.zeros(3))
    assert label_smoothing.why_not(classifier) == label_smoothing.NO_TARGET
    assert label_smoothing.why_not(replace(recording, attentions=MappingProxyType({}))) is None


def test_the_stacked_parts_are_the_loss(log_probs: torch.Tensor) -> None:
    curve = all_parts(5, log_probs)
    assert [round(each.epsilon, 2) for each in curve] == [i / 100 for i in range(51)]
    for each in curve:
        assert each.divergence + each.entropy == pytest.approx(each.cross_entropy, abs=1e-12)
    chosen = parts(5, log_probs, 0.1)
    assert vars(chosen) == pytest.approx(vars(curve[10]))
    figure = paint(chart_smoothing_parts(curve, chosen, POSITION), DARK)
    assert {area.stackgroup for area in figure.data} == {"all"}
    assert figure.layout.shapes[0].x0 == 0.1
    assert f"{chosen.cross_entropy:.4f} nats" in describe_smoothing_parts(chosen)


@pytest.mark.parametrize("log", [False, True])
def test_the_papers_peak_is_marked_with_its_value_and_step(log: bool) -> None:
    paper = paper_curve(512, 4000, 1)
    nothing = saved([], "learning_rate", "")
    drawn = paint(chart_learning_rate(paper, None, nothing, log), LIGHT)
    curve, point = drawn.data
    assert (point.x[0], point.y[0]) == (4000, pytest.approx((512 * 4000) ** -0.5))
    assert max(curve.y) == point.y[0]
    (note,) = drawn.layout.annotations
    assert note.text == "peak 0.0006988 at step 4,000"
    assert note.x == pytest.approx(3.60206 if log else 4000)


def test_the_recipes_curve_goes_through_the_rates_of_its_run() -> None:
    recipe = discover("transformer.training.recipes", "RECIPE")["copy"]
    curve = recipe_curve("copy", recipe.training)
    run = saved(read_history(SHIPPED / "copy"), "learning_rate", "run")
    drawn = dict(zip(curve.steps, curve.values, strict=True))
    met = [(drawn[s], v) for s, v in zip(run.steps, run.values, strict=True) if s in drawn]
    assert len(met) > 10
    assert [a for a, _ in met] == pytest.approx([b for _, b in met])
    assert peak(curve) == (100, 0.002)
    assert (curve.steps[0], curve.steps[-1]) == (1, 2000)
    paper = paper_curve(64, 10, 2000)
    assert len(paint(chart_learning_rate(paper, curve, run, False), DARK).data) == 4
    assert "0.002 at step 100" in describe_learning_rate(paper, curve)


@pytest.mark.parametrize("log", [False, True])
def test_rates_of_a_run_longer_than_its_recipe_are_all_in_sight(log: bool) -> None:
    run = OverSteps("run", (1, 16_000, 9000), (0.0, 0.0001, 0.0002))
    recipe = OverSteps("recipe", (1, 6000), (0.0, 0.0))
    assert last_step(recipe, None, run) == 16_000
    assert last_step(None, OverSteps("empty", (), ())) == 1
    paper = paper_curve(512, 1000, 1)
    drawn = paint(chart_learning_rate(paper, recipe, run, log), LIGHT)
    end = drawn.layout.xaxis.range[1]
    assert (10**end if log else end) > 16_000


def test_the_losses_are_those_that_were_saved() -> None:
    history = read_history(SHIPPED / "copy")
    floor = float(entropy(smoothed_target(0, 12, 0.1)))
    drawn = paint(chart_loss_curve(history, floor, False), LIGHT)
    training, validation, least = drawn.data
    assert list(training.y) == [row["loss"] for row in history if "loss" in row]
    assert list(validation.x) == [500, 1000, 1500, 2000]
    # The task is learnt whole: what is left of the loss is the smoothing.
    assert training.y[-1] == pytest.approx(floor, abs=1e-3)
    assert min(training.y) > floor - 1e-6
    assert f"{floor:.4f} nats" in least.name and set(least.y) == {floor}
    assert least.x[0] <= training.x[0] and least.x[-1] >= training.x[-1]
    said = describe_loss_curve(history)
    assert said.startswith("The training loss goes from 2.7575 nats at step 1")
    assert len(paint(chart_loss_curve(history, None, True), LIGHT).data) == 2


def test_every_other_validation_score_has_a_curve() -> None:
    history = read_history(SHIPPED / "en-de-small")
    drawn = paint(chart_score_curves(history, False), LIGHT)
    assert [curve.name for curve in drawn.data] == ["BLEU", "chrF"]
    last = [row for row in history if "BLEU" in row][-1]
    assert drawn.data[0].y[-1] == last["BLEU"]
    assert f"BLEU {last['BLEU']:.2f}" in describe_score_curves(history)
    assert not scores([{"step": 1, "loss": 2.0}])


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_both_losses_share_the_steps_of_the_scores(theme) -> None:
    history = read_history(SHIPPED / "en-de-small")
    charts = (
        chart_loss_curve(history, 1.2, True),
        chart_score_curves(history, True),
    )
    assert charts[0].x == charts[1].x
    for drawn in (paint(chart, theme) for chart in charts):
        json.loads(drawn.to_json())
        assert drawn.layout.paper_bgcolor == theme.background


def test_a_history_without_losses_is_said() -> None:
    assert describe_loss_curve([{"step": 1, "accuracy": 90.0}]) == "No loss was saved."
