"""A mixture deals every kind of pair in its share, the same whenever it is asked."""

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest
import sentencepiece
import torch

from tests.conftest import SENTENCES
from transformer.discover import discover
from transformer.training.batches import Batch
from transformer.training.evaluation.parts import LONG
from transformer.training.evaluation.stage import SECOND, stage_pairs
from transformer.training.recipes.en_de_data.mixture import (
    DICTIONARY,
    EXAMPLES,
    FILE,
    NEWS,
    NEWS_SETS,
    ROOM,
    SOURCES,
    TALK,
    WORDS,
    WORLD,
    Mixture,
    Shares,
    joined,
    prepare,
)
from transformer.training.task import Recipe
from transformer.training.translation import (
    PAIRS,
    TESTS,
    TRAIN,
    VALID,
    MissingData,
    key,
    read_pairs,
)

SHARES = Shares(words=(0.6, 0.2), rare=(0.05, 0.15), sentences=(0.1, 0.5))
EPOCH = 400


@pytest.fixture
def recipe() -> Recipe:
    shipped: Recipe = discover("transformer.training.recipes", "RECIPE")["en-de"]
    model = replace(shipped.model, vocab_size=300, d_model=16, d_ff=16, n_heads=2)
    return replace(
        shipped,
        model=model,
        training=replace(shipped.training, steps=200, tokens_per_batch=500),
    )


def write(file: Path, rows: list[str]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Each kind's German says which kind it is; what is held out stands in every file."""
    monkeypatch.setattr("transformer.training.recipes.en_de_data.mixture.EPOCH_PAIRS", EPOCH)
    folder, valid, test = tmp_path / "data", SENTENCES[0], SENTENCES[1]
    stage = stage_pairs()[0][0]
    unseen = [f"{text}\tverboten." for text in (valid, test, stage.upper(), SENTENCES[2])]
    write(folder / PAIRS / VALID, [f"{valid}\tx."])
    for name in TESTS.values():
        write(folder / PAIRS / name, [f"{test}\tx."])
    write(folder / NEWS / "newstest2014.tsv", [f"{SENTENCES[2]}\tx."])
    write(folder / PAIRS / TRAIN, [*(f"{s}\tSatz." for s in SENTENCES[3:]), *unseen])
    write(
        folder / DICTIONARY / EXAMPLES,
        [
            *["I saw a word.\tIch sah eine Beispiel."] * 2,
            *(f"So {s}\tBeispiel." for s in SENTENCES),
            *unseen,
        ],
    )
    write(
        folder / DICTIONARY / WORDS,
        ["word\tBeispiel", *(f"word{c}\tSelten" for c in "abcdefgh"), *unseen],
    )
    for name in NEWS_SETS:
        write(
            folder / NEWS / f"{name}.tsv", [*(f"{s} {s}\tNachricht." for s in SENTENCES), *unseen]
        )
    for kind, folders in SOURCES.items():
        for name in folders:
            rows = [f"{text} Yes.\t{kind}." for text in SENTENCES[3:]]
            write(folder / ROOM / name / FILE, [*rows, *unseen])
    write(folder / LONG[0] / LONG[1], [f"{SENTENCES[2]}\tx."])
    write(tmp_path / "talk.tsv", ["Attention!\tRede.", *unseen])
    write(tmp_path / "world.tsv", ["The sea!\tWelt.", *unseen])
    write(tmp_path / "nouns.tsv", ["owl\tEule\tfeminine\t\t\tanimal"])
    write(tmp_path / "patterns.tsv", ["animal\t-\tThe {1} sleeps.\tMuster."])
    for name in ("talk", "world", "nouns", "patterns"):
        file = tmp_path / f"{name}.tsv"
        monkeypatch.setattr(f"transformer.training.recipes.en_de_data.mixture.{name.upper()}", file)
    return folder


@pytest.fixture
def mixture(recipe: Recipe, data: Path, tmp_path: Path) -> Mixture:
    return prepare(recipe, data, tmp_path / "work", SHARES)


def kinds(mixture: Mixture, progress: float) -> Counter[str]:
    return Counter(target for _, target in mixture._rows(0, progress))


def test_nothing_that_is_held_out_is_dealt(mixture: Mixture) -> None:
    dealt = (row for deck in mixture.decks.values() for row in islice(deck.deal(0), 200))
    example = "Ich sah eine Beispiel."
    targets = {target for _, target in dealt}
    assert targets == {
        *("Satz.", "Beispiel.", example, "Beispiel", "Selten", "Nachricht.", "Rede."),
        *("Welt.", "Muster.", "Ich sah eine Eule."),
    }


def test_long_kinds_are_dealt_where_they_have_a_share(
    recipe: Recipe, data: Path, tmp_path: Path, mixture: Mixture
) -> None:
    assert not mixture.decks.keys() & {*SOURCES, "neighbours"}
    shares = Shares(general=(0.1, 0.2), bible=(0.0, 0.1), neighbours=(0.05, 0.05))
    long = prepare(recipe, data, tmp_path / "long", shares)
    assert long.decks.keys() - mixture.decks.keys() == {"general", "bible", "neighbours"}
    first, last = kinds(long, 0.0), kinds(long, 1.0)
    assert (first["general."], last["general."]) == (0.1 * EPOCH, 0.2 * EPOCH)
    assert (first["bible."], last["bible."]) == (0, 0.1 * EPOCH)
    groups = [row for row in long._rows(0, 0.0) if len(set(row[1].split())) == 1]
    texts = [row for row in groups if row[1].startswith(("narrative. ", "bible. ", "parliament. "))]
    assert len(texts) == 0.05 * EPOCH
    assert {source.count("Yes.") for source, _ in texts} <= {2, 3}


def test_the_recipe_of_long_sentences_has_every_kind(data: Path, tmp_path: Path) -> None:
    shipped: Recipe = discover("transformer.training.recipes", "RECIPE")["en-de-long"]
    model = replace(shipped.model, vocab_size=300, d_model=16, d_ff=16, n_heads=2)
    training = replace(shipped.training, steps=20, tokens_per_batch=500)
    recipe = replace(shipped, model=model, training=training)
    task = recipe.prepare(recipe, data, tmp_path / "work")
    assert isinstance(task, Mixture)
    assert task.decks.keys() >= {*SOURCES, "neighbours", "world", "sentences"}
    assert next(task.batches(0)).n_tokens <= 500


def test_numbers_may_be_split(recipe: Recipe, data: Path, tmp_path: Path) -> None:
    big = replace(recipe, model=replace(recipe.model, vocab_size=310))

    def numbers(folder: str, splits_digits: bool) -> list[str]:
        made = prepare(big, data, tmp_path / folder, SHARES, splits_digits=splits_digits)
        pieces = [made.tokenizer.token(id).piece.strip("▁") for id in range(310)]
        return [piece for piece in pieces if piece.isdigit() and len(piece) > 1]

    file = data / PAIRS / TRAIN
    file.write_text(file.read_text() + "1994 1994 1994\t1994 1994 1994 1994\n" * 300)
    assert numbers("whole", False)
    assert not numbers("split", True)


@pytest.mark.parametrize(("file", "least"), [(TALK, 290), (WORLD, 3000)])
def test_no_sentence_of_ours_is_of_the_stage_sets(file: Path, least: int) -> None:
    ours = [key(source) for source, _ in read_pairs(file)]
    assert len(ours) == len(set(ours)) >= least
    both = [*stage_pairs(), *stage_pairs(SECOND)]
    assert not {key(source) for source, _ in both} & set(ours)


def test_the_shares_move_from_the_first_to_the_last(mixture: Mixture) -> None:
    first, last = kinds(mixture, 0.0), kinds(mixture, 1.0)
    assert (first["Beispiel"], last["Beispiel"]) == (0.6 * EPOCH, 0.2 * EPOCH)
    assert (first["Selten"], last["Selten"]) == (0.05 * EPOCH, 0.15 * EPOCH)
    assert (first["Satz."], last["Satz."]) == (0.1 * EPOCH, 0.5 * EPOCH)
    assert kinds(mixture, 7.0) == last
    assert kinds(mixture, 0.5)["Beispiel"] == 0.4 * EPOCH
    doubles = first["Satz. Satz."] + first["Satz. Satz. Satz."]
    assert doubles == SHARES.joined[0] * EPOCH


def test_an_epoch_is_the_same_whenever_it_is_asked_for(mixture: Mixture) -> None:
    def tokens(batches: list[Batch]) -> list[torch.Tensor]:
        return [ids for batch in batches for ids in batch.inputs]

    first = tokens([*mixture.batches(1)])
    tokens([*mixture.batches(2)])
    again, other = tokens([*mixture.batches(1)]), tokens([*mixture.batches(2)])
    assert all(torch.equal(a, b) for a, b in zip(first, again, strict=True))
    assert len(first) != len(other) or not all(map(torch.equal, first, other))


def test_sentences_are_joined_with_a_space() -> None:
    assert joined([("A.", "B."), ("C?", "D?")]) == ("A. C?", "B. D?")


def test_some_sources_are_split_anew_but_never_targets(mixture: Mixture) -> None:
    sentencepiece.set_random_generator_seed(1)
    row, rng = (SENTENCES[5], "Satz."), random.Random(1)
    whole = mixture._pair(row)
    drawn = [mixture._drawn(row, rng) for _ in range(200)]
    assert 5 < sum(source != whole[0] for source, _ in drawn) < 100
    assert {mixture.tokenizer.decode(source) for source, _ in drawn} == {SENTENCES[5]}
    assert all(target == whole[1] for _, target in drawn)
    assert {source[-1] for source, _ in drawn} == {mixture.recipe.model.eos_id}


@pytest.mark.parametrize(
    "missing",
    [
        lambda data: data / DICTIONARY / WORDS,
        lambda data: data / DICTIONARY / EXAMPLES,
        lambda data: data / NEWS / "newstest2019.tsv",
        lambda data: data / PAIRS / TRAIN,
    ],
)
def test_a_missing_file_is_named(
    recipe: Recipe, data: Path, tmp_path: Path, missing: Callable[[Path], Path]
) -> None:
    file = missing(data)
    file.unlink()
    with pytest.raises(MissingData, match=rf"{file.name} is missing: --data must name"):
        prepare(recipe, data, tmp_path / "work", SHARES)
