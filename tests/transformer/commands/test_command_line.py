"""python -m transformer: results as text or JSON, errors in one sentence."""

import csv
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import SENTENCES
from transformer.__main__ import main
from transformer.training.loop import Run
from transformer.training.task import TrainingError, read_lines, read_text

ROOT = Path(__file__).parents[3]
Output = pytest.CaptureFixture[str]


def answer(capsys: Output, *arguments: object) -> Any:
    assert main([*map(str, arguments), "--device", "cpu", "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_decode(text_folder: Path, capsys: Output) -> None:
    result = answer(capsys, "decode", text_folder, SENTENCES[0])
    assert set(result) == {"text", "target", "hypotheses"}
    beam = answer(
        capsys, "decode", text_folder, SENTENCES[0], "--method", "beam", "--option", "beam_size=3"
    )
    assert len(beam["hypotheses"]) == 3
    assert main(["decode", str(text_folder), SENTENCES[0]]) == 0
    assert capsys.readouterr().out == result["text"] + "\n"


STARTS = """
import os, runpy, signal, sys

class Stops:
    def find_spec(self, name, path=None, target=None):
        if name == "torch.nn":  # as Ctrl-C does it, at a moment that is known
            os.kill(os.getpid(), signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)  # what runs behind a shell ignores it
sys.meta_path.insert(0, Stops())
sys.orig_argv = ["python", "-m", "NAME"]
runpy.run_module("NAME", run_name="__main__", alter_sys=True)
"""
"""`python -m NAME` that is stopped while it imports."""


@pytest.mark.parametrize("name", ["transformer", "viz"])
def test_what_is_stopped_while_it_is_imported_ends_without_a_word(name: str) -> None:
    code = STARTS.replace("NAME", name)
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, cwd=ROOT, timeout=90)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, b"", b"")


def test_decode_many(text_folder: Path, tmp_path: Path, capsys: Output) -> None:
    """A line of JSON for each line, in their order; what is refused says why, and is an error."""
    data = tmp_path / "lines.txt"
    data.write_text("\n".join([*SENTENCES[:20], "", SENTENCES[20]]))
    how = ["--method", "beam", "--option", "max_len=8", "--tree", "--forbid", "the"]
    assert main(["decode", str(text_folder), "--data", str(data), *how]) == 1
    output = capsys.readouterr()
    rows = [json.loads(line) for line in output.out.splitlines()]
    assert [row["source"] for row in rows] == data.read_text().split("\n")
    assert "error" in rows[20] and "1 of 22" in output.err
    for row in (rows[0], rows[21]):
        alone = answer(capsys, "decode", text_folder, row["source"], *how)
        assert alone["text"] == row["text"] and alone["target"] == row["target"]
        assert [each["id"] for each in row["tree"]] == list(range(len(row["tree"])))
        best = next(each for each in row["tree"] if each["hypothesis"] == 0)
        assert best["score"] == pytest.approx(row["hypotheses"][0]["score"], abs=1e-4)
    for wrong in ([], [SENTENCES[0], "--data", str(data)], ["--data", str(tmp_path / "none")]):
        assert main(["decode", str(text_folder), *wrong]) == 1
        assert "error: " in capsys.readouterr().err


def test_decode_with_edits(text_folder: Path, capsys: Output) -> None:
    def score(*edits: str) -> float:
        named = [word for edit in edits for word in ("--edit", edit)]
        result = answer(capsys, "decode", text_folder, SENTENCES[0], *named)
        return float(result["hypotheses"][0]["log_prob"])

    assert score("head-off:cross.0.1") == score("head-scale:cross.0.1=0") != score()
    assert score("head-off:cross.0.1", "positions-zero:source") != score("head-off:cross.0.1")
    assert main(["decode", str(text_folder), "a", "--edit", "head-off:cross.9.1"]) == 1
    said = "error: head-off:cross.9.1: there is no layer 9 here; cross has 2, counted from 0.\n"
    assert capsys.readouterr().err == said


def test_heads_of_a_text_are_a_table_and_a_head_links_words(
    text_folder: Path, tmp_path: Path, capsys: Output
) -> None:
    file = tmp_path / "heads.csv"
    assert answer(capsys, "heads", text_folder, SENTENCES[0], "--out", file)["written"] == str(file)
    with file.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    places = {(row["kind"], row["layer"], row["head"]) for row in rows}
    assert len(places) == 3 * 2 * 4 and {"entropy", "confidence"} <= {it["metric"] for it in rows}
    assert main(["heads", str(text_folder), SENTENCES[0], "--align", "1.3"]) == 0
    rule, links = capsys.readouterr().out.splitlines()
    assert "layer 1, head 3" in rule and all("-" in link for link in links.split())
    assert main(["heads", str(text_folder), SENTENCES[0], "--align", "1.4"]) == 1
    assert capsys.readouterr().err.startswith("error: ")


def test_evidence_is_sentences_values_and_a_table(
    text_folder: Path, tmp_path: Path, capsys: Output
) -> None:
    assert main(["evidence", str(text_folder), SENTENCES[0], "--target", "Die Katze."]) == 0
    sentences = capsys.readouterr().out.splitlines()
    result = answer(capsys, "evidence", text_folder, SENTENCES[0], "--target", "Die Katze.")
    *verdicts, unknown = sentences
    assert verdicts == [each["text"] for each in result["verdicts"]]
    assert result["lost"] == [] and unknown == result["not_judged"] != ""
    assert len(result["hidden"]) == len(result["target_words"]) == len(verdicts)
    file = tmp_path / "evidence.csv"
    more = ("--edit", "hide:source.0", "--out", file)
    answer(capsys, "evidence", text_folder, SENTENCES[0], "--target", "Die Katze.", *more)
    with file.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    n, n_read = len(result["target_words"]), len(result["source_words"])
    assert len(rows) == n * n_read + n * (n - 1) // 2
    again = [row for row in rows if (row["side"], row["number"]) == ("source", "0")]
    assert all(abs(float(row["hidden"])) < 1e-6 for row in again)  # it is hidden already
    assert main(["evidence", str(text_folder), SENTENCES[0], "--edit", "hide:source.99"]) == 1
    assert capsys.readouterr().err.startswith("error: hide:source.99: ")


def test_inspect(text_folder: Path, capsys: Output) -> None:
    result = answer(capsys, "inspect", text_folder)
    assert (result["checkpoint"], result["d_model"], result["vocab_size"]) == ("random", 32, 300)
    assert result["parameters"] == sum(
        count for name, count in result.items() if name.startswith("parameters of ")
    )
    assert main(["inspect", str(text_folder)]) == 0
    assert "d_model" in capsys.readouterr().out


def test_a_damaged_folder_is_listed_beside_the_others(
    text_folder: Path, tmp_path: Path, capsys: Output
) -> None:
    assert main(["list", str(tmp_path)]) == 1
    assert capsys.readouterr().err == f"error: No checkpoint in {tmp_path}.\n"
    for name in ("text", "ill"):
        shutil.copytree(text_folder, tmp_path / name)
    config = tmp_path / "ill" / "config.json"
    config.write_text(config.read_text().replace('"encoder_decoder"', '["a"]'))
    (tmp_path / "notes.md").write_text("no checkpoint")
    said = "damaged: ill: config.json: family must be a name, not ['a']."
    assert answer(capsys, "list", tmp_path) == {"ill": said, "text": "Random weights"}
    assert main(["list", str(tmp_path)]) == 0
    assert capsys.readouterr().out == f"ill   {said}\ntext  Random weights\n"


def test_train_and_evaluate(
    tmp_path: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("transformer.training.classification.N_TEST", 10)
    trained = answer(capsys, "train", "copy", "--steps", 2)
    assert (tmp_path / "checkpoints" / "copy" / "card.md").is_file()
    assert answer(capsys, "evaluate", "checkpoints/copy") == trained


def test_a_run_is_kept_where_it_is_told_to_be(
    tmp_path: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("transformer.training.classification.N_TEST", 10)
    answer(capsys, "train", "copy", "--steps", 1, "--work", "kept")
    assert (tmp_path / "kept" / "state.safetensors").is_file()
    assert not (tmp_path / "build").exists()


def test_evaluate_a_trained_folder(
    copy_run: Run, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("transformer.training.classification.N_TEST", 50)
    assert list(answer(capsys, "evaluate", copy_run.folder).values()) == [100.0]


BEAM = ("decode", "FOLDER", "x", "--method", "beam", "--option")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("decode", "nowhere", "x"), f"error: {Path.cwd()}/nowhere is not there. What opens: "),
        (("inspect", "nowhere"), f"error: {Path.cwd()}/nowhere is not there. What opens: "),
        (("decode", "FOLDER", " "), "error: The text is empty: type a sentence.\n"),
        (("decode", "FOLDER", "x", "--option", "heat=2"), "error: no option 'heat' of this method"),
        ((*BEAM, "beam_size=0"), "error: beam_size must be at least 1, not 0.\n"),
        ((*BEAM, "beam_size=many"), "error: beam_size cannot be 'many'.\n"),
        ((*BEAM, f"beam_size={'9' * 5000}"), "error: beam_size cannot be '9999"),
        ((*BEAM, "length_penalty=1e308"), "error: length_penalty must be at most 100, not 1e+308"),
        ((*BEAM, "length_penalty=nan"), "error: length_penalty must be a number, not nan.\n"),
        (("evaluate", "FOLDER"), "error: random names the recipe 'none', which is not here, "),
        (("train", "en-de"), "error: train.tatoeba.tsv needs --data DIR, a folder with "),
        (
            ("train", "en-de", "--data", "nowhere"),
            "error: nowhere/translation_en_de/train.tatoeba.tsv is missing",
        ),
        (("inspect", "FOLDER", "--device", "abacus"), "error: there is no device 'abacus' here"),
    ],
)
def test_errors_are_one_sentence(
    arguments: tuple[str, ...], message: str, text_folder: Path, capsys: Output
) -> None:
    known = [str(text_folder) if word == "FOLDER" else word for word in arguments]
    assert main(known) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(message)
    assert captured.err.count("\n") == 1 and len(captured.err) < 1000


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("train", "unknown"),
        ("train", "unknown" * 2000),
        ("decode", "a", "b", "--method", "none"),
        ("inspect",),
    ],
)
def test_wrong_usage(arguments: tuple[str, ...], capsys: Output) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(arguments)
    said = capsys.readouterr().err
    assert "usage: python -m transformer" in said and len(said) < 2000


def test_a_shipped_checkpoint_is_known_by_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    by_name, by_path = (answer(capsys, "inspect", name) for name in ("copy", "checkpoints/copy"))
    assert by_name == by_path


def test_the_folder_of_checkpoints_is_that_of_the_app(
    text_folder: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADSCOPE_CHECKPOINTS", str(text_folder.parent))
    assert answer(capsys, "list")["random"] == "Random weights"
    assert answer(capsys, "inspect", "random")["d_model"] == 32


def test_files_of_data_and_cards_are_files_of_an_honest_size(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.txt")
    (tmp_path / "long.txt").write_text("a" * 100)
    (tmp_path / "ends.txt").write_bytes(b"a\r\nb\rc\n")
    for name, said in (
        ("pipe.txt", "pipe.txt is a pipe, where a file belongs."),
        ("long.txt", "long.txt is too large: 100 bytes, where at most 50 are read."),
        ("none.txt", "none.txt is missing: --data must name the folder that holds it."),
    ):
        with pytest.raises(TrainingError) as caught:
            read_text(tmp_path, name, 50)
        assert str(caught.value) == f"{tmp_path}/{said}"
    assert read_lines(tmp_path, "ends.txt") == ["a", "b", "c"]
