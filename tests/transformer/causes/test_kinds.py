"""The words of verdicts are the same in code, in files, on screen and in the documents' table."""

import pickle
from pathlib import Path
from typing import get_args

import pytest

from tests.conftest import SENTENCES
from transformer import Checkpoint, evidence
from transformer.causes.evidence import evidence_csv, evidence_values
from transformer.causes.verdict import KINDS, OLD, Kind, Verdict, kind_of
from viz.causes.tables import PARTED, verdict_words
from viz.lessons.riddle import mistake_line, read_mistake


def test_every_kind_is_a_row_of_the_table() -> None:
    assert set(KINDS) == set(get_args(Kind))
    text = (Path(__file__).parents[3] / "docs" / "evidence.md").read_text("utf-8")
    assert all(f"| *{kind}* |" in text for kind in KINDS)
    assert set(PARTED) <= set(KINDS) and set(OLD.values()) <= set(KINDS)


def test_files_and_screens_say_the_kind(text_checkpoint: Checkpoint) -> None:
    result = evidence(text_checkpoint, SENTENCES[0])
    rows = evidence_csv(result).decode()
    for word, (judged, value) in enumerate(
        zip(result.verdicts, evidence_values(result)["verdicts"], strict=True)
    ):
        assert judged.kind in KINDS and value["kind"] == judged.kind and judged.kind in rows
        (line,), _ = verdict_words(result, word).lines, None
        assert line.spans[0].text.startswith(f"{judged.kind.capitalize()}: ")


@pytest.mark.parametrize("old", OLD)
def test_an_old_spelling_is_read(old: str) -> None:
    """In a story, in Python, and in what an earlier version pickled."""
    made = Verdict(old, "", None, None, 0.0)  # type: ignore[arg-type]
    assert made.kind == kind_of(old) == OLD[old]
    vars(made)["kind"] = old
    assert pickle.loads(pickle.dumps(made)).kind == OLD[old]
    mistake = read_mistake(f"die deren {old} stolen")
    assert mistake.kind == OLD[old] and read_mistake(mistake_line(mistake)) == mistake


def test_what_is_no_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="There is no verdict 'removed': there is agrees"):
        kind_of("removed")
    with pytest.raises(ValueError, match=r"kind is one of agrees, .*moved%20by%20the%20encoder"):
        read_mistake("die deren removed stolen")
