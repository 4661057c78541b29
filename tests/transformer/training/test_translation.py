"""Translation data: nothing that is evaluated is trained on, and damaged files are named."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.conftest import SENTENCES
from transformer import load_checkpoint
from transformer.discover import discover
from transformer.training.loop import Run
from transformer.training.task import Recipe, TrainingError
from transformer.training.translation import TESTS, TRAIN, VALID, Translation, prepare, read_pairs


@pytest.fixture
def recipe() -> Recipe:
    shipped: Recipe = discover("transformer.training.recipes", "RECIPE")["en-de"]
    return replace(
        shipped,
        model=replace(
            shipped.model,
            vocab_size=300,
            d_model=16,
            d_ff=16,
            n_heads=2,
            n_encoder_layers=1,
            n_decoder_layers=1,
            max_len=64,
        ),
        training=replace(shipped.training, steps=3, tokens_per_batch=300),
    )


def shout(sentence: str) -> str:
    """The same sentence in other case and with other punctuation."""
    return sentence.upper().replace(".", " !")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Made-up pairs; every fifth is held out, and stands in the training file all the same."""
    pairs = [f"{s}\t{s[::-1]}" for s in SENTENCES]
    held_out = SENTENCES[::5]
    train = [*pairs, *(f"{shout(s)}\tx" for s in held_out)]
    thirds = held_out[::3], held_out[1::3], held_out[2::3]
    for name, part in zip((VALID, *TESTS.values()), thirds, strict=True):
        (tmp_path / name).write_text("".join(f"{s}\t{s[::-1]}\tanother\n" for s in part))
    (tmp_path / TRAIN).write_text("\n".join(train) + "\n")
    return tmp_path


def test_held_out_sentences_are_never_trained_on(
    recipe: Recipe, data: Path, tmp_path: Path
) -> None:
    task = prepare(recipe, data, tmp_path / "work")
    tokenizer = task.tokenizer
    trained = {tokenizer.decode(source) for source, _ in task.train}
    assert trained == {s for i, s in enumerate(SENTENCES) if i % 5}
    assert len(task.valid_rows) == len(SENTENCES[::5][::3])


def test_the_vocabulary_is_learnt_once(recipe: Recipe, data: Path, tmp_path: Path) -> None:
    prepare(recipe, data, tmp_path / "work")
    file = tmp_path / "work" / "tokenizer.model"
    before = file.read_bytes()
    (data / TRAIN).write_text("".join(f"{s}\tanders\n" for s in SENTENCES[1:5]))
    prepare(recipe, data, tmp_path / "work")
    assert file.read_bytes() == before


def test_pairs_longer_than_the_model_are_left_out(
    recipe: Recipe, data: Path, tmp_path: Path
) -> None:
    long = " ".join(SENTENCES[:9])
    rows = [[SENTENCES[1], "x"], [long, "x"], ["x", long]]
    tokenizer = prepare(recipe, data, tmp_path / "work").tokenizer
    task = Translation(recipe, tokenizer, rows, rows)
    assert len(task.train) == len(task.valid) == len(task.valid_rows) == 1


def test_a_run_from_files_to_scores(recipe: Recipe, data: Path, tmp_path: Path) -> None:
    run = Run(recipe, prepare(recipe, data, tmp_path / "work"), tmp_path / "work", "cpu")
    run.train()
    run.publish(tmp_path / "out")
    checkpoint = load_checkpoint(tmp_path / "out", "cpu")
    scores = run.task.sample_scores(checkpoint)
    assert list(scores) == ["BLEU", "chrF"]
    assert all(0 <= score <= 100 for score in scores.values())


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, r"is missing: --data must name the folder"),
        (b"only a source\n", r", line 1: a source, a tab and a target are needed"),
        (b"a\tb\n\nc\td\n", r", line 2: "),
        (b"", r", line 1: "),
        (b"a\t\xff\n", r"is not UTF-8"),
    ],
)
def test_damaged_data(tmp_path: Path, content: bytes | None, message: str) -> None:
    file = tmp_path / TRAIN
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(TrainingError, match=rf"train\.tatoeba\.tsv.*{message}"):
        read_pairs(file)


def test_rare_separators_do_not_split_a_line(tmp_path: Path) -> None:
    file = tmp_path / "x.tsv"
    file.write_text("a\u2028b\tc\x85d\n", encoding="utf-8")
    assert read_pairs(file) == [["a\u2028b", "c\x85d"]]


def test_no_data_too_little_data_nothing_left(recipe: Recipe, data: Path, tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match="needs --data DIR"):
        prepare(recipe, None, tmp_path / "work")
    large = replace(recipe, model=replace(recipe.model, vocab_size=8000))
    with pytest.raises(TrainingError, match=r"tsv: no vocabulary of 8,000 pieces"):
        prepare(large, data, tmp_path / "work")
    tokenizer = prepare(recipe, data, tmp_path / "work").tokenizer
    with pytest.raises(TrainingError, match="no pairs left"):
        Translation(recipe, tokenizer, [], [["a", "b"]])
