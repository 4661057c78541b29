"""All steps of a decoding: a map below the strip of its keys, rows named by what was written."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.server import ROOT, becomes
from tests.browser.test_app import visit
from transformer import Recording, decode, load_checkpoint
from transformer.words import word_groups
from viz.labels import label, word_text

pytestmark = [pytest.mark.browser, pytest.mark.same_page]

EN_DE_1 = ROOT / "checkpoints" / "en-de-1"
PLAYER = ".decode-player[data-nonce]"
SAME_WIDTH = """player => {
    const chips = [...player.querySelectorAll('.panel.source .chip')];
    const [first, last] = [chips[0], chips.at(-1)].map(chip => chip.getBoundingClientRect());
    const { left, right } = player.querySelector('.overview .field').getBoundingClientRect();
    return Math.abs(left - first.left) <= 1 && Math.abs(right - last.right) <= 1;
}"""
SAME_COLUMN = """player => {
    const [column, chip] = ['.overview .column', '.panel.source .chip.pointed']
        .map(name => player.querySelector(name)?.getBoundingClientRect());
    return Boolean(chip?.width) && Math.abs(column.left - chip.left) <= 2
        && Math.abs(column.right - chip.right) <= 2;
}"""


def test_the_map_shares_its_columns_with_the_strip_and_names_its_rows(
    page: Page, address: str, recording: Recording
) -> None:
    visit(page, f"{address}/decode?step=5&tokens=pieces&decode_as=steps")
    player = page.locator(PLAYER)
    written = [label(token) for token in recording.target]
    expect(player.locator(".names .name")).to_have_text(written)
    expect(player.locator(".names .now")).to_have_text(written[5])
    becomes(lambda: player.evaluate(SAME_WIDTH), True)
    for place in (0, 8, len(recording.source) - 1):
        player.locator(".panel.source .chip").nth(place).hover()
        becomes(lambda: player.evaluate(SAME_COLUMN), True)
    player.locator(".names .name").nth(2).click()
    expect(player).to_have_attribute("data-step", "2")
    page.set_viewport_size({"width": 390, "height": 844})  # the strip has several lines here
    expect(player.locator(".overview:not(.aligned)")).to_have_count(1)
    expect(player.locator(".names .name")).to_have_text(written)
    page.set_viewport_size({"width": 1440, "height": 900})
    becomes(lambda: player.evaluate(SAME_WIDTH), True)


def test_a_column_is_a_word_with_the_sum_over_its_pieces(page: Page, address: str) -> None:
    text = "The treaty was signed after years of negotiations."
    chosen = "checkpoint=en-de-1&step=2&decode_as=steps"  # whose pieces of the word are six
    visit(page, f"{address}/decode?text={text.replace(' ', '+')}&{chosen}")
    player = page.locator(PLAYER)
    columns = player.locator(".panel.source .chip")
    words = ["The", "treaty", "was", "signed", "after", "years", "of", "negotiations", ".", "</s>"]
    expect(columns.locator(".piece")).to_have_text(words)
    becomes(lambda: player.evaluate(SAME_WIDTH), True)
    row = page.locator(".token-rows .tokens.source .chip")
    row.nth(row.count() - 4).hover()  # a piece in the middle of a word
    expect(columns.nth(7)).to_have_class("chip pointed")
    becomes(lambda: player.evaluate(SAME_COLUMN), True)
    received = player.locator(".coverage .cell")
    titles = received.evaluate_all("all => all.map(each => Number(each.dataset.value))")
    assert abs(sum(titles) - 3) < 1e-3 and len(titles) == len(words)  # each step gives 1
    weights = [float(each.get_attribute("title") or "") for each in columns.all()]
    assert abs(sum(weights) - 1) < 1e-3
    page.set_viewport_size({"width": 390, "height": 844})  # names stand upright here
    expect(player.locator(".panel.source .upright")).to_have_count(1)
    becomes(lambda: player.evaluate(SAME_WIDTH), True)
    page.set_viewport_size({"width": 1440, "height": 900})
    page.get_by_role("radio", name="pieces", exact=True).click()
    becomes(lambda: columns.count(), row.count())
    expect(player).to_have_attribute("data-step", "2")


def test_what_is_counted_and_what_a_candidate_is_follow_the_words(page: Page, address: str) -> None:
    """Of words each step is named by the word so far, as its candidates are; nothing is a piece."""
    text = "The treaty was signed after years of negotiations."
    step = f"{address}/decode?checkpoint=en-de-1&text={text.replace(' ', '+')}&decode_as=steps"
    decoding = decode(load_checkpoint(EN_DE_1), text, method="beam")
    groups = word_groups(decoding.target)
    number, last = next((n, group[-1]) for n, group in enumerate(groups) if len(group) > 1)
    visit(page, f"{step}&step={last}")
    player, place = page.locator(PLAYER), page.locator(f"{PLAYER} .place")
    n, n_words = len(decoding.target), len(groups)
    expect(place).to_have_text(f"word {number + 1} of {n_words}, piece {last + 1} of {n}")
    word = word_text([decoding.target[i] for i in groups[number]])[-8:]
    expect(player.locator(".names .now")).to_have_text(re.compile(rf"{re.escape(word)}$"))
    expect(player.locator(".bar.chosen .piece")).to_have_text(re.compile(rf"{re.escape(word)}$"))
    expect(player.locator(".note")).to_be_visible()
    visit(page, f"{step}&step={last}&tokens=pieces")
    expect(place).to_have_text(f"piece {last + 1} of {n}")
    expect(player.locator(".names .now")).to_have_text(label(decoding.target[last]))
    expect(player.locator(".note")).to_be_hidden()
