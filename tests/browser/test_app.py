"""The app in a browser, as a person uses it."""

import re
from urllib.parse import parse_qs, urlparse

import pytest
from playwright.sync_api import Page, expect

from tests.browser.server import becomes, painted

pytestmark = [pytest.mark.browser, pytest.mark.same_page]

SENTENCE = "The animal didn't cross the street because it was too tired."
FIGURE = "() => [...document.querySelectorAll('.js-plotly-plot')].map(p => p.layout.meta.id)"

TOP = "() => document.querySelector('[data-testid=stMain]').scrollTop"
"""How far the page is scrolled down."""

FOLLOW = """(href) => new Promise((begun, fail) => {
    setTimeout(() => fail(new Error(`nothing ran for ${href} in 60 s`)), 60000);
    const runs = new MutationObserver(() => runs.disconnect() ?? begun());
    runs.observe(document, { subtree: true, attributeFilter: ["data-test-script-state"] });
    const { send } = WebSocket.prototype;
    WebSocket.prototype.send = function (...asked) {
        WebSocket.prototype.send = send;
        this.addEventListener("message", () => setTimeout(begun, 500), { once: true });
        send.apply(this, asked);
    };
    document.activeElement.blur();
    document.querySelector('[data-testid="stMain"]').scrollTo(0, 0);
    const link = Object.assign(document.createElement("a"), { href });
    link.dataset.state = "";
    document.body.append(link);
    link.click();
    link.remove();
})"""
"""Go to an address as a link of the app's own does, and begin at its top, until the script runs: a
busy page never shows that it does where the run has ended before it is drawn."""


def open_app(page: Page, address: str) -> None:
    page.goto(address)
    painted(page)


def listens(page: Page) -> None:
    """Wait until the app hears of links: what it says aloud is said by the script that does.

    A page may be painted before. A link loads it anew then, with another session.
    """
    page.wait_for_selector("body > [role=status]", state="attached")


def visit(page: Page, address: str) -> None:
    """Load the app, or where the page shows it, follow a link in it: it is drawn anew in place."""
    if urlparse(page.url).netloc == urlparse(address).netloc:
        painted(page)
        listens(page)
        page.evaluate(FOLLOW, address)
        painted(page)
    else:
        open_app(page, address)


def figures(page: Page) -> list[str]:
    """What the figures on the page show, by their own account."""
    page.wait_for_selector(".js-plotly-plot .main-svg")
    return list(page.evaluate(FIGURE))


def wait_for_figure(page: Page, id: str) -> None:
    page.wait_for_function(f"({FIGURE})().includes({id!r})")


def wait_for_map(page: Page, id: str) -> None:
    """The heat map of a head: "cross L2 H3"."""
    page.wait_for_selector(f'.head-map[data-id="{id}"]')


def go_to(page: Page, group: str, title: str) -> None:
    """Another page, by the navigation."""
    page.get_by_test_id("stTopNavSection").get_by_text(group, exact=True).click()
    page.get_by_role("menuitem", name=title).click()


def show_as(page: Page, *names: str) -> None:
    """Switches behind the button "Show as"."""
    page.get_by_role("button", name="Show as").click()
    for name in names:
        page.get_by_role("radio", name=name, exact=True).click()
        expect(page.get_by_role("radio", name=name, exact=True)).to_be_checked()
    page.keyboard.press("Escape")
    expect(page.get_by_role("radio", name=names[-1], exact=True)).to_be_hidden()


def type_sentence(page: Page, text: str) -> None:
    field = page.get_by_label("Sentence")
    field.fill(text)
    field.press("Enter")


def row(page: Page, side: str) -> list[str]:
    """The pieces of a token row; of words that hide their space, an empty one in its place."""
    page.wait_for_selector(".token-rows .chip:not(.silent)")
    chips = page.locator(f'.token-rows .chip[data-side="{side}"]')
    return [text.replace("\n", "") for text in chips.all_inner_texts()]


def parameter(page: Page, name: str) -> str | None:
    here = page.evaluate("location.href")  # page.url hears of a change only while it is waited for
    return parse_qs(urlparse(here).query).get(name, [None])[0]


def test_the_first_screen_shows_a_finished_example(page: Page, address: str) -> None:
    open_app(page, address)
    expect(page.get_by_label("Sentence")).to_have_value(SENTENCE)
    page.wait_for_selector(".head-grid[data-nonce]")
    assert "animal" in row(page, "source")
    assert row(page, "target")[-1] == "</s>"
    assert len(row(page, "target")) > 5
    expect(page.locator(".head-grid .cell")).to_have_count(72)
    picture = page.locator(".head-view[data-nonce]")
    expect(picture).to_contain_text("animal")
    expect(picture).to_contain_text("Tier")


def test_a_new_sentence_changes_every_picture(page: Page, address: str) -> None:
    visit(page, address)
    grid = page.locator(".head-grid[data-nonce]")
    before = grid.get_attribute("data-nonce")
    type_sentence(page, "My brother reads a book.")
    expect(page.locator('.token-rows .chip[data-side="source"]').nth(1)).to_have_text("brother")
    expect(grid).not_to_have_attribute("data-nonce", str(before))
    expect(page.locator(".head-view")).to_contain_text("brother")
    becomes(lambda: parameter(page, "text"), "My brother reads a book.")


def test_a_click_in_the_grid_opens_the_head(page: Page, address: str) -> None:
    visit(page, f"{address}/?kind=encoder_self&picture=map")
    page.get_by_role("gridcell", name="Encoder L1 H4:").click()
    wait_for_map(page, "encoder_self L1 H4")
    expect(page.locator(".head-grid")).to_have_attribute("data-selected", "encoder_self,1,4")
    becomes(lambda: (parameter(page, "layer"), parameter(page, "head")), ("1", "4"))


def test_the_keyboard_opens_a_head_too(page: Page, address: str) -> None:
    visit(page, f"{address}/?kind=decoder_self&layer=0&head=0&picture=map")
    page.wait_for_selector(".head-grid[data-nonce]")
    page.get_by_role("gridcell", name="Decoder L0 H0:").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    wait_for_map(page, "decoder_self L1 H1")


def test_compare_shows_two_heads_and_their_difference(page: Page, address: str) -> None:
    query = "kind=cross&layer=0&head=1&kind_b=cross&layer_b=2&head_b=4"
    visit(page, f"{address}/compare?{query}&picture=map")
    wait_for_figure(page, "head_difference cross L0 H1 cross L2 H4")
    wait_for_map(page, "cross L0 H1")
    wait_for_map(page, "cross L2 H4")
    divergence = page.locator("p:has-text('These two heads') strong").nth(1).inner_text()
    assert 0 < float(divergence.split()[0]) < 1
    for title in ("Entropy", "Sharpness", "Mean distance", "On first token"):
        expect(page.get_by_test_id("stTable")).to_contain_text(title)


def test_decoding_steps_by_key_button_and_play(page: Page, address: str) -> None:
    visit(page, f"{address}/decode")
    player = page.locator(".decode-player[data-nonce]")
    expect(player).to_have_attribute("data-step", "0")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(player).to_have_attribute("data-step", "2")
    page.wait_for_url(re.compile("step=2"))
    page.get_by_role("button", name=re.compile("last", re.I)).click()
    n_target = len(row(page, "target"))
    expect(player).to_have_attribute("data-step", str(n_target - 1))
    page.keyboard.press("Home")
    page.get_by_role("button", name=re.compile("play", re.I)).click()
    expect(player).not_to_have_attribute("data-step", "0")
    page.get_by_role("button", name=re.compile("pause", re.I)).click()


def test_a_link_opens_the_same_screen(page: Page, address: str) -> None:
    query = "text=The+cat+sleeps.&layer=1&head=6&decoding=greedy&step=3"
    visit(page, f"{address}/decode?{query}")
    expect(page.get_by_label("Sentence")).to_have_value("The cat sleeps.")
    expect(page.locator(".decode-player[data-nonce]")).to_have_attribute("data-step", "3")
    written = row(page, "target")
    page.reload()
    painted(page)
    expect(page.locator(".decode-player[data-nonce]")).to_have_attribute("data-step", "3")
    assert row(page, "target") == written
    go_to(page, "Look", "Explore")
    page.get_by_role("radio", name="Heat map").click()
    wait_for_map(page, "cross L1 H6")
    expect(page.get_by_label("Sentence")).to_have_value("The cat sleeps.")


@pytest.mark.thorough
def test_positions_shows_every_view(page: Page, address: str) -> None:
    visit(page, f"{address}/positions")
    buttons = page.get_by_test_id("stButtonGroup").first.get_by_role("radio")
    for i in range(buttons.count()):
        buttons.nth(i).click()
        painted(page)
        becomes(lambda: bool(figures(page)), True)  # that of the lab comes after its study
        expect(page.get_by_test_id("stAlert")).to_have_count(0)


def test_text_the_model_cannot_take_leaves_the_last_result(page: Page, address: str) -> None:
    visit(page, address)
    shown = row(page, "source")
    for text, said in (
        ("", "type a sentence"),
        ("word " * 10_000, "at most 20,000"),
        ("   ", "type a sentence"),
        ("tree " * 400, r"takes at most \d+"),
    ):
        type_sentence(page, text)
        expect(page.get_by_test_id("stAlert")).to_contain_text(re.compile(said))
        assert row(page, "source") == shown


@pytest.mark.thorough
def test_tokens_show_literally(page: Page, address: str) -> None:
    visit(page, address)
    grid = page.locator(".head-grid[data-nonce]")
    for text, piece in (
        ("<b>bold</b> & <script>alert(1)</script>", "<"),  # not in the vocabulary: its byte
        ("**stars** `code` $x^2$ :red[no]", "$"),
        ("I 🙂 you", "🙂"),  # four bytes, which read as what they spell
        ("שלום my friend", "friend"),
    ):
        before = grid.get_attribute("data-nonce")
        type_sentence(page, text)
        expect(grid).not_to_have_attribute("data-nonce", str(before))
        painted(page)
        assert piece in row(page, "source")
        expect(page.get_by_test_id("stException")).to_have_count(0)
        expect(page.locator(".head-view[data-nonce]")).to_have_count(1)


def test_the_copy_task_copies(page: Page, address: str) -> None:
    visit(page, f"{address}/?checkpoint=copy")
    expect(page.get_by_label("Sentence")).to_have_value("3 7 2 9 4 11 5")
    assert row(page, "target") == row(page, "source") == ["3", "7", "2", "9", "4", "11", "5"]


def test_the_badge_of_a_recording_opens_its_numbers(page: Page, address: str) -> None:
    visit(page, address)
    page.get_by_role("button", name=re.compile("numbers checked$")).click()
    expect(page.get_by_text(re.compile("^The recorded weights times .* after W_O"))).to_be_visible()
    for said in ("Rows sum to 1.", "Masked cells hold 0."):
        expect(page.get_by_text(said, exact=True)).to_be_visible()
    expect(page.get_by_text("A pass that nobody records gives the same logits.")).to_be_visible()
