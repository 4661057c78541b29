"""The grid of all heads, alone on a page: what it shows, how it sorts, what it tells."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.sentences import says, strongest
from tests.browser.server import becomes, painted
from tests.random_maps import random_map
from transformer.analysis.metrics.metrics import measure, metrics_of
from transformer.analysis.reading import AttentionMap

pytestmark = [pytest.mark.browser, pytest.mark.same_page]

MAP = random_map(3, 8, 9, 9)  # as the script makes it


def open_grid(page: Page, apps: str, query: str = "") -> Locator:
    page.goto(f"{apps}head_grid&{query}")
    page.wait_for_selector(".head-grid[data-nonce]")
    painted(page)
    return page.locator(".head-grid")


def select(page: Page, name: str, option: str) -> None:
    page.get_by_label(name, exact=True).select_option(option)


def values(map: AttentionMap, name: str) -> list[float]:
    """A metric of all heads, layer by layer."""
    return [float(v) for layer in range(map.n_layers) for v in measure(map.attention, layer)[name]]


def ranked(map: AttentionMap, name: str) -> list[str]:
    """The names of all heads, the largest value first."""
    numbers = values(map, name)
    order = sorted(range(len(numbers)), key=lambda i: (-numbers[i], i))
    return [f"L{i // map.n_heads} H{i % map.n_heads}" for i in order]


def shown(page: Page) -> list[str]:
    """The names of the heads, in the order in which they stand."""
    cells = page.get_by_role("gridcell")
    labels = cells.evaluate_all("nodes => nodes.map(node => node.getAttribute('aria-label'))")
    return [label.split(":")[0] for label in labels]


def test_a_metric_is_printed_in_each_cell(page: Page, apps: str) -> None:
    open_grid(page, apps)
    select(page, "Show", "entropy")
    metric = metrics_of(MAP.attention)["entropy"]
    texts = [metric.text(v).removesuffix(" bits") for v in values(MAP, "entropy")]
    expect(page.locator(".cell .value")).to_have_text(texts)
    expect(page.locator(".legend")).to_contain_text(metric.text(max(values(MAP, "entropy"))))
    expect(page.get_by_text("('entropy', 'layer', 0)")).to_be_visible()
    select(page, "Show", "maps")
    expect(page.locator(".cell .value")).to_have_count(0)


@pytest.mark.parametrize("name", ["entropy", "previous"])
def test_sorted_heads_stand_in_the_order_of_the_metric(page: Page, apps: str, name: str) -> None:
    open_grid(page, apps)
    select(page, "Heads", name)
    becomes(lambda: shown(page), ranked(MAP, name))
    select(page, "Keep", "5")
    becomes(lambda: shown(page), ranked(MAP, name)[:5])
    expect(page.locator(".cell .below")).to_have_text(ranked(MAP, name)[:5])
    select(page, "Heads", "layer")
    becomes(lambda: len(shown(page)), 24)


def test_in_cross_attention_the_heads_that_align_come_first(page: Page, apps: str) -> None:
    open_grid(page, apps)
    expect(page.locator("option[value=alignment]")).to_have_count(0)
    open_grid(page, apps, "kind=cross")
    select(page, "Heads", "alignment")
    cross = random_map(3, 8, 9, 10, "cross")
    becomes(lambda: shown(page), ranked(cross, "alignment"))
    select(page, "Show", "alignment")
    expect(page.locator(".legend")).to_contain_text("one-to-one")


def test_in_the_order_of_layers_all_but_the_top_are_dimmed(page: Page, apps: str) -> None:
    open_grid(page, apps)
    expect(page.get_by_label("Keep", exact=True)).to_be_hidden()  # by what?
    select(page, "Show", "previous")
    select(page, "Keep", "10")
    bright = page.locator(".cell:not(.dimmed)")
    labels = [bright.nth(i).get_attribute("aria-label") or "" for i in range(bright.count())]
    assert {label.split(":")[0] for label in labels} == set(ranked(MAP, "previous")[:10])
    becomes(lambda: len(shown(page)), 24)


def test_a_click_on_a_ranked_head_opens_it(page: Page, apps: str) -> None:
    grid = open_grid(page, apps)
    select(page, "Heads", "previous")
    select(page, "Keep", "5")
    layer, head = re.findall(r"\d+", ranked(MAP, "previous")[2])
    page.get_by_role("gridcell").nth(2).click()
    expect(page.get_by_text(f"told ({layer}, {head}) ('maps', 'previous', 5)")).to_be_visible()
    painted(page)
    expect(grid).to_have_attribute("data-selected", f"encoder_self,{layer},{head}")
    assert shown(page) == ranked(MAP, "previous")[:5]


def test_keys_walk_through_ranks_and_rows(page: Page, apps: str) -> None:
    open_grid(page, apps)
    select(page, "Heads", "distance")
    select(page, "Keep", "10")
    names = ranked(MAP, "distance")
    page.get_by_role("gridcell").nth(4).focus()
    page.keyboard.press("ArrowRight")  # on to the next row
    page.keyboard.press("ArrowUp")
    page.keyboard.press("End")
    page.keyboard.press("ArrowDown")
    expect(page.locator(".cell:focus")).to_have_attribute("aria-label", re.compile(f"^{names[9]}:"))
    layer, head = re.findall(r"\d+", names[9])
    page.keyboard.press("Enter")
    expect(page.get_by_text(f"told ({layer}, {head})")).to_be_visible()


def test_the_sentence_and_the_numbers_are_of_the_head_pointed_at(page: Page, apps: str) -> None:
    grid = open_grid(page, apps)
    numbers = page.locator(".named")
    says(page, strongest(MAP, 1, 2), "The strongest cell of this head")
    expect(numbers).to_contain_text("L1 H2")
    height = grid.bounding_box()
    cell = page.get_by_role("gridcell").nth(8 + 5)
    cell.hover()
    says(page, strongest(MAP, 1, 5), "Pointed at: the strongest cell of this head")
    assert grid.bounding_box() == height
    start = f"L1 H5: {strongest(MAP, 1, 5)} "
    label = cell.get_attribute("aria-label") or ""
    assert label.startswith(start)
    texts = numbers.locator("strong").all_inner_texts()
    own = {m.title: m.text(values(MAP, m.name)[13]) for m in metrics_of(MAP.attention).values()}
    assert len(texts) == 3
    for part in label.removeprefix(start).split(", "):
        title, text = re.fullmatch(r"(\D+) (\d.*)", part).groups()  # type: ignore[union-attr]
        assert own[title] == text and text in texts


def test_what_comes_from_outside_is_shown(page: Page, apps: str) -> None:
    grid = open_grid(page, apps)
    select(page, "Heads", "previous")
    expect(page.get_by_text("('maps', 'previous', 0)")).to_be_visible()
    page.get_by_role("button", name="From outside").click()
    expect(grid).to_have_attribute("data-show", "distance")
    expect(grid).to_have_attribute("data-selected", "encoder_self,0,0")
    expect(page.get_by_label("Keep", exact=True)).to_have_value("10")
    expect(page.locator(".cell:not(.dimmed)")).to_have_count(10)


def test_a_layer_that_is_one_map_has_one_cell(page: Page, apps: str) -> None:
    open_grid(page, apps, "per_head=0&layers=12")
    assert shown(page) == [f"L{layer}, all heads" for layer in range(12)]
    expect(page.get_by_label("Show", exact=True)).to_be_disabled()
    page.get_by_role("gridcell").nth(3).click()
    expect(page.get_by_text("told (3, 2)")).to_be_visible()


def test_the_toolbar_is_one_line_and_wraps_on_a_phone(page: Page, apps: str) -> None:
    open_grid(page, apps)
    toolbar = page.locator(".toolbar")
    wide = toolbar.bounding_box()
    page.set_viewport_size({"width": 390, "height": 844})
    narrow = toolbar.bounding_box()
    assert wide is not None and narrow is not None
    assert wide["height"] < 32 < narrow["height"]
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_many_layers_of_one_map_each_stay_in_the_window(page: Page, apps: str) -> None:
    grid = open_grid(page, apps, "per_head=0&layers=24&heads=1")
    expect(page.get_by_role("gridcell")).to_have_count(24)
    expect(grid.locator(".below").nth(23)).to_have_text("L23")
    for size in ((1440, 900), (720, 450), (390, 844)):
        page.set_viewport_size({"width": size[0], "height": size[1]})
        becomes(lambda: grid.evaluate("node => node.scrollWidth <= node.clientWidth"), True)
    page.set_viewport_size({"width": 1440, "height": 900})
    page.get_by_role("gridcell", name="L4, all heads").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(grid).to_have_attribute("data-selected", "encoder_self,5,2")
    bottom = page.get_by_role("gridcell").last.evaluate("it => it.getBoundingClientRect().bottom")
    assert bottom <= 900
