"""Answers, recordings and pictures share one number of bytes, and threads share them."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from tests.representatives import thorough
from tests.viz.conftest import random_checkpoint
from transformer import Checkpoint, Recording, decode, record
from transformer.device import weights_bytes
from viz.components.head_view.head_view import HeadView
from viz.run import previews as payloads
from viz.run import request, work
from viz.run.cache import LONGEST, Cache, Models, bytes_of
from viz.run.previews import keep_payload, payload_of
from viz.run.request import Answer, Request, answer, size_of_answer
from viz.run.work import at_hand


def test_what_was_not_used_for_longest_goes_first() -> None:
    kept = Cache(30)
    for name in "abc":
        kept.put(name, name, 10)
    assert kept.get("a", str, len) == "a"
    kept.put("d", "d", 10)
    assert kept.n_bytes == 30
    assert [kept.at_hand(name) for name in "abcd"] == ["a", None, "c", "d"]


def test_what_nobody_uses_for_an_hour_leaves() -> None:
    now = [0.0]
    kept = Cache(100, lambda: now[0])
    kept.put("a", 1, 10)
    kept.put("b", 2, 10)
    now[0] = LONGEST
    assert kept.at_hand("a") == 1
    now[0] += 1.0
    kept.put("c", 3, 10)
    assert kept.n_bytes == 20 and kept.at_hand("b") is None and kept.at_hand("a") == 1


def test_a_name_is_counted_once_and_nothing_larger_than_the_bound_is_kept() -> None:
    kept = Cache(30)
    kept.put("a", 1, 20)
    kept.put("a", 2, 5)
    assert kept.n_bytes == 5
    kept.put("b", 3, 31)
    assert kept.n_bytes == 0
    assert kept.get("b", lambda: 4, lambda _: 31) == 4


def test_threads_share_it() -> None:
    kept = Cache(1000)

    def use(i: int) -> int:
        return len(kept.get(i % 37, lambda: bytes(1 + i % 37), len))

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(use, range(4000))) == [1 + i % 37 for i in range(4000)]
    assert kept.n_bytes == sum(range(1, 38))


def test_what_could_not_be_made_is_not_kept() -> None:
    kept = Cache(1000)

    def fails() -> int:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        kept.get("b", fails, lambda _: 1)
    assert kept.get("b", lambda: 2, lambda _: 1) == 2


def test_a_tensor_counts_as_what_it_is_a_view_of_and_once() -> None:
    whole = torch.zeros(1000)
    one = bytes_of(whole[:3])
    assert 4000 <= one < 4200
    assert bytes_of([whole[:3], {"rest": (whole[3:], whole)}]) < 5000
    linear = torch.nn.Linear(100, 100)
    assert bytes_of((linear.weight[0], torch.zeros(10)), linear) < 500


def test_a_payload_is_made_once_for_each_request_and_picture(
    recording: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(payloads, "CACHE", Cache(2**20))
    answer: Any = SimpleNamespace(request="one", parts=(recording, None))
    first = payload_of(answer, HeadView("cross", 1))
    assert payload_of(answer, HeadView("cross", 1)) is first
    assert payload_of(answer, HeadView("cross", 0)) != first
    other: Any = SimpleNamespace(request="two", parts=(None, None))
    keep_payload(other.request, HeadView("cross", 1), b"made elsewhere")
    assert payload_of(other, HeadView("cross", 1)) == b"made elsewhere"


@pytest.mark.parametrize("n_texts", [150, thorough(500)])
def test_many_long_texts_with_16_hypotheses_stay_below_the_budget(
    n_texts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is kept after the last one is what was kept after the first few that filled it."""
    budget = 2**22
    kept = Cache(budget)
    monkeypatch.setattr(work, "CACHE", kept)
    checkpoint = random_checkpoint()
    sizes = []

    def make(of: Request, **_: object) -> Answer:
        made = decode(checkpoint, of.text, "beam", beam_size=16, max_len=10)
        brief = made.without_distributions()
        return Answer(of, checkpoint, brief, record(checkpoint, of.text, made.target), 0.0)

    first = make(Request("random", 0, "3 7 2 9 " * 10, "beam"))
    assert first.decoding is not None and len(first.decoding.hypotheses) == 16
    assert all(each.log_probs.numel() == 0 for each in first.decoding.hypotheses)
    for n in range(n_texts):
        text = f"{3 + n // 30} {3 + n % 30} " * 20
        made = make if n % 25 == 0 else lambda of, **_: replace(first, request=of)
        monkeypatch.setattr(request, "make_answer", made)
        shown = answer(Request("random", 0, text, "beam"))
        assert shown.decoding is not None
        sizes.append(kept.n_bytes)
    assert max(sizes) <= budget < n_texts * size_of_answer(first)
    assert at_hand(Request("random", 0, "3 3 " * 20, "beam")) is None
    assert abs(sizes[-1] - sizes[n_texts * 3 // 5]) <= size_of_answer(first)


def test_models_share_the_bytes_and_the_oldest_is_let_go() -> None:
    made: list[str] = []
    opened = {name: random_checkpoint() for name in "abc"}
    n = weights_bytes(opened["a"].model)

    def make(name: str) -> Checkpoint:
        made.append(name)
        return opened[name]

    kept = Cache(4 * n)  # three quarters of it hold three models at most
    models = Models(make, lambda name: n, kept)
    kept.put("of a", [opened["a"]], 10)  # holds the model, as an answer does
    kept.put("text", "text", 10)
    kept.put("weight", {"w": next(opened["b"].model.parameters())[0]}, 10)
    models("a")
    models("b")
    assert kept.n_beside == 2 * n and kept.room == 2 * n
    kept.most_bytes = 3 * n  # room for two
    assert models("a") is opened["a"] and made == ["a", "b"]
    models("c")
    assert models.is_at_hand("a") and not models.is_at_hand("b") and kept.n_beside == 2 * n
    assert kept.at_hand("weight") is None and kept.at_hand("of a") and kept.at_hand("text")
    kept.most_bytes = n // 2  # the one in use stays, and leaves a quarter to others
    models("c")
    assert models.is_at_hand("c") and not models.is_at_hand("a")
    assert kept.at_hand("of a") is None and kept.room == n // 8
    models.clear()
    assert kept.n_beside == 0 and made == ["a", "b", "c"]
