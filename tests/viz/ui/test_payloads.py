"""The cache of payloads has one bound, in bytes, and threads share it."""

from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import pytest

from transformer import Recording
from viz.components.head_view.head_view import HeadView
from viz.ui import payloads
from viz.ui.payloads import MOST_BYTES, Payloads, keep_payload, payload_of


def test_what_was_not_used_for_longest_goes_first() -> None:
    cache = Payloads(30)
    for name in "abc":
        cache.put(name, bytes(10))
    assert cache.get("a", bytes) == bytes(10)
    cache.put("d", bytes(10))
    assert cache.n_bytes == 30
    assert [cache.get(name, lambda: b"") != b"" for name in "acd"] == [True] * 3
    assert cache.get("b", lambda: b"again") == b"again"


def test_a_name_is_counted_once_and_nothing_larger_than_the_bound_is_kept() -> None:
    cache = Payloads(30)
    cache.put("a", bytes(20))
    cache.put("a", bytes(5))
    assert cache.n_bytes == 5
    cache.put("b", bytes(31))
    assert cache.n_bytes == 0


def test_threads_share_it() -> None:
    cache = Payloads(1000)

    def use(i: int) -> int:
        return len(cache.get(i % 37, lambda: bytes(1 + i % 37)))

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(use, range(4000))) == [1 + i % 37 for i in range(4000)]
    assert cache.n_bytes == sum(range(1, 38))


def test_a_payload_is_made_once_for_each_request_and_picture(
    recording: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(payloads, "PAYLOADS", Payloads(MOST_BYTES))
    answer: Any = SimpleNamespace(request="one", made=(recording, None))
    first = payload_of(answer, HeadView("cross", 1))
    assert payload_of(answer, HeadView("cross", 1)) is first
    assert payload_of(answer, HeadView("cross", 0)) != first
    other: Any = SimpleNamespace(request="two", made=(None, None))
    keep_payload(other.request, HeadView("cross", 1), b"made elsewhere")
    assert payload_of(other, HeadView("cross", 1)) == b"made elsewhere"
