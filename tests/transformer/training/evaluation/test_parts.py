"""The evaluation of a translation recipe from files to rows, by its parts, and on the card."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import SENTENCES
from transformer import Checkpoint, load_checkpoint
from transformer.__main__ import main
from transformer.formats.headscope import save_checkpoint
from transformer.training.evaluation import stage
from transformer.training.evaluation.heads import BICICI, RWTH
from transformer.training.evaluation.parts import LONG, NEWS, PARTS, evaluate
from transformer.training.recipes.en_de import EN_DE_RECIPE
from transformer.training.task import TrainingError
from transformer.training.train import rescored
from transformer.training.translation import PAIRS, TESTS, find

OLD = "| Tatoeba test, beam 9, BLEU | 1.0 |\n| other | 2 |\n"
CARD = (
    "# x\n\nBefore.\n\n## Scores\n\n| evaluation | score |\n| --- | --- |\n"
    f"{OLD}\nOld words.\n\n## Data\n\nAfter.\n"
)
EN, DE = "the cat sees the sea .\n", "she likes a red book .\n"


@pytest.fixture(scope="module")
def checkpoint(text_checkpoint: Checkpoint, tmp_path_factory: pytest.TempPathFactory) -> Checkpoint:
    """Random weights, which write until there is no more room: of the recipe en-de, they say."""
    folder = tmp_path_factory.mktemp("checkpoints") / "short"
    about = replace(text_checkpoint.about, recipe="en-de")
    config = replace(text_checkpoint.config, max_len=24)
    parts = config, text_checkpoint.model.state_dict(), text_checkpoint.tokenizer
    save_checkpoint(folder, about, *parts)
    return load_checkpoint(folder, "cpu")


@pytest.fixture
def folder(checkpoint: Checkpoint, tmp_path: Path) -> Path:
    made = tmp_path / "made"
    shutil.copytree(checkpoint.path, made)
    (made / "card.md").write_text(CARD)
    return made


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Every file that an evaluation reads, in subfolders as the data has them."""
    pair = f"{SENTENCES[0]}\t{SENTENCES[0]}\tanother\n"
    files = {
        **{f"{PAIRS}/{name}": pair for name in TESTS.values()},
        "/".join(NEWS): pair,
        "/".join(LONG): pair,
        f"{RWTH}/test.uc.en": EN,
        f"{RWTH}/test.uc.de": DE,
        f"{RWTH}/alignment.talp": "1-1 2p2\n",
        f"{BICICI}/test.en": EN,
        f"{BICICI}/test.de": DE,
        f"{BICICI}/de-en.ref.wa": "1 0 0 S\n",
    }
    folder = tmp_path / "data"
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.fixture(autouse=True)
def small_stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "stage"
    folder.mkdir()
    (folder / stage.PAIRS).write_text("the cat sees the sea.\tshe likes a red book.\n")
    (folder / stage.LINKS).write_text("0-0 1-1\n")
    (folder / stage.SECOND).write_text("the cat.\tthe sea.\n")
    monkeypatch.setattr(stage, "FOLDER", folder)


def answer(capsys: pytest.CaptureFixture[str], *arguments: object) -> Any:
    assert main(["evaluate", *map(str, arguments), "--device", "cpu", "--json"]) == 0
    return json.loads(capsys.readouterr().out)


TEST_ROWS = {
    f"{title}, {method}, {metric}"
    for title in TESTS
    for method in ("greedy", "beam 4")
    for metric in ("BLEU", "chrF")
}


def test_everything_and_the_card(
    folder: Path, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scores = answer(capsys, folder, "--data", data, "--card")
    assert scores.keys() >= TEST_ROWS | {"newstest2014, greedy, BLEU"}
    for title in ("Stage alignment", "RWTH alignment", "Bicici alignment"):
        assert scores[f"{title}, sentences"] == 1
        assert sum(name.startswith(f"{title}, ") for name in scores) == 2 + 2 * (2 + 2 + 1)
    assert scores["Identity anchors, Tatoeba test, number"] > 0
    assert scores["Evidence, sentences"] == 1 and "Evidence, weight, first word needed" in scores
    signed = {name for name in scores if name.endswith(("words", "rank correlation with hide"))}
    assert all(0 <= scores[name] <= 100 for name in scores.keys() - signed)
    card = (folder / "card.md").read_text()
    assert card.startswith("# x\n\nBefore.\n\n## Scores\n\n| evaluation | score |\n| --- | --- |\n")
    said = f"{EN_DE_RECIPE.scored} Measured on the files of this folder."
    assert card.endswith(f"|\n\n{said}\n\n## Data\n\nAfter.\n")
    assert "beam 9" not in card and "Old words" not in card
    assert card.count("\n| ") == len(scores) + 3
    assert "| --- | --- |\n| other | 2 |\n| Tatoeba test, greedy, BLEU | " in card
    assert "| Stage alignment, sentences | 1 |\n" in card


def test_one_part_in_the_flat_layout_too(
    folder: Path, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for where in (data, data / PAIRS):
        scores = answer(capsys, folder, "--data", where, "--only", "tatoeba", "--only", "multi30k")
        assert scores.keys() == TEST_ROWS
    assert (folder / "card.md").read_text() == CARD


def test_a_part_replaces_its_own_rows_on_the_card(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for _ in range(2):
        scores = answer(capsys, folder, "--only", "alignment", "--card")
    table = (folder / "card.md").read_text().split("| --- | --- |\n")[1].split("\n\n")[0]
    assert table.startswith(f"{OLD}| Stage alignment, sentences | 1 |\n")
    assert table.count("\n") == len(scores) + 1


def test_without_data_the_stage_sets_are_left(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["evaluate", str(folder), "--device", "cpu", "--json"]) == 0
    captured = capsys.readouterr()
    titles = {name.partition(",")[0] for name in json.loads(captured.out)}
    assert titles == {"Stage set", "Second stage set", "Stage alignment", "Evidence"}
    for left_out in (
        "tatoeba: left out: test.tatoeba.tsv needs --data DIR, a folder with translation_en_de/",
        "news: left out: newstest2014.tsv needs --data DIR",
        "long: left out: test.tsv needs --data DIR, a folder with flores_long_en_de/",
        "Stage set: invented words are left out: there is no --data DIR",
        "RWTH alignment: left out: ",
        "Bicici alignment: left out: ",
        "anchors: left out: ",
    ):
        assert left_out in captured.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--only", "news"), "error: newstest2014.tsv needs --data DIR, a folder with newstest_en"),
        (("--only", "news", "--data", "DATA/x"), "newstest2014.tsv is missing: --data must name"),
        (("--only", "spelling"), "error: en-de has no part 'spelling' to evaluate; its parts: tat"),
    ],
)
def test_a_part_that_cannot_be_measured_is_one_sentence(
    arguments: tuple[str, ...], message: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["evaluate", str(folder), "--device", "cpu", *arguments]) == 1
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1


def test_a_card_without_scores_is_told(folder: Path) -> None:
    with pytest.raises(TrainingError, match="the card has no section “Scores”"):
        rescored("# x\n\nNo scores.\n", EN_DE_RECIPE, {"a": 1.0})


def test_the_parts_are_the_recipe_s(checkpoint: Checkpoint, data: Path) -> None:
    whole = evaluate(checkpoint, data)
    parts = [part(checkpoint, data) for part in EN_DE_RECIPE.parts.values()]
    assert EN_DE_RECIPE.parts is PARTS
    assert whole == {name: value for part in parts for name, value in part.items()}


def test_a_sentence_too_long_is_an_empty_translation(
    checkpoint: Checkpoint, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (data / "/".join(NEWS)).write_text(f"{'x y ' * 99}\tlang\n")
    assert PARTS["news"](checkpoint, data)["newstest2014, greedy, chrF"] == 0
    assert "counted as an empty translation: " in capsys.readouterr().err


def test_files_are_found_in_their_subfolder_first(data: Path) -> None:
    assert find(data, *NEWS) == data / "/".join(NEWS)
    assert find(data / NEWS[0], *NEWS) == data / "/".join(NEWS)
    assert find(data, "other", "file") is None
    assert find(None, *NEWS) is None
