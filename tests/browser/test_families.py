"""Each kind of checkpoint in the browser: from the picker to a picture, and what is its own."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.server import becomes, painted
from tests.browser.test_app import (
    figures,
    open_app,
    parameter,
    row,
    show_as,
    type_sentence,
    visit,
    wait_for_map,
)
from tests.representatives import cases
from tests.transformer.hugging_face.pairs import A, B, save_pair_reader

pytestmark = [pytest.mark.browser, pytest.mark.same_page]

FIRST_PICTURE = {
    "copy": "cross",
    "en-de-small": "cross",
    "everyday": "decoder_self",
    "sentiment": "encoder_self",
    "shakespeare": "decoder_self",
}


FEW = {"encoder-decoder": "copy", "decoder": "shakespeare", "encoder": "sentiment"}


@pytest.mark.parametrize("name", cases(FIRST_PICTURE, FEW))
def test_from_the_picker_to_a_picture(page: Page, address: str, name: str) -> None:
    visit(page, f"{address}/?picture=map")
    page.get_by_role("combobox", name="Checkpoint").click()
    page.get_by_role("option", name=f"{name} · ").click()
    expect(page.get_by_role("combobox", name="Checkpoint")).to_have_value(re.compile(f"^{name} · "))
    page.wait_for_selector(f'.head-map[data-id^="{FIRST_PICTURE[name]} "]')
    painted(page)
    becomes(lambda: parameter(page, "checkpoint"), name)
    assert row(page, "source")
    page.wait_for_selector(".head-grid[data-nonce]")


def test_a_generator_goes_on_with_the_prompt(page: Page, address: str) -> None:
    visit(page, f"{address}/decode?checkpoint=shakespeare&options.seed=3&options.max_len=120")
    page.wait_for_selector(".decode-player[data-nonce]")
    type_sentence(page, "JULIET: Good night")
    expect(page.locator('.token-rows .chip[data-side="source"]').first).to_have_text("J")
    expect(page.locator('.token-rows .chip[data-side="target"]')).to_have_count(120)
    painted(page)
    expect(page.locator(".decode-player .panel.source")).to_be_hidden()
    page.locator(".decode-player .next").click()
    expect(page.locator(".decode-player")).to_have_attribute("data-step", "1")


@pytest.mark.thorough
def test_the_same_seed_gives_the_same_text(page: Page, address: str) -> None:
    link = (
        f"{address}/?checkpoint=everyday&text=I+would+like&options.temperature=1.2&options.seed=7"
    )
    texts = []
    for seed in (7, 8, 7):
        open_app(page, link.replace("seed=7", f"seed={seed}"))
        texts.append(row(page, "target"))
    assert texts[0] == texts[2] != texts[1]


def test_a_classifier_shows_what_it_decided_and_from_what(page: Page, address: str) -> None:
    visit(page, f"{address}/decode?checkpoint=sentiment")
    expect(page.get_by_role("combobox", name="Decoding")).to_have_count(0)
    page.wait_for_function("() => document.querySelectorAll('.js-plotly-plot').length === 2")
    names = [id.split()[0] for id in figures(page)]
    assert names == ["class_probabilities", "pooled_positions"]


def test_an_example_can_be_tried(page: Page, address: str) -> None:
    visit(page, f"{address}/?checkpoint=sentiment")
    page.get_by_role("button", name="Try").click()
    page.get_by_text("The plot is dull and it goes on far too long.").click()
    expect(page.locator('.token-rows .chip[data-side="source"]').nth(1)).to_have_text("plot")
    field = page.get_by_label("Sentence")
    expect(field).to_have_count(1)  # the field of the old text goes a moment later
    expect(field).to_have_value("The plot is dull and it goes on far too long.")


@pytest.mark.thorough
def test_a_second_text_is_typed_and_only_what_leads_from_one_to_the_other_is_drawn(
    page: Page, address: str, tmp_path: Path
) -> None:
    save_pair_reader("BERT", tmp_path / "judge", num_labels=1)
    visit(page, f"{address}/?checkpoint=sentiment&picture=map")
    page.get_by_test_id("stExpandSidebarButton").click()
    field = page.get_by_role("textbox", name="Open a checkpoint")
    field.fill(str(tmp_path / "judge"))
    field.press("Enter")
    becomes(lambda: parameter(page, "checkpoint"), str(tmp_path / "judge"))
    page.get_by_test_id("stSidebarCollapseButton").locator("button").dispatch_event("click")
    expect(page.get_by_label("Sentence")).to_have_count(1)  # that of the old text goes later
    painted(page)
    type_sentence(page, A)
    becomes(lambda: parameter(page, "text"), A)
    second = page.get_by_role("textbox", name="Second text")
    expect(second).to_be_visible()
    second.fill(B)
    second.press("Enter")
    chips = page.locator('.token-rows .chip[data-side="source"]')
    expect(chips).to_have_count(len(["[CLS]", *A.split(), "[SEP]", *B.split(), "[SEP]"]))
    becomes(lambda: parameter(page, "pair"), B)
    wait_for_map(page, "encoder_self L0 H0")
    grid = page.locator(".head-map").get_by_role("grid")
    expect(grid).to_have_attribute("aria-rowcount", "12")
    show_as(page, "A to B")
    becomes(lambda: parameter(page, "between"), "a-b")
    expect(grid).to_have_attribute("aria-rowcount", "6")
    expect(grid).to_have_attribute("aria-colcount", "6")
    visit(page, f"{address}/decode?{page.url.partition('?')[2]}")
    becomes(lambda: figures(page), ["numbers"])
