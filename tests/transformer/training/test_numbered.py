"""Snapshots are found by any name that ends in a number, and only these."""

from pathlib import Path

import pytest

from transformer.training.history import list_snapshots

NAMES = [
    *("checkpoint-{}", "step_{}", "iter_{:07}", "step={}", "global_step{}", "{}"),
    *("ckpt_{}.pt", "model-{}.safetensors", "epoch=1-step={}.ckpt", "model_step_{}.pt"),
]


def make(path: Path) -> Path:
    if path.suffix:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    else:
        path.mkdir(parents=True)
        (path / "config.json").write_text("{}")
    return path


@pytest.mark.parametrize("name", NAMES)
def test_numbers_are_steps_in_their_own_order(tmp_path: Path, name: str) -> None:
    paths = [make(tmp_path / "run" / name.format(step)) for step in (1000, 9, 10)]
    (tmp_path / "run" / "final").mkdir()
    for path in (tmp_path / "run", *paths):
        found = list_snapshots(path)
        assert [each.step for each in found] == [9, 10, 1000]
        assert {each.path for each in found} == set(paths)


def test_another_epoch_is_the_same_training(tmp_path: Path) -> None:
    names = ["epoch=0-step=9.ckpt", "epoch=10-step=200.ckpt", "epoch=2-step=30.ckpt"]
    for name in names:
        make(tmp_path / name)
    assert [each.step for each in list_snapshots(tmp_path)] == [9, 30, 200]


@pytest.mark.parametrize(
    "name", ["model-00001-of-{:05}.safetensors", "run-{}", "seed_{}", "rng_state_{}.pth", "v{}"]
)
def test_numbers_of_another_sort(tmp_path: Path, name: str) -> None:
    paths = [make(tmp_path / name.format(n)) for n in (1, 2)]
    assert list_snapshots(tmp_path) == () and list_snapshots(paths[0]) == ()


def test_models_side_by_side_are_no_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADSCOPE_CHECKPOINTS", str(tmp_path))
    paths = [make(tmp_path / name) for name in ("gpt2", "gpt3")]
    assert list_snapshots(paths[0]) == ()
