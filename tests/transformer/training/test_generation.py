"""Generators: what is read and predicted, what is held out, and what the scores mean."""

import math
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from transformer.discover import discover
from transformer.formats.opening import load_checkpoint
from transformer.training.batches import IGNORED
from transformer.training.generation import (
    Sentences,
    Windows,
    evaluate_sentences,
    evaluate_windows,
    text_batch,
)
from transformer.training.loop import Run
from transformer.training.task import Recipe, TrainingError

RECIPES: dict[str, Recipe] = discover("transformer.training.recipes", "RECIPE")
TEXT = "".join(f"line {i * 7919 % 1000:03d} of the play.\n" for i in range(200))
LINES = [f"The {a} {b} the {c}." for a in ("cat", "dog") for b in "abcdefgh" for c in "uvwxyz"]


def tiny(name: str, **model: object) -> Recipe:
    recipe = RECIPES[name]
    small = {"d_model": 16, "d_ff": 32, "n_heads": 2, "n_decoder_layers": 1, "max_len": 24}
    return replace(
        recipe,
        model=replace(recipe.model, **small | model),
        training=replace(recipe.training, steps=4, tokens_per_batch=200, validate_every=4),
    )


@pytest.fixture
def characters(tmp_path: Path) -> tuple[Recipe, Path]:
    (tmp_path / "input.txt").write_text(TEXT)
    return tiny("shakespeare", vocab_size=1 + len(set(TEXT))), tmp_path


@pytest.fixture
def sentences(tmp_path: Path) -> tuple[Recipe, Path]:
    (tmp_path / "train.txt").write_text("\n".join(LINES))
    (tmp_path / "valid.txt").write_text("\n".join(LINES[::9]))
    return tiny("everyday", vocab_size=280), tmp_path


def test_every_position_predicts_the_next_character(characters: tuple[Recipe, Path]) -> None:
    recipe, data = characters
    task = recipe.prepare(recipe, data, data)
    for batch in [*task.batches(0), *task.validation()]:
        (read,) = batch.inputs
        assert torch.equal(read[:, 1:], batch.target_output[:, :-1])
        texts = [task.tokenizer.decode(row.tolist()) for row in read]
        assert all(text in TEXT for text in texts)


def test_the_last_tenth_is_never_trained_on(characters: tuple[Recipe, Path]) -> None:
    recipe, data = characters
    task = recipe.prepare(recipe, data, data)
    assert isinstance(task, Windows)
    assert len(task.valid) == pytest.approx(len(TEXT) / 10, abs=1)
    held_out = TEXT[-len(task.valid) :]
    for batch in task.batches(3):
        for row in batch.target_output.tolist():
            text = task.tokenizer.decode(row)
            assert text in TEXT[: -len(task.valid)]
            assert text not in held_out


def test_the_epoch_decides_the_windows(characters: tuple[Recipe, Path]) -> None:
    recipe, data = characters
    task = recipe.prepare(recipe, data, data)
    first, again, other = ([b.inputs[0] for b in task.batches(epoch)] for epoch in (1, 1, 2))
    assert all(map(torch.equal, first, again))
    assert not all(map(torch.equal, first, other))


def test_sentences_start_and_end_and_held_out_ones_are_left_out(
    sentences: tuple[Recipe, Path],
) -> None:
    recipe, data = sentences
    task = recipe.prepare(recipe, data, data)
    assert isinstance(task, Sentences)
    assert len(task.train) == len(LINES) - len(LINES[::9])
    for row in [*task.train, *task.valid]:
        assert row[0] == recipe.model.bos_id
    for batch in task.validation():
        for read, wanted in zip(
            batch.inputs[0].tolist(), batch.target_output.tolist(), strict=True
        ):
            n = sum(id != IGNORED for id in wanted)
            assert wanted[: n - 1] == read[1:n]
            assert set(read[n:]) <= {recipe.model.pad_id}


def test_padding_predicts_nothing() -> None:
    batch = text_batch([[1, 5, 6, 2], [1, 7, 2]], 0)
    assert batch.inputs[0].tolist() == [[1, 5, 6], [1, 7, 0]]
    assert batch.target_output.tolist() == [[5, 6, 2], [7, 2, IGNORED]]
    assert batch.n_targets == 5


@pytest.mark.parametrize("name", ["characters", "sentences"])
def test_scores_are_those_of_reading_one_by_one(
    name: str, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> None:
    recipe, data = request.getfixturevalue(name)
    folder = tmp_path_factory.mktemp("run")
    run = Run(recipe, recipe.prepare(recipe, data, folder), folder, "cpu")
    run.train()
    checkpoint = load_checkpoint(folder, "cpu")
    evaluate = evaluate_windows if name == "characters" else evaluate_sentences
    scores = evaluate(checkpoint, data)
    if name == "characters":
        ids, step = run.task.valid.tolist(), recipe.model.max_len
        rows = [ids[i : i + step + 1] for i in range(0, len(ids) - step, step)]
    else:
        rows = run.task.valid
    total = 0.0
    for row in rows:
        log_probs = checkpoint.model(torch.tensor([row[:-1]]))[0].log_softmax(-1)
        total -= float(log_probs[range(len(row) - 1), row[1:]].sum())
    n = sum(len(row) - 1 for row in rows)
    first = next(iter(scores.values()))
    assert first == pytest.approx(total / n if name == "characters" else math.exp(total / n), 1e-4)


def test_what_is_missing_or_another_text_is_named(characters: tuple[Recipe, Path]) -> None:
    recipe, data = characters
    with pytest.raises(TrainingError, match="needs --data"):
        recipe.prepare(recipe, None, data)
    with pytest.raises(TrainingError, match=r"input\.txt is missing"):
        recipe.prepare(recipe, data / "nowhere", data)
    (data / "input.txt").write_text("only these")
    with pytest.raises(TrainingError, match="another text"):
        recipe.prepare(recipe, data, data)


def test_a_text_that_cannot_be_scored_is_named(
    characters: tuple[Recipe, Path], sentences: tuple[Recipe, Path]
) -> None:
    recipe, data = characters
    task = recipe.prepare(recipe, data, data)
    run = Run(recipe, task, data / "run", "cpu")
    run.export(data / "run")
    checkpoint = load_checkpoint(data / "run", "cpu")
    (data / "input.txt").write_text("of the play.\n" * 4)
    with pytest.raises(TrainingError, match="last tenth has 5 characters, and more than 24"):
        evaluate_windows(checkpoint, data)
    (data / "input.txt").write_text(TEXT + "€")
    with pytest.raises(TrainingError, match="never seen the character “€”"):
        evaluate_windows(checkpoint, data)
    (data / "valid.txt").write_text("")
    with pytest.raises(TrainingError, match=r"valid\.txt holds no sentence"):
        evaluate_sentences(checkpoint, data)
    with pytest.raises(TrainingError, match=r"valid\.txt holds no sentence"):
        sentences[0].prepare(sentences[0], data, data)


def test_characters_that_are_cut_off_do_not_count(sentences: tuple[Recipe, Path]) -> None:
    recipe, data = sentences
    run = Run(recipe, recipe.prepare(recipe, data, data / "run"), data / "run", "cpu")
    run.export(data / "run")
    checkpoint = load_checkpoint(data / "run", "cpu")
    (data / "valid.txt").write_text(" ".join(LINES[:20]))
    per_piece, per_character, _ = evaluate_sentences(checkpoint, data).values()
    read = run.task.tokenizer.decode(run.task.tokenizer.encode(" ".join(LINES[:20]))[:24])
    assert math.log(per_character) * len(read) == pytest.approx(math.log(per_piece) * 24, 1e-4)
