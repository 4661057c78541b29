"""A figure that was saved is dropped on the app, and the screen that it was made of is back."""

from base64 import b64encode
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from playwright.sync_api import Page, expect

from tests.browser.server import becomes, painted
from tests.browser.test_app import row, visit
from transformer import from_weights
from viz.__main__ import main
from viz.commands.opening import read_figure
from viz.labels import unmade
from viz.screen import query, spell

pytestmark = [pytest.mark.browser, pytest.mark.same_page]

MADE_OF = "./?checkpoint=copy&text=3+7+2+9&kind=cross&layer=1&head=2&picture=map&path=yes"
DROP = """([content, ...names]) => {
    const bytes = Uint8Array.from(atob(content), (each) => each.charCodeAt(0));
    const dataTransfer = new DataTransfer();
    for (const name of names) dataTransfer.items.add(new File([bytes], name));
    const target = document.querySelector('[data-testid="stApp"]');
    const look = { bubbles: true, cancelable: true, dataTransfer };
    for (const kind of ["dragover", "drop"]) target.dispatchEvent(new DragEvent(kind, look));
}"""


@pytest.fixture(scope="module")
def figure(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("figures") / "figure.png"
    for each in (file, file.with_suffix(".zip")):
        assert main(["figure", MADE_OF, "--out", str(each)]) == 0
    return file


def drop(page: Page, content: bytes, *names: str) -> None:
    expect(page.locator(".figure-drop label")).to_be_attached()  # it listens from here on
    page.evaluate(DROP, [b64encode(content).decode(), *(names or ("figure.png",))])


def test_a_dropped_figure_opens_the_screen_that_it_was_made_of(
    page: Page, address: str, figure: Path
) -> None:
    visit(page, f"{address}/decode?checkpoint=copy")
    record = read_figure(str(figure))
    drop(page, figure.with_suffix(".zip").read_bytes(), "crate.zip")
    expect(page).to_have_url(f"{address}/?{query(record.screen)}")
    expect(page.locator(".head-map[data-nonce]")).to_be_visible()
    expect(page.get_by_label("Sentence")).to_have_value("3 7 2 9")
    expect(page.get_by_label("Sentence")).to_be_visible()
    assert page.get_by_test_id("stAlert").count() == 0
    page.go_back()
    expect(page).to_have_url(f"{address}/decode?checkpoint=copy")


@pytest.mark.thorough
def test_a_figure_of_other_weights_or_of_none_that_are_here_says_so(
    page: Page, address: str, figure: Path, tmp_path: Path
) -> None:
    record = read_figure(str(figure))
    visit(page, f"{address}/?checkpoint=copy")
    painted(page)
    other = replace(record.screen, made_with="0123456789abcdef")
    drop(page, replace(record, query=query(other)).state.encode())
    alert = page.get_by_test_id("stAlert")
    expect(alert).to_contain_text("This figure was made with another copy")
    expect(alert).to_contain_text(
        f"0123456789abcdef, that of the copy here with {record.sha256[:16]}"
    )
    missing = replace(other, checkpoint="nobody")
    drop(page, replace(record, query=query(missing)).state.encode() + b"Ab1")  # a checksum
    expect(alert).to_contain_text("There is no checkpoint nobody here")
    expect(alert).to_contain_text(
        "The figure was made with nobody, whose SHA-256 begins with 0123456789abcdef."
    )
    assert spell(record.screen)["text"] == "3 7 2 9"
    drop(page, "---\ntitle: ü\n---\n".encode("latin-1"), "latin.md")
    expect(alert).to_contain_text("latin.md is not text in UTF-8")
    drop(page, figure.with_suffix(".zip").read_bytes()[:-9], "cut.zip")
    expect(alert).to_contain_text("cut.zip is a zip that is damaged: save the crate again")
    drop(page, figure.read_bytes(), "a.png", "b.png")
    expect(alert).to_contain_text("2 files cannot be opened together: drop one figure or story")
    drop(page, b"---\ntitle: x\n---\n", "talk.md")
    expect(alert).to_contain_text("talk.md: line 1: kind: is missing")
    drop(
        page, b"---\ntitle: Told\nkind: talk\n---\n## One\nscreen: ./?checkpoint=copy\n", "talk.md"
    )
    expect(page.get_by_label("Heading of scene 1")).to_have_value("One")
    page.go_back()
    expect(page.get_by_label("Heading of scene 1")).to_have_count(0)
    painted(page)  # a run that goes on would take the file for one of the page before
    page.get_by_test_id("stExpandSidebarButton").click()
    sidebar = page.get_by_test_id("stSidebar")
    sidebar.get_by_label("Open a figure").set_input_files(
        {"name": "<b>other</b>.svg", "mimeType": "image/svg+xml", "buffer": b"<svg/>"}
    )
    expect(alert).to_contain_text(f"{unmade('<b>other</b>.svg')} carries no state of Headscope")


def test_dropped_attention_weights_are_explored(page: Page, address: str, tmp_path: Path) -> None:
    file, weights = tmp_path / "mine.npz", torch.rand(2, 4, 3, 5).softmax(-1)
    texts = {"queries": ["Es", "regnet", "."], "keys": ["It", "is", "raining", "now", "."]}
    from_weights({"cross": weights}, **texts).save(file)
    visit(page, address)
    drop(page, b"PK\x03\x04", "cut.npz")
    alert = page.get_by_test_id("stAlert")
    expect(alert).to_contain_text("cut.npz")
    drop(page, file.read_bytes(), "mine.npz")
    expect(page.locator(".head-grid .cell")).to_have_count(8)
    expect(page.get_by_label("Sentence")).to_have_value("It is raining now .")
    becomes(lambda: row(page, "target"), texts["queries"])
    expect(alert).to_have_count(0)
    page.get_by_text("Heat map", exact=True).click()
    expect(page.locator(".head-map[data-nonce]")).to_be_visible()
    page.get_by_label("Sentence").fill("Another sentence")
    page.get_by_label("Sentence").press("Enter")
    expect(alert).to_contain_text("no other sentence can be read")
