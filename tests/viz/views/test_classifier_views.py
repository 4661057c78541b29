"""The views of a classifier: what stands in the figure."""

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch

from transformer.recording import Recording
from transformer.recording.data import Classification, PooledClassification
from viz.exhibits.chart import Axis
from viz.painters.chart_plotly import figure as paint
from viz.theme import DARK, LIGHT
from viz.views.outputs import (
    CLASS_PROBABILITIES_VIEW,
    CONTRIBUTION,
    MOST,
    POOLED_POSITIONS_VIEW,
    SHARE,
    chart_class_probabilities,
    chart_pooled_positions,
    describe_class_probabilities,
    describe_pooled_positions,
    pooled_of,
)

CLASSIFIERS = ("mean of 2", "max of 2", "mean of 3", "max of 3")


@pytest.fixture(params=CLASSIFIERS)
def classified(request: pytest.FixtureRequest, recordings: dict[str, Recording]) -> Recording:
    """Of a classifier whose bias is not 0, as one that has learnt is."""
    recording = recordings[request.param]
    found = recording.classification
    assert found is not None
    bias = torch.linspace(-0.3, 0.4, len(found.classes))
    found = replace(found, bias=bias, logits=found.logits - found.bias + bias)
    return replace(recording, classification=found)


def found_in(recording: Recording) -> PooledClassification:
    return pooled_of(recording)


def test_bars_are_the_probabilities_in_the_order_of_the_classes(classified: Recording) -> None:
    figure = paint(chart_class_probabilities(classified), LIGHT)
    found, (bars,) = found_in(classified), figure.data
    torch.testing.assert_close(torch.tensor(bars.x), found.probs, check_dtype=False)
    assert sum(bars.x) == pytest.approx(1)
    assert figure.layout.yaxis.ticktext == found.classes
    assert figure.layout.xaxis.tickvals == (0, 0.5, 1)
    assert [logit for _, logit in bars.customdata] == found.logits.tolist()
    assert "%{x:.4f}" in bars.hovertemplate and "logit" in bars.hovertemplate
    assert bars.text[0] == f"{100 * found.probs[0]:.1f} %"


def test_of_very_many_classes_the_most_probable_are_drawn(classified: Recording) -> None:
    n = 1000
    logits = torch.randperm(n, generator=torch.Generator().manual_seed(1)) / 100
    found = Classification(tuple(f"class {i}" for i in range(n)), logits)
    recording = replace(classified, classification=found)
    figure = paint(chart_class_probabilities(recording), LIGHT)
    (bars,) = figure.data
    assert list(bars.x) == sorted(found.probs.tolist(), reverse=True)[:MOST]
    best = int(logits.argmax())
    assert figure.layout.yaxis.ticktext[0] == f"class {best}"
    said = describe_class_probabilities(recording)
    assert said.startswith(f"Predicted: class {best}, ") and said.endswith(", and 995 others.")


def test_the_predicted_class_alone_has_the_accent(classified: Recording) -> None:
    (bars,) = paint(chart_class_probabilities(classified), DARK).data
    assert [color == DARK.accent for color in bars.marker.color].index(True) == bars.x.argmax()
    assert bars.marker.color.count(DARK.accent) == 1
    predicted = found_in(classified).classes[bars.x.argmax()]
    assert f"Predicted: {predicted}, " in describe_class_probabilities(classified)


def test_shares_are_one_in_all(classified: Recording) -> None:
    (bars,) = paint(chart_pooled_positions(classified, SHARE), LIGHT).data
    found = found_in(classified)
    n_positions, d_model = found.outputs.shape
    assert len(bars.x) == n_positions == len(classified.source)
    assert sum(bars.x) == pytest.approx(1)
    if found.pooling == "mean":
        assert bars.x == pytest.approx([1 / n_positions] * n_positions)
        assert "dimensions" not in bars.hovertemplate
    else:
        won = [(found.outputs.argmax(0) == i).sum().item() for i in range(n_positions)]
        assert [count for _, count in bars.customdata] == won
        assert f"of {d_model} dimensions" in bars.hovertemplate
    assert found.pooling in figure_title(classified, SHARE)


def test_a_hidden_word_has_no_bar_and_is_not_counted(classified: Recording) -> None:
    pooled = found_in(classified)
    real = pooled.real.clone()
    real[1] = False
    recording = replace(classified, classification=replace(pooled, real=real))
    for shown in (SHARE, CONTRIBUTION):
        (bars,) = paint(chart_pooled_positions(recording, shown), LIGHT).data
        assert bars.x[1] == 0
        assert f" {len(real) - 1} positions" in describe_pooled_positions(recording, shown)


def figure_title(recording: Recording, shown: str) -> str:
    return str(paint(chart_pooled_positions(recording, shown), LIGHT).layout.title.text)


def test_contributions_and_bias_are_what_the_axis_says(classified: Recording) -> None:
    figure = paint(chart_pooled_positions(classified, CONTRIBUTION), LIGHT)
    found = found_in(classified)
    best, *others = found.logits.argsort(descending=True).tolist()
    text, names = figure.layout.xaxis.title.text.replace("<br>", " "), found.classes
    expected, bias = found.logits[best], found.bias[best]
    words = f"added to logit({names[best]}) sum"
    if len(others) == 1:
        expected, bias = expected - found.logits[others[0]], bias - found.bias[others[0]]
        words = f"added to logit({names[best]}) − logit({names[others[0]]}) sum"
    assert text.startswith(words)
    assert abs(sum(figure.data[0].x) + float(bias) - float(expected)) < 1e-5
    assert text.endswith(f": {expected:+.3f}".replace("-", "−"))
    assert f"{expected:+.3f}".replace("-", "−") in describe_pooled_positions(
        classified, CONTRIBUTION
    )


def test_the_two_signs_have_the_two_ends_of_the_difference_scale(classified: Recording) -> None:
    (bars,) = paint(chart_pooled_positions(classified, CONTRIBUTION), LIGHT).data
    ends = {True: LIGHT.difference_scale[-1], False: LIGHT.difference_scale[0]}
    assert list(bars.marker.color) == [ends[value >= 0] for value in bars.x]


@pytest.mark.parametrize("shown", [CONTRIBUTION, SHARE])
def test_a_row_a_position_and_the_first_on_top(
    nasty_recordings: dict[str, Recording], shown: str
) -> None:
    figure = paint(chart_pooled_positions(nasty_recordings["max of 2"], shown), LIGHT)
    rows = figure.layout.yaxis
    assert rows.range == (6.5, -0.5)
    assert rows.tickvals == tuple(range(7))
    assert rows.ticktext[0] == "&lt;b&gt;x&lt;/b&gt;"
    assert rows.ticktext[6] == "U+202E"


def test_names_of_classes_show_literally(nasty_recordings: dict[str, Recording]) -> None:
    nasty = nasty_recordings["mean of 3"]
    names = paint(chart_class_probabilities(nasty), LIGHT).layout.yaxis.ticktext
    assert names == (
        "&lt;b&gt;x&lt;/b&gt;",
        "&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;",
        "$x_1$",
    )


def test_of_many_rows_some_have_their_piece_and_all_on_hover(
    recorders: dict[str, Callable[[int, int], Recording]],
) -> None:
    recording = recorders["max of 2"](200, 1)
    figure = paint(chart_pooled_positions(recording, CONTRIBUTION), LIGHT)
    rows, few = figure.layout.yaxis, figure.layout.yaxis2
    assert few.showticklabels and 0 < len(few.ticktext) <= Axis("").most_labels
    assert len(rows.ticktext) == 200 and not rows.showticklabels
    assert few.ticktext[1] == rows.ticktext[few.tickvals[1]]


def test_where_nothing_is_classified_nothing_is_drawn(recording: Recording) -> None:
    for view in (
        CLASS_PROBABILITIES_VIEW,
        POOLED_POSITIONS_VIEW,
    ):
        assert not view.applies_to(recording)
    with pytest.raises(ValueError, match="applies_to"):
        paint(chart_class_probabilities(recording), LIGHT)
