"""python -m transformer sweep: a table that is continued, means with intervals, BLEU per head."""

import csv
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.conftest import SENTENCES
from tests.transformer.hugging_face.pairs import A, B, save_pair_reader
from transformer import Checkpoint, decode, load_checkpoint, record
from transformer.__main__ import main
from transformer.analysis import corpus_sweep
from transformer.analysis import tables as sweep_table
from transformer.analysis.ablation import rewrite_with
from transformer.analysis.corpus_sweep import interval
from transformer.analysis.scored import log_probabilities
from transformer.edits import Edit, parse
from transformer.refusal import Refusal
from transformer.training.evaluation import heads as head_bleu

Output = pytest.CaptureFixture[str]
LINES = [SENTENCES[0], "", f"{SENTENCES[9]}\tand what follows a tab", SENTENCES[20], SENTENCES[3]]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    file = tmp_path / "sentences.txt"
    file.write_text("\n".join(LINES) + "\n")
    return file


def run(*arguments: object) -> int:
    return main(["sweep", *map(str, arguments), "--device", "cpu"])


def answer(capsys: Output, *arguments: object) -> Any:
    assert run(*arguments, "--json") == 0
    return json.loads(capsys.readouterr().out)


def rows_of(file: Path) -> list[dict[str, str]]:
    with file.open(newline="") as stream:
        return list(csv.DictReader(stream))


def test_a_line_is_an_edited_pass_and_a_mean_is_of_its_lines(
    text_folder: Path, data: Path, tmp_path: Path, capsys: Output
) -> None:
    out = tmp_path / "swept.csv"
    found = answer(capsys, text_folder, "--data", data, "--out", out, "--pairs", 3)
    checkpoint, rows = load_checkpoint(text_folder), rows_of(out)
    assert {int(row["sentence"]) for row in rows} == {1, 3, 4, 5} and found["sentences"] == 4

    def log_prob(row: dict[str, str], edits: Sequence[Edit | str]) -> float:
        target = decode(checkpoint, row["source"]).target
        recording = record(checkpoint, row["source"], target, edits)
        return float(log_probabilities(recording).sum())

    for row in rows[::11] + rows[-2:]:
        plain, edited = log_prob(row, ()), log_prob(row, row["edits"].split())
        assert float(row["log_prob"]) == pytest.approx(plain, abs=1e-3)
        assert float(row["change"]) == pytest.approx(edited - plain, abs=1e-3)
        if row["synergy"]:
            apart = sum(log_prob(row, [edit]) - plain for edit in row["edits"].split())
            assert float(row["synergy"]) == pytest.approx(edited - plain - apart, abs=1e-3)
    assert sum(bool(row["synergy"]) for row in rows) == 3 * 4 and len(found["pairs"]) == 3
    one = found["heads"][5]
    values = [float(row["change"]) for row in rows if row["edits"] == one["edits"]]
    assert len(values) == 4 == one["n_sentences"]
    assert one["mean"] == pytest.approx(sum(values) / 4)
    assert min(values) <= one["low"] <= one["mean"] <= one["high"] <= max(values)
    strongest = sorted(found["heads"], key=lambda each: -abs(each["mean"]))[:3]
    named = {edit for pair in found["pairs"] for edit in pair["edits"].split()}
    assert named == {each["edits"] for each in strongest}


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_stopped_sweep_is_continued_to_the_same_bytes(
    suffix: str, text_folder: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, broken = tmp_path / f"whole{suffix}", tmp_path / f"broken{suffix}"
    given = (text_folder, "--data", data, "--pairs", 3, "--out")
    assert run(*given, whole) == 0
    real, n_before_stop = corpus_sweep.sweep, 2

    def stops(*arguments: Any) -> Any:
        nonlocal n_before_stop
        n_before_stop -= 1
        if n_before_stop < 0:
            raise KeyboardInterrupt
        return real(*arguments)

    for n in (2, 1 + 1, 1 + 2):  # the first sweep of a run that goes on looks at what is there
        n_before_stop = n
        with monkeypatch.context() as patch:
            patch.setattr(corpus_sweep, "sweep", stops)
            assert run(*given, broken) == 130
        left = sweep_table.read(broken)
        assert 0 < len(left) < len(sweep_table.read(whole))
    assert run(*given, broken) == 0
    assert broken.read_bytes() == whole.read_bytes()
    assert run(*given, broken) == 0  # there is nothing left to do
    assert broken.read_bytes() == whole.read_bytes()


@pytest.mark.usefixtures("forked_workers")
def test_another_process_writes_the_same_table(
    text_folder: Path, data: Path, tmp_path: Path
) -> None:
    here, processes = tmp_path / "here.csv", tmp_path / "processes.csv"
    given = (text_folder, "--data", data, "--pairs", 3, "--out")
    assert run(*given, here) == 0
    assert run(*given, processes, "--engine", "processes") == 0
    assert processes.read_bytes() == here.read_bytes()


def test_the_engine_here_is_one_process(text_folder: Path, data: Path, capsys: Output) -> None:
    for more in (("--jobs", 2), ("--address", "head:6379")):
        assert run(text_folder, "--data", data, "--engine", "here", *more) == 1
        assert "leave out --jobs and --address" in capsys.readouterr().err
    assert run(text_folder, "--data", data, "--bleu", 3, "--jobs", 2) == 1
    assert "BLEU is computed here" in capsys.readouterr().err
    for more in (("--pairs", 2), ("--pair", "second")):  # they were left out in silence
        assert run(text_folder, "--data", data, "--bleu", 3, *more) == 1
        assert "BLEU is of heads one by one" in capsys.readouterr().err


def test_a_killed_write_leaves_the_table_that_was_there(
    text_folder: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    out = tmp_path / "swept.csv"
    assert run(text_folder, "--data", data, "--out", out) == 0
    before = out.read_bytes()

    def full(*arguments: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    assert run(text_folder, "--data", data, "--out", out, "--pairs", 2) == 1
    assert out.read_bytes() == before
    assert "swept.csv cannot be written: No space left on device" in capsys.readouterr().err


def test_what_cannot_be_continued_is_said(
    text_folder: Path, data: Path, tmp_path: Path, capsys: Output
) -> None:
    def refused(*arguments: object) -> str:
        assert run(text_folder, *arguments) == 1
        return capsys.readouterr().err.splitlines()[-1]

    out = tmp_path / "swept.csv"
    assert run(text_folder, "--data", data, "--out", out) == 0
    text = out.read_text()
    out.write_text(text.replace("the cat", "the hat"))
    assert "The table is of other sentences" in refused("--data", data, "--out", out)
    first = rows_of_text(text)[0]["log_prob"]
    out.write_text(text.replace(first, "-1.5"))
    assert "of another model or of other weights" in refused("--data", data, "--out", out)
    out.write_text("a,b\n1,2\n")
    assert "holds no sweep that could be continued" in refused("--data", data, "--out", out)
    assert out.read_text() == "a,b\n1,2\n"
    out.write_text("a,b\n1\n")
    assert "holds no sweep that could be continued" in refused("--data", data, "--out", out)
    assert "must end in .csv or .parquet" in refused("--data", data, "--out", tmp_path / "a.txt")
    data.write_text("\n\n")
    assert "has no sentence" in refused("--data", data)


@pytest.fixture
def vectors(tmp_path: Path) -> Path:
    """An encoder that gives a vector, of one text or two: without an edit it turns by 0."""
    folder = tmp_path / "encoder"
    model, tokenizer = save_pair_reader("BERT", folder)
    model.bert.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def test_a_table_knows_its_second_text(vectors: Path, tmp_path: Path, capsys: Output) -> None:
    data, out = tmp_path / "data.txt", tmp_path / "swept.csv"
    data.write_text(f"{A}\n{B}\n")
    given = (vectors, "--data", data, "--out", out)
    assert run(*given, "--pair", B, "--pairs", 2) == 0
    before = out.read_bytes()
    assert {row["pair"] for row in rows_of(out)} == {B}
    assert run(*given, "--pair", f" {B} ", "--pairs", 2) == 0 and out.read_bytes() == before
    for pair in ((), ("--pair", A)):
        capsys.readouterr()
        assert run(*given, *pair) == 1
        assert repr(B) in capsys.readouterr().err and out.read_bytes() == before


def test_a_table_without_a_column_for_pairs_is_one_of_single_texts(
    vectors: Path, tmp_path: Path
) -> None:
    data, out = tmp_path / "data.txt", tmp_path / "swept.csv"
    data.write_text(f"{A}\n")
    given = (vectors, "--data", data, "--out", out)
    assert run(*given) == 0
    before = out.read_bytes()
    older = before.replace(b",pair\r\n", b"\r\n").replace(b",\r\n", b"\r\n")
    out.write_bytes(older)
    assert older != before and run(*given, "--pair", B) == 1 and out.read_bytes() == older
    assert run(*given) == 0 and out.read_bytes() == before


def rows_of_text(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(text.splitlines()))


def test_parquet_without_pyarrow_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(Refusal, match=r"^pyarrow is not installed here: .*\[parquet\].* \.csv"):
        sweep_table.check_place(tmp_path / "a.parquet")


def test_an_interval_holds_the_mean_of_most_samples() -> None:
    generator = torch.Generator().manual_seed(1)
    held = 0
    for _ in range(200):
        found = interval(torch.randn(30, 1, generator=generator) + 2)
        held += float(found.low) <= 2 <= float(found.high)
    assert 0.88 <= held / 200 <= 0.99
    constant = interval(torch.full((5, 2), 3.0))
    assert constant.mean.tolist() == constant.low.tolist() == constant.high.tolist() == [3.0, 3.0]
    assert bool(interval(torch.ones(1, 2)).low.isnan().all())


def test_many_edited_models_write_at_once_what_each_writes(text_checkpoint: Checkpoint) -> None:
    edits = ["head-off:cross.0.1", "head-off:encoder_self.1.0", "head-off:decoder_self.1.1"]
    edits += ["hide:source.1", "cut-word:cross.2"]
    groups = [(), *((parse(edit),) for edit in edits), tuple(map(parse, edits))]
    found = rewrite_with(text_checkpoint, SENTENCES[7], groups)
    for ids, group in zip(found, groups, strict=True):
        alone = decode(text_checkpoint, SENTENCES[7], edits=group)
        assert ids == [token.id for token in alone.target]


def test_bleu_of_each_head_off_and_alone(
    text_folder: Path, tmp_path: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(head_bleu, "N_SAMPLES", 20)
    checkpoint = load_checkpoint(text_folder)
    pairs = [
        (s, decode(checkpoint, s).text.replace("\n", " ").replace("\t", " ")) for s in LINES if s
    ]
    pairs = [(source.partition("\t")[0], text or "a") for source, text in pairs]
    data, out = tmp_path / "pairs.tsv", tmp_path / "heads.md"
    data.write_text("".join(f"{source}\t{text}\n" for source, text in pairs))
    found = answer(capsys, text_folder, "--data", data, "--bleu", 3, "--out", out)
    text, config = out.read_text(), checkpoint.config
    n_heads = sum(line.count("|") - 2 for line in text.splitlines() if line.startswith("| L"))
    assert n_heads == 2 * 6 * config.n_heads  # type: ignore[attr-defined]
    assert found["sentences"] == 3 and "first 3 pairs of `pairs.tsv`" in text
    assert len(found) == 2 + n_heads
    assert run(text_folder, "--data", data, "--bleu", 3, "--out", tmp_path / "a.csv") == 1
    assert "must end in .md" in capsys.readouterr().err
