"""Two checkpoints side by side: one head in both, and a difference whose scale fits."""

import re

import pytest
from playwright.sync_api import Locator, Page, Response, expect

from tests.browser.server import ROOT, at_rest, becomes, painted
from tests.browser.test_app import parameter, visit, wait_for_map
from tests.browser.test_experiment import TEXT
from tests.representatives import cases
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


SNAPSHOTS = ROOT / "checkpoints" / "en-de-small" / "snapshots"
TWO_HEADS = "p:has-text('These two heads') strong"
"""The heading, then the divergence, then the largest difference."""
MEETING = """() => [...document.querySelectorAll('.js-plotly-plot')].flatMap(plot =>
    ['xtick', 'x2tick', 'ytick', 'y2tick'].flatMap(name => {
        const labels = [...plot.querySelectorAll(`.${name} text`)];
        const boxes = labels.map(label => label.getBoundingClientRect());
        const [start, end] = name[0] === 'x' ? ['left', 'right'] : ['top', 'bottom'];
        return labels.slice(1).filter((label, i) => boxes[i][end] > boxes[i + 1][start] + 5)
            .map(label => label.textContent);
    }))"""
"""Labels that lie on the one before, by more than the room that a line of text has around it."""
FITS = """width => [...document.querySelectorAll('.js-plotly-plot')]
    .every(plot => plot._fullLayout?.width <= width)"""
"""Whether all are drawn for a window of this width."""


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


@pytest.mark.parametrize("place", ["compare?kind=cross&kind_b=cross", "inspect?inspect=circuits"])
def test_labels_do_not_lie_on_each_other(page: Page, address: str, place: str) -> None:
    visit(page, f"{address}/{place}")
    page.wait_for_selector(".js-plotly-plot .main-svg")
    for width in (1440, 390):
        page.set_viewport_size({"width": width, "height": 900})
        becomes(lambda width=width: page.evaluate(FITS, width), True)
        becomes(lambda: page.evaluate(MEETING), [])


def test_a_model_is_compared_with_itself_changed(page: Page, address: str) -> None:
    """What a head that is off changes comes after its layer, and the address says all of it."""
    edit = "head-off:decoder_self.0.1"
    visit(page, f"{address}/?kind=decoder_self&layer=0&head=1&picture=map&edits={edit}")
    page.get_by_role("link", name="Compare both").click()
    largest = page.locator(TWO_HEADS).nth(2)
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


@pytest.mark.thorough
def test_an_arrow_of_b_is_cut_and_shown_before_the_run(page: Page, address: str) -> None:
    query = (
        "edited_b=yes&same_head=yes&kind=cross&layer=2&head=3&picture=arrows&tool=arrows&pins=q1"
    )
    visit(page, f"{address}/compare?{query}")
    b = page.locator('.head-view[data-tool="arrows"][data-nonce]')
    expect(b).to_have_count(1)  # A is not edited
    at_rest(page)  # B may come after its page, and moves what is below it
    box, token = b.locator(".wires").bounding_box(), b.locator("[data-token=q1]").bounding_box()
    assert box is not None and token is not None
    spot = (box["x"] + 20, token["y"] + token["height"] / 2)
    shown = b.get_attribute("data-nonce")

    def is_of_the_cut(response: Response) -> bool:  # marks of needed words are asked for there, too
        asked = response.request.post_data_json if "/preview/" in response.url else None
        return response.status == 200 and bool(asked) and "why" not in asked

    with page.expect_response(is_of_the_cut) as made:
        page.mouse.move(*spot)  # what a cut would give is asked for while somebody points there
    expect(b.locator(".wires.aimed")).to_have_count(1)
    page.mouse.click(*spot)
    asked = made.value.request.post_data_json
    assert list(asked) == ["edits_b"]  # what A answers stays
    (edit,) = asked["edits_b"]
    assert edit.startswith("cut:cross.2.3.1.")
    becomes(lambda: parameter(page, "edits"), edit)
    expect(b).not_to_have_attribute("data-nonce", shown or "")
    largest = page.locator(TWO_HEADS).nth(2)
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


BY_GREEDY = (
    "text=The+bank+raised+its+interest+rates+by+0.75+percent,+the+largest+increase+since+1994."
    "&checkpoint=en-de-1&kind=cross&layer=2&head=3&method_b=greedy&same_head=yes"
)
"""Beam search writes two words more than greedy, and others in their places."""


@pytest.mark.parametrize("width", cases([1440, 390], {"beside each other": 1440}))
def test_one_pointer_marks_the_same_words_in_both(page: Page, address: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    visit(page, f"{address}/compare?{BY_GREEDY}&picture=arrows")
    views = page.locator(".head-view[data-nonce]")
    expect(views).to_have_count(2)
    a, b = (_rows(views.nth(i)) for i in (0, 1))
    for word in ("0,75", "seit"):
        views.nth(0).locator(f"[data-token=q{a.index(word)}]").hover()
        expect(views.nth(1)).to_have_attribute("data-linked", f"q{b.index(word)}")
    views.nth(1).locator(f"[data-token=q{b.index('Jahr')}]").hover()
    expect(views.nth(0)).to_have_attribute("data-linked", f"q{a.index('Parlament')}")
    views.nth(0).locator(f"[data-token=q{a.index('Zinssätze')}]").hover()
    expect(views.nth(1)).to_have_attribute("data-linked", "")  # greedy has no such word


@pytest.mark.thorough
def test_a_word_of_b_alone_is_pinned_there(page: Page, address: str) -> None:
    """It was a button that did nothing: pins are of the tokens of A."""
    by_beam = BY_GREEDY.replace("method_b=greedy", "decoding=greedy&method_b=beam")
    visit(page, f"{address}/compare?{by_beam}&picture=arrows")
    views = page.locator(".head-view[data-nonce]")
    expect(views).to_have_count(2)
    a, b = (_rows(views.nth(i)) for i in (0, 1))
    painted(page)
    alone, both = f"q{b.index('Zinssätze')}", f"q{b.index('hob')}"
    views.nth(1).locator(f"[data-token={alone}]").click()
    becomes(lambda: parameter(page, "pins_b"), alone)
    expect(views.nth(1)).to_have_attribute("data-pins", alone)
    expect(views.nth(0)).to_have_attribute("data-pins", "")
    views.nth(1).locator(f"[data-token={both}]").click()
    becomes(lambda: parameter(page, "pins"), f"q{a.index('hob')}")
    page.reload()
    expect(views.nth(1)).to_have_attribute("data-pins", f"{both},{alone}")
    expect(views.nth(0)).to_have_attribute("data-pins", f"q{a.index('hob')}")
    views.nth(1).locator(f"[data-token={alone}]").click()
    becomes(lambda: parameter(page, "pins_b"), None)
    views.nth(1).locator(f"[data-token={alone}]").click()
    becomes(lambda: parameter(page, "pins_b"), alone)
    views.nth(0).locator(f"[data-token=q{a.index('hob')}]").press("Escape")
    becomes(lambda: (parameter(page, "pins"), parameter(page, "pins_b")), (None, None))
    expect(views.nth(1)).to_have_attribute("data-pins", "")


def test_a_line_and_a_cell_are_pointed_at_in_both(page: Page, address: str) -> None:
    visit(page, f"{address}/compare?{BY_GREEDY}&picture=arrows")
    views = page.locator(".head-view[data-nonce]")
    expect(views).to_have_count(2)
    a, b = (_rows(views.nth(i)) for i in (0, 1))
    wires, row = views.nth(0).locator(".wires"), a.index("hob")
    box, token = wires.bounding_box(), views.nth(0).locator(f"[data-token=q{row}]").bounding_box()
    assert box is not None and token is not None
    page.mouse.move(box["x"] + 8, token["y"] + token["height"] / 2)
    expect(views.nth(1)).to_have_attribute("data-linked", f"{b.index('hob')},2")
    expect(views.nth(1).locator(".sentence")).to_contain_text("Pointed at")
    page.get_by_role("radio", name="Heat map").click()
    maps = page.locator(".head-map[data-nonce]")
    expect(maps).to_have_count(2)
    maps.nth(1).locator(".stage").focus()
    for key in ("Home", "ArrowDown"):
        page.keyboard.press(key)
    row = b.index("Bank")
    expect(maps.nth(0)).to_have_attribute("data-pointed", f"{a.index('Bank')},0")
    for key in ("ArrowUp", "End", "+"):
        page.keyboard.press(key)
    expect(maps.nth(1)).not_to_have_attribute("data-window", re.compile(r"^0,\d+,0,"))
    windows = [
        [int(n) for n in (maps.nth(i).get_attribute("data-window") or "").split(",")]
        for i in (0, 1)
    ]
    assert windows[0][2:] == windows[1][2:]


def test_one_scroll_brings_the_same_words_into_sight(page: Page, address: str) -> None:
    page.set_viewport_size({"width": 1440, "height": 620})
    more = "1994,+and+its+shareholders,+who+live+in+the+city,+were+pleased+with+the+result."
    text = BY_GREEDY.replace("1994.", f"{more}+It+was+a+good+day+for+all+of+them.")
    visit(page, f"{address}/compare?{text}&picture=arrows")
    views = page.locator(".head-view[data-nonce]")
    expect(views).to_have_count(2)
    rows = [_rows(views.nth(i)) for i in (0, 1)]
    assert rows[0].index("0,75") != rows[1].index("0,75")
    for turned, other in ((0, 1), (1, 0)):
        box = views.nth(turned).locator(".box")
        box.evaluate("box => box.scrollTo(0, 0)")
        becomes(lambda it=other: _first(views.nth(it), rows[it]), "Die")
        to = rows[turned].index("0,75")
        box.evaluate(f"(box, place) => box.scrollTo(0, place * {PITCH})", to)
        becomes(lambda it=other: _first(views.nth(it), rows[it]), "0,75")
        assert _first(views.nth(turned), rows[turned]) == "0,75"  # nothing scrolled it back


PITCH = "parseFloat(box.firstChild.style.getPropertyValue('--pitch'))"
"""The pixels from one row to the next."""


def _rows(view: Locator) -> list[str]:
    return view.locator(".tokens.rows .piece").all_inner_texts()


def _first(view: Locator, rows: list[str]) -> str:
    """The first of its rows that is in sight."""
    return rows[round(view.locator(".box").evaluate(f"box => box.scrollTop / {PITCH}"))]


@pytest.mark.thorough
def test_heads_that_changed_stand_first_and_open_in_both(page: Page, address: str) -> None:
    """Above both pictures and within the window; a click on a head shows it in A and in B."""
    snapshot = min(SNAPSHOTS.iterdir())
    link = f"compare?checkpoint=en-de-small&picture=map&checkpoint_b={snapshot}"
    page.set_viewport_size({"width": 1440, "height": 900})
    visit(page, f"{address}/{link}")
    maps = page.locator(".data.map")
    expect(maps).to_have_count(3)
    bottom = maps.last.evaluate("map => map.getBoundingClientRect().bottom")
    assert bottom < page.locator(".head-map").first.bounding_box()["y"] < 900  # type: ignore[index]
    page.locator(".data.map").first.get_by_role("link").nth(5).click()
    expect(page.locator('.head-map[data-id="encoder_self L1 H1"]')).to_have_count(2)
    becomes(lambda: parameter(page, "layer_b"), "1")
