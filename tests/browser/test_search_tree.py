"""The tree of a search in a browser: climbed, panned, folded, listed; and its tokens are data."""

import re
from pathlib import Path
from urllib.parse import quote_plus
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.apps.random_search import random_search
from tests.browser.payloads import PAYLOADS, hits
from tests.browser.server import PHONE, becomes, painted
from tests.browser.test_app import parameter, row, visit
from tests.browser.test_figures import saved
from transformer.decoding.search_tree import SearchTree

pytestmark = [pytest.mark.browser, pytest.mark.same_page]

TREE = ".search-tree[data-nonce]"
WATCH = """root => {
    window.made = 0;
    new MutationObserver(all => { window.made += all.length; })
        .observe(root.querySelector('.viewport'), { childList: true, subtree: true });
}"""
MOVED = "root => [...root.querySelectorAll('.viewport *')].filter(it => it.style.transform).length"
TRANSFORM = "root => root.querySelector('.world').style.transform"
TYPE = """root => parseFloat(getComputedStyle(root.querySelector('.node .piece')).fontSize)
    * new DOMMatrix(getComputedStyle(root.querySelector('.world')).transform).a"""
"""The size in px in which pieces are seen."""
CHOSEN = "root => root.querySelector('.node.chosen')?.dataset.place ?? null"
CHOSEN_IN_SIGHT = """root => {
    const node = root.querySelector('.node.chosen')?.getBoundingClientRect();
    const seen = root.querySelector('.viewport').getBoundingClientRect();
    return Boolean(node) && node.left >= seen.left && node.right <= seen.right
        && node.top >= seen.top && node.bottom <= seen.bottom;
}"""
LONG = (
    "Although the government had promised to lower the taxes before the election, it decided to "
    "submit a new budget to the voters."
)
FOCUSED = "root => root.getRootNode().activeElement?.dataset.place ?? null"


def open_tree(page: Page, apps: str, query: str = "") -> Locator:
    page.goto(f"{apps}search_tree&{query}")
    painted(page)
    tree = page.locator(TREE)
    expect(tree).to_be_attached()
    expect(tree.locator(".viewport[data-whole], .list:visible")).to_have_count(1)
    return tree


def at(tree: Locator, place: object) -> Locator:
    return tree.locator(f'.node[data-place="{place}"]')


def path_of(search: SearchTree, rank: int) -> list[int]:
    return [node.id for node in search.path(search.leaf(rank).id)]


def press(page: Page, tree: Locator, key: str) -> str:
    page.keyboard.press(key)
    return str(tree.evaluate(FOCUSED))


def test_the_tree_is_climbed_by_keyboard_alone(page: Page, apps: str) -> None:
    tree, search = open_tree(page, apps), random_search(12, 4)
    best = path_of(search, 0)
    at(tree, best[0]).focus()
    for node in best[1:]:
        assert press(page, tree, "ArrowRight") == str(node)
    assert press(page, tree, "ArrowRight") == str(best[-1]), "it leads nowhere from the end"
    assert press(page, tree, "ArrowLeft") == str(best[-2])
    assert press(page, tree, "Home") == "0"
    assert press(page, tree, "End") == str(best[-1])
    assert at(tree, best[-1]).evaluate("it => it.getBoundingClientRect().right") <= 1440
    press(page, tree, "Home")
    first = press(page, tree, "ArrowRight")
    below = press(page, tree, "ArrowDown")
    assert search.nodes[int(below)].parent == search.nodes[int(first)].parent
    assert press(page, tree, "ArrowUp") == first
    press(page, tree, "ArrowDown")
    page.keyboard.press(" ")
    expect(page.get_by_text(f"chosen {below}, branch None")).to_be_visible()
    expect(at(tree, below)).to_have_attribute("aria-selected", "true")
    expect(tree.locator('[tabindex="0"][role="treeitem"]')).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page.get_by_text(f"branch {below}")).to_be_visible()


def test_a_node_says_what_became_of_it(page: Page, apps: str) -> None:
    tree, search = open_tree(page, apps), random_search(12, 4)
    dropped = next(node for node in search.nodes if node.dropped)
    at(tree, dropped.id).hover()
    facts = tree.locator(".facts")
    expect(facts).to_contain_text(str(dropped.dropped).replace("-", "−"))
    expect(at(tree, dropped.id)).to_have_attribute("aria-label", re.compile("dropped: "))
    living = path_of(search, 1)[0]
    at(tree, living).hover()
    expect(facts).not_to_contain_text("dropped")
    ranks = tree.locator(".finish .rank").all_inner_texts()
    assert sorted(ranks) == ["1", "2", "3", "4"]


def test_panning_and_zooming_change_one_transform_and_make_no_node(page: Page, apps: str) -> None:
    tree = open_tree(page, apps, "steps=40&beam=8")
    tree.evaluate(WATCH)
    before = tree.evaluate(TRANSFORM)
    box = tree.locator(".viewport").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 900, box["y"] + 200)
    page.mouse.down()
    page.mouse.move(box["x"] + 300, box["y"] + 150, steps=4)
    page.mouse.up()
    panned = tree.evaluate(TRANSFORM)
    assert panned != before
    tree.get_by_role("button", name="Larger").click()
    becomes(lambda: tree.evaluate(TRANSFORM) not in (before, panned), True)
    assert tree.evaluate(MOVED) == 1
    assert page.evaluate("window.made") == 0
    assert tree.locator(".chosen").count() == 0, "a drag is no click"
    tree.get_by_role("button", name="Fit").click()
    becomes(lambda: tree.evaluate(TRANSFORM), before)


def test_what_all_share_is_folded_until_somebody_opens_it(page: Page, apps: str) -> None:
    tree, search = open_tree(page, apps, "steps=24&shared=16"), random_search(24, 4, 16)
    folded = path_of(search, 0)[1:15]
    expect(at(tree, folded[3])).to_have_count(0)
    fold = at(tree, -1)
    expect(fold).to_contain_text(str(len(folded)))
    at(tree, path_of(search, 0)[0]).focus()
    assert press(page, tree, "ArrowRight") == "-1"
    assert press(page, tree, "ArrowRight") == str(path_of(search, 0)[15])
    assert press(page, tree, "ArrowLeft") == "-1"
    assert press(page, tree, "Enter") == str(folded[0])
    expect(fold).to_have_count(0)
    expect(at(tree, folded[3])).to_have_count(1)
    tree.get_by_role("button", name="Hide dropped").click()
    expect(tree.locator(".node.dropped")).to_have_count(0)


def test_a_phone_has_an_indented_list(page: Page, apps: str) -> None:
    page.set_viewport_size(PHONE)
    tree, search = open_tree(page, apps, "steps=6&beam=2"), random_search(6, 2)
    expect(tree.locator(".viewport")).to_be_hidden()
    lines = tree.locator(".list > .line")
    best = lines.locator(".word.written").all_inner_texts()
    assert [text.split("\n")[0] for text in best] == [f"w{node}" for node in path_of(search, 0)]
    expect(lines.locator(".rank")).to_have_text(["1", "2"])
    tree.locator("summary").first.click()
    expect(tree.locator("details .why").first).to_contain_text("scored better")
    heights = "all => [...new Set(all.map(it => Math.round(it.getBoundingClientRect().height)))]"
    assert len(tree.locator(".list .word:visible").evaluate_all(heights)) == 1, (
        "no word is squeezed"
    )
    word = lines.locator(".word").first
    word.click()
    expect(word).to_have_attribute("aria-pressed", "true")
    width = "document.documentElement.scrollWidth"
    assert page.evaluate(width) <= PHONE["width"]


def test_what_somebody_has_opened_stays_open_while_the_text_grows(page: Page, apps: str) -> None:
    tree = open_tree(page, apps, "steps=24&shared=16")
    fold, nodes = at(tree, -1), tree.locator(".node[data-place]")
    fold.click()
    expect(fold).to_have_count(0)
    n = nodes.count()
    more = page.get_by_role("button", name="One step more")
    more.click()
    becomes(lambda: nodes.count() > n, True)
    expect(fold).to_have_count(0)

    page.set_viewport_size(PHONE)
    parts = tree.locator(".list details")
    opened = parts.nth(1)
    opened.locator("summary").click()
    why = tree.locator("details .why:visible")
    expect(why).not_to_have_count(0)
    first = why.first.inner_text()
    drawn = str(tree.get_attribute("data-nonce"))
    more.evaluate("node => node.click()")  # the focus stays where it is
    expect(tree).not_to_have_attribute("data-nonce", drawn)
    expect(tree.locator("details[open]")).to_have_count(1)
    expect(opened.locator("summary")).to_be_focused()
    expect(opened).to_have_attribute("open", "")
    expect(why.first).to_have_text(first)
    opened.locator("summary").click()
    expect(opened).not_to_have_attribute("open", "")
    drawn = str(tree.get_attribute("data-nonce"))
    more.evaluate("node => node.click()")
    expect(tree).not_to_have_attribute("data-nonce", drawn)
    expect(tree.locator("details[open]")).to_have_count(0)


def test_what_somebody_has_opened_goes_with_its_sentence(page: Page, apps: str) -> None:
    """Another one, whose best text began with the same word, opened unfolded, and stayed so."""
    tree = open_tree(page, apps, "steps=24&shared=16")
    fold = at(tree, -1)
    fold.click()
    expect(fold).to_have_count(0)
    page.get_by_role("button", name="Another sentence").click()
    expect(fold).to_have_count(1)


def test_tokens_are_data(page: Page, apps: str) -> None:
    tree = open_tree(page, apps, "steps=12&beam=4&pieces=hostile")
    shown = tree.locator(".node .piece").all_inner_texts()
    assert sum(text.strip() in " ".join(PAYLOADS) for text in shown if text.strip()) > 20
    assert hits(page.locator("body")) == []


@pytest.mark.thorough
def test_decode_opens_as_the_tree_and_other_pictures_go_where_it_is_climbed(
    page: Page, address: str
) -> None:
    visit(page, f"{address}/decode?checkpoint=en-de-1")  # whose search is known
    tree, player = page.locator(TREE), page.locator(".decode-player[data-nonce]")
    expect(tree.locator(".finish .rank")).to_have_count(4)
    tree.locator(".node.written").nth(2).click()
    expect(player).to_have_attribute("data-step", "1")
    becomes(lambda: parameter(page, "step"), "1")
    player.get_by_role("button", name="Next step").click()  # to the first piece of a word
    expect(tree.locator(".node.chosen .piece")).to_have_text("überquerte")
    tree.locator(".node.living", has_text="sie").click()  # which the second hypothesis has
    becomes(lambda: "sie" in row(page, "target"), True)
    expect(tree.locator(".node.written .piece").filter(has_text="sie")).to_have_count(1)
    expect(tree.locator(".finish .rank")).to_have_count(4)
    page.go_back()
    becomes(lambda: "sie" in row(page, "target"), False)
    expect(tree.locator(".node.written .piece").filter(has_text="sie")).to_have_count(0)
    painted(page)  # a node that is drawn anew loses the focus
    dropped = tree.locator(".node.dropped", has_text="Der").first
    dropped.focus()
    page.keyboard.press("Enter")
    becomes(lambda: row(page, "target")[0], "Der")
    assert parameter(page, "prefix")
    visit(page, f"{address}/decode?checkpoint=en-de-1&decoding=greedy")
    expect(player).to_be_visible()
    expect(tree).to_have_count(0)


def test_a_figure_has_the_whole_tree_whatever_is_seen_of_it(
    page: Page, apps: str, tmp_path: Path
) -> None:
    tree, search = open_tree(page, apps, "steps=40&beam=4"), random_search(40, 4)
    svg = ElementTree.parse(saved(page, tree, "SVG", tmp_path)).getroot()
    texts = {"".join(node.itertext()) for node in svg.iter("{http://www.w3.org/2000/svg}text")}
    assert {f"w{node}" for node in path_of(search, 3)} <= texts
    assert "Fit" not in texts


def test_a_wall_has_the_whole_tree_in_large_type(page: Page, address: str) -> None:
    page.set_viewport_size({"width": 1920, "height": 1080})
    wall = "story=in-the-translator&scene=3&role=stage&decode_as=tree"
    visit(page, f"{address}/decode?{wall}")
    tree = page.locator(TREE)
    expect(tree.locator(".finish .rank")).to_have_count(4)
    expect(tree.get_by_role("button", name="Fit")).to_be_hidden()
    becomes(lambda: tree.evaluate(TYPE) >= 16, True)
    boxes = [each.bounding_box() for each in tree.locator(".finish .score").all()]
    assert all(box and box["x"] + box["width"] <= 1920 for box in boxes)
    expect(page.locator(".decode-player")).to_have_count(0)


def in_sight(tree: Locator) -> bool:
    """Tell whether the chosen node is wholly inside of what is seen of the tree."""
    return bool(tree.evaluate(CHOSEN_IN_SIGHT))


@pytest.mark.thorough
def test_the_chosen_node_comes_into_sight_unless_somebody_moves_the_tree(
    page: Page, address: str
) -> None:
    visit(page, f"{address}/decode?checkpoint=en-de&text={quote_plus(LONG)}")
    tree = page.locator(TREE)
    expect(tree.locator(".node.chosen")).to_have_count(1)
    assert in_sight(tree)
    first = tree.evaluate(CHOSEN)
    page.locator('.token-rows .chip[data-side="target"]').nth(20).click()
    becomes(lambda: tree.evaluate(CHOSEN) != first and in_sight(tree), True)
    pinned = tree.evaluate(CHOSEN)
    page.reload()
    painted(page)
    becomes(lambda: tree.evaluate(CHOSEN), pinned)
    assert in_sight(tree), "where it is drawn anew"
    box = tree.locator(".viewport").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 100, box["y"] + 100)
    page.mouse.down()
    page.mouse.move(box["x"] + 900, box["y"] + 100, steps=4)
    page.mouse.up()
    assert not in_sight(tree)
    page.locator(".decode-player").get_by_role("button", name="Next step").click()
    becomes(lambda: tree.evaluate(CHOSEN) != pinned and in_sight(tree), True)
