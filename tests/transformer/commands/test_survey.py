"""python -m transformer survey: parts that are there stay, and another survey is refused."""

import json
from pathlib import Path

import pytest

from tests.representatives import thorough
from tests.transformer.hugging_face.saving import save, writer
from transformer.__main__ import main
from transformer.commands import survey
from transformer.commands.survey import CSV, JSON
from transformer.corpus.measured import metrics, roles
from transformer.corpus.shards import MANIFEST, SIZE, part
from transformer.corpus.summary import read_survey
from transformer.corpus.survey import SurveyJob
from transformer.device import PRECISION, DeviceError
from transformer.hugging_face import loading as placing

Output = pytest.CaptureFixture[str]
LINES = [" ".join(str(2 + (i * j) % 10) for j in range(1, 3 + i % 6)) for i in range(SIZE + 5)]


def run(*arguments: object) -> int:
    return main(["survey", *map(str, arguments), "--device", "cpu"])


@pytest.fixture
def data(tmp_path: Path) -> Path:
    file = tmp_path / "sentences.txt"
    file.write_text("\n".join(["", "a b", "2 3\t2 3", *LINES]) + "\n")
    return file


@pytest.mark.usefixtures("forked_workers")
def test_it_is_written_said_and_continued(data: Path, tmp_path: Path, capsys: Output) -> None:
    pytest.importorskip("pyarrow")
    out = tmp_path / "out"
    assert run("copy", "--data", data, "--out", out, "--json") == 0
    printed = capsys.readouterr()
    result = json.loads(printed.out)
    assert result["sentences"] == SIZE + 6
    empty, left_out = result["left_out"]
    assert empty.startswith("line 1 is left out: The text is empty") and empty in printed.err
    assert left_out.startswith("line 2 ") and left_out in printed.err
    assert {"all", "decode", "record", "metrics", "write"} == set(result["seconds"])
    summary = read_survey((out / JSON).read_text())
    assert [each["kind"] for each in result["heads"]] == [each.kind for each in summary.heads]
    assert (out / CSV).read_text().startswith("kind,layer,head,number")

    before = [part(out, number).read_bytes() for number in (0, 1)]
    times = part(out, 0).stat().st_mtime_ns
    part(out, 1).unlink()
    assert run("copy", "--data", data, "--out", out, "--engine", "processes") == 0
    assert [part(out, number).read_bytes() for number in (0, 1)] == before
    assert part(out, 0).stat().st_mtime_ns == times
    table = capsys.readouterr().out
    assert all(f"{each.kind} L{each.layer} H{each.head}" in table for each in summary.heads)


def test_another_survey_is_refused(data: Path, tmp_path: Path, capsys: Output) -> None:
    pytest.importorskip("pyarrow")
    out, other = tmp_path / "out", tmp_path / "other.txt"
    assert run("copy", "--data", data, "--out", out) == 0
    other.write_text("2 3 4\n")
    for arguments in (
        ("copy", "--data", other),
        ("copy", "--data", data, "--batch", 7),
        ("en-de-small", "--data", data),
    ):
        capsys.readouterr()
        assert run(*arguments, "--out", out) == 1
        assert capsys.readouterr().err.startswith(f"error: {out} is of ")
    assert part(out, 1).exists()


@pytest.mark.thorough
def test_parts_of_another_precision_are_refused(
    data: Path, tmp_path: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pyarrow")
    out = tmp_path / "out"
    assert run("copy", "--data", data, "--out", out) == 0
    part(out, 1).unlink()
    monkeypatch.setenv(PRECISION, "bfloat16")
    capsys.readouterr()
    assert run("copy", "--data", data, "--out", out) == 1
    assert f"{PRECISION}=float32" in capsys.readouterr().err and not part(out, 1).exists()
    monkeypatch.delenv(PRECISION)
    assert run("copy", "--data", data, "--out", out, "--threads", 2) == 1
    assert "threads" in capsys.readouterr().err


def test_the_precision_is_that_of_the_opened_model(
    tmp_path: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where float32 does not fit what is free at the moment, a model opens in half precision."""
    pytest.importorskip("pyarrow")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    model = writer("Llama")
    n_bytes = 4 * sum(weights.numel() for weights in model.parameters())
    folder, data, out = save(model, tmp_path / "llama"), tmp_path / "data.txt", tmp_path / "out"
    data.write_text("the cat\n" * SIZE + "the dog ran .\n")
    arguments = (folder, "--data", data, "--out", out)
    assert run(*arguments) == 0
    monkeypatch.setattr(placing, "free_memory", lambda device: n_bytes)
    assert run(*arguments) == 0  # nothing is left to do
    part(out, 1).unlink()
    capsys.readouterr()
    assert run(*arguments) == 1
    assert f"{PRECISION}=float32" in capsys.readouterr().err and not part(out, 1).exists()
    with pytest.raises(DeviceError, match=f"{PRECISION}=float32"):  # a worker
        SurveyJob(folder, "cpu", out, precision="float32").open()
    assert run(*arguments[:-1], tmp_path / "new") == 0
    manifest = json.loads((tmp_path / "new" / MANIFEST).read_text())
    assert manifest["options"]["precision"] == "bfloat16"


@pytest.mark.thorough
def test_where_nothing_is_left_no_model_is_opened(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pyarrow")
    out = tmp_path / "out"
    assert run("copy", "--data", data, "--out", out) == 0
    monkeypatch.delattr(survey, "load_checkpoint")
    assert run("copy", "--data", data, "--out", out) == 0


@pytest.mark.parametrize("size", [thorough(0), 3000])
def test_a_damaged_part_is_made_anew(size: int, data: Path, tmp_path: Path, capsys: Output) -> None:
    pytest.importorskip("pyarrow")
    out = tmp_path / "out"
    assert run("copy", "--data", data, "--out", out) == 0
    before = part(out, 0).read_bytes()
    part(out, 0).write_bytes(before[:size])
    capsys.readouterr()
    assert run("copy", "--data", data, "--out", out) == 0
    assert part(out, 0).read_bytes() == before
    assert str(part(out, 0)) in capsys.readouterr().err


@pytest.mark.thorough
def test_reasons_of_lines_stay_with_the_parts(data: Path, tmp_path: Path, capsys: Output) -> None:
    pytest.importorskip("pyarrow")
    out = tmp_path / "out"
    for n in range(3):
        if n == 2:
            part(out, 1).unlink()
        assert run("copy", "--data", data, "--out", out, "--json") == 0
        printed = capsys.readouterr()
        reasons = json.loads(printed.out)["left_out"]
        assert [reason[:7] for reason in reasons] == ["line 1 ", "line 2 "]
        assert all(printed.err.count(reason) == 1 for reason in reasons)
        assert read_survey((out / JSON).read_text()).left_out == tuple(reasons)


def test_no_folder_no_survey(
    data: Path, tmp_path: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pyarrow")
    monkeypatch.delattr(survey, "load_checkpoint")
    for out in (data, data / "out", tmp_path / ("a" * 300)):
        assert run("copy", "--data", data, "--out", out) == 1
        error = capsys.readouterr().err
        assert error.startswith(f"error: {str(out)[:40]}") and "--out must name a folder" in error
    with pytest.raises(SystemExit):
        run("copy", "--data", data, "--out", "")  # the variable of a shell that is not set
    assert "must name a folder" in capsys.readouterr().err
    data = data.rename(tmp_path / "none.conllu")
    data.write_text("# text = 2 3\n\n")
    assert run("copy", "--data", data, "--out", tmp_path / "out") == 1
    assert "has no sentence" in capsys.readouterr().err


def test_a_damaged_part_of_no_shard_is_named(data: Path, tmp_path: Path, capsys: Output) -> None:
    pytest.importorskip("pyarrow")
    out = tmp_path / "out"
    out.mkdir()
    data.write_text("2 3\n")
    assert run("copy", "--data", data, "--out", out) == 0
    part(out, 7).write_text("cut")
    assert run("copy", "--data", data, "--out", out) == 1
    assert f"error: {part(out, 7)} is not a part" in capsys.readouterr().err


def test_parts_of_other_columns_are_refused_at_once(
    data: Path, tmp_path: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pyarrow")
    out = tmp_path / "out"
    assert run("copy", "--data", data, "--out", out) == 0
    monkeypatch.setattr(survey, "columns", lambda: ("entropy", "own"))
    capsys.readouterr()
    assert run("copy", "--data", data, "--out", out) == 1
    assert capsys.readouterr().err.startswith(f"error: {out} is of other options (columns: ")


def test_trees_read_as_lines_are_another_survey(tmp_path: Path, capsys: Output) -> None:
    pytest.importorskip("pyarrow")
    trees, lines, out = tmp_path / "t.conllu", tmp_path / "t.txt", tmp_path / "out"
    trees.write_text(
        "# text = 2 3\n1\t2\t_\tX\t_\t_\t0\troot\t_\t_\n2\t3\t_\tX\t_\t_\t1\tdep\t_\t_\n\n"
    )
    lines.write_bytes(trees.read_bytes())
    assert run("copy", "--data", trees, "--out", out) == 0
    capsys.readouterr()
    assert run("copy", "--data", lines, "--out", out) == 1
    assert "trees" in capsys.readouterr().err


def test_the_mark_of_an_editor_is_no_character(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    file, out = tmp_path / "bom.txt", tmp_path / "out"
    file.write_bytes("\ufeffROMEO: speak.\r\n".encode())
    assert run("shakespeare", "--data", file, "--out", out) == 0
    assert read_survey((out / JSON).read_text()).n_sentences == 1


@pytest.mark.parametrize("lines", ["\n \n", "a b\nc\n"])
def test_a_file_without_a_sentence_is_refused(lines: str, tmp_path: Path, capsys: Output) -> None:
    pytest.importorskip("pyarrow")
    file = tmp_path / "none.txt"
    file.write_text(lines)
    assert run("copy", "--data", file, "--out", tmp_path / "out") == 1
    assert "sentence" in capsys.readouterr().err


def test_a_number_whose_title_has_another_word_is_listed_under_both() -> None:
    documented = (Path(__file__).parents[3] / "docs" / "survey.md").read_text(encoding="utf-8")
    every = metrics() | roles()
    others = [name for name in every if survey.is_other(name)]
    assert "confidence" in others and "entropy" not in others
    for name in others:
        assert f"| `{name}` | *{every[name].title}* on screen" in documented
    assert len(survey.titled(every)) == len(others)
