"""The time that an answer takes longer from models elsewhere, on one machine: a replica of Serve.

Seconds of waiting, the two by turns: a person waits for both processes, and for what lies between.
Beside them the processor time of an answer: here, where this process computes or asks, and in Ray's
processes, which do something when nothing is asked, too.
"""

import os
import random
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from unittest.mock import patch

from tests.bench.bench import Bench, Row
from tests.load.replicas import PYTHON, processor_of, replicas
from tests.load.visitor import sentence
from tests.viz.run.models.serving import served
from viz.run.request import make_answer, make_request
from viz.server.models.answering import answering

TURNS, WARM = 100, 5


def run(is_quick: bool) -> list[Row]:
    if not is_quick and not PYTHON.exists():
        return [Row("answers of a replica", None, "ray is missing: sh tests/cluster/install.sh")]
    turns, warm = (2, 1) if is_quick else (TURNS, WARM)
    dice = random.Random(0)
    with served(answering()) if is_quick else _replica() as address:
        return [
            _row(
                "en-de, a beam of 4", address, "en-de", "beam", lambda: sentence(dice), turns, warm
            ),
            _row("copy, 5 numbers", address, "copy", "greedy", lambda: _numbers(dice), turns, warm),
        ]


def _numbers(dice: random.Random) -> str:
    return " ".join(str(dice.randint(2, 11)) for _ in range(5))


def _row(
    name: str,
    address: str,
    checkpoint: str,
    method: str,
    text: Callable[[], str],
    turns: int,
    warm: int,
) -> Row:
    here, there = list[float](), list[float]()
    computed, asked = list[float](), list[float]()
    ray = 0.0
    for n in range(warm + turns):
        request = make_request(checkpoint, text(), method)
        if n == warm:
            ray = processor_of(os.getpid())
        both = [("", here, computed), (address, there, asked)]
        for place, seconds, processor in both[:: -1 if n % 2 else 1]:
            with patch.dict(os.environ, {"HEADSCOPE_MODELS": place}):
                start, busy = time.perf_counter(), time.process_time()
                make_answer(request)
                seconds.append(time.perf_counter() - start)
                processor.append(time.process_time() - busy)
    ray = (processor_of(os.getpid()) - ray) / turns
    pairs = list(zip(here[warm:], there[warm:], strict=True))
    more = statistics.median(there - here for here, there in pairs)
    usual = statistics.median(here for here, _ in pairs)
    own, asking = (1e3 * statistics.median(each[warm:]) for each in (computed, asked))
    baseline = (
        f"this process, {1e3 * usual:.1f} ms; {1e3 * more:.1f} ms more; of a processor "
        f"{own:.0f} ms against {asking:.0f} here and {1e3 * ray:.0f} in Ray's processes"
    )
    ratio = statistics.median(there / here for here, there in pairs)
    return Row(f"answer of a replica, {name}", ratio, baseline)


@contextmanager
def _replica() -> Iterator[str]:
    with replicas(1) as models:
        yield models.address


BENCH = Bench("elsewhere", run)
