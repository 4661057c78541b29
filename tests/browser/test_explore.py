"""Explore: three linked levels and the readings, which show what Python computes."""

import re
from dataclasses import replace

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.sentences import SAID, said
from tests.browser.server import becomes, painted
from tests.browser.test_app import parameter, show_as, type_sentence, visit, wait_for_map
from tests.browser.test_head_grid import select
from tests.browser.test_head_map import place
from tests.browser.test_head_view import token
from tests.representatives import cases
from transformer import Recording, evidence, load_checkpoint
from transformer.analysis.metrics.metrics import measure
from transformer.analysis.reading import AttentionMap, Reading, read

pytestmark = [pytest.mark.browser, pytest.mark.same_page]

HEATMAP = "picture=map"
DECODER = "kind=decoder_self&layer=1&head=3"


CROSS = "layer=2&head=3"
"""A head of cross-attention that is shown with all its tokens, as any that an address names."""


def open_picture(page: Page, address: str, query: str, picture: str) -> Locator:
    """In pieces, of which the recording is."""
    visit(page, f"{address}/?tokens=pieces&{query}")
    page.wait_for_selector(f".{picture}[data-nonce]")
    return page.locator(f".{picture}")


def open_cell(page: Page, shown: Locator, row: int, column: int) -> None:
    page.mouse.click(*place(page, shown, row, column))
    page.wait_for_selector(".cell-steps[data-nonce]")


def choose_picture(page: Page, name: str) -> None:
    page.get_by_role("radio", name=name).click()


def hovered(page: Page, map: AttentionMap, layer: int, head: int, *cells: tuple[int, int]) -> None:
    """Pointing at these cells of the heat map says what the map holds."""
    shown = page.locator(".head-map")
    for row, column in cells:
        page.mouse.move(*place(page, shown, row, column))
        expect(page.locator(SAID)).to_have_text(said(map, layer, head, row, column))


def tokens(page: Page, side: str) -> list[str]:
    """What stands in a column of the arrows."""
    texts = page.locator(f".head-view .{side} .piece").all_inner_texts()
    return [text.replace("\n", "") for text in texts]


def pieces(map: AttentionMap, side: str) -> list[str]:
    return [token.piece for token in (map.rows if side == "rows" else map.columns)]


def weights_beside(page: Page, id: str) -> list[tuple[str | None, str]]:
    """Token and weight of each label that stands there while `id` is pointed at."""
    token(page, id).hover()
    partners = page.locator(".head-view .partner")
    expect(partners).not_to_have_count(0)
    return [
        (node.get_attribute("data-token"), node.locator(".label").first.inner_text())
        for node in partners.all()
    ]


def test_a_head_of_the_grid_moves_every_picture(page: Page, address: str) -> None:
    shown = open_picture(page, address, f"kind=encoder_self&{HEATMAP}", "head-map")
    page.get_by_role("gridcell", name="Encoder L0 H6:").click()
    wait_for_map(page, "encoder_self L0 H6")
    becomes(lambda: (parameter(page, "layer"), parameter(page, "head")), ("0", "6"))
    choose_picture(page, "Arrows")
    expect(page.locator(".head-view")).to_have_attribute("data-heads", "6")
    page.get_by_role("gridcell", name="Encoder L1 H2:").click()
    expect(page.locator(".head-view")).to_have_attribute("data-heads", "2")
    choose_picture(page, "Inside")
    expect(page.locator(".cell-steps .said")).to_contain_text("head 2 of layer 1")
    page.get_by_role("gridcell", name="Encoder L2 H0:").click()
    expect(page.locator(".cell-steps .said")).to_contain_text("head 0 of layer 2")
    choose_picture(page, "Heat map")
    expect(shown).to_have_attribute("data-id", "encoder_self L2 H0")


def test_a_cell_of_the_heat_map_opens_inside(
    page: Page, address: str, recording: Recording
) -> None:
    weights = recording.attentions["cross"].weights(2, 3)
    open_cell(page, open_picture(page, address, f"{CROSS}&{HEATMAP}", "head-map"), 4, 9)
    weight = page.locator('[data-number="weight"]').first
    expect(weight).to_have_text(f"{weights[4, 9]:.4f}")
    page.wait_for_url(re.compile("cell=4,9"))
    becomes(lambda: parameter(page, "picture"), "inside")
    page.locator('.competitor[data-key="7"]').click()
    expect(weight).to_have_text(f"{weights[4, 7]:.4f}")
    page.wait_for_url(re.compile("cell=4,7"))
    page.reload()
    expect(weight).to_have_text(f"{weights[4, 7]:.4f}")
    expect(page.locator(".cell-steps .said")).to_contain_text("head 3 of layer 2")
    choose_picture(page, "Heat map")
    expect(page.locator(".head-map")).to_have_attribute("data-selected", "4,7")


def test_the_heat_map_says_what_python_computes(
    page: Page, address: str, recording: Recording
) -> None:
    decoder = read(recording, "decoder_self")
    open_picture(page, address, f"{DECODER}&{HEATMAP}", "head-map")
    wait_for_map(page, "decoder_self L1 H3")
    hovered(page, decoder, 1, 3, (0, 0), (3, 1), (9, 2), (14, 14))
    page.mouse.move(*place(page, page.locator(".head-map"), 2, 7))
    expect(page.locator(SAID)).to_have_text(re.compile(r" \(masked\)\.$"))
    page.get_by_role("gridcell", name="Decoder L0 H5:").click()
    wait_for_map(page, "decoder_self L0 H5")
    hovered(page, decoder, 0, 5, (3, 1), (9, 2), (14, 14))


def test_heads_and_pins_stand_in_the_address(page: Page, address: str) -> None:
    view = open_picture(page, address, "layer=1&head=6", "head-view")
    page.get_by_role("button", name="H2", exact=True).click()
    token(page, "q5").click()
    token(page, "k3").click()
    page.wait_for_url(re.compile("pins=q5,k3"))
    becomes(lambda: parameter(page, "heads"), "2,6")
    page.reload()
    expect(view).to_have_attribute("data-heads", "2,6")
    expect(view).to_have_attribute("data-pins", "q5,k3")
    expect(token(page, "q5")).to_have_attribute("aria-selected", "true")


@pytest.mark.thorough
def test_rows_are_named_by_what_they_read_or_wrote(
    page: Page, address: str, recording: Recording
) -> None:
    open_picture(page, address, CROSS, "head-view")
    written = pieces(read(recording, "cross"), "rows")
    assert tokens(page, "rows") == written
    beside = weights_beside(page, "q3")
    first = page.locator(".head-view .rows .piece").first
    show_as(page, "word just read")
    expect(first).to_have_text("<s>")
    assert tokens(page, "rows") == ["<s>", *written[:-1]]
    assert weights_beside(page, "q3") == beside
    page.wait_for_url(re.compile("rows=read"))
    show_as(page, "word being written")
    expect(first).not_to_have_text("<s>")
    assert tokens(page, "rows") == written
    assert weights_beside(page, "q3") == beside


SPECIAL = [
    ("hidden", "special tokens hidden: rows sum to less than 1"),
    ("renormalised", "special tokens hidden, rows renormalised"),
]


@pytest.mark.parametrize(
    ("special", "words"), cases(SPECIAL, {"rows have other numbers, too": SPECIAL[1]})
)
def test_special_tokens_are_left_out(
    page: Page, address: str, recording: Recording, special: str, words: str
) -> None:
    map = read(recording, "cross", Reading(special=special))  # type: ignore[arg-type]
    view = open_picture(page, address, CROSS, "head-view")
    assert "</s>" in tokens(page, "columns")
    show_as(page, special)
    expect(view).to_contain_text(words)
    for side in ("rows", "columns"):
        assert tokens(page, side) == pieces(map, side)
        assert "</s>" not in tokens(page, side)
    becomes(lambda: parameter(page, "special"), special)
    choose_picture(page, "Heat map")
    wait_for_map(page, "cross L2 H3")
    expect(page.locator(".head-map .title")).to_contain_text(words)
    hovered(page, map, 2, 3, (1, 1), (4, 5), (13, 14))


def test_pieces_are_merged_to_words(page: Page, address: str, recording: Recording) -> None:
    map = read(recording, "encoder_self", Reading(words=True))
    shown = open_picture(page, address, f"kind=encoder_self&layer=1&head=4&{HEATMAP}", "head-map")
    show_as(page, "words")
    expect(shown).to_contain_text("words: sum over key pieces, mean over query pieces")
    becomes(lambda: parameter(page, "tokens"), None)
    assert map.columns[2].piece == "didn't"
    hovered(page, map, 1, 4, (2, 2), (0, 2), (2, 6), (12, 12))


def test_rollout_shows_the_numbers_of_python(
    page: Page, address: str, recording: Recording
) -> None:
    map = read(recording, "encoder_self", Reading(lens="rollout"))
    open_picture(page, address, f"kind=encoder_self&layer=2&lens=rollout&{HEATMAP}", "head-map")
    hovered(page, map, 2, 0, (0, 0), (3, 8), (15, 2))
    expect(page.get_by_role("gridcell", name="Encoder L")).to_have_count(3)
    page.get_by_role("gridcell", name="Encoder L1, all heads").click()
    page.wait_for_url(re.compile("layer=1"))
    expect(page.locator(".head-map .title strong")).to_have_text("L1")
    hovered(page, map, 1, 0, (3, 8), (15, 2))


def test_the_cost_of_hiding_shows_the_numbers_of_evidence(
    page: Page, address: str, recording: Recording
) -> None:
    checkpoint = load_checkpoint("checkpoints/en-de")
    result = evidence(checkpoint, checkpoint.about.examples[0], recording.target)
    costs = replace(recording, hidden=result.hidden)
    map = read(costs, "cross", Reading(lens="hidden"))
    shown = open_picture(page, address, f"kind=cross&layer=2&lens=hidden&{HEATMAP}", "head-map")
    expect(shown).to_contain_text("the same in every layer and head")
    hovered(page, map, 2, 0, (4, 9), (14, 15))


def test_a_lens_that_refuses_says_why_and_shows_weights(
    page: Page, address: str, recording: Recording
) -> None:
    open_picture(page, address, f"lens=flow&{CROSS}&{HEATMAP}", "head-map")
    expect(page.get_by_test_id("stAlert")).to_contain_text(
        "Attention flow is only defined for self-attention: choose encoder or decoder. "
        "Shown: the weights."
    )
    hovered(page, read(recording, "cross"), 2, 3, (4, 9), (14, 15))


def test_the_five_heads_that_look_back_most(page: Page, address: str, recording: Recording) -> None:
    attention = recording.attentions["encoder_self"]
    found = {
        f"L{layer} H{head}": float(value)
        for layer in range(attention.n_layers)
        for head, value in enumerate(measure(attention, layer)["previous"])
    }
    open_picture(page, address, "kind=encoder_self", "head-grid")
    select(page, "Heads", "previous")
    select(page, "Keep", "5")
    names = page.locator(".head-grid .section").first.locator(".cell .below")
    expect(names).to_have_text(sorted(found, key=lambda name: -found[name])[:5])
    page.wait_for_url(re.compile("sort=previous.*top=5|top=5.*sort=previous"))


def test_a_new_sentence_has_no_cell_and_no_pins(page: Page, address: str) -> None:
    view = open_picture(page, address, "pins=q5,k3&cell=4,9", "head-view")
    expect(view).to_have_attribute("data-pins", "q5,k3")
    choose_picture(page, "Heat map")
    expect(page.locator(".head-map")).to_have_attribute("data-selected", "4,9")
    type_sentence(page, "My brother reads a book.")
    expect(page.locator(".head-map")).to_have_attribute("data-selected", "")
    choose_picture(page, "Arrows")
    expect(page.locator(".head-view .columns")).to_contain_text("brother")
    expect(view).to_have_attribute("data-pins", "")
    painted(page)
    becomes(lambda: (parameter(page, "cell"), parameter(page, "pins")), (None, None))
