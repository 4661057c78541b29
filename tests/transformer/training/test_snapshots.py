"""Snapshots are found and run, and what is said of heads over steps is what a loop finds."""

import json
import math
import random
import re
import shutil
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.transformer.watch.hugging_face import build
from transformer import Checkpoint, CheckpointError, Recording, decode, load_checkpoint, record
from transformer.analysis.metrics.metrics import measure, metrics_of
from transformer.device import OutOfMemory
from transformer.training.history import LEFT_OUT, Snapshot, left_out, list_snapshots, training_rows
from transformer.training.snapshots import MOST, Course, even_value, roles, thinned, watch

SHIPPED = Path(__file__).parents[3] / "checkpoints"
COPY = SHIPPED / "copy"
STEPS = [0, 20, 32, 50, 80, 126, 200, 317, 502, 796, 1262, 2000]


def opened(folder: Path) -> tuple[Checkpoint, str, Recording]:
    checkpoint = load_checkpoint(folder, "cpu")
    text = checkpoint.about.examples[0]
    return checkpoint, text, record(checkpoint, text, decode(checkpoint, text).target)


@pytest.fixture(scope="module")
def course() -> Course:
    checkpoint, text, final = opened(COPY)
    return watch(checkpoint, text, final, list_snapshots(COPY))


def as_trainer(folder: Path, *steps: int) -> Path:
    """The copy task's snapshots as Hugging Face's Trainer would keep them."""
    for step in steps:
        place = folder / f"checkpoint-{step}"
        shutil.copytree(COPY, place, ignore=shutil.ignore_patterns("snapshots", "history.json"))
        shutil.copy(COPY / f"snapshots/{step:06d}.safetensors", place / "model.safetensors")
    return folder


def test_where_an_installed_package_lacks_them_it_is_known(tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(COPY, folder, ignore=shutil.ignore_patterns("snapshots"))
    missing = folder / "snapshots" / "000020.safetensors"
    assert left_out(folder) is None and left_out(missing) is None
    missing.parent.mkdir()
    (missing.parent / LEFT_OUT).touch()
    sentence = left_out(folder)
    assert sentence and "lie in checkpoints/copy/snapshots of" in sentence
    assert left_out(missing) == sentence
    with pytest.raises(CheckpointError, match=re.escape(sentence)):
        load_checkpoint(missing)
    load_checkpoint(folder)
    shutil.copy(COPY / "snapshots" / missing.name, missing)  # somebody has put one there
    assert left_out(folder) is None
    load_checkpoint(missing)


def test_our_snapshots_are_listed_by_step() -> None:
    found = list_snapshots(COPY)
    assert [snapshot.step for snapshot in found] == STEPS
    assert found == list_snapshots(found[3].path)  # of a snapshot: those of its training
    assert list_snapshots(SHIPPED / "en-de") == ()


def test_final_weights_of_another_step_come_last(tmp_path: Path) -> None:
    folder = shutil.copytree(COPY, tmp_path / "copy")
    (folder / "snapshots/002000.safetensors").unlink()
    (folder / "snapshots/notes.safetensors").touch()
    assert [each.step for each in list_snapshots(folder)] == STEPS
    assert list_snapshots(folder)[-1] == Snapshot(2000, folder)
    (folder / "history.json").write_text("[")  # nothing says which step they are of
    assert [each.step for each in list_snapshots(folder)] == STEPS[:-1]


def test_folders_of_trainer_are_listed_in_order_and_run(tmp_path: Path) -> None:
    folder = as_trainer(tmp_path / "run", 2000, 200, 20)
    (folder / "checkpoint-best").mkdir()
    (folder / "checkpoint-7").touch()  # no folder
    (folder / "trainer_state.json").write_text(json.dumps({"global_step": 2000}))
    expected = [Snapshot(step, folder / f"checkpoint-{step}") for step in (20, 200, 2000)]
    assert list(list_snapshots(folder)) == expected
    assert list(list_snapshots(folder / "checkpoint-200")) == expected
    checkpoint, text, final = opened(folder / "checkpoint-2000")
    ran = watch(checkpoint, text, final, expected)
    assert (ran.steps, ran.problems) == ((20, 200, 2000), ())
    direct = record(load_checkpoint(expected[1].path, "cpu"), text, final.target)
    assert torch.equal(ran.weights("cross", 1, 2)[1], direct.attentions["cross"].weights(1, 2))


def test_a_training_by_the_trainer_itself_is_run(tmp_path: Path) -> None:
    model: Any = build("GPT-2")
    for step in (1000, 500):  # as save_pretrained keeps them
        model.save_pretrained(tmp_path / f"checkpoint-{step}")
        for parameter in model.parameters():
            parameter.data.mul_(1.5)
    checkpoint, ids = load_checkpoint(tmp_path / "checkpoint-1000", "cpu"), "5 9 12 7"
    final = record(checkpoint, ids, decode(checkpoint, ids).target)
    ran = watch(checkpoint, ids, final, list_snapshots(checkpoint.path))
    assert (ran.steps, ran.problems) == ((500, 1000), ())
    earlier = record(load_checkpoint(tmp_path / "checkpoint-500", "cpu"), ids, final.target)
    weights = ran.weights("decoder_self", 1, 1)
    assert torch.equal(weights[0], earlier.attentions["decoder_self"].weights(1, 1))
    assert torch.equal(weights[1], final.attentions["decoder_self"].weights(1, 1))
    assert not torch.equal(weights[0], weights[1])


def test_a_link_out_of_the_folder_is_no_snapshot(tmp_path: Path) -> None:
    folder = as_trainer(tmp_path / "run", 20, 200)
    (folder / "checkpoint-30").symlink_to(SHIPPED / "en-de")
    assert [each.step for each in list_snapshots(folder)] == [20, 200]


def test_what_training_logged_is_read_from_either_log(tmp_path: Path) -> None:
    assert {"loss", "validation_loss"} <= set().union(*training_rows(COPY, ()))
    folder = as_trainer(tmp_path / "run", 20)
    snapshots = list_snapshots(folder)
    assert training_rows(folder, snapshots) == []
    log = [{"step": 10, "loss": 2.5, "epoch": 1}, {"step": 20, "eval_loss": 2}, {"loss": 1}, 3]
    state = folder / "checkpoint-20/trainer_state.json"
    state.write_text(json.dumps({"log_history": log}))
    expected = [{"step": 10, "loss": 2.5}, {"step": 20, "validation_loss": 2}]
    assert training_rows(folder, snapshots) == expected
    state.write_text("[" * 10_000)
    assert training_rows(folder, snapshots) == []


@pytest.mark.parametrize("place", [0, 5, 11])
def test_weights_and_metrics_equal_a_direct_recording(course: Course, place: int) -> None:
    _, text, final = opened(COPY)
    name = f"snapshots/{STEPS[place]:06d}.safetensors"
    direct = record(load_checkpoint(COPY, "cpu", name), text, final.target)
    for kind, attention in direct.attentions.items():
        measured = course.measured(kind)
        assert list(measured) == list(metrics_of(attention))
        for layer in range(attention.n_layers):
            for metric, values in measure(attention, layer).items():
                torch.testing.assert_close(
                    measured[metric][place, layer], values, rtol=0, atol=0, equal_nan=True
                )
            for head in range(attention.n_heads):
                shown = course.weights(kind, layer, head)[place]
                assert torch.equal(shown, attention.weights(layer, head))


def test_cross_attention_begins_even_and_ends_sharp() -> None:
    checkpoint, text, final = opened(SHIPPED / "en-de-small")
    every = list_snapshots(checkpoint.path)
    some = [each for each in every if each.step in (0, 136, 12000)]
    entropy = watch(checkpoint, text, final, some).measured("cross")["entropy"]  # [3, L, H]
    even = math.log2(len(final.source))
    assert (entropy[0] > 0.9 * even).all()
    assert (entropy[1] > 0.98 * even).all()
    assert (entropy[2, 2] < 0.55 * even).all()


def test_only_what_weights_need_is_kept(course: Course) -> None:
    for recording in course.recordings:
        assert recording.logits is None and not recording.positions
        for attention in recording.attentions.values():
            assert all(call.v.numel() == 0 and call.projection is None for call in attention.calls)


def test_a_damaged_snapshot_is_named_and_the_others_are_shown(tmp_path: Path) -> None:
    folder = shutil.copytree(COPY, tmp_path / "copy")
    (folder / "snapshots/000050.safetensors").write_bytes(b"half a file")
    checkpoint, text, final = opened(folder)
    ran = watch(checkpoint, text, final, list_snapshots(folder))
    assert ran.steps == tuple(step for step in STEPS if step != 50)
    assert len(ran.problems) == 1
    assert ran.problems[0].startswith("copy: snapshots/000050.safetensors is not a whole")


def test_a_device_that_fails_is_no_fault_of_a_snapshot(monkeypatch: pytest.MonkeyPatch) -> None:
    checkpoint, text, final = opened(COPY)

    def fail(*_: object) -> Checkpoint:
        raise OutOfMemory("The GPU has too little memory.")

    monkeypatch.setattr("transformer.training.snapshots.load_checkpoint", fail)
    with pytest.raises(OutOfMemory):
        watch(checkpoint, text, final, list_snapshots(COPY))


def test_a_snapshot_of_another_model_is_left_out(tmp_path: Path) -> None:
    folder = as_trainer(tmp_path / "run", 20, 2000)
    shutil.copytree(SHIPPED / "sentiment", folder / "checkpoint-30")
    checkpoint, text, final = opened(folder / "checkpoint-2000")
    ran = watch(checkpoint, text, final, list_snapshots(folder))
    assert ran.steps == (20, 2000)
    assert len(ran.problems) == 1 and "checkpoint-30" in ran.problems[0]


def test_of_too_many_snapshots_evenly_spaced_ones_are_run() -> None:
    many = [Snapshot(step, Path()) for step in range(0, 10_000, 100)]
    some = thinned(many, MOST)
    assert len(some) == MOST and (some[0], some[-1]) == (many[0], many[-1])
    gaps = {b.step - a.step for a, b in pairwise(some)}
    assert gaps <= {400, 500}
    assert thinned(many, 100) == many


def role_by_loop(values: list[float], least: float) -> int:
    first, last = values[0], values[-1]
    if not abs(last - first) >= least:
        return -1
    for start in range(len(values)):
        if all(abs(each - last) < abs(each - first) for each in values[start:]):
            return start
    return -1


def test_the_step_of_a_role_is_what_a_loop_finds() -> None:
    source = random.Random(0)
    walks = torch.tensor([[source.gauss(0, 1) for _ in range(40)] for _ in range(9)]).cumsum(0)
    walks[4, 3] = walks[0, 7] = walks[8, 9] = torch.nan
    found = roles(walks.view(9, 8, 5), 0.7).flatten()
    expected = [role_by_loop(walk.tolist(), 0.7) for walk in walks.T]
    assert found.tolist() == expected
    assert len(set(expected)) > 5 and -1 in expected


def test_one_step_and_no_change_tell_of_no_role() -> None:
    assert roles(torch.tensor([[1.0, 2.0]]), 0.1).tolist() == [-1, -1]
    assert roles(torch.tensor([[1.0], [9.0], [1.0]]), 0.1).tolist() == [-1]


def test_even_values_are_those_of_rows_that_share_evenly() -> None:
    _, _, final = opened(COPY)
    entropy = metrics_of(final.attentions["cross"])["entropy"]
    n_keys = len(final.source)
    assert even_value(entropy, final.attentions["cross"], 0, 0) == pytest.approx(math.log2(n_keys))
    n_rows = len(final.attentions["decoder_self"].queries)
    expected = sum(math.log2(i + 1) for i in range(n_rows)) / n_rows  # row i sees i + 1 keys
    found = even_value(entropy, final.attentions["decoder_self"], 0, 0)
    assert found == pytest.approx(expected, rel=1e-6)


def test_snapshots_that_would_fill_the_memory_are_thinned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("transformer.training.snapshots.BUDGET", 1)
    checkpoint, text, final = opened(COPY)
    ran = watch(checkpoint, text, final, list_snapshots(COPY))
    assert (ran.steps, ran.n_left_out) == ((0, 2000), 10)
