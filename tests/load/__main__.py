"""python -m tests.load [--sessions N ...] [--seconds S]: how many people the app holds at once.

Prints a table, and the ceiling: the most sessions of whose answers 19 of 20 come within 3 s.
Each answer is compared with the model's own. With --viewers N each crowd comes to one server, and
then to N behind nginx; with --address to a server that runs already. With --replicas N it comes to
a viewer whose models are N replicas of Ray Serve, of which one is killed half-way. With --take S
the server has the page that runs in the browser, and that share of those who are offered it go on
there: `tests/load/page.py` says what of it is measured, and what is a guess.
"""

import argparse
import asyncio
import os
import random
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from tests.browser.server import serve
from tests.load.crowd import CHECKPOINT, PAUSE, Entered, enter, p95, type_letters
from tests.load.page import REACTION, Alone, measure
from tests.load.replicas import PYTHON, Replicas, processes_of, processor_of, replicas, text_of
from tests.load.viewers import NGINX, behind_nginx
from tests.load.visitor import sentence

SESSIONS = (1, 5, 20, 50, 100)
GOAL = 3.0
"""Seconds, of the 95th percentile."""


def main(
    sessions: list[int],
    seconds: float,
    typists: int,
    places: Mapping[str, str],
    models: Replicas | None,
    take: float | None,
) -> None:
    """Let crowds of these sizes in at each of these places, one after the other.

    models: of which one replica is killed while each crowd is there. take: the share of those who
    are offered the page in their browser that take it; None: the server has none.
    """
    servers = partial(processor_of, os.getpid())
    half_way = (lambda: None) if models is None else models.kill_one
    print(
        f"{'viewers':>7} {'sessions':>8} {'runs':>6} {'median':>8} {'p95':>8} {'runs/s':>7} "
        f"{'CPU/run':>8} {'wrong':>6} {'MiB':>6} {'load':>5}"
    )
    ceilings = dict.fromkeys(places, 0)
    pages = {} if take is None else {it: _page(address) for it, address in places.items()}
    for n in sessions:
        for place, address in places.items():
            more = {"page": pages.get(place), "take": take or 0.0}
            found = asyncio.run(enter(address, n, seconds, PAUSE, servers, half_way, **more))
            print(
                f"{place:>7} {n:>8} {len(found.seconds):>6} {found.median * 1e3:>5.0f} ms "
                f"{found.p95 * 1e3:>5.0f} ms {found.rate:>7.1f} "
                f"{found.busy / len(found.seconds) * 1e3:>5.0f} ms {found.n_wrong:>6} "
                f"{_resident():>6.0f} {os.getloadavg()[0]:>5.1f}",
                flush=True,
            )
            if take is not None:
                _say_handed(found, take)
            if models is not None:
                print(f"{len(models.killed)} killed so far; replicas now: {len(models.pids())}")
            if found.p95 <= GOAL and not found.n_wrong:
                ceilings[place] = n
    cores = os.cpu_count()
    for place, ceiling in ceilings.items():
        print(
            f"Ceiling, viewers {place}: {ceiling} people on {cores} cores, 19 of 20 answers "
            f"within {GOAL:.0f} s."
        )
    address = list(places.values())[-1]
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


def _page(address: str) -> Alone:
    """What the page takes by itself, said before any crowd comes."""
    page = measure(address, CHECKPOINT)
    print(
        f"The page alone, in one browser, before the crowd: {len(page.answers)} answers, median "
        f"{median(page.answers) * 1e3:.0f} ms, p95 {p95(page.answers) * 1e3:.0f} ms; opened with "
        f"its files at hand in {median(page.opened):.1f} s; {page.n_wrong} wrong.\nA visitor who "
        f"takes the offer clicks after {REACTION:.0f} s (a guess), gets the files from the server "
        "(as it is, under load), and waits then as that browser did (drawn from these).",
        flush=True,
    )
    return page


def _say_handed(found: Entered, take: float) -> None:
    handed, n = found.handed, len(found.seconds)
    own = n - len(handed.seconds)
    parts = {
        "by the server": found.seconds[:own],
        "by the page": handed.seconds,
        "of these first ones": handed.first,
        "until it was offered": handed.offered,
        "while its files came": handed.fetched,
    }
    print(
        f"        {take:.0%} take the offer: {len(handed.seconds) / n:.0%} of answers by the page, "
        f"{len(handed.first)} first loads, {sum(handed.sent) / 1e6:,.0f} MB"
    )
    for name, each in parts.items():
        if each:
            print(f"{name:>30}: {len(each):>4}, median {median(each):.1f} s, p95 {p95(each):.1f} s")
    sys.stdout.flush()


@contextmanager
def _places(viewers: int, address: str | None, live: str) -> Iterator[dict[str, str]]:
    """How many viewers there are -> the address of all of them."""
    with ExitStack() as stack:
        if address:
            yield {"there": address}
            return
        places = {"1": stack.enter_context(serve(HEADSCOPE_LIVE=live))}
        if viewers > 1:
            folder = Path(stack.enter_context(TemporaryDirectory()))
            deployed = stack.enter_context(behind_nginx(folder, viewers, HEADSCOPE_LIVE=live))
            places[str(viewers)] = deployed.address
        yield places


def _resident() -> float:
    """MiB that the servers have in memory, where the system has /proc; else 0."""
    files = [text_of(pid, "statm").split() for pid in processes_of(os.getpid())]
    return sum(int(file[1]) for file in files if file) * os.sysconf("SC_PAGE_SIZE") / 2**20


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
    parser.add_argument("--viewers", type=int, default=1, help="behind nginx, beside one without")
    parser.add_argument("--address", help="of a server that runs already")
    parser.add_argument("--take", type=float, help="share that goes on in the browser: 0 to 1")
    parser.add_argument("--replicas", type=int, default=0, help="of models elsewhere")
    asked = parser.parse_args()
    if asked.viewers > 1 and NGINX is None:
        sys.exit("nginx is not installed: apt-get install nginx-light, and start this again.")
    if asked.replicas and not PYTHON.exists():
        sys.exit("Ray is not installed: sh tests/cluster/install.sh, and start this again.")
    with ExitStack() as stack:
        models = None
        if asked.replicas:
            models = stack.enter_context(replicas(asked.replicas))
            os.environ["HEADSCOPE_MODELS"] = models.address
        live = "no" if asked.take is None else "yes"
        places = stack.enter_context(_places(asked.viewers, asked.address, live))
        main(asked.sessions, asked.seconds, asked.typists, places, models, asked.take)
