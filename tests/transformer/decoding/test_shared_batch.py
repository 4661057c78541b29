"""What many threads decode at once is what each of them decodes alone, whatever befalls one."""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from itertools import product
from threading import Event
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tests.conftest import SENTENCES, random_checkpoint, tiny
from tests.representatives import MARK, cases
from tests.transformer.models.test_steps import FAMILIES, VARIANTS, config_of
from transformer import Checkpoint, Decoding, decode
from transformer.decoding.shared_batch import SharedBatch

close = {"rtol": 0.0, "atol": 2e-5}
ASKED: list[dict[str, Any]] = [
    {"method": "beam", "beam_size": 3},
    {"method": "greedy"},
    {"method": "beam", "beam_size": 1, "max_len": 3},
    {"method": "sample", "seed": 4, "max_len": 5},
    {"method": "beam", "beam_size": 5, "length_penalty": 0.0},
    {"method": "greedy", "max_len": 1},
]


class Held:
    """A model that begins nothing until it is let go, and counts the rows of each step."""

    def __init__(self, model: nn.Module) -> None:
        self.model: Any = model
        self.go = Event()
        self.rows: list[int] = []
        self.fails: Callable[[Tensor], bool] = lambda _: False

    def __getattr__(self, name: str) -> Any:
        return getattr(self.model, name)

    def start(self, source: Tensor) -> Any:
        assert self.go.wait(60)
        return self.model.start(source)

    def advance(self, state: Any, target: Tensor) -> Tensor:
        self.rows.append(len(target))
        if self.fails(target):
            raise RuntimeError(f"{len(target)} rows are too many")
        logits: Tensor = self.model.advance(state, target)
        return logits


def until(holds: Callable[[], bool]) -> None:
    """Wait for a fact."""
    ends = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < ends
        time.sleep(0.001)


def at_once(
    held: Held, batch: SharedBatch, asked: Sequence[Callable[[], Decoding]]
) -> list["Future[Decoding]"]:
    """All of them in threads of their own; the first one begins when all others wait."""
    with ThreadPoolExecutor(len(asked)) as pool:
        futures = []
        for n, ask in enumerate(asked):
            futures.append(pool.submit(ask))
            until(lambda n=n: batch.n_waiting == n and batch.is_at_work)  # type: ignore[misc]
        held.go.set()
    return futures


def texts(n: int) -> list[str]:
    """Of 1 to 6 numbers."""
    return [" ".join(str(3 + (i * k) % 16) for k in range(1, 2 + i % 6)) for i in range(n)]


def assert_same(found: Decoding, expected: Decoding) -> None:
    assert found.text == expected.text
    assert found.target == expected.target
    for ours, theirs in zip(found.hypotheses, expected.hypotheses, strict=True):
        assert ours.ids == theirs.ids
        torch.testing.assert_close(ours.log_probs, theirs.log_probs, **close)
        assert ours.score == pytest.approx(theirs.score, abs=1e-4)


TOGETHER = {
    "two sides": ("paper", "encoder_decoder"),
    "places of padded words": ("learned", "decoder_only"),
    "norms over a batch": ("batch", "encoder_decoder"),
    "keys and values of their own sizes": ("key and value", "decoder_only"),
    "no matrix": ("plain", "encoder_decoder"),
}
"""What rows of several lengths could mix up -> variant and family."""


@pytest.mark.parametrize(("variant", "family"), cases(product(VARIANTS, FAMILIES), TOGETHER))
def test_a_batch_equals_each_search_alone(variant: str, family: str) -> None:
    checkpoint = random_checkpoint(config_of(variant, family))
    held = Held(checkpoint.model)
    batch = SharedBatch(held)
    pairs = list(zip(texts(6), ASKED, strict=True))
    asked = [partial(decode, checkpoint, text, run=batch.run, **how) for text, how in pairs]
    found = at_once(held, batch, asked)
    for (text, how), future in zip(pairs, found, strict=True):
        assert_same(future.result(), decode(checkpoint, text, **how))
    assert max(held.rows) > 5  # more than the widest of them


@pytest.mark.parametrize("asked", ASKED, ids=str)
def test_one_person_s_search_has_the_very_bits_of_one_alone(
    text_checkpoint: Checkpoint, asked: dict[str, Any]
) -> None:
    model: Any = text_checkpoint.model
    batch = SharedBatch(model)
    for sentence in SENTENCES[::40]:
        shared = decode(text_checkpoint, sentence, run=batch.run, **asked)
        expected = decode(text_checkpoint, sentence, **asked)
        for ours, theirs in zip(shared.hypotheses, expected.hypotheses, strict=True):
            assert ours.ids == theirs.ids
            assert torch.equal(ours.log_probs, theirs.log_probs)


def test_who_fails_or_goes_leaves_the_others_at_work() -> None:
    """One ends before its first step, one in the middle, one while it waits; one's words fail."""
    checkpoint = random_checkpoint(config_of("paper", "encoder_decoder"))
    held = Held(checkpoint.model)
    batch = SharedBatch(held, most_rows=5)
    heard: list[int] = []

    def ends(after: int) -> Callable[[], None]:
        def step() -> None:
            heard.append(after)
            if heard.count(after) > after:
                raise KeyError(after)

        return step

    def written(_: object) -> None:
        raise LookupError("enough was written")

    stay = partial(decode, checkpoint, "3 4 5", "beam", beam_size=2, run=batch.run)
    asked: list[Callable[[], Decoding]] = [
        stay,
        partial(decode, checkpoint, "3 4", on_step=ends(3), run=batch.run),
        partial(decode, checkpoint, "3 4", on_token=written, run=batch.run),
        partial(decode, checkpoint, "3 4", on_step=ends(0), run=batch.run),
        partial(decode, checkpoint, "3 4", "beam", on_step=ends(2), run=batch.run),  # no room
        stay,
    ]
    first, middle, failed, none, waiting, last = at_once(held, batch, asked)
    for future, error in ((middle, KeyError), (none, KeyError), (waiting, KeyError)):
        with pytest.raises(error):
            future.result()
    with pytest.raises(LookupError, match="enough was written"):
        failed.result()
    expected = decode(checkpoint, "3 4 5", "beam", beam_size=2)
    assert_same(first.result(), expected)
    assert_same(last.result(), expected)
    assert not batch.is_at_work
    assert not batch.n_waiting


def test_where_a_step_of_all_fails_each_runs_alone_and_says_its_own_sentence() -> None:
    checkpoint = random_checkpoint(config_of("paper", "encoder_decoder"))
    held = Held(checkpoint.model)
    batch = SharedBatch(held)
    held.fails = lambda target: len(target) > 4
    four = partial(decode, checkpoint, run=batch.run)
    asked = [partial(four, text, "beam") for text in texts(5)]
    asked.append(partial(four, "3 4", "beam", beam_size=6))
    *found, wide = at_once(held, batch, asked)
    for text, future in zip(texts(5), found, strict=True):
        assert_same(future.result(), decode(checkpoint, text, "beam"))
    with pytest.raises(RuntimeError, match="6 rows are too many"):
        wide.result()
    assert_same(four("3 5"), decode(checkpoint, "3 5"))  # it goes on working


def test_lower_ranks_come_first_and_who_waits_is_told_its_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("transformer.decoding.shared_batch.EVERY", 0.001)
    checkpoint = random_checkpoint(config_of("paper", "encoder_decoder"))
    held, began, places = Held(checkpoint.model), list[str](), dict[str, set[int]]()
    batch = SharedBatch(held, most_rows=1)

    def asks(name: str, rank: int) -> Decoding:
        def on_wait(n: int) -> None:
            places.setdefault(name, set()).add(n)
            if name == "gone":
                raise InterruptedError(name)

        run: Any = partial(batch.run, rank=rank, on_wait=on_wait)
        return decode(checkpoint, "3 4", max_len=1, run=run, on_token=lambda _: began.append(name))

    named = {"first": 0, "preview": 1, "newer": 1, "gone": 0, "entered": 0}
    with ThreadPoolExecutor(len(named)) as pool:
        futures = {}
        for n, (name, rank) in enumerate(named.items()):
            futures[name] = pool.submit(asks, name, rank)
            until(lambda n=n: batch.n_waiting == n and batch.is_at_work)  # type: ignore[misc]
            until(lambda name=name: name in places or name == "first")  # type: ignore[misc]
        until(lambda: places["preview"] >= {0, 2} and places["newer"] >= {1, 3})
        held.go.set()
    assert began == ["first", "entered", "preview", "newer"]
    with pytest.raises(InterruptedError, match="gone"):
        futures.pop("gone").result()
    expected = decode(checkpoint, "3 4", max_len=1)
    for future in futures.values():
        assert_same(future.result(), expected)


@MARK
def test_two_hundred_threads_are_told_their_own_answers() -> None:
    checkpoint = random_checkpoint(tiny(config_of("paper", "encoder_decoder")))
    batch = SharedBatch(checkpoint.model, most_rows=24)  # type: ignore[arg-type]
    asked = [(text, ASKED[i % len(ASKED)]) for i, text in enumerate(texts(200))]
    expected = [decode(checkpoint, text, **how) for text, how in asked]
    with ThreadPoolExecutor(200) as pool:
        futures = [
            pool.submit(decode, checkpoint, text, run=batch.run, **how) for text, how in asked
        ]
        for future, one in zip(futures, expected, strict=True):
            assert_same(future.result(), one)
    assert not batch.is_at_work
