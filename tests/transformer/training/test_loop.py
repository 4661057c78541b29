"""Training learns, and a run that was killed goes on as if nothing had happened."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice, product
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from tests.representatives import cases
from transformer import Checkpoint, decode, load_checkpoint
from transformer.training.batches import IGNORED, Batch, make_batch
from transformer.training.classification import TEST_SEED, Copying, exact_copies, sequences
from transformer.training.loop import Run
from transformer.training.task import Recipe, TrainingError
from transformer.training.train import card, train


class Killed(Exception):
    pass


class ShortEpochs(Copying):
    """Twenty batches an epoch; the process is gone when it asks for the batch `dies_at`."""

    def __init__(self, recipe: Recipe, dies_at: int | None = None) -> None:
        super().__init__(recipe)
        self.dies_at, self.given = dies_at, 0

    def batches(self, epoch: int) -> Iterator[Batch]:
        for batch in islice(super().batches(epoch), 20):
            if self.given == self.dies_at:
                raise Killed
            self.given += 1
            yield batch


@pytest.fixture
def recipe(copy_recipe: Recipe) -> Recipe:
    """With dropout, so that the random state counts."""
    return replace(
        copy_recipe,
        model=replace(copy_recipe.model, d_model=16, d_ff=16, dropout=0.2),
        training=replace(copy_recipe.training, steps=50, tokens_per_batch=64, snapshots=0),
    )


def weights_after(recipe: Recipe, folder: Path) -> dict[str, torch.Tensor]:
    run = Run(recipe, ShortEpochs(recipe), folder, "cpu")
    run.train()
    return {**run.model.state_dict(), **run.averaged.state_dict(prefix="averaged.")}


FEW = {"at the end of an epoch": (20, "float32"), "within one": (1, "bfloat16")}


@pytest.mark.parametrize(
    ("saved_at", "precision"),
    cases(product((1, 19, 20, 21), ("float32", "bfloat16")), FEW),
    indirect=["precision"],
)
def test_a_killed_run_goes_on_bit_for_bit(
    recipe: Recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, saved_at: int, precision: str
) -> None:
    """Killed outright: what was done after the last save is lost, and done again."""
    save = Run._save

    def save_until_killed(run: Run) -> None:
        if run.progress["step"] <= saved_at:
            save(run)

    with monkeypatch.context() as patched:
        patched.setattr("transformer.training.loop.SAVE_SECONDS", 0)
        patched.setattr(Run, "_save", save_until_killed)
        with pytest.raises(Killed):
            Run(recipe, ShortEpochs(recipe, saved_at + 7), tmp_path / "killed", "cpu").train()
    resumed = Run(recipe, ShortEpochs(recipe), tmp_path / "killed", "cpu")
    assert resumed.progress["step"] == saved_at
    again = weights_after(recipe, tmp_path / "killed")
    whole = weights_after(recipe, tmp_path / "whole")
    assert again.keys() == whole.keys()
    assert all(torch.equal(again[name], whole[name]) for name in whole)


def test_the_loss_falls_and_the_copy_task_is_learnt(
    copy_run: Run, copy_checkpoint: Checkpoint
) -> None:
    losses = [row["loss"] for row in copy_run.progress["history"] if "loss" in row]
    assert losses[-1] < losses[0] / 2
    assert exact_copies(copy_checkpoint, 200, TEST_SEED) == 100
    assert decode(copy_checkpoint, "3 7 2 9").text == "3 7 2 9"
    assert decode(copy_checkpoint, "11 3").text == "11 3"


def test_snapshots_open_as_checkpoints(copy_run: Run) -> None:
    files = sorted(file.name for file in (copy_run.folder / "snapshots").iterdir())
    assert files == [f"{step:06d}.safetensors" for step in sorted(copy_run.snapshots)]
    first = load_checkpoint(copy_run.folder, "cpu", f"snapshots/{files[0]}")
    assert exact_copies(first, 50, TEST_SEED) < 50
    last = load_file(copy_run.folder / "snapshots" / files[-1])
    shipped = load_file(copy_run.folder / "model.safetensors")
    assert all(torch.equal(last[name], shipped[name]) for name in shipped)


def test_the_test_sequences_are_never_trained_on(copy_recipe: Recipe) -> None:
    model = copy_recipe.model
    test = set(sequences(1000, model.vocab_size, model.max_len, TEST_SEED))
    seen = {
        tuple(row)
        for epoch in range(3)
        for batch in Copying(copy_recipe).batches(epoch)
        for row in batch.inputs[0].tolist()
    }
    assert not seen & test


def test_the_loss_is_label_smoothed_cross_entropy(copy_run: Run) -> None:
    batch = make_batch([([3, 4, 5], [3, 4, 5]), ([6, 7], [6, 7])], 0, 1)
    model = copy_run.model.eval()
    with torch.no_grad():
        log_probs = model(*batch.inputs).double().log_softmax(-1)
        found = copy_run.update.loss(model, batch)
    n_classes = log_probs.size(-1)
    losses = [
        -0.9 * log_probs[b, t, id] - 0.1 / n_classes * log_probs[b, t].sum()
        for b, row in enumerate(batch.target_output.tolist())
        for t, id in enumerate(row)
        if id != IGNORED
    ]
    assert len(losses) == 5
    assert float(found) == pytest.approx(float(sum(losses)) / 5, abs=1e-5)


def test_a_run_names_all_the_precisions_that_it_took(
    recipe: Recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for steps, half in ((5, "no"), (10, "yes")):
        monkeypatch.setenv("HEADSCOPE_HALF", half)
        longer = replace(recipe, training=replace(recipe.training, steps=steps))
        run = Run(longer, ShortEpochs(longer), tmp_path, "cpu")
        run.train()
    assert run.progress["step"] == 10
    assert "in float32 and bfloat16 on\n" in card(longer, run, {}, False)


def test_the_state_of_another_model_is_refused(recipe: Recipe, tmp_path: Path) -> None:
    Run(recipe, Copying(recipe), tmp_path, "cpu")._save()
    other = replace(recipe, model=replace(recipe.model, d_ff=32))
    with pytest.raises(TrainingError, match=r"state\.safetensors does not belong to this recipe"):
        Run(other, Copying(other), tmp_path, "cpu")
    (tmp_path / "state.safetensors").write_bytes(b"no state")
    with pytest.raises(TrainingError, match=r"state\.safetensors does not belong to this recipe"):
        Run(recipe, Copying(recipe), tmp_path, "cpu")


def test_train_publishes_a_checkpoint_with_its_card(
    copy_recipe: Recipe,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    precision: str,
) -> None:
    monkeypatch.setattr("transformer.training.classification.N_TEST", 20)
    recipe = replace(copy_recipe, training=replace(copy_recipe.training, steps=30, snapshots=3))
    output = tmp_path / "published"
    scores = train(recipe, None, output, tmp_path / "work", "cpu")
    names = {file.name for file in output.iterdir()}
    assert names == {"config.json", "model.safetensors", "card.md", "history.json", "snapshots"}
    assert len(list((output / "snapshots").iterdir())) == 3
    text = (output / "card.md").read_text()
    assert "python -m transformer train copy`" in text
    assert f"in {precision} on\n1 thread" in text
    assert f"training in {precision} on cpu" in capsys.readouterr().err
    for name, value in scores.items():
        assert f"| {name} | {value:.{1 if value >= 10 else 3}f} |" in text
    assert load_checkpoint(output, "cpu").config == recipe.model
