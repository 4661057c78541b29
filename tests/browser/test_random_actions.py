"""Forty random actions end on the screen that a fresh browser shows at their address."""

import random

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.random_actions import START, act, differences
from tests.browser.test_app import open_app

pytestmark = pytest.mark.browser

SEED, N_ACTIONS = 12, 40


def test_the_address_describes_the_screen(browser: Browser, page: Page, address: str) -> None:
    open_app(page, address + START)
    hits = act(page, random.Random(SEED), N_ACTIONS)
    assert len(hits) > N_ACTIONS / 2 and len(set(hits)) > 5
    assert differences(browser, page) == {}
