"""A notebook's pictures are saved as figures, too."""

from pathlib import Path

import numpy as np
import pytest

from transformer.recording import Recording
from viz import head_map, head_view
from viz.paper.figure import rows
from viz.paper.record import FigureError, read_record


def test_a_picture_of_a_notebook_is_saved_by_the_ending_of_its_file(
    recording: Recording, tmp_path: Path
) -> None:
    shown = head_map(recording, "cross", 1, 0)
    starts = {"html": b"<!doctype", "svg": b"<?xml", "pdf": b"%PDF-", "png": b"\x89PNG"}
    for kind, start in starts.items():
        file = shown.save(tmp_path / f"head.{kind}", **({"width": 3.3} if kind == "pdf" else {}))
        assert file.read_bytes().startswith(start)
    with pytest.raises(FigureError, match="carries no state"):
        read_record((tmp_path / "head.svg").read_bytes())
    assert shown.figure is not None
    drawn = [row["weight"] for row in rows(shown.figure.sheet(3.3))]
    expected = recording.attentions["cross"].weights(1, 0).numpy().ravel()
    np.testing.assert_allclose(drawn, expected, rtol=1e-6)


def test_a_width_that_no_paper_has_leaves_no_file(recording: Recording, tmp_path: Path) -> None:
    with pytest.raises(FigureError, match="inches wide"):
        head_view(recording).save(tmp_path / "head.pdf", width=99)
    assert not list(tmp_path.iterdir())
