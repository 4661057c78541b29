"""python -m tests.load.memory [--texts N] [--characters N]: what long texts leave in memory.

Distinct texts go through the app's cache of answers in one process, each with 16 hypotheses, as if
that many people had entered one each. Printed: the memory of the process, and what is kept of it.
"""

import argparse
import os
import random
import time
from pathlib import Path

from tests.load.visitor import sentence
from viz.run.cache import CACHE, collect
from viz.run.request import answer, make_request
from viz.run.settings import memory

EVERY, BEAM = 50, 16


def main(checkpoint: str, n_texts: int, n_characters: int) -> None:
    """Enter the texts, one after the other."""
    CACHE.most_bytes = memory()
    dice, started = random.Random(0), time.monotonic()
    print(f"{'texts':>6} {'process':>12} {'kept':>12} {'budget':>12} {'seconds':>8}")
    for n in range(n_texts + 1):
        if n % EVERY == 0 or n == n_texts:
            collect()
            shown = (resident(), CACHE.n_bytes, CACHE.most_bytes)
            said = " ".join(f"{each / 2**20:>8,.0f} MiB" for each in shown)
            print(f"{n:>6} {said} {time.monotonic() - started:>8.0f}", flush=True)
        if n < n_texts:
            text = f"{n}: {_long(dice, n_characters)}"
            made = answer(make_request(checkpoint, text, "beam", (("beam_size", BEAM),)))
            assert made.decoding is not None and len(made.decoding.hypotheses) == BEAM


def _long(dice: random.Random, n: int) -> str:
    text = ""
    while len(text) < n:
        text += f"{sentence(dice)} "
    return text[:n].strip()


def resident() -> int:
    """Bytes, where the system has /proc; else 0."""
    file = Path("/proc/self/statm")
    pages = int(file.read_text().split()[1]) if file.exists() else 0
    return pages * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    parser = argparse.ArgumentParser("python -m tests.load.memory")
    parser.add_argument("--checkpoint", default="en-de")
    parser.add_argument("--texts", type=int, default=500)
    parser.add_argument("--characters", type=int, default=400)
    asked = parser.parse_args()
    main(asked.checkpoint, asked.texts, asked.characters)
