"""A hand-written encoder-decoder in the browser, as `make run MODULE=...` opens it."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.server import becomes, painted, serve_module
from tests.browser.test_app import go_to, open_app, parameter, row, type_sentence
from tests.browser.test_branches import chip, enter

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def own() -> Iterator[str]:
    """The address of what the script builds."""
    with serve_module("tests/browser/apps/own_digits.py:build") as address:
        yield address


def test_ones_own_encoder_decoder_is_explored_and_decoded(page: Page, own: str) -> None:
    open_app(page, own)
    chosen = page.get_by_role("combobox", name="Checkpoint")
    expect(chosen).to_have_value("DigitNames · a module of your own")
    grid = page.locator(".head-grid[data-nonce]")
    expect(grid.locator(".cell")).to_have_count(24)
    assert row(page, "source") == ["3", "7", "2", "9"]
    type_sentence(page, "12")
    source = page.locator('.token-rows .chip[data-side="source"]')
    expect(source).to_have_text(["1", "2"])
    expect(page.locator(".head-view[data-nonce]")).to_contain_text("2")
    becomes(lambda: parameter(page, "text"), "12")  # the server has heard: no preview any more
    painted(page)

    type_sentence(page, "1x")  # the last picture stays, under a sentence
    said = re.compile(r"tokenize failed at line \d+ of digits\.py: ValueError: .*“12”\.$")
    expect(page.get_by_test_id("stAlert")).to_have_text(said)
    expect(source).to_have_text(["1", "2"])
    expect(page.get_by_test_id("stException")).to_have_count(0)

    type_sentence(page, "345")
    expect(source).to_have_text(["3", "4", "5"])
    expect(page.get_by_test_id("stAlert")).to_have_count(0)
    go_to(page, "Look", "Decode")
    player = page.locator(".decode-player[data-nonce]")
    expect(player).to_have_attribute("data-step", "0")
    page.keyboard.press("ArrowRight")
    expect(player).to_have_attribute("data-step", "1")

    page.keyboard.press("Escape")
    enter(page, "Begin with", "nine six")
    expect(chip(page, "Begins with “nine six”")).to_be_visible()
    assert row(page, "target")[:2] == ["nine", "six"]
