"""Recordings that are saved and opened again: equal in every field, number and figure."""

import json
import random
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from tests.representatives import cases
from transformer import InputError, Recording, from_weights, load_recording
from transformer.analysis.reading import Reading, Selection, lenses
from transformer.analysis.tables import metrics_csv
from transformer.discover import discover
from transformer.recording.packing import HEADER, LEFT_OUT, Unsaved
from transformer.refusal import Refusal
from viz.components.head_grid.head_grid import HeadGrid
from viz.components.head_map.head_map import HeadMap
from viz.export import recording_npz
from viz.painters.chart_plotly import figure as paint
from viz.theme import LIGHT
from viz.views.view import View

NAMES = (
    *("translator", "generator", "projected", "prompt", "mean of 2", "max of 2", "mean of 3"),
    *("max of 3", "masked", "classified", "scored", "alibi", "relative", "rotary"),
)
FEW = {
    "two texts": "translator",
    "a pooled class": "max of 2",
    "masks": "masked",
    "numbers": "scored",
    "biases": "relative",
    "turned queries": "rotary",
}


def assert_equal(first: Any, second: Any, at: str = "") -> None:
    if isinstance(first, Tensor):
        assert first.dtype == second.dtype and torch.equal(first, second), at
    elif is_dataclass(first):
        assert type(first) is type(second), at
        for each in fields(first):
            if each.name not in LEFT_OUT:
                name = f"{at}.{each.name}"
                assert_equal(getattr(first, each.name), getattr(second, each.name), name)
    elif isinstance(first, Mapping):
        assert [*first] == [*second], at
        for key in first:
            assert_equal(first[key], second[key], f"{at}[{key}]")
    elif isinstance(first, str) or not hasattr(first, "__len__"):
        assert first == second, at
    else:
        assert len(first) == len(second), at
        for i, (one, other) in enumerate(zip(first, second, strict=True)):
            assert_equal(one, other, f"{at}[{i}]")


def figures(recording: Recording) -> list[str | bytes]:
    """Every view, and what the grid and the map of a head draw through every lens; or a sentence
    in its place."""
    views: dict[str, View] = discover("viz.views", "VIEW")
    found: list[str | bytes] = []
    for view in views.values():
        if view.applies_to(recording):
            chosen = {each.name: each.options(recording)[0] for each in view.controls}
            found.append(str(paint(view.content(recording, **chosen), LIGHT).to_json()))
    for kind in recording.attentions:
        for lens in lenses():
            for picture in (
                HeadGrid((kind,), Reading(lens)),
                HeadMap(Selection(kind, 0, 0), Reading(lens)),
            ):
                try:
                    found.append(picture.payload(recording))
                except Refusal as refusal:
                    found.append(str(refusal))
    return found


@pytest.mark.parametrize("name", cases(NAMES, FEW))
def test_what_was_recorded_comes_back(
    name: str, recordings: dict[str, Recording], tmp_path: Path
) -> None:
    before = recordings[name]
    after = load_recording(before.save(tmp_path / "a.npz"))
    assert_equal(before, after)
    assert after.checked == before.checked
    assert metrics_csv(after) == metrics_csv(before)
    assert recording_npz(after) == recording_npz(before)
    assert figures(after) == figures(before)


def test_every_recording_is_tried(recordings: dict[str, Recording]) -> None:
    assert {*NAMES} == {*recordings}


def test_a_file_that_says_it_is_right_is_checked_itself(
    recordings: dict[str, Recording], tmp_path: Path
) -> None:
    whole = recordings["translator"].save(tmp_path / "a.npz")
    with np.load(whole) as opened:
        arrays = {name: opened[name] for name in opened.files}
    arrays["attentions.cross.calls.0.v"] *= 2
    np.savez(whole, **arrays)
    assert load_recording(whole).checked.is_right is False


def test_half_precision_and_bare_arrays(tmp_path: Path) -> None:
    parts = {name: torch.rand(2, 4, 5, 6) for name in "qkv"}
    before = from_weights({"cross": torch.rand(2, 4, 5, 6).softmax(-1), "encoder_self": parts})
    assert_equal(before, load_recording(before.save(tmp_path / "a.npz")))
    half = torch.rand(5, 9).to(torch.bfloat16)
    before = Recording((), (), {}, {}, half)
    assert_equal(before, load_recording(before.save(tmp_path / "b.npz")))


def test_a_file_of_weights_by_themselves(recordings: dict[str, Recording], tmp_path: Path) -> None:
    """The app saves one: weights, and tokens beside them."""
    before, file = recordings["translator"], tmp_path / "a.npz"
    file.write_bytes(recording_npz(before))
    after = from_weights(file)
    for kind, attention in before.attentions.items():
        assert torch.equal(after.attentions[kind].weights(1), attention.weights(1))
        pieces = [token.piece for token in after.attentions[kind].queries]
        assert pieces == [token.piece for token in attention.queries]
    with pytest.raises(InputError, match="from_weights"):
        load_recording(file)
    with pytest.raises(InputError, match="load_recording"):
        from_weights(before.save(tmp_path / "b.npz"))


def test_where_nothing_is_saved(tmp_path: Path) -> None:
    recording = from_weights({"encoder_self": torch.ones(1, 1, 2, 2) / 2})
    with pytest.raises(Unsaved, match=r"\.npz"):
        recording.save(tmp_path / "a.pkl")
    (tmp_path / "folder").write_text("")
    with pytest.raises(Refusal):
        recording.save(tmp_path / "folder" / "a.npz")


def changed(value: Any, choose: random.Random) -> Any:
    """The same with one value somewhere within that is another."""
    others = (None, -1, 10**30, "x", [], {}, {"array": "nowhere"}, {"is": "Path", "of": {}})
    if not value or not isinstance(value, dict | list) or choose.random() < 0.1:
        return choose.choice(others)
    keys = list(value) if isinstance(value, dict) else range(len(value))
    key = choose.choice(list(keys))
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[key] = changed(value[key], choose)
    return copy


def test_a_file_that_is_none_ends_in_one_sentence(tmp_path: Path) -> None:
    parts = {name: torch.rand(1, 2, 3, 4) for name in "qkv"}
    recording = from_weights({"encoder_self": parts}, queries=["a", "b", "c"])
    whole = recording.save(tmp_path / "a.npz")
    with np.load(whole) as opened:
        arrays = {name: opened[name] for name in opened.files if name != HEADER}
        header = json.loads(str(opened[HEADER]))
    n_refused, choose = 0, random.Random(0)
    for _ in range(150):
        text = json.dumps(changed(header, choose))
        np.savez(tmp_path / "b.npz", **{HEADER: np.array(text)}, **arrays)
        with suppress(InputError):
            load_recording(tmp_path / "b.npz")
            continue
        n_refused += 1
    assert n_refused > 100
    (tmp_path / "c.npz").write_bytes(whole.read_bytes()[:-200])
    for name in ("c.npz", "nowhere.npz", "a.safetensors"):
        with pytest.raises(InputError, match=name):
            load_recording(tmp_path / name)
    with pytest.raises(InputError, match=r"^nowhere\.npz"):  # without a folder, the name is first
        load_recording("nowhere.npz")
