"""What is chosen stays chosen, can be taken back, and means the same in every picture."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.server import painted
from tests.browser.test_app import go_to, show_as, visit, wait_for_map
from transformer import load_checkpoint, record

pytestmark = [pytest.mark.browser, pytest.mark.same_page]


def test_back_takes_choices_back_one_by_one(page: Page, address: str) -> None:
    visit(page, address)
    view = page.locator(".head-view[data-nonce]")
    switch = page.get_by_role("button", name="Show as")
    show_as(page, "word just read")
    page.wait_for_url("**/?rows=read")
    expect(view).to_contain_text("reading (query)")  # other rows forget what was clicked before
    view.locator("[data-token=q5]").click()
    page.wait_for_url("**/?rows=read&special=hidden&pins=q5")
    painted(page)
    page.go_back()
    expect(view).to_have_attribute("data-pins", "")
    expect(view).to_contain_text("reading (query)")
    page.go_back()
    expect(view).to_contain_text("writing (query)")
    expect(page).to_have_url(f"{address}/")
    switch.click()
    expect(page.get_by_role("radio", name="word being written")).to_be_checked()


def test_back_to_another_head_moves_every_picture(page: Page, address: str) -> None:
    visit(page, f"{address}/?picture=map")
    wait_for_map(page, "cross L2 H2")
    show_as(page, "word just read")
    page.wait_for_url("**rows=read**")
    page.get_by_label("Head", exact=True).click()
    page.get_by_role("option", name="H1", exact=True).click()
    wait_for_map(page, "cross L2 H1")
    page.go_back()
    wait_for_map(page, "cross L2 H2")
    expect(page.locator(".head-grid")).to_have_attribute("data-selected", "cross,2,2")
    page.go_forward()
    wait_for_map(page, "cross L2 H1")
    expect(page.locator(".head-grid")).to_have_attribute("data-selected", "cross,2,1")


def test_other_names_of_the_rows_keep_heads_and_pins(page: Page, address: str) -> None:
    visit(page, f"{address}/?heads=1,2&pins=q5")
    show_as(page, "word just read")
    view = page.locator(".head-view[data-nonce]")
    expect(view).to_contain_text("<s>")  # the first that is read
    expect(view).to_have_attribute("data-heads", "1,2")
    expect(view).to_have_attribute("data-pins", "q5")


def test_the_reading_is_chosen_without_opening_it_again(page: Page, address: str) -> None:
    visit(page, f"{address}/?picture=map")
    show_as(page, "word just read", "hidden")
    title = page.locator(".head-map .title")
    expect(title).to_contain_text("words: sum over key pieces")
    expect(title).to_contain_text("special tokens hidden")


@pytest.mark.thorough
def test_how_it_is_decoded_stays_in_the_address_of_other_pages(page: Page, address: str) -> None:
    visit(page, address)
    page.get_by_role("button", name="Options", exact=True).click()
    field = page.get_by_role("spinbutton", name="Beam size")
    field.fill("2")
    field.press("Enter")
    page.wait_for_url("**/?options.beam_size=2")
    page.keyboard.press("Escape")
    expect(field).to_be_hidden()
    painted(page)
    go_to(page, "Look", "Decode")
    page.wait_for_url("**/decode?options.beam_size=2")
    page.goto(page.url)
    go_to(page, "Look", "Explore")
    page.wait_for_url("**/?options.beam_size=2")
    painted(page)
    page.get_by_role("button", name="Options", exact=True).click()
    expect(field).to_have_value("2")


def test_a_cell_of_words_opens_its_strongest_pieces(page: Page, address: str) -> None:
    text = "A gorgeous, witty and moving film."
    visit(page, f"{address}/?checkpoint=sentiment&text={text}&picture=map&layer=0&head=0")
    wait_for_map(page, "encoder_self L0 H0")
    recording = record(load_checkpoint("checkpoints/sentiment"), text)
    attention = recording.attentions["encoder_self"]
    pieces = [token.piece for token in attention.keys]
    first = pieces.index("▁witt")  # the word "witty" has two pieces
    weights = attention.weights(0, 0)[first : first + 2, first : first + 2]
    row, column = divmod(int(weights.argmax()), 2)
    stage = page.locator(".head-map .stage")
    stage.focus()
    page.keyboard.press("PageUp")
    page.keyboard.press("Home")
    for _ in range(first):
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    steps = page.locator(".cell-steps")
    expect(steps).to_contain_text(f"({weights[row, column]:.3f}). Inside: ")
