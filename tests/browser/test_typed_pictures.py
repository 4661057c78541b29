"""Saved pictures whose reader types: an engine in the browser answers, with the network off."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, FrameLocator, Page, expect

from tests.browser.sentences import said
from tests.browser.server import ROOT, becomes
from transformer import Evidence, Recording, decode, evidence, load_checkpoint, record
from transformer.analysis.reading import Reading, read
from transformer.discover import discover
from viz import Picture, cell_steps, explore, head_map, word_card
from viz.server.recording_scenes import story_file
from viz.state.page import PAGES
from viz.stories.reading import read_story
from viz.theme import DARK

pytestmark = pytest.mark.browser
NAME, FIRST, OTHER = "en-de-small", "It rains.", "She has two dogs."
READING = Reading(words=True)
KIND, LAYER, HEAD = "cross", 1, 2
SLOW = 60_000
LARGEST = 6_200_000
"""Bytes of a page: the weights of the small translator, in base64, are 5.5 million of them."""


def recording_of(text: str) -> tuple[Recording, str]:
    checkpoint = load_checkpoint(NAME)
    decoding = decode(checkpoint, text, "beam")
    return record(checkpoint, text, decoding.target), decoding.text


@pytest.fixture(scope="module")
def picture() -> Picture:
    return head_map(recording_of(FIRST)[0], KIND, LAYER, HEAD, READING)


def label_of(text: str) -> str:
    map = read(recording_of(text)[0], KIND, READING)
    return said(map, LAYER, HEAD, 0, int(map.values(LAYER, HEAD)[0].argmax()))


def shows(page: Page | FrameLocator, text: str) -> None:
    """Wait until the picture of this text is there, in Python's words and numbers."""
    expect(page.locator("output").first).to_have_text(f"→ {recording_of(text)[1]}", timeout=SLOW)
    expect(page.locator('[role="gridcell"]').first).to_have_text(label_of(text))


def test_a_page_from_disk_follows_what_is_typed_with_the_network_off(
    browser: Browser, picture: Picture, tmp_path: Path
) -> None:
    file = picture.save(tmp_path / "map.html", live=True)
    assert file.stat().st_size < LARGEST
    context = browser.new_context(offline=True, color_scheme="dark")
    page, asked, wrong = context.new_page(), list[str](), list[str]()
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: wrong.append(message.text))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.goto(file.as_uri())
    shows(page, FIRST)
    field = page.get_by_label("Sentence")
    field.fill(OTHER)
    shows(page, OTHER)
    expect(page.locator(".model")).to_contain_text(f"{NAME} answers")
    field.fill(" ")
    expect(page.locator(".model")).to_have_attribute("data-fault", "")
    field.fill(FIRST)
    shows(page, FIRST)
    expect(page.locator(".model")).not_to_have_attribute("data-fault", "")
    page.keyboard.press("Escape")
    expect(field).not_to_be_focused()
    red, green, blue = (int(DARK.background[i : i + 2], 16) for i in (1, 3, 5))
    expect(page.locator("body")).to_have_css("background-color", f"rgb({red}, {green}, {blue})")
    assert [each for each in asked if not each.startswith("blob:")] == [file.as_uri()]
    assert wrong == []
    context.close()


def test_without_a_worker_the_still_stands_with_a_sentence(
    browser: Browser, picture: Picture, tmp_path: Path
) -> None:
    context = browser.new_context()
    context.add_init_script("delete window.Worker; delete window.WebAssembly")
    page = context.new_page()
    page.goto(picture.save(tmp_path / "map.html", live=True).as_uri())
    expect(page.locator('[role="gridcell"]').first).to_have_text(label_of(FIRST))
    expect(page.locator(".model")).to_contain_text("worker")
    expect(page.get_by_label("Sentence")).to_have_count(0)
    context.close()


@pytest.mark.thorough
def test_in_a_notebook_a_frame_needs_no_kernel(page: Page) -> None:
    live = cell_steps(recording_of(FIRST)[0], KIND, LAYER, HEAD, 1, 0, live=True)
    live = replace(live, figure=None)  # its still costs seconds
    page.set_content(f"<!doctype html><body>{live._repr_html_()}</body>")
    frame = page.frame_locator("iframe")
    expect(frame.locator(".competitor[aria-current]")).to_have_attribute("data-key", "0")
    frame.get_by_label("Sentence").fill(OTHER)
    expect(frame.locator("output").first).to_have_text(f"→ {recording_of(OTHER)[1]}", timeout=SLOW)
    keys = frame.locator(".competitor")
    other = keys.nth(2)
    expect(other).to_be_visible()
    number = other.get_attribute("data-key")
    other.click()  # another cell of a text that no Python has read here
    expect(frame.locator(f'.competitor[aria-current][data-key="{number}"]')).to_be_visible()
    host, body = page.locator("iframe"), frame.locator("body")
    becomes(
        lambda: (
            host.evaluate("it => it.offsetHeight") >= body.evaluate("it => it.offsetHeight") > 100
        ),
        True,
    )


def test_a_click_on_a_head_shows_it_large_without_a_server(page: Page, tmp_path: Path) -> None:
    live = explore(NAME, live=True)
    assert isinstance(live, Picture)
    page.goto(live.save(tmp_path / "explore.html").as_uri())
    first = load_checkpoint(NAME).about.examples[0]
    expect(page.get_by_label("Sentence")).to_have_value(first)
    for text in (first, OTHER):
        recording, _ = recording_of(text)
        kind = "encoder_self" if text == first else "cross"
        page.get_by_label("Sentence").fill(text)
        name = {"encoder_self": "Encoder", "cross": "Cross"}[kind]
        page.get_by_role("gridcell", name=re.compile(f"^{name} L1 H3")).click()
        values = read(recording, kind, READING).values(LAYER, 3)[1]
        page.locator('.head-view [data-token="q1"]').hover()
        label = page.locator(f'.head-view [data-token="k{int(values.argmax())}"] .label')
        expect(label).to_have_text(f"{float(values.max()):.4f}", timeout=SLOW)
        page.mouse.move(1, 1)


def test_the_card_of_a_word_is_that_of_the_word_that_is_clicked(page: Page, tmp_path: Path) -> None:
    first = evidence(NAME, FIRST)
    page.goto(word_card(first, 1).save(tmp_path / "card.html", live=True).as_uri())

    def shows_card(of: Evidence, word: int) -> None:
        expect(page.locator("main")).to_contain_text(f"“{of.target_words[word]}”", timeout=SLOW)
        most = f"{float(of.hidden[word].max()):.2f}"
        expect(page.get_by_role("cell", name=most, exact=True).first).to_be_visible()

    shows_card(first, 1)
    page.get_by_label("Sentence").fill(OTHER)
    other = evidence(NAME, OTHER)
    shows_card(other, 1)
    page.locator(".tokens.target").get_by_text("Hund", exact=True).click()
    shows_card(other, 3)
    page.get_by_label("Sentence").fill(FIRST)
    shows_card(first, 1)


TALK = """---
title: A live talk
kind: talk
checkpoint: en-de-small
---

## A map

screen: ./?text=It+rains.&kind=cross&layer=1&head=2&picture=map
live: yes

## A head off

screen: ./?text=It+rains.&kind=cross&layer=1&head=2&picture=map&edits=head-off:cross.1.2
live: yes

## As it was

screen: ./?text=It+rains.&kind=cross&layer=1&head=2&picture=map
"""


@pytest.fixture(scope="module")
def talk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("talk") / "talk.html"
    with pytest.MonkeyPatch.context() as patch:
        for name, page in discover("viz.pages", "PAGE").items():
            patch.setitem(PAGES, name, page)  # as in an app that has been opened
        file.write_bytes(story_file(read_story(TALK, "talk.md")))
    return file


def test_scenes_of_a_talk_share_one_worker_and_no_letter_moves_them(
    browser: Browser, talk: Path
) -> None:
    weights = (ROOT / "checkpoints" / NAME / "model.safetensors").stat().st_size
    assert 4 / 3 * weights < talk.stat().st_size < 2 * 4 / 3 * weights  # in base64, once
    context = browser.new_context(offline=True, viewport={"width": 1920, "height": 1080})
    page, workers = context.new_page(), list[object]()
    page.on("worker", lambda worker: workers.append(worker))
    page.goto(talk.as_uri())
    place, field = page.get_by_label("Scene", exact=True), page.get_by_label("Sentence")
    foot = page.locator(".around .model")
    decodings = [
        decode(load_checkpoint(NAME), OTHER, "beam", edits=edits).text
        for edits in ((), ["head-off:cross.1.2"])
    ]
    for number, written in enumerate(decodings, 1):
        own = page.locator("section:visible")
        expect(place).to_have_text(f"{number} / 3")
        own.get_by_label("Sentence").fill(OTHER)
        expect(own.locator("output").first).to_have_text(f"→ {written}", timeout=SLOW)
        own.get_by_label("Sentence").press("End")
        page.keyboard.type(" bdog. ")
        expect(own.get_by_label("Sentence")).to_have_value(f"{OTHER} bdog. ")
        expect(place).to_have_text(f"{number} / 3")
        over = page.locator("main").evaluate("main => main.scrollHeight - main.clientHeight")
        assert over <= 0
        page.keyboard.press("Escape")
        page.keyboard.press("ArrowRight")
    expect(place).to_have_text("3 / 3")
    expect(page.locator("section:visible").get_by_label("Sentence")).to_have_count(0)
    expect(foot).to_be_hidden()
    page.keyboard.press("Home")
    expect(field.first).to_have_value(f"{OTHER} bdog. ")
    page.keyboard.press("d")  # its picture stays, in other colours
    field.first.fill(FIRST)
    expect(page.locator("section:visible output").first).to_have_text(f"→ {recording_of(FIRST)[1]}")
    assert len(workers) == 1
    context.close()


def test_a_talk_is_its_recording_where_no_engine_runs(browser: Browser, talk: Path) -> None:
    context = browser.new_context()
    context.add_init_script("delete window.Worker; delete window.WebAssembly")
    page = context.new_page()
    page.goto(talk.as_uri())
    expect(page.locator("section:visible [role=gridcell]").first).to_have_text(label_of(FIRST))
    expect(page.locator("section:visible > .sentence")).to_contain_text(FIRST)
    expect(page.locator(".around .model")).to_contain_text("worker")
    context.close()
