"""The model is changed by hand, and what it writes then is on the page."""

import re

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.server import becomes, painted
from tests.browser.test_app import open_app, parameter, row, visit
from tests.browser.test_head_map import place
from transformer import decode, load_checkpoint, record
from transformer.analysis.scored import word_changes
from viz.labels import signed

pytestmark = [pytest.mark.browser, pytest.mark.same_page]

TEXT = "The animal didn't cross the street because it was too tired."


def written(*edits: str) -> str:
    checkpoint = load_checkpoint("checkpoints/en-de")
    return decode(checkpoint, TEXT, "beam", edits=edits).text


def test_heads_are_switched_off_and_the_output_follows(page: Page, address: str) -> None:
    visit(page, address)
    page.get_by_role("button", name="Experiment").click()
    grid = page.locator('.head-grid[data-tool="heads"]')
    expect(grid).to_be_visible()
    painted(page)
    for name in ("L2 H3", "L2 H7", "L1 H2"):
        cell = grid.get_by_role("gridcell", name=re.compile(f"^Cross {name}[:,]"))
        with page.expect_response(lambda it: "/preview/" in it.url and it.status == 200):
            cell.click()
        painted(page)
    edits = ["head-off:cross.2.3", "head-off:cross.2.7", "head-off:cross.1.2"]
    becomes(lambda: parameter(page, "edits"), "/".join(edits))
    expect(grid.locator('.cell[data-edited="off"]')).to_have_count(3)
    output = page.locator(".text-lines dd").nth(1)
    becomes(lambda: "".join(output.inner_text().split()), written(*edits).replace(" ", "") + "</s>")
    page.get_by_role("button", name="Undo").click()
    becomes(lambda: parameter(page, "edits"), "/".join(edits[:2]))
    page.reload()
    expect(grid.locator('.cell[data-edited="off"]')).to_have_count(2)
    expect(page.get_by_role("button", name="Cross L2 H3 off")).to_be_visible()
    grid.get_by_role("gridcell", name=re.compile("^Cross L2 H3[:,]")).click()  # on again
    becomes(lambda: parameter(page, "edits"), edits[1])
    page.get_by_role("button", name="All off").click()
    expect(page.locator(".text-lines")).to_have_count(0)
    becomes(lambda: "".join(row(page, "target")[:-1]), written().replace(" ", ""))


def test_a_preview_that_comes_after_its_page_is_not_shown(page: Page, address: str) -> None:
    """The click before tells the server of both: no page would take the preview's place."""
    visit(page, f"{address}/?tool=heads")
    grid, held = page.locator('.head-grid[data-tool="heads"]'), list[Route]()
    expect(grid).to_be_visible()
    painted(page)

    def hold(route: Route) -> None:
        is_click = "edits" in (route.request.post_data or "")  # the marks of words ask here too
        held.append(route) if is_click and len(held) < 2 else route.continue_()

    page.route("**/preview/**", hold)
    for n, name in enumerate(("L2 H3", "L2 H7"), 1):
        grid.get_by_role("gridcell", name=re.compile(f"^Cross {name}[:,]")).dispatch_event("click")
        becomes(lambda: page.evaluate("1") * len(held), n)  # a call, in which routes are heard
    late = held[1].fetch()
    assert late.status == 200
    held[0].continue_()
    becomes(lambda: parameter(page, "edits"), "head-off:cross.2.3/head-off:cross.2.7")
    expect(page.get_by_role("button", name="Cross L2 H7 off")).to_be_visible()
    painted(page)
    with page.expect_response(lambda it: "/preview/" in it.url):
        held[1].fulfill(response=late)
    painted(page)
    expect(grid.locator('.cell[data-edited="off"]')).to_have_count(2)


@pytest.mark.thorough
def test_what_became_of_the_output_is_read_out(page: Page, address: str) -> None:
    """In a place that stays, which is what a screen reader follows."""
    open_app(page, f"{address}/?tool=heads")  # a session in which nothing was changed says nothing
    heard = page.locator("body > [role=status]")
    expect(heard).to_have_text("")
    heard.evaluate("node => { window.heard = node }")
    total, new = page.locator(".text-lines .foot [data-value]"), page.locator(".text-lines dd b")
    painted(page)
    page.get_by_role("gridcell", name=re.compile("^Cross L2 H6[:,]")).click()
    becomes(lambda: parameter(page, "edits"), "head-off:cross.2.6")
    expect(heard).to_contain_text(total.inner_text())
    expect(new).to_have_count(0)
    assert page.evaluate("window.heard.isConnected")
    outcome = heard.inner_text()
    for name in ("All off", "Undo", "Redo"):  # each is heard, and those that end in one state alike
        page.get_by_role("button", name=name, exact=True).click()
        expect(page.locator(".text-lines")).to_have_count(int(name == "Undo"))
        if name == "Undo":
            expect(heard).to_have_text(outcome)
        else:
            expect(heard).to_have_text(page.locator(".remark").inner_text())
    page.go_back()
    expect(heard).to_have_text(outcome)
    page.go_forward()
    expect(heard).to_have_text(page.locator(".remark").inner_text())
    assert page.evaluate("window.heard.isConnected")

    visit(page, f"{address}/?edits=hide:source.1")
    expect(heard).to_contain_text(total.inner_text())
    expect(new).not_to_have_count(0)
    for word in new.all_inner_texts():
        expect(heard).to_contain_text(word)


def test_an_edit_is_added_by_its_fields(page: Page, address: str) -> None:
    visit(page, f"{address}/?tool=heads&kind=cross&layer=1&head=2")
    page.get_by_role("button", name="Add an edit").click()
    page.get_by_role("combobox", name="Edit", exact=True).click()
    page.get_by_role("option", name="Scale a head").click()
    # Another kind's Factor stands there until the fields of this one come.
    factor = page.locator("input[aria-label=Factor][min='-1000']")
    factor.fill("2.5")
    factor.press("Enter")
    page.get_by_role("button", name="Add it").click()
    becomes(lambda: parameter(page, "edits"), "head-scale:cross.1.2=2.5")
    expect(page.get_by_role("button", name="Cross L1 H2 × 2.5")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    becomes(lambda: parameter(page, "edits"), None)


def test_a_word_is_hidden_and_its_column_is_closed(page: Page, address: str) -> None:
    visit(page, f"{address}/?kind=cross&layer=1&head=2&picture=map&edits=hide:source.1")
    expect(page.get_by_role("button", name="Hide a word: animal")).to_be_visible()
    hidden = written("hide:source.1").replace(" ", "")
    becomes(lambda: "".join(row(page, "target")[:-1]), hidden)
    page.get_by_role("button", name="All off").click()
    becomes(lambda: parameter(page, "edits"), None)
    becomes(lambda: "".join(row(page, "target")[:-1]), written().replace(" ", ""))


def test_what_a_click_would_give_is_made_before_it_comes(page: Page, address: str) -> None:
    visit(page, f"{address}/?tool=heads")
    cell = page.locator(".head-grid").get_by_role("gridcell", name=re.compile("^Cross L1 H2[:,]"))
    with page.expect_response(lambda it: it.url.endswith("?ahead") and it.status == 200):
        cell.hover()
    asked: list[str] = []
    # What is sought for the sentence while nobody waits asks here too.
    page.on("request", lambda it: asked.append(it.url) if "edits" in (it.post_data or "") else None)
    with page.expect_request(lambda it: it.url.endswith("?ahead")):  # to have it on again
        cell.click()
        becomes(lambda: parameter(page, "edits"), "head-off:cross.1.2")
    without = written("head-off:cross.1.2").replace(" ", "")
    becomes(lambda: "".join(row(page, "target")[:-1]), without)
    assert {it.split("?")[1:] == ["ahead"] for it in asked if "/preview/" in it} == {True}


def test_an_arrow_is_cut_where_it_is_clicked(page: Page, address: str) -> None:
    visit(page, f"{address}/?tool=arrows&pins=q1")
    view = page.locator('.head-view[data-tool="arrows"][data-nonce]')
    box = view.locator(".wires").bounding_box()
    token = view.locator("[data-token=q1]").bounding_box()
    assert box is not None and token is not None
    spot = (box["x"] + 30, token["y"] + token["height"] / 2)
    page.mouse.move(*spot)
    expect(view.locator(".wires.aimed")).to_have_count(1)
    page.mouse.click(*spot)
    becomes(lambda: parameter(page, "edits"), "cut:cross.2.2.1.1")
    expect(page.get_by_role("button", name="Cross L2 H2: Tier ↛ animal")).to_be_visible()
    painted(page)
    page.go_back()
    expect(page.get_by_role("button", name="Cross L2 H2: Tier ↛ animal")).to_have_count(0)
    visit(page, f"{address}/?tool=arrows&picture=map")
    shown = page.locator(".head-map[data-nonce]")
    page.mouse.click(*place(page, shown, 1, 1))
    becomes(lambda: parameter(page, "edits"), "cut:cross.2.2.1.1")
    expect(page.get_by_role("button", name="Cross L2 H2: Tier ↛ animal")).to_be_visible()
    page.get_by_role("button", name="Proof").click()
    proofs = page.get_by_test_id("stPopoverBody").locator("p", has_text=re.compile("^[✓✗] "))
    expect(proofs).to_have_count(4)
    expect(proofs).to_have_text([re.compile("^✓ ")] * 4)
    expect(proofs.last).to_have_text(
        re.compile(r"largest difference 0 \(.*\)\. The first that differs is Cross L2\.$")
    )


def test_the_factor_of_a_head_is_moved_and_taken_back(page: Page, address: str) -> None:
    visit(page, f"{address}/?tool=heads&edits=head-scale:cross.2.3=0.5")
    page.get_by_role("button", name=re.compile("^Cross L2 H3")).click()
    slider = page.get_by_role("slider")
    expect(slider).to_have_value("0.5")
    slider.press("ArrowRight")
    edit = "head-scale:cross.2.3=0.55"
    becomes(lambda: parameter(page, "edits"), edit)
    change = page.locator(".text-lines .foot [data-value]")
    becomes(change.inner_text, changes(edit))
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Undo").click()
    becomes(lambda: parameter(page, "edits"), "head-scale:cross.2.3=0.5")
    becomes(change.inner_text, changes("head-scale:cross.2.3=0.5"))


def changes(edit: str) -> str:
    """Of the log-probability of what is written without the edit."""
    checkpoint = load_checkpoint("checkpoints/en-de")
    target = decode(checkpoint, TEXT, "beam").target
    before, after = (record(checkpoint, TEXT, target, edits=each) for each in ((), (edit,)))
    return signed(sum(each.gain for each in word_changes(before, after)))
