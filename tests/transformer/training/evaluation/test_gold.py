"""Word alignments made by people, read from their files."""

from pathlib import Path

import pytest

from transformer.training.evaluation.heads import BICICI, RWTH, bicici_alignments, rwth_alignments
from transformer.training.task import TrainingError
from transformer.training.translation import MissingData


def write(folder: Path, files: dict[str, str]) -> None:
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")


def test_both_gold_sets_are_read(tmp_path: Path) -> None:
    english, german = "Tom 's cat is there .\n", "\ufeffToms Katze ist da .\n"
    rwth = {"test.uc.en": english, "test.uc.de": german, "alignment.talp": "2-3 1-1 1p2 \n"}
    write(tmp_path / RWTH, rwth)
    files = {"test.en": english, "test.de": german, "de-en.ref.wa": "1 0 0 S \n1 1 2 S \n1 1 6 S\n"}
    write(tmp_path / BICICI, files)
    (one,), (two,) = rwth_alignments(tmp_path), bicici_alignments(tmp_path)
    assert (one.source, one.target) == ("Tom's cat is there.", "Toms Katze ist da.")
    assert one.source_words == ("Tom", "'s", "cat", "is", "there", ".")
    assert (one.sure, one.possible) == ({(0, 0), (2, 1)}, {(0, 0), (2, 1), (1, 0)})
    assert two.sure == two.possible == {(0, 0), (2, 1)}


def test_gold_that_is_missing_or_does_not_fit(tmp_path: Path) -> None:
    with pytest.raises(MissingData, match=r"test\.uc\.en needs --data DIR"):
        rwth_alignments(None)
    with pytest.raises(MissingData, match=r"test\.en is missing: --data must name"):
        bicici_alignments(tmp_path)
    rwth = {"test.uc.en": "a\nb\n", "test.uc.de": "c\n", "alignment.talp": "1-1\n"}
    write(tmp_path / RWTH, rwth)
    with pytest.raises(TrainingError, match="differ in their number of lines"):
        rwth_alignments(tmp_path)
    (tmp_path / RWTH / "test.uc.de").write_text("c\nd\n")
    with pytest.raises(TrainingError, match=r"talp has 1 lines for 2 sentences"):
        rwth_alignments(tmp_path)
    (tmp_path / RWTH / "alignment.talp").write_text("1-1\n2-1\n")
    with pytest.raises(TrainingError, match="a link leads to no word of “b”, “d”"):
        rwth_alignments(tmp_path)
