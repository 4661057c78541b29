"""Inside a cell in a browser: the numbers of Python, which add up as they are shown."""

import itertools
import math
from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.apps.cell import recording
from tests.browser.server import PHONE, painted
from tests.representatives import cases
from transformer.analysis.cell import Cell, inside
from viz.theme import LIGHT

pytestmark = [pytest.mark.browser, pytest.mark.same_page]

HALF = 0.5e-4
"""What the fourth decimal leaves open."""

BARS = """(canvas) => {
    const { width, height } = canvas;
    const pixels = canvas.getContext('2d').getImageData(0, 0, width, height).data;
    return { width, height, ratio: window.devicePixelRatio, client: canvas.clientWidth,
             pixels: Array.from(pixels) };
}"""


def cell_of(key: int, d_key: int, d_value: int, n_keys: int) -> Cell:
    """What the script draws, computed here."""
    return inside(recording(d_key, d_value, n_keys, "none"), "encoder_self", 0, 0, 2, key)


def open_cell(page: Page, apps: str, **parameters: object) -> Locator:
    query = "&".join(f"{name}={value}" for name, value in parameters.items())
    page.goto(f"{apps}cell&{query}")
    painted(page)
    page.wait_for_selector(".cell-steps[data-nonce]")
    return page.locator(".cell-steps")


def parsed(text: str) -> float:
    return float(text.replace("−", "-"))


def shown(root: Locator, name: str) -> float:
    return parsed(root.locator(f'[data-number="{name}"]').first.inner_text())


def texts(x: float) -> str:
    """A number as it is shown."""
    text = f"{x:.4f}"
    return "0.0000" if float(text) == 0 else text.replace("-", "−")


def test_every_dimension_by_keyboard(page: Page, apps: str) -> None:
    root = open_cell(page, apps, d_key=16, d_value=24, key=5)
    cell = cell_of(5, 16, 24, 8)
    slider = root.get_by_role("slider", name="Dimension of q and k")
    slider.focus()
    page.keyboard.press("Home")
    total = 0.0
    for d in range(16):
        expect(slider).to_have_attribute("aria-valuenow", str(d))
        vectors = {"q": cell.q, "k": cell.k, "product": cell.products, "running": cell.running}
        for name, vector in vectors.items():
            text = root.locator(f'[data-number="{name}"]').inner_text()
            assert text == texts(float(vector[d]))
            assert f" {text}" in slider.get_attribute("aria-valuetext")
        q, k, product = (shown(root, name) for name in ("q", "k", "product"))
        assert abs(q * k - product) <= HALF * (abs(q) + abs(k) + 1) + 1e-6
        total += product
        assert abs(total - shown(root, "running")) <= HALF * (d + 2)
        page.keyboard.press("ArrowRight")
    assert shown(root, "running") == shown(root, "dot")
    assert abs(shown(root, "dot") / math.sqrt(16) - shown(root, "score")) <= 2 * HALF


def test_every_dimension_of_v(page: Page, apps: str) -> None:
    root = open_cell(page, apps, d_key=16, d_value=24, key=5)
    cell = cell_of(5, 16, 24, 8)
    slider = root.get_by_role("slider", name="Dimension of v")
    slider.focus()
    page.keyboard.press("End")
    for d in reversed(range(24)):
        expect(slider).to_have_attribute("aria-valuenow", str(d))
        for name, vector in {"v": cell.value, "part": cell.part, "output": cell.output}.items():
            text = root.locator(f'[data-number="{name}"]').inner_text()
            assert text == texts(float(vector[d]))
        weighted = shown(root, "weight") * shown(root, "v")
        assert abs(weighted - shown(root, "part")) <= HALF * (abs(shown(root, "v")) + 2)
        page.keyboard.press("ArrowLeft")


def test_the_softmax_adds_up(page: Page, apps: str) -> None:
    root = open_cell(page, apps, d_key=16, d_value=24, key=5)
    cell = cell_of(5, 16, 24, 8)
    rows = root.locator("button.competitor")
    expect(rows).to_have_count(8)
    weights, exponentials = [], []
    for key in range(8):
        row = rows.nth(key)
        score, weight = (row.locator(f".{name}").inner_text() for name in ("score", "weight"))
        assert (score, weight) == (texts(float(cell.scores[key])), texts(float(cell.weights[key])))
        weights.append(parsed(weight))
        exponentials.append(math.exp(parsed(score)))
    assert abs(sum(weights) - 1) <= 8 * HALF
    assert shown(root, "weight-sum") == 1
    assert math.isclose(shown(root, "exp-sum"), sum(exponentials), rel_tol=2 * HALF)
    assert math.isclose(shown(root, "exp"), math.exp(shown(root, "score")), rel_tol=2 * HALF)
    assert abs(shown(root, "exp") / shown(root, "exp-sum") - shown(root, "weight")) <= 2 * HALF
    assert weights[5] == shown(root, "weight")
    expect(root.locator("[data-number=share]")).to_have_text(texts(cell.share))
    assert shown(root, "share-sum") == 1


def test_pointing_at_a_dimension_names_it_in_its_own_stages(page: Page, apps: str) -> None:
    root = open_cell(page, apps, d_key=16, d_value=24)
    box = root.locator("canvas.k").bounding_box()
    page.mouse.move(box["x"] + box["width"] * 3.5 / 16, box["y"] + 5)
    expect(root).to_contain_text("q[3] k[3]")
    expect(root).to_contain_text("sum to d = 3")
    expect(root).not_to_contain_text("v[3]")
    page.mouse.move(box["x"], box["y"] - 40)
    expect(root).not_to_contain_text("q[3]")


@pytest.mark.thorough
def test_bars_are_as_long_as_their_values(browser: Browser, apps: str) -> None:
    context = browser.new_context(device_scale_factor=2)
    root = open_cell(context.new_page(), apps, d_key=16, d_value=24, key=5)
    picture = root.locator(".stage").nth(1).locator("canvas").evaluate(BARS)
    context.close()
    width, height = picture["width"], picture["height"]
    assert picture["ratio"] == 2 and width == round(2 * picture["client"])
    products = cell_of(5, 16, 24, 8).products
    low, high = min(0.0, float(products.min())), max(0.0, float(products.max()))
    for d, product in enumerate(products.tolist()):
        colour = LIGHT.ink if product > 0 else LIGHT.contrast
        rgb = [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
        x = int((d + 0.4) * width / 16)
        starts = (4 * (y * width + x) for y in range(height))
        length = sum(picture["pixels"][start : start + 3] == rgb for start in starts)
        assert abs(length - abs(product) * (height - 2) / (high - low)) <= 2


def test_a_competitor_opens_its_cell(page: Page, apps: str) -> None:
    root = open_cell(page, apps, d_key=16, d_value=24)
    root.get_by_role("button", name="▁token6: ").click()
    expect(page.locator("#asked")).to_have_text("(2, 6)")
    expect(root.locator(".said")).to_contain_text("token6")
    chosen = root.locator("[aria-current]")
    expect(chosen).to_have_attribute("data-key", "6")
    expect(chosen).to_be_focused()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(page.locator("#asked")).to_have_text("(2, 5)")
    expect(chosen).to_have_attribute("data-key", "5")
    expect(chosen).to_be_focused()
    expect(root.locator('button[tabindex="0"]')).to_have_count(1)


def test_masked_cells_say_so(page: Page, apps: str) -> None:
    root = open_cell(page, apps, d_key=16, d_value=24, key=1, mask="one")
    expect(root).to_contain_text("forbidden: weight 0")
    expect(root).to_contain_text("7 of 8 keys allowed")
    expect(root.locator("[aria-current] .score")).to_have_text("masked")
    assert (shown(root, "weight"), shown(root, "share"), shown(root, "weight-sum")) == (0, 0, 1)
    root = open_cell(page, apps, d_key=16, d_value=24, mask="all")
    expect(root).to_contain_text("every key is masked: all weights are 0.0000")
    assert (shown(root, "weight-sum"), shown(root, "share-sum")) == (0, 0)


def test_a_long_row_and_wide_heads(page: Page, apps: str) -> None:
    root = open_cell(page, apps, d_key=128, d_value=300, keys=300, key=7)
    cell = cell_of(7, 128, 300, 300)
    shown_keys = [int(x.get_attribute("data-key")) for x in root.locator("button").all()]
    assert 20 <= len(shown_keys) <= 21 and 7 in shown_keys
    rest = root.locator(".rest")
    expect(rest.locator(".piece")).to_have_text(f"{300 - len(shown_keys)} others")
    expected = 1 - float(cell.weights[shown_keys].double().sum())
    assert abs(parsed(rest.locator(".weight").inner_text()) - expected) <= 2 * HALF


@pytest.mark.parametrize(
    ("scheme", "mask"),
    cases(
        itertools.product(["light", "dark"], ["none", "one"]),
        {"light": ("light", "none"), "dark, a masked key": ("dark", "one")},
    ),
)
def test_accessible(page: Page, apps: str, scheme: Literal["light", "dark"], mask: str) -> None:
    page.emulate_media(color_scheme=scheme)
    open_cell(page, apps, d_key=16, d_value=24, keys=40, key=1, mask=mask)
    violations = Axe().run(page).response["violations"]
    ours = [
        (violation["id"], node["html"])
        for violation in violations
        for node in violation["nodes"]
        if isinstance(node["target"][0], list)  # within a shadow root
    ]
    assert ours == []


def test_narrow_screens_stack_it(page: Page, apps: str) -> None:
    page.set_viewport_size(PHONE)
    root = open_cell(page, apps, d_key=64, d_value=64, keys=40)
    box = root.bounding_box()
    for part in root.locator(".name, .drawing, .numbers, .competitor").all():
        inner = part.bounding_box()
        if inner:
            assert inner["x"] >= box["x"] - 1
            assert inner["x"] + inner["width"] <= box["x"] + box["width"] + 1
    assert not root.evaluate("(root) => root.scrollWidth > root.clientWidth")
