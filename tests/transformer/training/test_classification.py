"""A classifier: what it reads, what is held out, and how often it is right."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from transformer.discover import discover
from transformer.formats.opening import load_checkpoint
from transformer.training.classification import Classification, Labelled, accuracy
from transformer.training.loop import Run
from transformer.training.task import Recipe, TrainingError

RECIPES: dict[str, Recipe] = discover("transformer.training.recipes", "RECIPE")
GOOD, BAD = ("fine", "lovely", "moving", "witty"), ("dull", "long", "empty", "flat")
ROWS = [
    Labelled(label, f"{start} film was {word} and {other}")
    for start in ("this", "the", "my", "that one")
    for label, words in ((1, GOOD), (0, BAD))
    for word in words
    for other in words
]


@pytest.fixture(scope="module")
def recipe() -> Recipe:
    recipe = RECIPES["sentiment"]
    model = replace(recipe.model, vocab_size=285, d_model=32, d_ff=32, n_heads=2, dropout=0.1)
    training = replace(
        recipe.training, steps=60, tokens_per_batch=400, learning_rate=1e-2, average_decay=0.9
    )
    return replace(recipe, model=model, training=training)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reviews")
    for i, name in enumerate(("train", "valid", "test")):
        rows = [row for n, row in enumerate(ROWS) if min(n % 4, 2) == i] if i else ROWS
        text = "".join(f"{row.label}\t{row.text}\n" for row in rows)
        (folder / f"{name}.tsv").write_text(text)
    return folder


@pytest.fixture(scope="module")
def run(recipe: Recipe, data: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("run")
    run = Run(recipe, recipe.prepare(recipe, data, folder), folder, "cpu")
    run.train()
    return run


def test_it_learns_words(run: Run, data: Path) -> None:
    checkpoint = load_checkpoint(run.folder, "cpu")
    assert accuracy(checkpoint, ROWS) == 100
    assert run.recipe.evaluate(checkpoint, data) == {
        "validation, accuracy, %": 100,
        "test, accuracy, %": 100,
    }
    wrong = [replace(row, label=1 - row.label) for row in ROWS[:10]]
    assert accuracy(checkpoint, wrong + ROWS[10:20]) == 50


def test_capitals_change_nothing(run: Run) -> None:
    encode = run.task.tokenizer.encode
    assert encode("This FILM", "text") == encode("this film", "text")


def test_training_texts_are_split_and_thinned_anew_each_epoch(run: Run) -> None:
    task = run.task
    assert isinstance(task, Classification)
    first, again, other = (list(task.batches(epoch)) for epoch in (1, 1, 2))
    assert all(torch.equal(a.inputs[0], b.inputs[0]) for a, b in zip(first, again, strict=True))
    assert sum(len(batch.target_output) for batch in other) == len(ROWS)
    assert not all(
        a.inputs[0].shape == b.inputs[0].shape and torch.equal(a.inputs[0], b.inputs[0])
        for a, b in zip(first, other, strict=False)
    )
    n_full = sum(len(task.tokenizer.encode(row.text, "text")) for row in ROWS)
    n_thinned = sum(int(batch.inputs[0].ne(0).sum()) for batch in first)
    assert 0 < n_thinned < 2 * n_full
    assert sorted(int(i) for b in first for i in b.target_output) == sorted(r.label for r in ROWS)


@pytest.mark.parametrize("line", ["2\tno such class", "1 no tab", "1\t ", "good\ttext"])
def test_a_wrong_line_is_named(recipe: Recipe, data: Path, tmp_path: Path, line: str) -> None:
    for name in ("train", "valid"):
        (tmp_path / f"{name}.tsv").write_text((data / f"{name}.tsv").read_text())
    (tmp_path / "train.tsv").write_text(f"1\tfine\n{line}\n")
    with pytest.raises(TrainingError, match=r"train\.tsv, line 2"):
        recipe.prepare(recipe, tmp_path, tmp_path)
