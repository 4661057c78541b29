"""Every picture is copied and saved as a figure: the files hold what the page shows."""

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import BrowserContext, Locator, Page, expect
from torch import Tensor

from tests.browser.apps.random_attention import random_recording
from tests.browser.server import ROOT, becomes
from tests.browser.test_accessibility import faults, switch
from tests.browser.test_app import row, visit
from tests.representatives import cases
from transformer import decode, load_checkpoint, record
from viz import head_view
from viz.theme import DARK, LIGHT

pytestmark = [pytest.mark.browser, pytest.mark.same_page]

SVG = "{http://www.w3.org/2000/svg}"
PLACES = {
    "head_grid": "",
    "head_view": "?checkpoint=copy",
    "head_map": "?checkpoint=copy&picture=map&path=yes",
    "cell_steps": "?checkpoint=copy&picture=inside",
    "decode_player": "decode?checkpoint=copy&step=4&decode_as=steps",
    "snapshot_player": "training?checkpoint=copy&topic=heads",
}
"""Where a picture is. All heads of a translation are thousands of cells; a number is one word."""
CLIPBOARD = """async () => {
    const [item] = await navigator.clipboard.read();
    const image = await createImageBitmap(await item.getType('image/png'));
    return [image.width, image.height];
}"""
CANVASES = "root => [...root.querySelectorAll('canvas')].map(canvas => canvas.toDataURL())"


@dataclass(frozen=True)
class Shown:
    """What the app shows of the checkpoint "copy" at first."""

    weights: Tensor
    """Of the head of the cross-attention that is open, [Q, K]."""
    numbers: set[str]
    """What it reads."""
    d_head: int


@pytest.fixture(scope="module")
def shown_of_copy() -> Shown:
    checkpoint = load_checkpoint(ROOT / "checkpoints" / "copy")
    text = checkpoint.about.examples[0]
    recording = record(checkpoint, text, decode(checkpoint, text, method="beam").target)
    kind, layer, head = checkpoint.about.opens_at
    assert kind == "cross"
    call = recording.attentions[kind].calls[layer]
    return Shown(call.weights()[head].cpu(), set(text.split()), call.q.size(-1))


@pytest.fixture(autouse=True)
def _clipboard(context: BrowserContext) -> Iterator[None]:
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    yield
    context.clear_permissions()


def opened(page: Page, address: str, name: str) -> Locator:
    page.emulate_media(reduced_motion="reduce")  # one picture would turn into the next
    visit(page, f"{address}/{PLACES[name]}")
    shown = page.locator(f".{name.replace('_', '-')}")
    expect(shown).to_have_attribute("data-nonce", re.compile("."))
    page.evaluate("document.fonts.ready.then(() => true)")
    return shown


def tools(shown: Locator) -> Locator:
    return shown.locator("xpath=following-sibling::*[1]")


def press(shown: Locator, entry: str) -> None:
    """An entry of the picture's menu."""
    shown.hover()
    tools(shown).get_by_role("button", name="Copy or save as figure").click()
    tools(shown).get_by_role("menu").get_by_text(entry, exact=True).click()


def saved(page: Page, shown: Locator, entry: str, folder: Path) -> Path:
    with page.expect_download() as download:
        press(shown, entry)
    file = folder / download.value.suggested_filename
    download.value.save_as(file)
    page.mouse.move(0, 0)  # what lies below the menu is not pointed at
    return file


def says(shown: Locator, text: str) -> None:
    expect(tools(shown).get_by_role("status")).to_have_text(text)


def texts(svg: ElementTree.Element) -> list[str]:
    return [str(node.text) for node in svg.iter(f"{SVG}text")]


def joined(parts: list[str]) -> str:
    """Without spaces, at which texts may be parted."""
    return re.sub(r"\s", "", "".join(parts))


def chunks(png: bytes) -> dict[str, bytes]:
    """The last chunk of each type."""
    found, at = {}, 8
    while at < len(png):
        (length,) = struct.unpack(">I", png[at : at + 4])
        found[png[at + 4 : at + 8].decode()] = png[at + 8 : at + 8 + length]
        at += 12 + length
    return found


def corner(file: Path) -> tuple[int, ...]:
    with Image.open(file) as image:
        return tuple(image.convert("RGBA").getpixel((0, 0)))  # type: ignore[arg-type]


def rgb(colour: str) -> tuple[int, ...]:
    return tuple(int(colour[i : i + 2], 16) for i in (1, 3, 5))


@pytest.mark.parametrize("name", PLACES)
def test_a_figure_holds_what_is_shown(
    page: Page, address: str, tmp_path: Path, name: str, shown_of_copy: Shown
) -> None:
    shown = opened(page, address, name)
    link = page.evaluate("location.href")
    file = saved(page, shown, "SVG", tmp_path)
    says(shown, f"Saved as {file.name}.")
    svg = ElementTree.parse(file).getroot()
    assert svg.findtext(f"{SVG}metadata") == link
    assert joined([link]) in joined(texts(svg))
    caption = str(svg.findtext(f"{SVG}title"))
    assert re.match("(en-de|copy) · ", caption) and caption in texts(svg)
    shapes = [node for tag in ("path", "rect") for node in svg.iter(f"{SVG}{tag}")]
    assert all("fill" in shape.attrib for shape in shapes)  # what has none is black elsewhere
    sentence = shown.locator(".sentence:visible .said")
    if sentence.count():
        assert svg.findtext(f"{SVG}desc") == sentence.inner_text()
        assert joined([sentence.inner_text()]) in joined(texts(svg))
    CONTENT[name](shown, svg, shown_of_copy)


FEW = {"lines over words": "head_view"}
"""What a picture gives is a drawing; the files are made of it in one way."""


@pytest.mark.parametrize("name", cases(PLACES, FEW))
def test_every_entry_of_the_menu_gives_its_file(
    page: Page, address: str, tmp_path: Path, name: str
) -> None:
    shown = opened(page, address, name)
    drawn = shown.evaluate(CANVASES)
    link = page.evaluate("location.href")
    svg = ElementTree.parse(saved(page, shown, "SVG", tmp_path)).getroot()
    size = [int(svg.attrib[side]) for side in ("width", "height")]
    for entry, scale in (("PNG 2×", 2), ("PNG 4×", 4)):
        file = saved(page, shown, entry, tmp_path)
        with Image.open(file) as image:
            assert list(image.size) == [scale * side for side in size]
        assert corner(file) == (*rgb(LIGHT.background), 255)
    assert chunks(file.read_bytes())["iTXt"] == b"Source\0\0\0\0\0" + link.encode()

    press(shown, "Copy image")
    says(shown, "Copied.")
    assert page.evaluate(CLIPBOARD) == [2 * side for side in size]

    press(shown, "Transparent background")
    page.keyboard.press("Escape")
    assert corner(saved(page, shown, "PNG 2×", tmp_path)) == (0, 0, 0, 0)
    file = saved(page, shown, "SVG", tmp_path)
    whole = [str(side) for side in size]
    rects = ElementTree.parse(file).getroot().iter(f"{SVG}rect")
    assert not [r for r in rects if [r.get("width"), r.get("height")] == whole]
    page.mouse.move(0, 0)
    becomes(lambda: shown.evaluate(CANVASES), drawn)
    press(shown, "Transparent background")  # a choice that stays


def holds_grid(shown: Locator, svg: ElementTree.Element, of: Shown) -> None:
    assert {f"H{head}" for head in range(8)} | {"L0", "L1", "L2"} <= set(texts(svg))
    images = list(svg.iter(f"{SVG}image"))  # where cells are thousands
    assert 1 <= len(images) <= shown.locator(".section").count()


def holds_arrows(shown: Locator, svg: ElementTree.Element, of: Shown) -> None:
    weights = of.weights.topk(5).values
    curves = [path for path in svg.iter(f"{SVG}path") if "C" in path.attrib["d"]]
    assert len(curves) == int((weights >= 1e-3).sum())
    assert of.numbers <= set(texts(svg))
    assert "click pins" not in joined(texts(svg))


def holds_map(shown: Locator, svg: ElementTree.Element, of: Shown) -> None:
    weights = of.weights.numpy()
    assert of.numbers <= set(texts(svg))
    colours = cells(svg, *weights.shape)
    darkest = colours.sum(-1).argmin(-1)
    assert darkest.tolist() == weights.argmax(-1).tolist()
    assert list(svg.iter(f"{SVG}image")) == []
    path = [p for p in svg.iter(f"{SVG}path") if p.get("stroke") == LIGHT.accent]
    assert path[0].attrib["d"].count("L") == len(weights) - 1


def holds_cell(shown: Locator, svg: ElementTree.Element, of: Shown) -> None:
    numbers = shown.locator("[data-number]:visible").all_inner_texts()
    assert len(numbers) > 12
    assert [number for number in numbers if number not in joined(texts(svg))] == []
    bars = [r for r in svg.iter(f"{SVG}rect") if r.get("fill") in (LIGHT.ink, LIGHT.contrast)]
    assert len(bars) >= 5 * of.d_head  # q, k, their product, and parts of value and output


MIDDLES = """nodes => {
    const boxes = nodes.map(node => node.getBoundingClientRect());
    const width = boxes.at(-1).right - boxes[0].left;
    return boxes.map(({ left, right }) => ((left + right) / 2 - boxes[0].left) / width);
}"""


def holds_steps(shown: Locator, svg: ElementTree.Element, of: Shown) -> None:
    for candidates in (".bar .piece", ".bar .percent"):
        for text in shown.locator(candidates).all_inner_texts():
            assert joined([text]) in joined(texts(svg))
    weights = of.weights.numpy()
    middles = shown.locator(".panel.source .chip").evaluate_all(MIDDLES)
    seen = cells(svg, len(weights), middles)
    assert seen.sum(-1).argmin(-1).tolist() == weights.argmax(-1).tolist()
    assert "Play" not in texts(svg)


def holds_training(shown: Locator, svg: ElementTree.Element, of: Shown) -> None:
    drawn = [node.get_attribute("d") for node in shown.locator(".plot path").all()]
    assert len(drawn) > 8
    assert set(drawn) <= {path.attrib["d"] for path in svg.iter(f"{SVG}path")}
    assert "Play" not in texts(svg)


CONTENT: dict[str, Any] = {
    "head_grid": holds_grid,
    "head_view": holds_arrows,
    "head_map": holds_map,
    "cell_steps": holds_cell,
    "decode_player": holds_steps,
    "snapshot_player": holds_training,
}


def cells(svg: ElementTree.Element, n_rows: int, columns: int | list[float]) -> Any:
    """The colours in the middle of a map's cells [R, C, 3]: later boxes cover earlier ones.

    columns: how many of one width, or where each has its middle, as a share of the whole.
    """
    (group,) = (g for g in svg.iter(f"{SVG}g") if g.get("class") == "cells")
    boxes = [
        (
            [int(float(rect.attrib[side])) for side in ("x", "y", "width", "height")],
            rect.attrib["fill"],
        )
        for rect in group
    ]
    width = max(x + w for (x, _, w, _), _ in boxes)
    height = max(y + h for (_, y, _, h), _ in boxes)
    image = np.zeros((height, width, 3), int)
    for (x, y, w, h), fill in boxes:
        image[y : y + h, x : x + w] = rgb(fill)
    rows = ((np.arange(n_rows) + 0.5) * height / n_rows).astype(int)
    even = (np.arange(columns) + 0.5) / columns if isinstance(columns, int) else np.array(columns)
    return image[rows][:, (even * width).astype(int)]


@pytest.mark.thorough
def test_one_key_copies_the_picture_that_is_pointed_at(page: Page, address: str) -> None:
    shown = opened(page, address, "head_view")
    page.mouse.move(0, 0)
    page.keyboard.press("c")  # the larger one
    says(shown, "Copied.")
    large = page.evaluate(CLIPBOARD)
    grid = page.locator(".head-grid")
    grid.get_by_role("gridcell").first.hover()
    page.keyboard.press("c")
    says(grid, "Copied.")
    assert page.evaluate(CLIPBOARD) != large
    expect(page.get_by_role("dialog")).to_have_count(0)  # Streamlit has a key c, too
    field = page.get_by_label("Sentence")
    field.fill("A ")
    field.press_sequentially("cat")
    expect(field).to_have_value("A cat")


def test_the_menu_by_keyboard(page: Page, address: str) -> None:
    shown = opened(page, address, "head_map")
    button = tools(shown).get_by_role("button", name="Copy or save as figure")
    button.focus()
    expect(button).to_have_css("opacity", "1")
    button.press("Enter")
    expect(tools(shown).get_by_text("Copy image")).to_be_focused()
    page.keyboard.press("End")
    expect(tools(shown).get_by_role("menuitemcheckbox")).to_be_focused()
    page.keyboard.press("Space")
    checked = tools(shown).get_by_role("menuitemcheckbox", checked=True)
    expect(checked).to_be_focused()
    assert faults(page) == []
    page.keyboard.press("Space")
    expect(checked).to_have_count(0)
    page.keyboard.press("Escape")
    expect(button).to_be_focused()
    expect(tools(shown).get_by_role("menu")).to_be_hidden()


def test_where_copying_is_refused_the_image_is_saved(page: Page, address: str) -> None:
    shown = opened(page, address, "head_map")
    page.evaluate("() => { navigator.clipboard.write = () => Promise.reject(new Error('no')) }")
    with page.expect_download() as download:
        page.keyboard.press("c")
    assert download.value.suggested_filename == "copy-cross-attention-l1-h0@2x.png"
    says(shown, "The browser did not allow copying, so the image was saved.")
    page.evaluate("delete navigator.clipboard.write")


def test_a_figure_is_as_dark_as_the_page(page: Page, address: str, tmp_path: Path) -> None:
    shown = opened(page, address, "head_map")
    switch(page, DARK)
    expect(shown).to_have_css("color", f"rgb{rgb(DARK.text)}")
    assert corner(saved(page, shown, "PNG 2×", tmp_path)) == (*rgb(DARK.background), 255)


def test_what_is_no_picture_has_no_button(page: Page, address: str) -> None:
    opened(page, address, "head_map")
    assert row(page, "source")
    expect(page.locator(".token-rows + .figure-tools")).to_have_count(0)
    expect(page.locator(".figure-tools")).to_have_count(2)


def test_a_picture_of_a_notebook_is_saved_too(page: Page, tmp_path: Path) -> None:
    page.context.set_offline(True)
    heads = head_view(random_recording("cross", 4, 12), heads=[0, 3])
    page.goto(heads.save(tmp_path / "view.html").as_uri())
    shown = page.locator(".head-view")
    svg = ElementTree.parse(saved(page, shown, "SVG", tmp_path)).getroot()
    assert svg.findtext(f"{SVG}title") == heads.title
    assert svg.findtext(f"{SVG}metadata") in ("", None)  # where it lies is nobody else's business
    assert str(tmp_path) not in ElementTree.tostring(svg, "unicode")
    assert {"0", "3"} <= set(texts(svg)) and "1" not in texts(svg)  # the heads that have colours
