"""What the player of a training is told."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from transformer import load_checkpoint, record
from transformer.analysis.metrics.metrics import metrics_of
from transformer.analysis.reading import Selection
from transformer.training.history import list_snapshots
from transformer.training.snapshots import Course, roles, watch
from viz.components.kit.browser import unpack
from viz.components.snapshot_player import snapshot_player
from viz.components.snapshot_player.snapshot_player import pack_snapshots

COPY = Path(__file__).parents[3] / "checkpoints" / "copy"
STEPS = (0, 50, 200, 2000)


@pytest.fixture(scope="module")
def course() -> Course:
    checkpoint = load_checkpoint(COPY, "cpu")
    some = [each for each in list_snapshots(COPY) if each.step in STEPS]
    return watch(checkpoint, "3 7 2", record(checkpoint, "3 7 2", "3 7 2"), some)


def packed(
    course: Course, kind: str, layer: int, head: int, metric: str = "entropy", **more: Any
) -> tuple[dict[str, Any], list[np.ndarray]]:
    found = metrics_of(course.attentions(kind)[-1])[metric]
    return unpack(pack_snapshots(course, Selection(kind, layer, head), found, **more))


def test_exact_weights_with_masked_cells_apart(course: Course) -> None:
    header, (values, *_) = packed(course, "decoder_self", 1, 2)
    assert header["steps"] == list(STEPS) and header["id"] == "decoder_self L1 H2"
    weights = course.weights("decoder_self", 1, 2).numpy()
    masked = ~course.attentions("decoder_self")[0].allowed(1, 2).numpy()
    assert header["masked"] and masked.any()
    for step in range(len(STEPS)):
        assert np.isnan(values[step]).tolist() == masked.tolist()
        np.testing.assert_array_equal(values[step][~masked], weights[step][~masked])


def test_every_head_has_a_picture_a_curve_and_its_role(course: Course) -> None:
    header, (_, pictures, numbers, *_) = packed(course, "cross", 0, 3)
    measured = course.measured("cross")["entropy"]
    least = metrics_of(course.attentions("cross")[-1])["entropy"].least_change
    assert len(header["heads"]) == 8
    for i, (layer, head) in enumerate(header["heads"]):
        weights = course.weights("cross", layer, head).numpy()
        np.testing.assert_array_equal(pictures[:, i], np.rint(254 * np.sqrt(weights)))
        np.testing.assert_array_equal(numbers[:, i], measured[:, layer, head].numpy())
        assert header["roles"][i] == int(roles(measured[:, layer, head], least))


def test_what_the_browser_says_of_a_metric_is_its_own_text(course: Course) -> None:
    header, (_, _, numbers, *_) = packed(course, "encoder_self", 0, 3, "previous")
    metric = metrics_of(course.attentions("encoder_self")[-1])["previous"]
    assert header["metric"]["texts"] == [metric.text(each) for each in numbers.ravel().tolist()]
    assert header["metric"]["even_text"] == metric.text(header["metric"]["even"])


def test_of_many_heads_those_of_the_layer(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot_player, "MAX_HEADS", 7)
    header, (_, pictures, numbers, *_) = packed(course, "cross", 1, 0)
    assert header["heads"] == [[1, 0], [1, 1], [1, 2], [1, 3]]
    assert pictures.shape[:2] == numbers.shape == (len(STEPS), 4)


def test_another_head_and_metric_are_the_same_course(course: Course) -> None:
    name = packed(course, "cross", 0, 0)[0]["course"]
    assert packed(course, "cross", 1, 2, "confidence")[0]["course"] == name
    shorter = replace(course, steps=STEPS[1:], recordings=course.recordings[1:])
    assert packed(shorter, "cross", 0, 0)[0]["course"] != name


def test_of_a_large_map_each_block_has_its_largest_cell(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    exact = packed(course, "decoder_self", 0, 1)[1][0]
    n_rows, n_columns = exact.shape[1:]
    monkeypatch.setattr(snapshot_player, "MAX_CELLS", 2)
    header, (pooled, *_, places) = packed(course, "decoder_self", 0, 1)
    down, across = header["block"]
    assert (down, across) == (-(-n_rows // 2), -(-n_columns // 2))
    for step, i, j in np.ndindex(pooled.shape):
        block = exact[step, i * down : (i + 1) * down, j * across : (j + 1) * across]
        if np.isnan(block).all():
            assert np.isnan(pooled[step, i, j])
            continue
        assert pooled[step, i, j] == np.nanmax(block)
        row, column = divmod(int(places[step, i, j]), across)
        assert block[row, column] == pooled[step, i, j]


def test_losses_are_the_rows_that_have_them(course: Course) -> None:
    rows = [
        {"step": 1, "loss": 2.5},
        {"step": 2, "validation_loss": 2.0},
        {"step": 3, "loss": float("nan")},
        {"step": 4, "loss": 1.5, "validation_loss": 1.75},
    ]
    header, (_, _, _, training, validation) = packed(course, "cross", 0, 0, history=rows)
    assert header["losses"] == ["training loss", "validation loss"]
    assert training.tolist() == [[1, 2.5], [4, 1.5]]
    assert validation.tolist() == [[2, 2], [4, 1.75]]
    assert packed(course, "cross", 0, 0)[1][3].shape == (0, 2)


def test_a_metric_that_no_query_can_answer_is_packed_as_nan() -> None:
    checkpoint = load_checkpoint(COPY, "cpu")
    some = [each for each in list_snapshots(COPY) if each.step in STEPS]
    one = watch(checkpoint, "3", record(checkpoint, "3", "3"), some)
    header, (_, _, numbers, *_) = packed(one, "encoder_self", 0, 0, "previous")
    assert np.isnan(numbers).all()
    assert header["metric"]["even"] is None
    assert set(header["roles"]) == {-1}
