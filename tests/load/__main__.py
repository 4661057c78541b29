"""python -m tests.load [--sessions N ...] [--seconds S]: how many people the app holds at once.

Prints a table, and the ceiling: the most sessions of whose answers 19 of 20 come within 3 s.
Each answer is compared with the model's own.
"""

import argparse
import asyncio
import os
import random
from pathlib import Path

from tests.browser.server import serve
from tests.load.crowd import enter, type_letters
from tests.load.visitor import sentence

SESSIONS = (1, 5, 20, 50, 100)
GOAL = 3.0
"""Seconds, of the 95th percentile."""


def main(sessions: list[int], seconds: float, typists: int) -> None:
    """Start a server and let crowds of these sizes in, one after the other."""
    with serve() as address:
        print(
            f"{'sessions':>8} {'runs':>6} {'median':>8} {'p95':>8} {'runs/s':>7} "
            f"{'wrong':>6} {'MiB':>6} {'load':>5}"
        )
        ceiling = 0
        for n in sessions:
            found = asyncio.run(enter(address, n, seconds))
            print(
                f"{n:>8} {len(found.seconds):>6} {found.median * 1e3:>5.0f} ms "
                f"{found.p95 * 1e3:>5.0f} ms {found.rate:>7.1f} {found.n_wrong:>6} "
                f"{_resident():>6.0f} {os.getloadavg()[0]:>5.1f}",
                flush=True,
            )
            if found.p95 <= GOAL and not found.n_wrong:
                ceiling = n
        cores = os.cpu_count()
        print(f"Ceiling: {ceiling} people on {cores} cores, 19 of 20 answers within {GOAL:.0f} s.")
        for drafts in ("", _long(500)) if typists else ():
            typed = asyncio.run(type_letters(address, typists, seconds, drafts))
            beside = ", beside a draft of 500 characters with a beam of 16" if drafts else ""
            print(
                f"{typists} type{beside}: {min(typed.per_second):.1f} to "
                f"{max(typed.per_second):.1f} previews per second, the longest wait "
                f"{typed.longest:.1f} s, {typed.n_wrong} wrong; "
                f"{_resident():.0f} MiB",
                flush=True,
            )


def _resident() -> float:
    """MiB that the server has in memory, where the system has /proc; else 0."""
    me = os.getpid()
    children = Path(f"/proc/{me}/task/{me}/children")
    pids = children.read_text().split() if children.exists() else []
    files = (Path(f"/proc/{pid}/statm").read_text() for pid in pids)
    return sum(int(file.split()[1]) for file in files) * os.sysconf("SC_PAGE_SIZE") / 2**20


def _long(n: int) -> str:
    """Sentences of n characters together."""
    dice, text = random.Random(0), ""
    while len(text) < n:
        text += sentence(dice) + " "
    return text[:n].strip()


if __name__ == "__main__":
    parser = argparse.ArgumentParser("python -m tests.load")
    parser.add_argument("--sessions", type=int, nargs="*", default=list(SESSIONS))
    parser.add_argument("--seconds", type=float, default=30.0, help="of each crowd")
    parser.add_argument("--typists", type=int, default=20, help="0: nobody types")
    asked = parser.parse_args()
    main(asked.sessions, asked.seconds, asked.typists)
