"""A decoding is branched: by a candidate, a beginning, phrases forced or forbidden, a word."""

from urllib.parse import quote_plus

import pytest
from playwright.sync_api import Page, expect

from tests.browser.server import becomes, painted
from tests.browser.test_app import parameter, row, visit

pytestmark = [pytest.mark.browser, pytest.mark.same_page]

TEXT = quote_plus("Tom lives in Boston.")
ADDRESS = f"decode?checkpoint=en-de-small&text={TEXT}"
PLAYER = ".decode-player[data-nonce]"


def enter(page: Page, begins: str, text: str) -> None:
    painted(page)  # each branch has fields of its own: those before may still be there
    field = page.get_by_placeholder(begins)
    field.fill(text)
    field.press("Enter")


def chip(page: Page, text: str):
    return page.locator(".st-key-branches").get_by_role("button", name=text)


def written(page: Page) -> str:
    """The target line, without the marks of pieces."""
    return " ".join(row(page, "target")[:-1])


def test_a_candidate_is_gone_on_from_and_back_undoes_it(page: Page, address: str) -> None:
    visit(page, f"{address}/{ADDRESS}")
    player = page.locator(PLAYER)
    player.get_by_role("button", name="Next step").click()
    expect(player).to_have_attribute("data-step", "1")
    becomes(lambda: parameter(page, "step"), "1")
    before = row(page, "target")
    other = player.locator(".bar.branches:not(.chosen)").first
    word = other.locator(".piece").inner_text().strip("▁_ \n")
    other.click()
    becomes(lambda: row(page, "target")[:2], [before[0], word])
    expect(chip(page, "Begins with")).to_have_count(1)
    lines = page.locator(".st-key-branches .text-lines")
    expect(lines.locator("b").first).to_have_text(word)
    expect(lines).to_contain_text("nats")
    expect(player).to_have_attribute("data-step", "1")
    expect(player.locator(".bar.chosen .piece")).to_contain_text(word)
    address_of_it = page.evaluate("location.href")
    page.go_back()
    becomes(lambda: row(page, "target"), before)
    expect(chip(page, "Begins with")).to_have_count(0)
    visit(page, address_of_it)
    becomes(lambda: row(page, "target")[:2], [before[0], word])
    page.reload()
    painted(page)
    becomes(lambda: row(page, "target")[:2], [before[0], word])
    chip(page, "Begins with").click()
    becomes(lambda: row(page, "target"), before)


def test_a_candidate_is_gone_on_from_by_the_keyboard(page: Page, address: str) -> None:
    visit(page, f"{address}/{ADDRESS}&decode_as=steps&step=0")
    player = page.locator(PLAYER)
    other = player.locator(".bar.branches:not(.chosen)").first
    word = other.locator(".piece").inner_text().strip("▁_ \n")
    other.focus()
    page.keyboard.press("Enter")
    becomes(lambda: row(page, "target")[0], word)
    assert parameter(page, "prefix")


def test_fields_force_forbid_begin_and_edit(page: Page, address: str) -> None:
    visit(page, f"{address}/{ADDRESS}&decode_as=steps&step=1")
    before = row(page, "target")
    enter(page, "In place of", "lebt")
    becomes(lambda: row(page, "target")[:2], [before[0], "lebt"])
    enter(page, "Begin with", "In")
    becomes(lambda: row(page, "target")[0], "In")
    enter(page, "Begin with", "")
    becomes(lambda: row(page, "target"), before)
    enter(page, "Must have", "gern")
    becomes(lambda: "gern" in written(page), True)
    enter(page, "Must not have", before[1])
    becomes(lambda: before[1] in row(page, "target"), False)
    assert "gern" in written(page)
    expect(page.locator(".st-key-branches").get_by_role("button")).to_have_count(3)  # and All off
    enter(page, "Must not have", "gern")
    refused = page.locator(".st-key-under-branching").get_by_role("alert")
    expect(refused).to_contain_text("gern")
    expect(page.get_by_placeholder("Must not have")).to_have_value("gern")
    page.get_by_role("button", name="All off").click()
    becomes(lambda: row(page, "target"), before)


def test_what_is_decided_is_in_force_on_every_page_and_on_a_phone(page: Page, address: str) -> None:
    visit(page, f"{address}/{ADDRESS}&decode_as=steps")
    enter(page, "Begin with", "In")
    becomes(lambda: row(page, "target")[0], "In")
    prefix = parameter(page, "prefix")
    visit(page, f"{address}/?checkpoint=en-de-small&text={TEXT}&prefix={prefix}")
    page.wait_for_selector(".head-grid[data-nonce]")
    becomes(lambda: row(page, "target")[0], "In")
    page.set_viewport_size({"width": 390, "height": 844})
    own = chip(page, "Begins with")
    expect(own).to_be_in_viewport()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    own.click()
    becomes(lambda: row(page, "target")[0] != "In", True)


def test_a_hypothesis_is_shown_in_every_picture(page: Page, address: str) -> None:
    visit(page, f"{address}/{ADDRESS}&decode_as=steps&step=0")
    enter(page, "Begin with", "In")
    becomes(lambda: row(page, "target")[0], "In")
    prefix = parameter(page, "prefix")
    visit(page, f"{address}/?checkpoint=en-de-small&text={TEXT}&branch={prefix}")
    becomes(lambda: row(page, "target"), ["In"])  # no end: it is only what is named
    expect(page.locator(".head-grid[data-nonce]")).to_have_count(1)
    chip(page, "Hypothesis").click()
    becomes(lambda: row(page, "target")[0] != "In", True)


def test_a_word_is_edited_in_the_output(page: Page, address: str) -> None:
    visit(page, f"{address}/{ADDRESS}&decode_as=steps&step=2")
    before = row(page, "target")
    written = page.locator(PLAYER).locator('.written .chip[data-side="target"]')
    written.nth(1).dblclick()
    field = page.locator(PLAYER).locator(".written .editor")
    expect(field).to_have_value(before[1])
    field.press("Escape")
    expect(field).to_have_count(0)
    expect(written.nth(1)).to_be_visible()
    written.nth(1).dblclick()
    field.fill("lebt")
    field.press("Enter")
    becomes(lambda: row(page, "target")[:2], [before[0], "lebt"])
    expect(chip(page, "Begins with")).to_have_count(1)
