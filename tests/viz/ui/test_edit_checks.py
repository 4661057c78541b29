"""Proofs on the page: computed when somebody asks, with the numbers of the run that is shown."""

import re
from pathlib import Path

import pytest

from tests.viz.ui.test_app import start
from transformer.analysis.proofs import Proof
from viz.ui.experiment import _mark


@pytest.mark.parametrize(
    ("edits", "said"),
    [
        ("head-off:cross.1.1", "The first that differs is Cross L1."),
        ("", "not checkable, nothing is changed."),
    ],
)
def test_each_claim_has_its_number(copied: Path, edits: str, said: str) -> None:
    app = start(tool="heads", **({"edits": edits} if edits else {}))
    assert "largest error" not in " ".join(each.value for each in app.markdown)
    app.session_state["proofs"] = True
    app.run()
    (text,) = (each.value for each in app.markdown if "largest error" in each.value)
    lines = re.sub(r"[\\\N{WORD JOINER}]", "", text).split("\n\n")
    assert [line[0] for line in lines] == ["✓", "✓", "✓", "✓" if edits else "–"]
    assert re.search(r"largest error \de−\d of the largest value \(6 layers\)", lines[0])
    assert "largest difference 0 (24 heads)" in lines[1]
    assert said in lines[3]


def test_a_number_beyond_its_limit_is_marked() -> None:
    assert _mark(Proof("rows", 0.1, 1e-4)) == "✗"
    assert _mark(Proof("rows", 1e-5, 1e-4)) == "✓"
    assert _mark(Proof("rows", None, why="so")) == "–"
