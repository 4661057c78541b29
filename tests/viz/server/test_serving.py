"""What the server does once it listens."""

import asyncio
import resource
from unittest.mock import Mock

import pytest
from streamlit import net_util
from streamlit.web.server import server_util

from viz.run.cache import CACHE
from viz.server.serving import lifespan, middleware


def test_nobody_elsewhere_is_asked_for_the_address_of_this_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(net_util, "_make_blocking_http_get", lambda url, **_: asked.append(url))
    monkeypatch.setattr(net_util, "get_external_ip", net_util.get_external_ip)  # put back after it
    monkeypatch.setattr("viz.server.serving._make_first_picture", lambda: None)
    monkeypatch.setattr("viz.server.serving.open_browser", lambda _: None)
    assert net_util.get_external_ip() is None and asked  # what it would do

    async def connects() -> None:
        asked.clear()
        async with lifespan(Mock()):
            assert not server_util.is_url_from_allowed_origins("https://elsewhere.example")

    asyncio.run(connects())
    assert asked == []


def test_as_many_files_may_be_open_as_the_system_lets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("viz.server.serving._make_first_picture", lambda: None)
    monkeypatch.setattr("viz.server.serving.open_browser", lambda _: None)
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(512, before[1]), before[1]))

    async def listens() -> tuple[int, int]:
        async with lifespan(Mock()):
            return resource.getrlimit(resource.RLIMIT_NOFILE)

    try:
        assert asyncio.run(listens()) == (before[1], before[1])
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("HEADSCOPE_MEMORY", "abc", "HEADSCOPE_MEMORY must be a whole number above 0, not 'abc'."),
        ("HEADSCOPE_MEMORY", "0", "HEADSCOPE_MEMORY must be a whole number above 0, not '0'."),
        ("HEADSCOPE_THREADS", "1.5", "HEADSCOPE_THREADS must be a whole number above 0, not"),
        ("HEADSCOPE_PUBLIC", "true", "HEADSCOPE_PUBLIC must be yes or no, not 'true'."),
        ("HEADSCOPE_CPU_INSTEAD", "1", "HEADSCOPE_CPU_INSTEAD must be yes or no, not '1'."),
        ("HEADSCOPE_PRECISION", "half", "HEADSCOPE_PRECISION must be float16, bfloat16 or"),
        ("HEADSCOPE_DEVICE_MAP", "all", "HEADSCOPE_DEVICE_MAP must be auto, balanced,"),
        (
            "HEADSCOPE_OFFLOAD",
            "no folder",
            "HEADSCOPE_OFFLOAD must be a folder, and",
        ),
    ],
)
def test_a_setting_that_cannot_be_read_ends_the_start(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, said: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit, match=f"^error: {said}"):
        middleware()


def test_the_server_takes_its_memory_from_the_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CACHE, "most_bytes", CACHE.most_bytes)
    monkeypatch.setenv("HEADSCOPE_MEMORY", "7")
    middleware()
    assert CACHE.most_bytes == 7 * 2**20
