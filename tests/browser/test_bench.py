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


@pytest.mark.parametrize("name", [name for name, it in BENCHES.items() if it.needs_browser])
def test_a_bench_runs(name: str, tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "tests.bench", "--quick", name],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    rows = json.loads((tmp_path / RESULT).read_text(encoding="utf-8"))
    assert rows
    for row in rows:
        assert row["name"] in ran.stdout
        assert row["ratio"] is None or row["ratio"] > 0
        assert row["ratio"] is not None or "BertViz" in row["baseline"]
