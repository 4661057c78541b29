"""Tokens and pictures follow a sentence while it is being typed; Enter makes it the page's own."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.server import ROOT, becomes, painted
from tests.browser.test_app import SENTENCE, open_app, row
from transformer import decode, load_checkpoint

pytestmark = pytest.mark.browser

TYPED = "My brother lives in a small house."


def translated(text: str) -> list[str]:
    checkpoint = load_checkpoint(ROOT / "checkpoints" / "en-de", "cpu")
    return [token.piece for token in decode(checkpoint, text, method="beam").target]


def type_letters(page: Page, text: str) -> None:
    page.get_by_label("Sentence").click()
    page.keyboard.press("Control+a")
    page.keyboard.type(text, delay=20)


def nonces(page: Page) -> list[str]:
    """What the grid and the arrows show."""
    found: list[str] = page.evaluate(
        """() => {
            const all = (root) => [...root.querySelectorAll('*')].flatMap(
                (node) => [node, ...(node.shadowRoot ? all(node.shadowRoot) : [])]);
            const nodes = all(document);
            return ['head-grid', 'head-view'].map(
                (name) => nodes.find((node) => node.classList.contains(name)).dataset.nonce);
        }"""
    )
    return found


def test_tokens_and_pictures_follow_every_letter(page: Page, address: str) -> None:
    open_app(page, address)
    before, target = nonces(page), translated(TYPED)
    type_letters(page, TYPED)
    becomes(lambda: row(page, "target"), target)
    becomes(lambda: [a == b for a, b in zip(before, nonces(page), strict=True)], [False, False])
    assert "text=" not in page.url
    typed = nonces(page)
    page.keyboard.press("Enter")
    page.wait_for_url("**text=My+brother*")
    painted(page)
    assert nonces(page) == typed
    assert row(page, "target") == target


def test_what_cannot_be_read_shows_what_was_entered_last(page: Page, address: str) -> None:
    open_app(page, address)
    before, target = nonces(page), row(page, "target")
    type_letters(page, "It rains.")
    becomes(lambda: row(page, "target"), translated("It rains."))
    page.keyboard.press("Control+a")
    page.keyboard.press("Delete")
    becomes(lambda: row(page, "target"), target)
    becomes(lambda: nonces(page), before)


def test_going_back_leaves_the_draft(page: Page, address: str) -> None:
    open_app(page, address)
    first = translated(SENTENCE)
    page.get_by_label("Sentence").fill("It rains.")
    page.keyboard.press("Enter")
    page.wait_for_url("**text=It+rains*")
    painted(page)
    type_letters(page, TYPED)
    becomes(lambda: row(page, "target"), translated(TYPED))
    page.go_back()
    becomes(lambda: row(page, "target"), first)
    expect(page.get_by_label("Sentence")).to_have_value(SENTENCE)


@pytest.mark.parametrize("query", ["?checkpoint=shakespeare", "decode"])
def test_other_pages_and_streamed_texts_wait_for_enter(
    page: Page, address: str, query: str
) -> None:
    open_app(page, f"{address}/{query}")
    asked: list[str] = []
    page.on(
        "request", lambda request: asked.append(request.url) if "/drafts/" in request.url else None
    )
    type_letters(page, "To be")
    page.wait_for_timeout(300)
    assert asked == []
