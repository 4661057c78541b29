"""Each bench that needs no browser runs whole, at its smallest size; figures are nobody's here."""

import json
import math
from pathlib import Path

import pytest

from tests.bench.__main__ import RESULT, main
from tests.bench.bench import Bench
from tests.representatives import cases
from transformer.discover import discover

BENCHES = discover("tests.bench", "BENCH")
FEW = {"two runs in turn": "decoding"}
"""Benches measure rooms whose own tests run; of their tools there are two: these, and bytes."""


@pytest.mark.parametrize(
    "name", cases([name for name, it in BENCHES.items() if isinstance(it, Bench)], FEW)
)
def test_a_bench_runs(name: str) -> None:
    rows = BENCHES[name].run(True)
    assert rows
    for row in rows:
        assert row.name and row.baseline
        assert row.ratio is not None and math.isfinite(row.ratio) and row.ratio > 0


def test_what_was_measured_is_printed_and_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    main(["payload"], is_quick=True)
    (row,) = json.loads(RESULT.read_text(encoding="utf-8"))
    assert row["name"].startswith("grid, 144 heads, 30 tokens")
    assert row["ratio"] < row["goal"]
    assert row["name"] in capsys.readouterr().out
