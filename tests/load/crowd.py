"""Many visitors at once, who enter sentences or type them, and whose answers are all checked."""

import asyncio
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import median, quantiles

import torch

from tests.load.page import REACTION, Alone, fetch
from tests.load.visitor import Shown, Visitor, sentence, tokens_of
from transformer import Checkpoint, decode, load_checkpoint, record
from transformer.checkpoint import checkpoints_folder
from transformer.decoding import default_method
from viz.components.token_rows.token_rows import TokenRows

CHECKPOINT = "en-de"
PAUSE = 2.0
"""Seconds between an answer and the next sentence of a visitor, on average."""


@dataclass(frozen=True)
class Handed:
    """What those saw who took the offer to go on in their browser."""

    seconds: list[float]
    """Of each answer of the page; of a first one since the sentence was entered in the app."""
    first: list[float]
    """Of the first ones among them."""
    offered: list[float]
    """The part of it until the offer was there."""
    fetched: list[float]
    """The part in which the files came."""
    sent: list[int]
    """The bytes of each file that the server sent them."""


@dataclass(frozen=True)
class Entered:
    """What a crowd that entered sentences saw."""

    seconds: Sequence[float]
    """Of each answer, whoever gave it."""
    handed: Handed
    n_wrong: int
    lasted: float
    """Seconds in which new sentences were entered, until the last answer."""
    busy: float
    """Seconds that the servers computed meanwhile; 0 where nobody says it."""

    @property
    def p95(self) -> float:
        return p95(self.seconds)

    @property
    def median(self) -> float:
        return median(self.seconds)

    @property
    def rate(self) -> float:
        """Answers per second."""
        return len(self.seconds) / self.lasted


def p95(seconds: Sequence[float]) -> float:
    """The 95th percentile."""
    return quantiles(seconds, n=20)[-1] if len(seconds) > 1 else max(seconds)


async def enter(
    address: str,
    n: int,
    lasts: float,
    pause: float = PAUSE,
    processor: Callable[[], float] = lambda: 0.0,
    half_way: Callable[[], object] = lambda: None,
    page: Alone | None = None,
    take: float = 0.0,
) -> Entered:
    """n visitors enter sentences for `lasts` seconds, each after its last answer and a pause.

    processor: tells how many seconds the servers have computed so far. half_way: is called after
    half of the time. take: the share of them who take the offer of this page, and stay there.
    """
    found: list[tuple[str, Shown, float]] = []
    handed = Handed([], [], [], [], [])
    everybody_is_there = asyncio.Barrier(n + 1)
    ends = [0.0]

    async def visits(seed: int) -> None:
        dice = random.Random(f"{n} {seed}")
        async with Visitor(address, {"checkpoint": CHECKPOINT}, _cookie(dice)) as visitor:
            await everybody_is_there.wait()
            await asyncio.sleep(dice.uniform(0, pause))
            takes, is_there = page is not None and dice.random() < take, False
            while True:  # once in any case
                text = sentence(dice)
                start = time.perf_counter()
                if page is not None and is_there:
                    await asyncio.sleep(dice.choice(page.answers))
                elif page is not None and takes:
                    is_there = await _goes(visitor, text, handed)
                    if is_there:
                        await first_load(page, dice)
                        handed.first.append(time.perf_counter() - start)
                        group.create_task(get(page.behind))
                else:
                    await visitor.enter(text)
                seconds = time.perf_counter() - start
                if is_there:
                    handed.seconds.append(seconds)
                else:
                    found.append((text, visitor.shown, seconds))
                if time.perf_counter() >= ends[0]:
                    return
                await asyncio.sleep(dice.uniform(0.5 * pause, 1.5 * pause))

    async def get(files: Sequence[str]) -> None:
        for each in files:
            handed.sent.append(await fetch(address, each))

    async def first_load(page: Alone, dice: random.Random) -> None:
        start = time.perf_counter()
        await get(page.first)
        handed.fetched.append(time.perf_counter() - start)
        await asyncio.sleep(dice.choice(page.opened))

    async with asyncio.TaskGroup() as group:
        for seed in range(n):
            group.create_task(visits(seed))
        started = time.perf_counter()
        ends[0] = started + 3600
        await everybody_is_there.wait()
        busy, started = processor(), time.perf_counter()
        ends[0] = started + lasts
        asyncio.get_running_loop().call_later(lasts / 2, half_way)
    lasted, busy = time.perf_counter() - started, processor() - busy
    n_wrong = sum(shown != expected(text) for text, shown, _ in found)
    seconds = [seconds for *_, seconds in found]
    return Entered([*seconds, *handed.seconds], handed, n_wrong, lasted, busy)


async def _goes(visitor: Visitor, text: str, handed: Handed) -> bool:
    """Enter a sentence; tell whether the visitor took the offer before the answer was there."""
    start = time.perf_counter()
    run, offer = (asyncio.create_task(it) for it in (visitor.enter(text), visitor.offered.wait()))
    await asyncio.wait((run, offer), return_when=asyncio.FIRST_COMPLETED)
    if not run.done():
        seconds = time.perf_counter() - start
        await asyncio.wait((run,), timeout=REACTION)
    is_gone = not run.done()
    for each in (run, offer):
        each.cancel()
    if not is_gone:
        run.result()
        return False
    handed.offered.append(seconds)
    await visitor.leave()
    await asyncio.gather(run, offer, return_exceptions=True)  # the line is cut under their feet
    return True


@dataclass(frozen=True)
class Typed:
    """What a crowd that typed saw."""

    per_second: Sequence[float]
    """Previews per second, of each visitor."""
    longest: float
    """Seconds that anybody saw no preview, at most."""
    n_wrong: int


async def type_letters(address: str, n: int, lasts: float, drafts: str = "") -> Typed:
    """n visitors type for `lasts` seconds, a letter each 150 ms.

    drafts: what one more visitor types meanwhile with a beam of 16, a word at a time.
    """
    seen: list[list[tuple[float, str, Shown]]] = [[] for _ in range(n)]
    everybody_is_there = asyncio.Barrier(n + 1 + bool(drafts))
    ends = [float("inf")]

    async def types(place: int) -> None:
        dice = random.Random(f"types {place}")
        async with Visitor(address, {"checkpoint": CHECKPOINT}, _cookie(dice)) as visitor:
            await everybody_is_there.wait()

            async def asks(text: str) -> None:
                shown = await visitor.preview(text)
                if shown is not None:
                    seen[place].append((time.perf_counter(), text, shown))

            asked, text = set(), ""
            while time.perf_counter() < ends[0]:
                whole = sentence(dice)
                text = whole[: len(text) + 1] if len(text) < len(whole) else whole[:4]
                asked.add(asyncio.create_task(asks(text)))
                await asyncio.sleep(0.15)
            await asyncio.gather(*asked)

    async def draft() -> None:
        query = {"checkpoint": CHECKPOINT, "options.beam_size": "16", "text": drafts}
        async with Visitor(address, query, _cookie(random.Random(drafts))) as visitor:
            await everybody_is_there.wait()
            for i in range(10**6):
                if time.perf_counter() >= ends[0]:
                    return
                await visitor.preview(f"{drafts} {i}")

    async with asyncio.TaskGroup() as group:
        for place in range(n):
            group.create_task(types(place))
        if drafts:
            group.create_task(draft())
        await everybody_is_there.wait()
        started = time.perf_counter()
        ends[0] = started + lasts
    times = [[started, *(at for at, *_ in each)] for each in seen]
    longest = max(b - a for each in times for a, b in zip(each, [*each[1:], ends[0]], strict=True))
    n_wrong = sum(shown != expected(text) for each in seen for _, text, shown in each)
    return Typed([len(each) / lasts for each in seen], longest, n_wrong)


def _cookie(dice: random.Random) -> dict[str, str]:
    """What a browser sends by which a proxy keeps it at one viewer: docs/deploy/nginx.conf."""
    return {"Cookie": f"viewer={dice.getrandbits(128):032x}"}


@cache
def expected(text: str) -> Shown:
    """What the model itself says, by the public functions."""
    torch.set_num_threads(1)
    checkpoint = _opened()
    decoding = decode(checkpoint, text, default_method(checkpoint.family.reads))
    return tokens_of(TokenRows().payload(record(checkpoint, text, decoding.target), decoding))


@cache
def _opened() -> Checkpoint:
    return load_checkpoint(checkpoints_folder() / CHECKPOINT, "cpu")
