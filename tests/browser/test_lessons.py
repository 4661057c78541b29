"""Lessons: a whole one is finished by keyboard."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, Route, expect

from tests.browser.server import becomes, painted
from tests.browser.test_app import TOP, parameter, visit
from tests.viz.ui.test_lessons import LESSON, OWN, asked
from viz.labels import number

pytestmark = pytest.mark.browser

ADDRESS = f"lessons?story={LESSON}&checkpoint=copy&decoding=greedy"

RESTS = "document.documentElement.style.getPropertyValue('--under-rest')"


def focus_by_tab(page: Page, of: Locator) -> None:
    """Tab until it has the focus."""
    for _ in range(80):
        if of.evaluate(
            "node => node === document.activeElement || node.contains(document.activeElement)"
        ):
            return
        page.keyboard.press("Tab")
    raise AssertionError("Tab does not lead there")


@pytest.mark.thorough
def test_a_whole_lesson_is_finished_by_keyboard(page: Page, address: str) -> None:
    held: list[Route] = []
    page.route("**/BidiComponent*.js", lambda route: held.append(route), times=1)
    page.goto(f"{address}/{ADDRESS}")  # never painted while that is held
    over, forms = page.locator('[class*="st-key-over"]'), page.get_by_test_id("stForm")
    expect(forms.first).to_be_visible()
    check = forms.first.get_by_role("button", name="Check")
    check.press("Enter")
    expect(forms.first.get_by_role("status")).to_contain_text("Give an answer first")
    becomes(lambda: len(held), 1)  # what reads it out comes later than who is quick
    held[0].continue_()
    expect(page.locator(".lesson .hidden-text")).to_have_text(re.compile("^Give an answer first"))
    expect(check).to_be_focused()
    done = page.get_by_text("You have done this lesson.")
    for n, (task, seen) in enumerate(asked()):
        truth = task.truth(seen)
        expect(over).to_have_count(n)
        if seen.text == OWN:
            own = page.get_by_role("textbox", name="Your own sentence")
            focus_by_tab(page, own)
            page.keyboard.type(OWN)
            page.keyboard.press("Enter")
        expect(forms.first).to_be_visible()
        painted(page)
        assert task.explain(seen) not in page.inner_text("body")
        if task.form == "word":
            radio = forms.first.get_by_role("radio").nth(int(truth))
            focus_by_tab(page, forms.first.get_by_role("radiogroup").first)
            while not radio.evaluate("node => node === document.activeElement"):
                page.keyboard.press("ArrowRight")
            page.keyboard.press("Space")
            expect(radio).to_be_checked()
            focus_by_tab(page, forms.first.get_by_role("button", name="Check"))
            page.keyboard.press("Enter")
        else:
            focus_by_tab(page, forms.first.get_by_role("textbox"))
            page.keyboard.type(number(float(truth), task.decimals).replace("−", "-"))
            top = page.evaluate(TOP)
            page.keyboard.press("Enter")
            expect(over).to_have_count(n + 1)
            assert not top or page.evaluate(TOP) > 0  # an outcome may be shorter than its form
        expect(over).to_have_count(n + 1)
        expect(over.nth(n)).to_contain_text("Right.")
        expect(over.nth(n).get_by_test_id("stAlert")).to_be_focused()
        expect(done).to_have_count(int(n + 1 == len(asked())))
    expect(page.locator(".cell-steps[data-nonce]")).to_be_visible()
    options = {"runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa"]}}
    found = Axe().run(page, options=options).response["violations"]
    assert [each["id"] for each in found if each["impact"] in ("serious", "critical")] == []
    page.reload()
    expect(over).to_have_count(len(asked()))
    expect(done).to_be_visible()
    painted(page)
    page.get_by_role("link", name="Next:").press("Enter")
    expect(page.get_by_role("heading", name="Why divide by the square root?")).to_be_visible()
    becomes(lambda: page.evaluate(TOP), 0)
    expect(page.get_by_test_id("stMain")).to_be_focused()
    painted(page)
    assert over.count() == 0
    page.get_by_role("link", name="All lessons").first.click()
    expect(page.locator(".lessons li", has_text="Done")).to_have_text(
        re.compile("^Attention by hand")
    )


@pytest.mark.same_page
def test_a_riddle_is_answered_wrong_and_then_right(page: Page, address: str) -> None:
    visit(page, f"{address}/lessons?checkpoint=copy&decoding=greedy")
    page.get_by_role("link", name="Where does it go wrong? Lost words").click()
    forms = page.get_by_test_id("stForm")
    expect(page.get_by_text("Der Drucker hat wieder Papier.")).to_be_visible()
    painted(page)
    for word, outcome in (("thousands", "“Tausende”"), ("three", "Right.")):
        forms.first.get_by_role("radio", name=word, exact=True).click()
        forms.first.get_by_role("button", name="Check").click()
        expect(page.get_by_test_id("stAlert").first).to_contain_text(outcome)
        assert page.evaluate(RESTS), "the mouse points at nothing of what comes below it"
    page.mouse.move(700, 500)
    assert not page.evaluate(RESTS)
    page.get_by_role("link", name="See it on Explore").click()
    becomes(lambda: parameter(page, "pins"), "k16")
    becomes(lambda: parameter(page, "checkpoint"), "en-de-1")
    expect(page.locator(".token-rows [data-position][aria-pressed=true]")).to_have_text(["for"])
