"""python -m tests.bench [--quick] [NAME ...]: every bench beside this file, or the named ones."""

import argparse
import json
from dataclasses import asdict
from pathlib import Path

import torch

from tests.bench.bench import Row
from transformer.discover import discover

RESULT = Path("build/bench.json")


def main(names: list[str], is_quick: bool = False) -> None:
    """Run benches, print their rows and write them to RESULT. is_quick: see Bench.run."""
    torch.set_num_threads(1)
    benches = discover("tests.bench", "BENCH")
    rows = [
        {"bench": name, **asdict(row)}
        for name in names or benches
        for row in _shown(benches[name].run(is_quick))
    ]
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(json.dumps(rows, indent=2) + "\n")


def _shown(rows: list[Row]) -> list[Row]:
    for row in rows:
        goal = "" if row.goal is None else f", goal {row.goal:.2f} or less"
        ratio = " " * 8 if row.ratio is None else f"{row.ratio:6.4f} x"
        print(f"{row.name:<40} {ratio}  {row.baseline}{goal}", flush=True)
    return rows


if __name__ == "__main__":
    parser = argparse.ArgumentParser("python -m tests.bench")
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--quick", action="store_true", help="only see whether the benches run")
    asked = parser.parse_args()
    main(asked.names, asked.quick)
