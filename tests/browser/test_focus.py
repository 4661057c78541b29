"""One focus: what is pinned anywhere is pinned everywhere, and stands in the address."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.sentences import SAID, said
from tests.browser.server import becomes, painted
from tests.browser.test_app import go_to, parameter, show_as, visit, wait_for_map
from tests.browser.test_explore import CROSS, choose_picture, open_picture
from tests.representatives import cases
from transformer import Recording
from transformer.analysis.reading import Reading, read

pytestmark = [pytest.mark.browser, pytest.mark.same_page]

STREET = 4
"""The row of "Straße", in words."""


def chip(page: Page, side: str, text: str) -> Locator:
    """A token of the two lines at the top."""
    return page.locator(f'.token-rows [data-side="{side}"]', has_text=re.compile(f"^{text}$"))


def test_a_word_pinned_at_the_top_is_pinned_in_every_picture(
    page: Page, address: str, recording: Recording
) -> None:
    map = read(recording, "cross", Reading(words=True))
    assert map.rows[STREET].piece == "Straße"
    column = int(map.values(2, 3)[STREET].argmax())
    visit(page, f"{address}/?layer=2&head=3")
    page.wait_for_selector(".head-view[data-nonce]")
    chip(page, "target", "Straße").focus()
    expect(page.locator(".token-rows .pointed")).to_have_text("Straße")
    chip(page, "target", "Straße").click()
    expect(page.locator(".head-view")).to_have_attribute("data-pins", f"q{STREET}")
    expect(page.locator(SAID)).to_have_text(said(map, 2, 3, STREET, column))
    expect(chip(page, "target", "Straße")).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".head-grid .section").nth(2).locator(".board")).to_have_class(
        re.compile("mark-row")
    )
    becomes(lambda: parameter(page, "pins"), f"q{STREET}")
    choose_picture(page, "Heat map")
    wait_for_map(page, "cross L2 H3")
    expect(page.locator(".head-map")).to_have_attribute("data-pins", f"q{STREET}")
    expect(page.locator(SAID)).to_have_text(said(map, 2, 3, STREET, column))
    choose_picture(page, "Inside")
    expect(page.locator(".cell-steps .said")).to_have_text(said(map, 2, 3, STREET, column))
    page.reload()
    expect(page.locator(".cell-steps .said")).to_have_text(said(map, 2, 3, STREET, column))
    go_to(page, "Look", "Decode")
    player = page.locator(".decode-player[data-nonce]")
    written = [token.piece for token in recording.target]
    expect(player).to_have_attribute("data-step", str(written.index("▁Straße")))
    player.get_by_role("button", name=re.compile("last", re.I)).click()
    last = len(map.rows) - 1  # what is pinned goes with the step
    becomes(lambda: parameter(page, "pins"), f"q{last}")


def test_inside_the_source_picks_the_key_and_the_target_the_query(
    page: Page, address: str, recording: Recording
) -> None:
    map = read(recording, "cross")
    shown = open_picture(page, address, f"{CROSS}&picture=inside", "cell-steps").locator(".said")
    chip(page, "target", "Tier").click()
    expect(shown).to_contain_text("While writing Tier")
    chip(page, "source", "street").click()
    query, key = 1, [token.piece for token in map.columns].index("▁street")
    expect(shown).to_have_text(said(map, 2, 3, query, key))
    becomes(lambda: parameter(page, "pins"), f"q{query},k{key}")


def test_keys_walk_along_the_tokens_and_pin_them(page: Page, address: str) -> None:
    visit(page, f"{address}/?kind=encoder_self")
    view = page.locator(".head-view[data-nonce]")
    chip(page, "source", "The").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(view).to_have_attribute("data-pins", "q1")  # self-attention: as a query
    page.keyboard.press("Shift+Enter")
    expect(view).to_have_attribute("data-pins", "k1")  # the same word, as a key
    page.keyboard.press("Enter")
    expect(view).to_have_attribute("data-pins", "")


def test_the_same_tokens_stay_pinned_through_another_kind_and_in_pieces(
    page: Page, address: str, recording: Recording
) -> None:
    visit(page, address)
    view = page.locator(".head-view[data-nonce]")
    chip(page, "source", "street").click()
    words = [token.piece for token in read(recording, "cross", Reading(words=True)).columns]
    expect(view).to_have_attribute("data-pins", f"k{words.index('street')}")
    show_as(page, "pieces")
    pieces = [token.piece for token in read(recording, "cross").columns]
    street = pieces.index("▁street")
    expect(view).to_have_attribute("data-pins", f"k{street}")
    page.get_by_role("gridcell", name="Encoder L1 H4:").click()
    becomes(lambda: parameter(page, "kind"), "encoder_self")
    becomes(lambda: parameter(page, "pins"), f"q{street}")
    expect(view).to_have_attribute("data-pins", f"q{street}")
    painted(page)
    for pins in (f"k{street}", ""):
        chip(page, "source", "street").click(modifiers=["Shift"])
        expect(view).to_have_attribute("data-pins", pins)


def test_each_head_on_its_own_scale(page: Page, address: str, recording: Recording) -> None:
    weights = read(recording, "cross").values(0, 0)
    assert weights.max() < 0.9
    open_picture(page, address, "layer=0&head=0&picture=map", "head-map")
    ticks = page.locator(".head-map .ticks span")
    expect(ticks.last).to_have_text("1")
    page.get_by_role("button", name="Show as").click()
    page.get_by_text("Each head on its own scale").click()
    expect(ticks.last).to_have_text(f"{float(weights.max()):.3g}")
    expect(page.locator(".head-grid .legend")).to_contain_text("each head's largest")
    becomes(lambda: parameter(page, "own_scale"), "yes")


@pytest.mark.thorough
def test_in_two_panes_the_same_token_is_pinned(page: Page, address: str) -> None:
    visit(page, f"{address}/compare?kind=encoder_self&kind_b=cross&tokens=pieces")
    views = page.locator(".head-view[data-nonce]")
    expect(views).to_have_count(2)
    chip(page, "source", "it").click()
    expect(views.first).to_have_attribute("data-pins", "q10")
    expect(views.last).to_have_attribute("data-pins", "k10")
    views.last.locator("[data-token=k10]").click()
    expect(views.first).to_have_attribute("data-pins", "")


@pytest.mark.thorough
def test_a_word_of_several_pieces_is_walked_through(page: Page, address: str) -> None:
    visit(page, f"{address}/decode?pins=q2")  # "überquerte", of several pieces
    player = page.locator(".decode-player[data-nonce]")
    expect(player).to_have_attribute("data-step", "2")
    for step in ("3", "4", "5"):
        player.get_by_role("button", name=re.compile("next", re.I)).click()
        expect(player).to_have_attribute("data-step", step)


def test_a_pin_that_the_map_lacks_is_not_spoken_of(page: Page, address: str) -> None:
    visit(page, f"{address}/?picture=map&pins=q999")
    wait_for_map(page, "cross L2 H2")
    expect(page.locator(".head-map .why")).to_have_text("The strongest cell of this head")


@pytest.mark.thorough
def test_a_word_of_the_source_is_one_pin_that_looks_and_can_be_turned(
    page: Page, address: str
) -> None:
    """In cross-attention a word of the source is looked at only; in the encoder it looks, too."""
    visit(page, address)
    view, turn = page.locator(".head-view[data-nonce]"), page.locator(".head-view .turn")
    chip(page, "source", "it").click()
    expect(view).to_have_attribute("data-pins", "k7")
    expect(turn).to_be_hidden()
    becomes(lambda: parameter(page, "pins"), "k7")
    page.get_by_role("gridcell", name="Encoder L1 H2:").click()
    expect(view).to_have_attribute("data-pins", "q7")
    turn.click()
    expect(view).to_have_attribute("data-pins", "k7")
    becomes(lambda: parameter(page, "pins"), "k7")
    turn.press("Enter")
    expect(view).to_have_attribute("data-pins", "q7")
    becomes(lambda: parameter(page, "pins"), "q7")
    turn.click()
    becomes(lambda: parameter(page, "pins"), "k7")
    chip(page, "source", "it").click()  # the same word again: released, not pinned twice
    becomes(lambda: parameter(page, "pins"), None)
    expect(view).to_have_attribute("data-pins", "")


@pytest.mark.thorough
def test_a_word_that_the_attention_has_not_is_pinned_in_one_that_has_it(
    page: Page, address: str
) -> None:
    """The encoder has no written word, and the decoder's own attention none that is read."""
    for kind, side, word in (
        ("encoder_self", "target", "müde"),
        ("decoder_self", "source", "tired"),
    ):
        visit(page, f"{address}/?kind={kind}&layer=1&head=2")
        page.wait_for_selector(".head-view[data-nonce]")
        chip(page, side, word).click()
        expect(chip(page, side, word)).to_have_attribute("aria-pressed", "true")
        becomes(lambda: parameter(page, "kind") in (None, "cross"), True)
        assert (parameter(page, "pins") or "").startswith("q" if side == "target" else "k")
        if side == "target":
            expect(page.locator(".tables .title", has_text=f"“{word}”")).to_be_visible()
        chip(page, side, word).click()
        expect(chip(page, side, word)).to_have_attribute("aria-pressed", "false")


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("kind", "pin"),
    cases(
        [("encoder_self", "q9"), ("decoder_self", "k3")],
        {"a word that is read": ("decoder_self", "k3")},
    ),
)
def test_a_word_of_b_is_pinned_though_the_head_of_a_has_it_not(
    page: Page, address: str, kind: str, pin: str
) -> None:
    """Pins are named by A, which shows an attention that has the word, too."""
    visit(page, f"{address}/compare?kind={kind}&layer=1&head=2&kind_b=cross&layer_b=0&head_b=1")
    views = page.locator(".head-view[data-nonce]")
    expect(views).to_have_count(2)
    views.last.locator(f"[data-token={pin}]").click()
    expect(views.first).to_have_attribute("data-pins", pin)
    becomes(lambda: parameter(page, "pins"), pin)
    becomes(lambda: parameter(page, "kind") in (None, "cross"), True)
    expect(views.last).to_have_attribute("data-pins", pin)
    views.last.locator(f"[data-token={pin}]").click()
    becomes(lambda: parameter(page, "pins"), None)
    expect(views.last).to_have_attribute("data-pins", "")


def test_the_tab_names_the_page(page: Page, address: str) -> None:
    """By which history and screen readers tell one page from another."""
    visit(page, f"{address}/decode")
    becomes(page.title, "Decode · Headscope")
    go_to(page, "Look", "Explore")
    becomes(page.title, "Headscope")


def test_a_button_that_is_drawn_anew_keeps_the_focus(page: Page, address: str) -> None:
    visit(page, address)
    button = page.get_by_role("button", name="Experiment", exact=True)
    button.focus()
    for kind in ("primary", "secondary"):
        page.keyboard.press("Enter")
        expect(button).to_have_attribute("kind", kind)
        expect(button).to_be_focused()


def test_the_signs_of_words_leave_the_focus_where_it_is(page: Page, address: str) -> None:
    """They come while somebody is on the way through the tokens by keys."""
    visit(page, f"{address}/?text=The+dog+saw+a+cat+behind+the+house.&decoding=greedy")
    rows = page.locator(".token-rows")
    tint = rows.get_by_role("button", name="uncertainty")
    tint.focus()
    chip(page, "target", "Katze").hover()
    expect(page.locator(".word-card")).to_have_attribute("data-cards", re.compile(r"[1-9]"))
    expect(rows.locator(".chip[title]:not([title=''])").first).to_be_visible()
    expect(tint).to_be_focused()
