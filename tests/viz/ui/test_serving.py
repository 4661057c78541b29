"""What the server does once it listens."""

import asyncio
from unittest.mock import Mock

import pytest
from streamlit import net_util
from streamlit.web.server import server_util

from viz.ui.serving import lifespan


def test_nobody_elsewhere_is_asked_for_the_address_of_this_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(net_util, "_make_blocking_http_get", lambda url, **_: asked.append(url))
    monkeypatch.setattr(net_util, "get_external_ip", net_util.get_external_ip)  # put back after it
    monkeypatch.setattr("viz.ui.serving._make_first_picture", lambda: None)
    monkeypatch.setattr("viz.ui.serving.open_browser", lambda _: None)
    assert net_util.get_external_ip() is None and asked  # what it would do

    async def connects() -> None:
        asked.clear()
        async with lifespan(Mock()):
            assert not server_util.is_url_from_allowed_origins("https://elsewhere.example")

    asyncio.run(connects())
    assert asked == []
