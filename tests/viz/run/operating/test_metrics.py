"""What is counted, and where it is read."""

import asyncio
import re
import socket
import urllib.error
import urllib.request

import pytest

from viz.run.operating import Counts, metrics_served
from viz.run.settings import metrics_address


def test_the_text_is_in_prometheus_form() -> None:
    counts = Counts()
    counts.add("headscope_runs_total")
    counts.add("headscope_refused_total", 2, reason="runs")
    lines = counts.text().splitlines()
    assert "headscope_runs_total 1" in lines
    assert 'headscope_refused_total{reason="runs"} 2' in lines
    assert "headscope_sessions 0" in lines
    value = re.compile(r'[a-z_]+(\{[a-z]+="[a-z]+"\})? [0-9.e+]+')
    assert all(line.startswith(("# HELP ", "# TYPE ")) or value.fullmatch(line) for line in lines)
    assert counts.text().endswith("\n")


def test_metrics_have_a_port_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    monkeypatch.setenv("HEADSCOPE_METRICS", f"127.0.0.1:{port}")

    def get(path: str) -> tuple[int, str]:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=10) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, ""

    async def told() -> list[tuple[int, str]]:
        async with metrics_served():
            return [await asyncio.to_thread(get, path) for path in ("/metrics", "/other")]

    (status, text), (other, _) = asyncio.run(told())
    assert (status, other) == (200, 404)
    assert "process_cpu_seconds_total " in text


def test_where_they_are_served(monkeypatch: pytest.MonkeyPatch) -> None:
    for said, where in {
        "9464": ("127.0.0.1", 9464),
        "0.0.0.0:9464": ("0.0.0.0", 9464),
        "": None,
        "many": None,
        "1:99999": None,
    }.items():
        monkeypatch.setenv("HEADSCOPE_METRICS", said)
        assert metrics_address() == where
