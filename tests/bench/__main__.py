"""python -m tests.bench [--quick] [NAME ...]: every bench beside this file, or the named ones."""

import argparse
import json
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path

import torch

from tests.bench.bench import Bench, Row
from tests.bench.places import Places, own_places
from transformer.discover import discover

RESULT = Path("build/bench.json")


def main(names: list[str], is_quick: bool = False) -> None:
    """Run benches, print their rows and write them to RESULT. is_quick: see Bench.run."""
    torch.set_num_threads(1)
    benches = discover("tests.bench", "BENCH")
    rows = []
    with ExitStack() as stack:
        places: Places | None = None
        for name in names or benches:
            bench = benches[name]
            if isinstance(bench, Bench):
                result = bench.run(is_quick)
            else:
                places = places or stack.enter_context(own_places())
                result = bench.run(is_quick, places)
            rows += [{"bench": name, **asdict(row)} for row in _shown(result)]
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
