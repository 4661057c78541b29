"""A written word is pinned, and its card says what it looks at and what it needs."""

import re
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus

import pytest
from playwright.sync_api import Page, expect

from tests.browser.server import DESKTOP, PHONE, ROOT, becomes, painted
from tests.browser.test_app import parameter, row, type_sentence, visit
from tests.browser.test_focus import chip
from tests.representatives import cases, thorough
from transformer import decode, load_checkpoint
from transformer.causes import evidence
from viz.labels import bare_label

pytestmark = [pytest.mark.browser, pytest.mark.same_page]

TEXT = quote_plus("The bank on the river was full of flowers.")


@pytest.mark.parametrize("name", ["", "decode"])
def test_dem_needs_river(page: Page, address: str, name: str) -> None:
    visit(page, f"{address}/{name}?checkpoint=en-de-1&text={TEXT}&decoding=greedy&kind=cross")
    hidden = page.get_by_role("row", name=re.compile("^hidden"))
    expect(chip(page, "target", "dem")).to_be_visible()
    expect(hidden).to_have_count(0)
    chip(page, "target", "dem").click()
    verdict = page.locator(".tables .title", has_text="“dem”")
    expect(verdict).to_contain_text("“river”")
    expect(hidden.locator("td.marked")).to_have_text("2.34")
    expect(hidden.locator("td.marked")).to_have_attribute("title", re.compile("^river "))
    looks = page.get_by_role("row", name=re.compile("^looks at")).locator("td.marked")
    expect(looks).to_have_attribute("title", re.compile("^the "))
    expect(page.locator(".token-rows .chip.parted")).to_have_text(["Die", "dem"])
    expect(chip(page, "target", "dem")).to_have_attribute("title", re.compile("“river”"))
    becomes(lambda: parameter(page, "pins"), "q3")
    page.reload()
    expect(verdict).to_contain_text("“river”")
    chip(page, "target", "Fluss").click()
    expect(page.locator(".tables .title", has_text="“Fluss”")).to_contain_text("“river”")
    becomes(lambda: parameter(page, "pins"), "q3,q4")
    for text in ("Fluss", "dem"):
        chip(page, "target", text).click()
    expect(hidden).to_have_count(0)


def test_a_first_sentence_has_its_marks_without_a_click(
    page: Page, address: str, tmp_path: Path
) -> None:
    """Of a checkpoint that nobody has opened yet, as where somebody comes as the server begins."""
    folder = tmp_path / "en-de-1"
    folder.symlink_to(ROOT / "checkpoints" / "en-de-1")
    visit(page, f"{address}/?checkpoint={quote_plus(str(folder))}")
    expect(page.locator(".token-rows .chip.parted").first).to_be_visible()
    expect(page.locator(".tables .title")).to_have_count(0)


@pytest.mark.parametrize("picture", ["arrows", thorough("map")])
def test_below_a_picture_s_sentence_stands_whether_it_mattered(
    page: Page, address: str, picture: str
) -> None:
    """The cost of hiding the word that is looked at, and another one that is needed more."""
    text = "The bank on the river was full of flowers."
    proof = evidence(load_checkpoint(ROOT / "checkpoints" / "en-de-1"), text)
    visit(
        page,
        f"{address}/?checkpoint=en-de-1&text={TEXT}&decoding=greedy&kind=cross&picture={picture}",
    )
    worth = page.locator(f".st-key-{picture} .sentence .worth")
    chip(page, "target", "Fluss").hover()  # the evidence is made
    expect(page.locator(".word-card")).to_have_attribute("data-cards", "10")
    for word, needed in (("dem", "river"), ("Fluss", "river")):
        row = [each.strip() for each in proof.target_words].index(word)
        chip(page, "target", word).hover()
        own = worth.locator(".own")
        expect(own.locator("q").last).to_have_text(word)
        column = [each.strip() for each in proof.source_words].index(
            own.locator("q").first.inner_text()
        )
        expect(own).to_contain_text(f"{proof.hidden[row, column]:.2f} nats".replace("-", "−"))
        other = worth.locator(".other")
        most = int(proof.hidden[row].argmax())
        assert proof.source_words[most].strip() == needed
        if column == most:
            expect(other).to_have_count(0)
        else:
            expect(other.locator("q").last).to_have_text(needed)
            expect(other).to_contain_text(f"{proof.hidden[row, most]:.2f} nats")
    type_sentence(page, f"The bank on the river was closed for {picture}.")
    expect(page.locator(".token-rows")).to_contain_text("closed")
    expect(worth).to_be_empty()


EDITED, OTHER = "edited_b=yes&edits=head-off:cross.2.3", "checkpoint_b=en-de"


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("second", "is_new"),
    cases(
        product([EDITED, OTHER], [False, True]),
        {"its worth is known": (EDITED, False), "it is asked for by the browser": (OTHER, True)},
    ),
)
def test_of_two_models_beside_each_other_neither_s_worth_is_said(
    page: Page, address: str, tmp_path: Path, second: str, is_new: bool
) -> None:
    """There is one line of tokens, and what a word is worth to one model is not so to another."""
    at = f"checkpoint=en-de-1&text={TEXT}&decoding=greedy&kind=cross"
    if is_new:
        (tmp_path / "en-de-1").symlink_to(ROOT / "checkpoints" / "en-de-1")
        at = f"checkpoint={quote_plus(str(tmp_path / 'en-de-1'))}&kind=cross"
    else:
        visit(page, f"{address}/?{at}&pins=q3")
        expect(page.locator(".sentence .worth").first).not_to_be_empty()
    visit(page, f"{address}/compare?{at}&picture=arrows&{second}")
    pictures = page.locator(".head-view .sentence .worth")
    expect(pictures).to_have_count(2)
    expect(page.locator(".token-rows .chip.parted").first).to_be_visible()
    for picture in pictures.all():
        expect(picture).to_be_empty()


CLICK = """(text) => {
    const inside = (name) => [...document.querySelectorAll(`.st-key-${name} *`)]
        .find((node) => node.shadowRoot).shadowRoot;
    const chips = [...inside('tokens').querySelectorAll('[data-side="target"]')];
    chips.find((it) => it.textContent.endsWith(text)).click();
    return inside('word-card').querySelector('.tables .title')?.textContent ?? null;
}"""


def test_a_pin_opens_its_card_before_the_server_hears_of_it(page: Page, address: str) -> None:
    """What is read in the click's own task is there whatever the server does."""
    visit(page, f"{address}/?checkpoint=en-de-1&text={TEXT}&decoding=greedy&kind=cross")
    chip(page, "target", "dem").hover()
    expect(page.locator(".word-card")).to_have_attribute("data-cards", "10")
    clicks = ("dem", "q3", "dem"), ("Fluss", "q3,q4", "Fluss"), ("Fluss", "q3", "dem")
    for text, pins, word in clicks:
        assert f"“{word}”" in page.evaluate(CLICK, text)
        becomes(lambda: parameter(page, "pins"), pins)
        painted(page)
        expect(page.locator(".tables .title")).to_contain_text(f"“{word}”")
    assert page.evaluate(CLICK, "dem") is None
    becomes(lambda: parameter(page, "pins"), None)
    expect(page.locator(".tables .title")).to_have_count(0)


def test_the_word_that_is_needed_is_hidden_as_an_experiment(page: Page, address: str) -> None:
    visit(page, f"{address}/?checkpoint=en-de-1&text={TEXT}&decoding=greedy&kind=cross&pins=q3")
    edits, checkpoint = ["hide:source.4"], load_checkpoint("checkpoints/en-de-1")
    without = decode(checkpoint, "The bank on the river was full of flowers.", edits=edits)
    target = without.target
    expect(page.get_by_text(f"Without “river” this is written: {without.text}")).to_be_visible()
    page.get_by_role("button", name="Hide “river”").click()
    becomes(lambda: parameter(page, "edits"), "hide:source.4")
    becomes(lambda: row(page, "target"), list(map(bare_label, target)))


LOST = {
    "My colleague Ahmed speaks Arabic, French and Turkish.": ("Ahmed", DESKTOP),
    "The printer has run out of paper again.": ("run", PHONE),
}
"""Sentence -> the word that is lost, and the window; each its own, as evidence is kept."""


@pytest.mark.parametrize("text", cases(LOST, {"a line above the target": next(iter(LOST))}))
def test_what_is_lost_is_said_unasked_and_moves_nothing(
    page: Page, address: str, text: str
) -> None:
    word, size = LOST[text]
    page.set_viewport_size(size)
    with page.expect_response(re.compile("/preview/")):
        visit(page, f"{address}/?checkpoint=en-de-1&text={quote_plus(text)}&kind=cross")
        target = page.locator(".token-rows .tokens.target")
        expect(page.locator(".token-rows .tokens.source")).to_contain_text(word[-2:])
        line, before = page.locator(".token-rows .lost-line"), target.bounding_box()
    expect(line.locator(".what")).to_be_visible()
    expect(line.locator(".what")).to_contain_text(f"“{word}”")
    assert "".join(page.locator(".token-rows .chip.lost").all_inner_texts()).strip() == word
    assert before is not None and before == target.bounding_box()
    box: Any = line.bounding_box()
    assert box["y"] + box["height"] <= before["y"] and box["x"] + box["width"] <= size["width"]
    how = line.locator(".how")
    expect(how).to_be_hidden()
    line.get_by_role("button").first.click()
    expect(how).to_be_visible()
    line.locator(".mend").click()  # to where a word can be asked for
    field = page.get_by_placeholder("Must have")
    expect(field).to_be_focused()
    expect(field).to_be_in_viewport()
    expect(page.locator(".force-hint")).to_be_in_viewport()
    page.set_viewport_size(DESKTOP)


def test_where_nothing_may_be_lost_no_line_stays_empty(page: Page, address: str) -> None:
    visit(page, f"{address}/?text=It+rains.")
    expect(page.locator(".token-rows .lost-line")).to_have_count(1)
    rows = page.locator(".token-rows .tokens")
    source, target = (rows.nth(i).bounding_box() for i in range(2))
    assert source and target and target["y"] - source["y"] - source["height"] < 10
    assert source["height"] < 1.5 * target["height"]


def test_the_card_takes_the_place_of_the_picture_and_fills_a_wall(page: Page, address: str) -> None:
    here = f"checkpoint=en-de-1&text={TEXT}&decoding=greedy&kind=cross&pins=q3"
    visit(page, f"{address}/?{here}")
    picture, river = page.locator(".head-view"), page.locator("td.marked", has_text="2.34")
    expect(picture).to_be_visible()
    page.get_by_role("button", name="Enlarge").click()
    becomes(lambda: parameter(page, "picture"), "why")
    expect(picture).to_have_count(0)
    expect(river).to_be_in_viewport()
    page.set_viewport_size({"width": 1920, "height": 1080})
    page.goto(f"{address}/?{here}&picture=why&story=in-the-translator&scene=4&role=stage")
    last = page.locator(".tables p").last
    expect(last).to_be_in_viewport(ratio=1)
    expect(river).to_have_css("font-size", "24px")
    expect(page.get_by_role("button", name="Hide")).to_have_count(0)
    page.set_viewport_size(DESKTOP)


@pytest.mark.thorough
def test_a_rung_of_the_ladder_is_kept_as_an_experiment(page: Page, address: str) -> None:
    text = quote_plus("The animal didn't cross the street because it was too tired.")
    visit(page, f"{address}/?checkpoint=en-de-1&text={text}&decoding=greedy&kind=cross")
    chip(page, "target", "nicht").click()
    page.mouse.move(0, 0)  # until then a press goes to what was clicked, not to the drawer
    page.get_by_role("button", name="What each cut changes").click()
    rung = page.get_by_role("row", name=re.compile("^Every row"))
    expect(rung.locator("td").first).to_have_text("7.79")
    becomes(lambda: parameter(page, "cause"), "ladder")
    page.reload()
    expect(rung.locator("td").first).to_have_text("7.79")
    rung.get_by_role("link").click()
    becomes(lambda: parameter(page, "edits"), "cut-word:cross.2")
    becomes(lambda: "nicht" in " ".join(row(page, "target")), False)
    page.go_back()
    expect(chip(page, "target", "nicht")).to_be_visible()


def test_a_text_that_runs_to_the_left_on_a_phone(page: Page, address: str) -> None:
    page.set_viewport_size(PHONE)
    visit(page, f"{address}/?text={quote_plus('שלום עולם, שלום')}&decoding=greedy&kind=cross")
    page.locator('.token-rows .chip[data-side="target"]').first.click()
    title, heads = page.locator(".tables .title"), page.locator(".data th.word")
    expect(title).to_contain_text(": “")
    expect(heads.first).to_have_text("שלום")
    left, right = (heads.nth(i).bounding_box() for i in (0, 1))
    assert left and right and left["x"] < right["x"]
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    page.set_viewport_size(DESKTOP)
