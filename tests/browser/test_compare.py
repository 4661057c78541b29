"""Two checkpoints side by side: one head in both, and a difference whose scale fits."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.server import ROOT, becomes
from tests.browser.test_app import parameter, visit, wait_for_map
from tests.browser.test_experiment import TEXT
from transformer import decode, load_checkpoint, record

pytestmark = [pytest.mark.browser, pytest.mark.same_page]

BAR = """() => {
    const plot = document.querySelector('.js-plotly-plot'), shown = plot?.data?.at(-1);
    const scale = /±([\\d.e-]+)$/.exec(shown?.colorbar?.title?.text ?? '');
    return scale && shown.zmax > 0 && Math.abs(Number(scale[1]) / shown.zmax - 1) < 0.05;
}"""
CELL = """() => {
    const layout = document.querySelector('.js-plotly-plot')?._fullLayout;
    return layout && Math.abs(layout.xaxis._m / layout.yaxis._m);
}"""


MEETING = """() => [...document.querySelectorAll('.js-plotly-plot')].flatMap(plot =>
    ['xtick', 'x2tick', 'ytick', 'y2tick'].flatMap(name => {
        const labels = [...plot.querySelectorAll(`.${name} text`)];
        const boxes = labels.map(label => label.getBoundingClientRect());
        const [start, end] = name[0] === 'x' ? ['left', 'right'] : ['top', 'bottom'];
        return labels.slice(1).filter((label, i) => boxes[i][end] > boxes[i + 1][start] + 5)
            .map(label => label.textContent);
    }))"""
"""Labels that lie on the one before, by more than the room that a line of text has around it."""


def choose(page: Page, name: str, which: int, option: str) -> None:
    page.get_by_label(name, exact=True).nth(which).click()
    page.get_by_role("option", name=option, exact=True).click()


def test_a_lock_moves_both_heads_from_either_side(page: Page, address: str) -> None:
    snapshots = ROOT / "checkpoints" / "copy" / "snapshots"
    first = min(snapshots.iterdir())
    link = f"compare?checkpoint=copy&checkpoint_b={first}&picture=map&kind=cross&layer=0&head=1"
    visit(page, f"{address}/{link}")
    maps = page.locator(".head-map[data-nonce]")
    expect(maps).to_have_count(2)
    page.get_by_text("Same head in A and B").click()
    page.wait_for_url(re.compile("same_head=yes"))
    expect(page.locator('.head-map[data-id="cross L0 H1"]')).to_have_count(2)
    choose(page, "Head", 0, "H0")
    expect(page.locator('.head-map[data-id="cross L0 H0"]')).to_have_count(2)
    choose(page, "Layer", 1, "L1")
    expect(page.locator('.head-map[data-id="cross L1 H0"]')).to_have_count(2)
    page.get_by_text("Same head in A and B").click()
    becomes(lambda: "same_head" in page.evaluate("location.search"), False)
    choose(page, "Head", 0, "H1")
    wait_for_map(page, "cross L1 H1")
    expect(page.locator('.head-map[data-id="cross L1 H0"]')).to_have_count(1)


def test_the_scale_of_a_difference_fits_and_its_cells_are_square(page: Page, address: str) -> None:
    visit(page, f"{address}/compare?kind=cross&kind_b=cross&layer_b=2&head_b=4")
    page.wait_for_function(BAR)
    becomes(lambda: round(page.evaluate(CELL) or 0, 2), 1)
    page.set_viewport_size({"width": 390, "height": 844})
    becomes(lambda: round(page.evaluate(CELL) or 0, 2), 1)


@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("place", ["compare?kind=cross&kind_b=cross", "inspect?inspect=circuits"])
def test_labels_do_not_lie_on_each_other(page: Page, address: str, place: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    visit(page, f"{address}/{place}")
    page.wait_for_selector(".js-plotly-plot .main-svg")
    becomes(lambda: page.evaluate(MEETING), [])


def test_a_model_is_compared_with_itself_changed(page: Page, address: str) -> None:
    """What a head that is off changes comes after its layer, and the address says all of it."""
    edit = "head-off:decoder_self.0.1"
    visit(page, f"{address}/?kind=decoder_self&layer=0&head=1&picture=map&edits={edit}")
    page.get_by_role("link", name="Compare both").click()
    largest = page.get_by_test_id("stMetricValue").nth(1)
    headings = page.locator("p:has(strong)")
    expect(headings.filter(has_text="B · Decoder L0 H1 (off) with 1 edit").first).to_be_visible()
    expect(largest).to_have_text("0.0000")
    choose(page, "Layer", 0, "L2")
    expect(page.locator('.head-map[data-id="decoder_self L2 H1"]')).to_have_count(2)
    becomes(lambda: largest.inner_text(), difference(2, edit))
    page.get_by_role("button", name="Switch Decoder L2 H1 off").click()
    both = f"{edit}/head-off:decoder_self.2.1"
    becomes(lambda: parameter(page, "edits"), both)
    expect(headings.filter(has_text="B · Decoder L2 H1 (off) with 2 edits").first).to_be_visible()
    page.reload()
    expect(page.locator('.head-map[data-id="decoder_self L2 H1"]')).to_have_count(2)
    expect(headings.filter(has_text="B · Decoder L2 H1 (off) with 2 edits").first).to_be_visible()
    becomes(lambda: largest.inner_text(), difference(2, *both.split("/")))
    page.get_by_role("button", name="All off").click()
    expect(largest).to_have_text("0.0000")


def test_an_arrow_of_b_is_cut_and_shown_before_the_run(page: Page, address: str) -> None:
    query = (
        "edited_b=yes&same_head=yes&kind=cross&layer=2&head=3&picture=arrows&tool=arrows&pins=q1"
    )
    visit(page, f"{address}/compare?{query}")
    b = page.locator('.head-view[data-tool="arrows"][data-nonce]')
    expect(b).to_have_count(1)  # A is not edited
    box, token = b.locator(".wires").bounding_box(), b.locator("[data-token=q1]").bounding_box()
    assert box is not None and token is not None
    spot = (box["x"] + 20, token["y"] + token["height"] / 2)
    shown = b.get_attribute("data-nonce")
    with page.expect_response(lambda it: "/preview/" in it.url and it.status == 200) as made:
        page.mouse.move(*spot)  # what a cut would give is asked for while somebody points there
    expect(b.locator(".wires.aimed")).to_have_count(1)
    page.mouse.click(*spot)
    asked = made.value.request.post_data_json
    assert list(asked) == ["edits_b"]  # what A answers stays
    (edit,) = asked["edits_b"]
    assert edit.startswith("cut:cross.2.3.1.")
    becomes(lambda: parameter(page, "edits"), edit)
    expect(b).not_to_have_attribute("data-nonce", shown or "")
    largest = page.get_by_test_id("stMetricValue").nth(1)
    becomes(lambda: largest.inner_text(), difference(2, edit, kind="cross", head=3))
    page.go_back()
    expect(largest).to_have_text("0.0000")


def difference(layer: int, *edits: str, kind: str = "decoder_self", head: int = 1) -> str:
    """The largest of a head, where both read what is written unedited."""
    checkpoint = load_checkpoint("checkpoints/en-de")
    target = decode(checkpoint, TEXT, "beam").target
    a, b = (record(checkpoint, TEXT, target, edits=each) for each in ((), edits))
    a, b = (each.attentions[kind].weights(layer, head) for each in (a, b))
    found = float((a - b).abs().max())
    assert found > 0
    return f"{found:.4f}"
