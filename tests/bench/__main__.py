"""python -m tests.bench [NAME ...]: every bench beside this file, or the named ones."""

import json
import sys
from dataclasses import asdict
from pathlib import Path

import torch

from tests.bench.bench import Row
from transformer.discover import discover

RESULT = Path("build/bench.json")


def main(names: list[str]) -> None:
    torch.set_num_threads(1)
    benches = discover("tests.bench", "BENCH")
    rows = [row for name in names or benches for row in _shown(benches[name].run())]
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(json.dumps([asdict(row) for row in rows], indent=2) + "\n")


def _shown(rows: list[Row]) -> list[Row]:
    for row in rows:
        goal = "" if row.goal is None else f", goal {row.goal:.2f} or less"
        ratio = " " * 8 if row.ratio is None else f"{row.ratio:6.3f} x"
        print(f"{row.name:<36} {ratio}  {row.baseline}{goal}", flush=True)
    return rows


if __name__ == "__main__":
    main(sys.argv[1:])
