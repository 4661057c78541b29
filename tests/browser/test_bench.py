"""The benches that need a browser run whole, at their smallest size, in a process of their own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bench.__main__ import RESULT
from tests.browser.server import ROOT
from transformer.discover import discover

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("browser")]

BENCHES = discover("tests.bench", "BENCH")


def test_each_bench_runs(tmp_path: Path) -> None:
    names = [name for name, bench in BENCHES.items() if bench.needs_browser]
    ran = subprocess.run(
        [sys.executable, "-m", "tests.bench", "--quick", *names],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    rows = json.loads((tmp_path / RESULT).read_text(encoding="utf-8"))
    assert {row["bench"] for row in rows} == set(names)
    for row in rows:
        assert row["name"] in ran.stdout
        assert row["ratio"] is None or row["ratio"] > 0
        assert row["ratio"] is not None or "BertViz" in row["baseline"]
