"""The page "Why attention" in a browser."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_app import visit

pytestmark = [pytest.mark.browser, pytest.mark.same_page]

FIGURES = "() => [...document.querySelectorAll('.js-plotly-plot')].map(p => p.layout.meta.id)"


def wait_for_figures(page: Page, n: int, d: int) -> None:
    """n figures, all for this d."""
    page.wait_for_function(
        f"(ids => ids.length === {n} && ids.every(id => id.includes('(d={d},')))(({FIGURES})())"
    )


def test_sizes_change_every_number_and_layers_are_timed_on_demand(page: Page, address: str) -> None:
    visit(page, f"{address}/why_attention")
    table = page.locator(".data.list")
    wait_for_figures(page, 3, d=512)
    expect(table).to_contain_text("460,800")
    page.get_by_role("slider").first.press("ArrowLeft")
    wait_for_figures(page, 3, d=256)
    expect(table).to_contain_text("230,400")
    page.wait_for_url(re.compile(r"d=256"))
    expect(table.get_by_text(" ms")).to_have_count(0)  # nothing runs before it is asked for
    page.get_by_role("button", name="Measure on this machine").click()
    wait_for_figures(page, 4, d=256)
    expect(table.get_by_text(re.compile(r"^\d+\.\d{3} ms$"))).to_have_count(4)
    expect(page.get_by_text(re.compile(r"Measured on \w+ with \d+ threads?,"))).to_be_visible()
    page.get_by_role("button", name="Measure again").click()
    expect(page.get_by_text("Timing each layer")).to_be_visible()
    wait_for_figures(page, 4, d=256)
    expect(page.get_by_test_id("stException")).to_have_count(0)


def test_a_link_restores_the_sizes(page: Page, address: str) -> None:
    visit(page, f"{address}/why_attention?d=64&k=5&r=16&n=100")
    wait_for_figures(page, 3, d=64)
    expect(page.locator(".data.list")).to_contain_text("640,000")  # n² · d
    expect(page.locator(".data.list")).to_contain_text("102,400")  # r · n · d
    expect(page.locator(".data.list")).to_contain_text("2,048,000")  # k · n · d²
