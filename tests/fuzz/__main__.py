"""python -m tests.fuzz [--n N] [--first NUMBER] [KIND ...]: damaged inputs of every kind, many.

Each kind is a file beside this one, and runs in a process of its own: one that dies, hangs or fills
the memory is a fault with a number, and the run goes on after it. Exit status 1 where there is one.
"""

import argparse
import faulthandler
import json
import queue
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import traceback
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.fuzz.kind import Kind, attempted
from transformer.discover import discover

SECONDS = 60
"""Of one input, after which it counts as hanging; on a busy machine the slowest takes two."""
START = 10
"""How many times that a process may take to its first: it imports and builds before."""
MOST_MEMORY = 3 << 30
"""Bytes that a process may hold: beyond them Python raises MemoryError."""
TAKEN, REFUSED, FAULT = "taken", "refused", "fault"


def main(names: list[str], n: int | None, first: int = 0) -> int:
    """Run kinds, print a line for each and what went wrong. Returns how many faults there were."""
    kinds = discover("tests.fuzz", "KIND")
    n_faults, n_inputs = 0, 0
    for name in names or kinds:
        counts: Counter[str] = Counter()
        command = [sys.executable, "-m", "tests.fuzz", "--child", name]
        for number, outcome, said in outcomes(command, first, n or kinds[name].n):
            counts[outcome] += 1
            if outcome == FAULT:
                print(f"FAULT: python -m tests.fuzz --n 1 --first {number} {name}\n{said}")
        total = sum(counts.values())
        print(f"{name:<16} {total:>7,} inputs", end="")
        print("".join(f", {counts[each]:,} {each}" for each in (TAKEN, REFUSED, FAULT)), flush=True)
        n_faults, n_inputs = n_faults + counts[FAULT], n_inputs + total
    print(f"{'all':<16} {n_inputs:>7,} inputs, {n_faults:,} faults")
    return n_faults


def outcomes(
    command: list[str], first: int, n: int, seconds: float = SECONDS
) -> Iterator[tuple[int, str, str]]:
    """Number, outcome and what was said of each; a new process begins after one that ended.

    command: of a process that tries the inputs from `--first` on, `--n` of them. seconds: of one.
    """
    number, end = first, first + n
    while number < end:
        with subprocess.Popen(
            [*command, "--first", str(number), "--n", str(end - number)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as child:
            errors: list[str] = []
            reader = threading.Thread(target=_keep_last, args=(child.stderr, errors), daemon=True)
            reader.start()
            for said in _lines(child, seconds):
                yield number, said["outcome"], said["said"]
                number += 1
            _end(child)
            reader.join()
            if number < end:
                yield number, FAULT, f"ended with status {child.returncode}:\n{''.join(errors)}"
                number += 1


def _lines(child: "subprocess.Popen[str]", seconds: float) -> Iterator[dict[str, str]]:
    """What it says of one input after the other, until it ends or says nothing for too long."""
    said: queue.Queue[str | None] = queue.Queue()

    def read() -> None:
        assert child.stdout
        for line in child.stdout:
            said.put(line)
        said.put(None)

    threading.Thread(target=read, daemon=True).start()
    patience = START * seconds
    while True:
        try:
            line = said.get(timeout=patience)
        except queue.Empty:
            return
        if line is None:
            return
        patience = seconds
        if line.startswith("{"):
            yield json.loads(line)


def _end(child: "subprocess.Popen[str]") -> None:
    """Abort it, where it still runs: faulthandler then says where it was."""
    try:
        child.wait(1)
    except subprocess.TimeoutExpired:
        child.send_signal(signal.SIGABRT)
        try:
            child.wait(5)
        except subprocess.TimeoutExpired:
            child.kill()


def _keep_last(stream: Any, kept: list[str]) -> None:
    for line in stream:
        kept.append(line)
        del kept[:-60]


def _child(kind: Kind, first: int, n: int) -> None:
    """Try these, and say of each in a line what came of it."""
    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY, MOST_MEMORY))
    with tempfile.TemporaryDirectory() as folder:
        attempt = kind.start(Path(folder))
        for number in range(first, first + n):
            try:
                said = attempted(kind, attempt, number)
                outcome = REFUSED if said else TAKEN
            except Exception:
                outcome, said = FAULT, traceback.format_exc()
            print(json.dumps({"outcome": outcome, "said": said}), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser("python -m tests.fuzz", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="KIND")
    parser.add_argument("--n", type=int, help="inputs of each kind; as many as it says of itself")
    parser.add_argument("--first", type=int, default=0, help="number of the first input")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.child:
        _child(discover("tests.fuzz", "KIND")[asked.child], asked.first, asked.n)
    else:
        sys.exit(min(1, main(asked.names, asked.n, asked.first)))
