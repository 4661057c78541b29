"""Tokens and pictures follow a sentence while it is being typed; a rest makes it the page's own."""

from functools import cache

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.server import ROOT, becomes, painted
from tests.browser.test_app import go_to, open_app, parameter, row, show_as, visit
from transformer import decode, load_checkpoint, record
from viz.labels import bare_label

pytestmark = [pytest.mark.browser, pytest.mark.same_page]

TYPED = "My brother lives in a small house."


SIDES = ("source", "target")
FRAMES = "() => new Promise((drawn) => setTimeout(() => requestAnimationFrame(drawn), 100))"


@cache
def translated(text: str) -> list[list[str]]:
    """The pieces of both sides."""
    checkpoint = load_checkpoint(ROOT / "checkpoints" / "en-de", "cpu")
    made = record(checkpoint, text, decode(checkpoint, text, method="beam").target)
    return [[bare_label(token) for token in side] for side in (made.source, made.target)]


def rows(page: Page) -> list[list[str]]:
    return [row(page, side) for side in SIDES]


def type_letters(page: Page, text: str) -> None:
    page.get_by_label("Sentence").click()
    page.keyboard.press("Control+a")
    page.keyboard.type(text, delay=20)


def nonces(page: Page) -> list[str | None]:
    """What the grid and the arrows show."""
    shown = [page.locator(f".{name}[data-nonce]") for name in ("head-grid", "head-view")]
    return [picture.get_attribute("data-nonce") for picture in shown]


def test_tokens_and_pictures_follow_every_letter(page: Page, address: str) -> None:
    visit(page, address)
    before = nonces(page)
    type_letters(page, TYPED)
    becomes(lambda: rows(page), translated(TYPED))
    page.evaluate(FRAMES)
    typed = nonces(page)
    assert [new == old for new, old in zip(typed, before, strict=True)] == [False, False]
    page.keyboard.press("Enter")
    page.wait_for_url("**text=My%20brother*")
    painted(page)
    becomes(lambda: nonces(page), typed)
    assert rows(page) == translated(TYPED)


SHOWN = """() => window.addEventListener("headscope:preview", ({ detail }) => {
    if (detail) window.wasShown ??= location.search;
})"""
"""The address at which the first preview was shown."""


def test_what_is_pasted_and_entered_at_once_is_shown_before_the_page_runs(
    page: Page, address: str
) -> None:
    visit(page, address)
    page.evaluate(SHOWN)
    field = page.get_by_label("Sentence")
    field.fill(TYPED)
    field.press("Enter")
    page.wait_for_url("**text=My%20brother*")
    painted(page)
    assert "brother" not in page.evaluate("window.wasShown")
    becomes(lambda: rows(page), translated(TYPED))
    page.go_back()  # it was entered by a key: Back leads to what was there
    becomes(lambda: parameter(page, "text"), None)


def test_enter_does_not_wait_for_a_preview_that_never_comes(page: Page, address: str) -> None:
    visit(page, address)
    page.route("**/preview/**", lambda route: None)
    field = page.get_by_label("Sentence")
    field.fill("It rains.")
    field.press("Enter")
    page.wait_for_url("**text=It%20rains*")
    painted(page)
    becomes(lambda: rows(page), translated("It rains."))


def shows_rain(page: Page, address: str) -> None:
    """Assert that tokens and pictures become those of a page that was opened with the text."""
    becomes(lambda: rows(page), translated("It rains."))
    entered = page.context.new_page()
    open_app(entered, f"{address}/?text=It+rains.")
    expect(entered.locator(".head-view[data-nonce]")).to_be_visible()
    becomes(lambda: nonces(page), nonces(entered))


def test_who_types_before_the_page_is_drawn_is_followed_too(page: Page, address: str) -> None:
    page.goto(address)
    type_letters(page, "It rains.")
    shows_rain(page, address)


@pytest.mark.thorough
def test_a_letter_typed_before_pictures_can_be_drawn_is_not_lost(page: Page, address: str) -> None:
    held: list[Route] = []
    page.route("**/BidiComponent*.js", lambda route: held.append(route))
    page.goto(address)  # never painted while that is held
    becomes(lambda: page.evaluate("true") and len(held) > 0, True)  # routes run while it is asked
    type_letters(page, "It rains.")
    held[0].continue_()
    shows_rain(page, address)


def test_what_cannot_be_read_shows_what_was_entered_last(page: Page, address: str) -> None:
    visit(page, f"{address}/?text=It+rains.")
    before = nonces(page)
    page.get_by_label("Sentence").click()
    page.keyboard.press("Control+a")
    with page.expect_response("**/preview/*"):
        page.keyboard.press("Delete")
    page.evaluate(FRAMES)
    assert nonces(page) == before
    assert rows(page) == translated("It rains.")


@pytest.mark.thorough
def test_the_address_holds_what_was_typed_soon_after_the_last_letter(
    page: Page, address: str
) -> None:
    visit(page, address)
    length = page.evaluate("history.length")
    type_letters(page, "It rains")
    page.wait_for_url("**text=It%20rains")
    page.keyboard.type(" today.")  # the field has kept the cursor
    page.wait_for_url("**text=It%20rains%20today.")
    expect(page.get_by_label("Sentence")).to_be_focused()
    assert page.evaluate("history.length") == length
    painted(page)
    typed = rows(page)
    page.reload()
    expect(page.get_by_label("Sentence")).to_have_value("It rains today.")
    becomes(lambda: rows(page), typed)
    show_as(page, "pieces")
    page.wait_for_url("**tokens=pieces*")
    page.go_back()
    expect(page.get_by_label("Sentence")).to_have_value("It rains today.")


@pytest.mark.thorough
def test_a_preview_outlives_a_change_of_the_theme(page: Page, address: str) -> None:
    visit(page, address)
    type_letters(page, "It rains.")
    page.emulate_media(color_scheme="dark")
    becomes(lambda: rows(page), translated("It rains."))


def test_going_back_leaves_the_preview(page: Page, address: str) -> None:
    visit(page, address)
    first = rows(page)
    show_as(page, "word just read")
    page.wait_for_url("**rows=read**")
    painted(page)
    type_letters(page, TYPED)
    becomes(lambda: rows(page), translated(TYPED))
    page.go_back()
    becomes(lambda: rows(page), first)
    expect(page.locator(".head-view")).to_contain_text("writing (query)")


@pytest.mark.thorough
def test_a_head_opened_while_previews_are_on_their_way_is_the_one_that_is_shown(
    page: Page, address: str
) -> None:
    visit(page, address)
    type_letters(page, TYPED)
    page.get_by_role("gridcell", name="Cross L0 H5:").click()
    page.wait_for_url("**head=5**")
    becomes(lambda: rows(page), translated(TYPED))
    painted(page)
    page.evaluate(FRAMES)
    expect(page.locator(".head-grid")).to_have_attribute("data-selected", "cross,0,5")
    expect(page.locator(".head-view")).to_have_attribute("data-heads", "5")
    shown, where = nonces(page), page.url
    page.goto(where)
    becomes(lambda: nonces(page), shown)


def test_what_is_chosen_stays_where_the_sentence_stays(page: Page, address: str) -> None:
    visit(page, f"{address}/?heads=0,1&pins=q1")
    arrows = page.locator(".head-view[data-nonce]")
    page.get_by_label("Sentence").click()
    page.keyboard.press("End")
    page.keyboard.type("!")
    for is_entered in (False, True):  # pins are of a text's words, heads are the model's
        expect(arrows).to_have_attribute("data-pins", "")
        expect(arrows).to_have_attribute("data-heads", "0,1")
        if not is_entered:
            page.wait_for_url("**text=*")


def test_the_steps_of_decode_follow_every_letter(page: Page, address: str) -> None:
    visit(page, f"{address}/decode")
    player = page.locator(".decode-player[data-nonce]")
    before = player.get_attribute("data-nonce")
    type_letters(page, TYPED)
    becomes(lambda: rows(page), translated(TYPED))
    expect(player).not_to_have_attribute("data-nonce", str(before))
    page.evaluate(FRAMES)
    shown = player.get_attribute("data-nonce")
    page.keyboard.press("Enter")
    page.wait_for_url("**text=My%20brother*")
    painted(page)
    expect(player).to_have_attribute("data-nonce", str(shown))


def test_both_heads_of_compare_follow_each_as_its_own(page: Page, address: str) -> None:
    visit(page, f"{address}/compare?kind=cross&kind_b=encoder_self")

    def shown() -> list[str | None]:
        pictures = page.locator(".head-view[data-nonce]")
        return [picture.get_attribute("data-nonce") for picture in pictures.all()]

    becomes(lambda: len(shown()), 2)
    type_letters(page, TYPED)
    becomes(lambda: rows(page), translated(TYPED))
    page.evaluate(FRAMES)
    typed = shown()
    page.keyboard.press("Enter")
    page.wait_for_url("**text=My%20brother*")
    painted(page)
    becomes(shown, typed)
    assert typed[0] != typed[1]


@pytest.mark.thorough
def test_a_text_that_grows_is_previewed_too(page: Page, address: str) -> None:
    visit(page, f"{address}/?checkpoint=shakespeare")
    type_letters(page, "To be")
    becomes(lambda: "".join(rows(page)[0]).endswith("be"), True)


def test_tokens_wait_for_enter_where_no_picture_follows(page: Page, address: str) -> None:
    visit(page, f"{address}/positions")
    before = rows(page)
    # Letters before the last one may be answered by: ask again.
    with page.expect_response(lambda answer: "/preview/" in answer.url and answer.status == 204):
        type_letters(page, "To be")
    page.evaluate(FRAMES)
    assert rows(page) == before


@pytest.mark.thorough
def test_a_short_text_on_the_way_leaves_the_number_of_lines(page: Page, address: str) -> None:
    visit(page, address)
    lines = page.get_by_label("lines per word")
    expect(lines.locator("option:checked")).to_have_text("5")
    type_letters(page, "I")
    becomes(lambda: rows(page)[0], translated("I")[0])
    expect(lines.locator("option:checked")).to_have_text("all")
    page.keyboard.type(" have never seen such a house.")
    becomes(lambda: rows(page)[0][-3:], ["house", ".", "</s>"])
    expect(lines.locator("option:checked")).to_have_text("5")


@pytest.mark.thorough
def test_the_number_of_lines_is_in_the_address(page: Page, address: str) -> None:
    visit(page, address)
    lines = page.get_by_label("lines per")
    lines.select_option("2")
    becomes(lambda: parameter(page, "lines"), "2")
    type_letters(page, "It rains.")
    becomes(lambda: rows(page)[0], translated("It rains.")[0])
    expect(lines.locator("option:checked")).to_have_text("2")
    lines.select_option("all")
    becomes(lambda: parameter(page, "lines"), "0")
    page.reload()
    expect(lines.locator("option:checked")).to_have_text("all")
    visit(page, f"{address}/?lines=7")  # none of the choice
    expect(lines.locator("option:checked")).to_have_text("5")


@pytest.mark.thorough
def test_a_letter_before_back_belongs_to_the_page_that_is_left(page: Page, address: str) -> None:
    visit(page, f"{address}/decode")
    go_to(page, "Look", "Explore")
    painted(page)
    field = page.get_by_label("Sentence")
    before = field.input_value()
    field.press("End")
    page.evaluate("document.execCommand('insertText', false, ' Now'), history.back()")  # at once
    page.wait_for_selector(".decode-player[data-nonce]")
    painted(page)
    expect(field).to_have_value(before)
    field.blur()
    painted(page)
    assert parameter(page, "text") is None
    page.go_forward()
    page.wait_for_selector(".head-view[data-nonce]")
    painted(page)
    expect(field).to_have_value(before)
    assert parameter(page, "text") is None
