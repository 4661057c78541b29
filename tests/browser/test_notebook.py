"""Pictures that stand alone, from a file and in frames: what they show is what Python computes."""

import re
from pathlib import Path

import pytest
import torch
from playwright.sync_api import Locator, Page, expect
from torch import nn

from tests.browser.apps.random_attention import random_recording
from tests.browser.sentences import said
from tests.browser.server import ROOT, becomes
from tests.browser.test_accessibility import faults
from tests.representatives import cases
from transformer import decode, evidence, load_checkpoint
from transformer.analysis.cell import inside
from transformer.analysis.reading import read
from viz import cell_steps, head_grid, head_map, head_view, search_tree, track, word_card
from viz.theme import DARK, LIGHT, Theme

pytestmark = pytest.mark.browser
N_HEADS, N_TOKENS = 4, 12
RECORDING = random_recording("cross", N_HEADS, N_TOKENS)


def test_a_file_opens_and_names_the_weights(page: Page, tmp_path: Path) -> None:
    page.context.set_offline(True)
    page.emulate_media(color_scheme="dark")
    page.goto(head_view(RECORDING, heads=[3]).save(tmp_path / "view.html").as_uri())
    page.locator('[data-token="q7"]').hover()
    best = read(RECORDING, "cross").values(0, 3)[7].topk(5)
    for value, column in zip(best.values, best.indices, strict=True):
        label = page.locator(f'.columns [data-token="k{int(column)}"] .label')
        expect(label).to_have_text(f"{value:.4f}")
    expect(page.locator("body")).to_have_css("background-color", rgb(DARK.background))
    page.get_by_role("button", name="H1", exact=True).click()
    expect(page.locator(".head-view")).to_have_attribute("data-heads", "1,3")
    assert faults(page) == []


def test_frames_on_one_page_fit_and_follow_it(page: Page, tmp_path: Path) -> None:
    pictures = [
        head_grid(RECORDING),
        head_map(RECORDING, head=2),
        cell_steps(RECORDING, "cross", 0, 1, 4, 6, height=300),
    ]
    frames = "".join(picture._repr_html_() for picture in pictures)
    file = tmp_path / "page.html"
    file.write_text(f"<!doctype html><body style='color: #eee; background: #111'>{frames}</body>")
    page.goto(file.as_uri())
    grid, map, cell = (page.frame_locator("iframe").nth(i) for i in range(3))
    expect(grid.locator(".head-grid .cell")).to_have_count(N_HEADS)
    expect(map.locator("body")).to_have_css("background-color", rgb(DARK.background))
    expect(cell.locator(".competitor[aria-current]")).to_have_attribute("data-key", "6")

    key = 2
    cell.locator(f'.competitor[data-key="{key}"]').click()
    shown = cell.locator(f'.competitor[aria-current][data-key="{key}"] .weight')
    expect(shown).to_have_text(f"{inside(RECORDING, 'cross', 0, 1, 4, key).weight:.4f}")

    shown_map = read(RECORDING, "cross")
    column = int(shown_map.values(0, 2)[0].argmax())
    expect(map.locator('[role="gridcell"]')).to_have_text(said(shown_map, 0, 2, 0, column))

    hosts = page.locator("iframe").all()
    for host, frame in zip(hosts[:2], (grid, map), strict=True):
        becomes(lambda host=host, frame=frame: height(host) - height(frame.locator("body")), 0)
    assert height(hosts[2]) == 300


def test_a_still_stands_where_frames_are_left_out(page: Page) -> None:
    picture = head_map(RECORDING, head=2)
    shown = f"<!doctype html><body>{picture._repr_html_()}</body>"
    without_styles = re.sub(r"<style>.*?</style>", "", shown)
    still = page.get_by_role("img", name=picture.title)
    page.set_content(re.sub(r"<iframe.*?</iframe>", "", without_styles, flags=re.DOTALL))
    expect(still).to_be_visible()
    becomes(lambda: still.evaluate("image => image.naturalWidth > 0"), True)
    expect(page.get_by_text(f"{picture.title}: this is a still of it")).to_be_visible()

    wrapped = shown.replace("<iframe", "<div><iframe").replace("</iframe>", "</iframe></div>")
    page.set_content(wrapped)  # as marimo does it
    expect(page.locator(".headscope-still")).to_be_hidden()
    page.set_content(shown)
    expect(page.frame_locator("iframe").locator("[role=grid]")).to_be_visible()
    expect(page.locator(".headscope-still")).to_be_hidden()


@pytest.mark.parametrize(
    "colour",
    cases(["#222", "oklch(0.2 0 0)", "lab(10% 0 0)"], {"not of sRGB": "oklch(0.2 0 0)"}),
)
def test_a_frame_is_as_light_as_the_text_around_it_is_dark(page: Page, colour: str) -> None:
    page.emulate_media(color_scheme="dark")
    frame = head_map(RECORDING)._repr_html_()
    page.set_content(f"<!doctype html><body style='color: {colour}'>{frame}</body>")
    body = page.frame_locator("iframe").locator("body")
    expect(body).to_have_css("background-color", rgb(LIGHT.background))


@pytest.mark.parametrize(
    ("colour", "theme"), cases([("#eee", DARK), ("#222", LIGHT)], {"light text": ("#eee", DARK)})
)
def test_a_table_is_as_dark_as_the_notebook_and_as_high_as_it_is(
    page: Page, colour: str, theme: Theme
) -> None:
    found = evidence(load_checkpoint(ROOT / "checkpoints/en-de-1"), "It rains.")
    output = word_card(found, 0)._repr_html_()
    page.set_content(f"<!doctype html><body style='color: {colour}'>{output}</body>")
    inside = page.frame_locator("iframe")
    expect(inside.locator("body")).to_have_css("background-color", rgb(theme.background))
    expect(inside.get_by_role("table").first).to_be_visible()
    expect(inside.get_by_role("cell", name=f"{float(found.hidden[0].max()):.2f}")).to_be_visible()
    becomes(lambda: height(page.locator("iframe")) - height(inside.locator("body")), 0)


def test_a_tree_in_a_frame_stays_as_high_as_it_was(page: Page) -> None:
    decoding = decode(load_checkpoint(ROOT / "checkpoints/en-de-1"), "It rains.", method="beam")
    page.set_content(f"<!doctype html><body>{search_tree(decoding)._repr_html_()}</body>")
    frame, tree = page.locator("iframe"), page.frame_locator("iframe").locator(".search-tree")
    expect(tree).to_be_visible()
    becomes(lambda: height(frame) - height(page.frame_locator("iframe").locator("body")), 0)
    first = height(frame)
    for width in (1000, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        becomes(lambda width=width: tree.evaluate("tree => innerWidth") > width - 100, True)
    assert height(frame) == first


def height(node: Locator) -> int:
    return int(node.evaluate("node => node.offsetHeight"))


def rgb(colour: str) -> str:
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgb({red}, {green}, {blue})"


@pytest.mark.usefixtures("wrong_recordings")  # its module was trained on
def test_a_training_plays_without_a_server(page: Page, tmp_path: Path) -> None:
    """A slider over steps; a press on another head shows that one at the same step."""
    module, ids = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), torch.randn(1, 5, 8)
    optimizer = torch.optim.SGD(module.parameters(), 0.1)
    with track(module, ids, every=2, optimizer=optimizer) as tracked:
        for _ in range(6):
            module(ids).square().mean().backward()
            optimizer.step()
    page.context.set_offline(True)
    page.goto(tracked.save(tmp_path / "training.html").as_uri())
    player = page.locator(".snapshot-player[data-nonce]")
    expect(player).to_have_attribute("data-step", "6")
    page.get_by_label("Training step").press("ArrowLeft")
    expect(player).to_have_attribute("data-step", "4")
    heads = player.locator("button.head")
    expect(heads).to_have_count(2)
    heads.nth(1).click()
    expect(heads.nth(1)).to_have_attribute("aria-pressed", "true")
    expect(player).to_have_attribute("data-step", "4")
    assert faults(page) == []
