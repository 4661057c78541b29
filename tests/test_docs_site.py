"""`make docs`: every page is in it, and none asks another server for anything."""

import re
import runpy
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BUILD = runpy.run_path(str(ROOT / ".ci" / "build_docs.py"))
ASKS = re.compile(
    r"<(?:script|img|iframe|source|video|audio|embed)\b[^>]*?\bsrc=[\"']?(?P<src>[^\"'\s>]+)"
    r"|<link\b[^>]*?rel=[\"']?(?:stylesheet|preload|preconnect|icon|prefetch)[^>]*?"
    r"href=[\"']?(?P<href>[^\"'\s>]+)"
    r"|url\([\"']?(?P<url>[^\"')]+)|@import [\"'](?P<style>[^\"']+)",
    re.I,
)


def asked(text: str) -> Iterator[str]:
    """All that a browser fetches by itself for a page or a style sheet."""
    for match in ASKS.finditer(text):
        yield next(filter(None, match.groups()))


def elsewhere(text: str) -> list[str]:
    return [each for each in asked(text) if re.match(r"(https?:)?//", each)]


def test_every_page_is_in_the_navigation() -> None:
    listed = re.findall(r"[\w/-]+\.md", (ROOT / "docs" / "mkdocs.yml").read_text("utf-8"))
    assert sorted(listed) == sorted(page.as_posix() for page in BUILD["pages"]())


def test_a_request_to_another_server_is_seen() -> None:
    for text in (
        '<link rel="stylesheet" href="https://fonts.example/css">',
        '<script async src="//cdn.example/a.js"></script>',
        "body { background: url(https://a.example/b.png) }",
    ):
        assert elsewhere(text)
    assert not elsewhere('<a href="https://a.example">a</a><img src="images/a.webp">')


@pytest.mark.skipif(find_spec("material") is None, reason="mkdocs-material is not installed")
def test_the_site_is_built_and_asks_nobody_else() -> None:
    subprocess.run([sys.executable, ROOT / ".ci" / "build_docs.py"], check=True)
    site = ROOT / "build" / "docs"
    pages = [*site.rglob("*.html"), *site.rglob("*.css")]
    assert len(pages) > 20
    for page in pages:
        assert elsewhere(page.read_text("utf-8")) == [], page
