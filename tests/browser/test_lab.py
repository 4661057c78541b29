"""Positions are changed by hand, and the heads that notice are on the page."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.server import becomes, painted
from tests.browser.test_app import parameter, visit
from transformer import decode, load_checkpoint
from transformer.analysis.proofs import position_dependence

pytestmark = [pytest.mark.browser, pytest.mark.same_page]

TEXT = "3 7 2 9 4"


def number(text: str) -> float:
    return float(text.replace("−", "-"))


def test_a_shift_is_in_the_address_and_in_every_head(page: Page, address: str) -> None:
    checkpoint = load_checkpoint("checkpoints/copy")
    target = decode(checkpoint, TEXT, "beam").target

    def bits(*edits: str) -> str:
        found = position_dependence(checkpoint, TEXT, target, edits or None)
        return f"Encoder L1 H0: {float(found['encoder_self'][1, 0]):.4f} bits"

    start = f"positions?view=lab&checkpoint=copy&decoding=beam&text={TEXT.replace(' ', '+')}"
    visit(page, f"{address}/{start}")
    head = page.get_by_role("link", name=re.compile("^Encoder L1 H0: "))

    def titles() -> list[str]:
        """Of that head: while the page is drawn anew, the old table may still stand there."""
        found: list[str] = head.evaluate_all("all => all.map((each) => each.title)")
        return found

    becomes(titles, [bits()])
    slider = page.get_by_role("slider", name="Shift by this many positions")
    slider.focus()
    slider.press("ArrowRight")
    shift = "positions-shift:source=1"
    becomes(lambda: parameter(page, "edits"), shift)
    becomes(titles, [bits(shift)])
    output = page.locator(".text-lines dd").nth(1)
    written = decode(checkpoint, TEXT, "beam", edits=[shift]).text
    becomes(lambda: "".join(output.inner_text().split()), written.replace(" ", ""))
    page.get_by_role("button", name="Swap words").click()
    swapped = f"words-swap:source=0,4/{shift}"
    becomes(lambda: parameter(page, "edits"), swapped)
    becomes(titles, [bits(*swapped.split("/"))])
    painted(page)
    head.click()
    becomes(lambda: (parameter(page, "layer"), parameter(page, "head")), ("1", "0"))
    expect(page.get_by_text("Only the first layer of self-attention reads")).to_be_visible()
    page.get_by_role("button", name="All off").click()
    becomes(lambda: parameter(page, "edits"), None)
    becomes(titles, [bits()])
    expect(page.locator(".text-lines")).to_have_count(0)


def test_four_terms_sum_to_the_score_of_the_chosen_cell(page: Page, address: str) -> None:
    visit(page, f"{address}/positions?view=lab&kind=encoder_self&layer=0&head=2&cell=3,1")
    split = page.locator(".tables", has=page.get_by_role("table", name="Terms of the score"))
    cells, foot = split.locator("td[data-value]"), split.locator("p")
    expect(cells).to_have_count(4)
    for cell in ("3,1", "3,5"):
        becomes(lambda: parameter(page, "cell"), cell)
        painted(page)
        terms = [cell.inner_text().split()[0] for cell in cells.all()]
        match = re.search(r"biases (\S+) = score (\S+)", foot.inner_text())
        assert match is not None
        assert sum(map(number, [*terms, match[1]])) == pytest.approx(number(match[2]), abs=0.004)
        if cell == "3,1":
            page.get_by_role("combobox", name="Key").click()
            page.get_by_role("option", name=re.compile("^5 ")).click()


def test_maps_of_eight_heads_stand_beside_each_other(page: Page, address: str) -> None:
    visit(page, f"{address}/positions?view=lab&text=It+rains.")
    maps = page.locator(".data.map:has(figcaption)")
    expect(maps).to_have_count(3, timeout=60_000)

    def tops() -> list[float]:
        found: list[float] = maps.evaluate_all(
            "all => all.map(each => each.getBoundingClientRect().top)"
        )
        return found

    becomes(lambda: tops()[0] == tops()[1] < tops()[2], True)
