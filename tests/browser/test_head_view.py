"""The head view in a browser: what it shows is what Python computes, by mouse and by keyboard."""

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.apps.random_attention import random_map
from tests.browser.sentences import said, says
from tests.browser.server import becomes, painted

pytestmark = [pytest.mark.browser, pytest.mark.same_page]
N_HEADS = 12


def open_view(page: Page, apps: str, query: str = "") -> Locator:
    page.goto(f"{apps}head_view&{query}")
    painted(page)
    page.wait_for_selector(".head-view[data-nonce]")
    return page.locator(".head-view")


def token(page: Page, id: str) -> Locator:
    return page.locator(f'[data-token="{id}"]')


def labels(page: Page, side: str) -> dict[int, list[str]]:
    """Row or column -> what is written beside it."""
    found: dict[int, list[str]] = {}
    for node in page.locator(f".{side} .token.partner").all():
        place = int((node.get_attribute("data-token") or "")[1:])
        found[place] = node.locator(".label").all_inner_texts()
    return found


@pytest.mark.parametrize("kind", ["cross", "encoder_self", "decoder_self"])
def test_weights_beside_the_tokens_are_exact(page: Page, apps: str, kind: str) -> None:
    weights = random_map(kind, N_HEADS, 12).values(0)[3]
    open_view(page, apps, f"kind={kind}")
    for id, values, side in (("q7", weights[7], "columns"), ("k4", weights[:, 4], "rows")):
        token(page, id).hover()
        best = values.topk(min(6, int((values > 0).sum())))
        expected = {
            int(i): [f"{value:.4f}"] for i, value in zip(best.indices, best.values, strict=True)
        }
        becomes(lambda side=side: labels(page, side), expected)


def test_several_heads_each_name_their_strongest_key(page: Page, apps: str) -> None:
    weights = random_map("cross", N_HEADS, 12).values(0)[:, 7]
    open_view(page, apps, "shown=1,3")
    token(page, "q7").hover()
    for head in (1, 3):
        value, column = weights[head].max(0)
        said = page.locator(f'.columns .token.partner[data-token="k{int(column)}"] .label')
        expect(said.filter(has_text=f"{head}{value:.4f}")).to_have_count(1)


def test_the_sentence_is_of_what_is_pointed_at_or_pinned(page: Page, apps: str) -> None:
    map = random_map("cross", N_HEADS, 12)
    weights = map.values(0)[3]
    row, column = divmod(int(weights.argmax()), weights.size(1))
    open_view(page, apps)
    strongest = said(map, 0, 3, row, column)
    says(page, strongest, "The strongest line of this head")
    height = page.locator(".sentence").bounding_box()
    name = page.get_by_role("img").get_attribute("aria-label") or ""
    assert name.endswith(f"Strongest: {strongest}")
    token(page, "q2").hover()
    of_row = said(map, 0, 3, 2, int(weights[2].argmax()))
    says(page, of_row, "Pointed at: its strongest line")
    expect(page.locator(".sentence [aria-live]")).to_have_attribute("aria-live", "polite")
    token(page, "k4").hover()
    of_column = said(map, 0, 3, int(weights[:, 4].argmax()), 4)
    says(page, of_column, "Pointed at: its strongest line")
    token(page, "q2").click()
    page.mouse.move(0, 0)
    says(page, of_row, "Pinned: its strongest line")
    for key in (0, 4, 9):
        token(page, f"k{key}").hover()
        says(page, said(map, 0, 3, 2, key), "Pinned and pointed at")
    token(page, "k9").click()
    page.mouse.move(0, 0)
    says(page, said(map, 0, 3, 2, 9), "Pinned: the line between both")
    expect(token(page, "k9").locator(".label")).to_have_text(f"{weights[2, 9]:.4f}")
    assert page.locator(".sentence").bounding_box() == height


def test_of_several_heads_the_strongest_speaks(page: Page, apps: str) -> None:
    map = random_map("cross", N_HEADS, 12)
    weights = map.values(0)[[1, 3], 7]
    open_view(page, apps, "shown=1,3")
    token(page, "q7").hover()
    place, column = divmod(int(weights.argmax()), weights.size(1))
    says(page, said(map, 0, (1, 3)[place], 7, column), "Pointed at: its strongest line")
    page.get_by_role("button", name="none of the heads").click()
    says(page, "", "No head is shown: choose one.")


def test_swatches_toggle_and_isolate(page: Page, apps: str) -> None:
    view = open_view(page, apps)
    expect(view).to_have_attribute("data-heads", "3")
    page.get_by_role("button", name="H5", exact=True).click()
    expect(view).to_have_attribute("data-heads", "3,5")
    expect(page.get_by_role("button", name="H5", exact=True)).to_have_attribute(
        "aria-pressed", "true"
    )
    page.get_by_role("button", name="H7", exact=True).dblclick()
    expect(view).to_have_attribute("data-heads", "7")
    page.get_by_role("button", name="H7", exact=True).dblclick()
    expect(view).to_have_attribute("data-heads", ",".join(map(str, range(N_HEADS))))
    page.get_by_role("button", name="none of the heads").click()
    expect(view).to_have_attribute("data-heads", "")


def test_pins_and_heads_come_back_after_a_reload(page: Page, apps: str) -> None:
    view = open_view(page, apps)
    for id in ("q5", "k3", "q1"):
        token(page, id).click()
    token(page, "q1").click()
    page.get_by_role("button", name="H0", exact=True).click()
    expect(page.locator("#state")).to_have_text("[0, 3] ['q5', 'k3']")
    page.reload()
    painted(page)
    expect(view).to_have_attribute("data-pins", "q5,k3")
    expect(view).to_have_attribute("data-heads", "0,3")
    expect(token(page, "q5")).to_have_attribute("aria-selected", "true")
    token(page, "q5").hover()
    page.keyboard.press("Tab")
    token(page, "q5").focus()
    page.keyboard.press("Escape")
    expect(view).to_have_attribute("data-pins", "")
    expect(page.locator("#state")).to_have_text("[0, 3] []")


def test_everything_by_keyboard(page: Page, apps: str) -> None:
    view = open_view(page, apps)
    token(page, "q0").focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    expect(token(page, "k3")).to_be_focused()
    expect(view).to_have_attribute("data-pins", "k3")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowLeft")
    expect(token(page, "q0")).to_be_focused()
    page.keyboard.press("End")
    page.keyboard.press(" ")
    expect(view).to_have_attribute("data-pins", "k3,q11")
    page.keyboard.press("6")
    expect(view).to_have_attribute("data-heads", "3,6")
    page.keyboard.press("Shift+Digit6")
    expect(view).to_have_attribute("data-heads", "6")
    expect(page.locator('.token[tabindex="0"]')).to_have_count(1)


def test_fewer_lines_say_what_they_hold(page: Page, apps: str) -> None:
    weights = random_map("cross", N_HEADS, 12).values(0)[3]
    open_view(page, apps)
    page.get_by_label("lines per token").select_option("2")
    share = 100 * weights.topk(2).values.sum() / weights.sum()
    said = f"the 2 strongest of 14 keys per token: {share:.0f} %"
    expect(page.locator(".legend")).to_contain_text(said)


def test_a_long_text_scrolls_and_says_what_was_not_sent(page: Page, apps: str) -> None:
    weights = random_map("encoder_self", 2, 512).values(0)[1]
    open_view(page, apps, "n=512&heads=2&kind=encoder_self&shown=1&pins=q300")
    expect(token(page, "q300")).to_be_in_viewport()
    page.locator(".box").hover()
    expect(page.locator(".legend")).to_contain_text("showing the 32 strongest keys per token")
    token(page, "q300").hover()
    value, column = weights[300].max(0)
    becomes(lambda: labels(page, "columns").get(int(column)), [f"{value:.4f}"])


def test_up_to_24_tokens_stand_without_scrolling(page: Page, apps: str) -> None:
    view = open_view(page, apps, "n=24&kind=encoder_self")
    assert view.evaluate("node => node.getBoundingClientRect().bottom <= innerHeight")
    assert page.locator(".box").evaluate("node => node.scrollHeight - node.clientHeight") == 0
