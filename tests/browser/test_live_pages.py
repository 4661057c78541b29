"""Compare, Sweep and Heads of the page that needs no server."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.browser.hosted import hosted
from tests.browser.test_live import SLOW, answers, field, opened, shows, written
from tests.browser.test_live import visitor as visitor  # a fixture
from transformer import Checkpoint, Recording, decode, load_checkpoint, record
from transformer.analysis.ablation import ablating
from transformer.analysis.metrics.metric import jensen_shannon
from transformer.analysis.reading import Selection
from transformer.corpus.shipped import shipped_survey
from transformer.words import words_of
from viz.commands.site import page_words
from viz.labels import percent, signed
from viz.live.site import build

pytestmark = pytest.mark.browser
NAMES = ("en-de-small", "sentiment", "sentiment-mean")
"""A translator, and two that read alike."""
TEXT = "I have never seen such a beautiful house."
OWN = "She has two dogs."


@pytest.fixture(scope="module")
def checkpoint() -> Checkpoint:
    return load_checkpoint(NAMES[0])


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    out = tmp_path_factory.mktemp("site")
    build([load_checkpoint(name) for name in NAMES], out, page_words())
    with hosted(out) as address:
        yield address


def apart(a: Recording, b: Recording, first: Selection, second: Selection) -> str:
    weights = [
        of.attentions[at.kind].weights(at.layer, at.head) for of, at in ((a, first), (b, second))
    ]
    return f"{jensen_shannon(*weights):.4f} bits"


def test_two_heads_stand_beside_each_other_with_what_an_edit_changes(
    visitor: BrowserContext, host: str, checkpoint: Checkpoint
) -> None:
    at = "kind=cross&layer=1&head=2&kind_b=cross&layer_b=1&head_b=0"
    page = opened(visitor, f"{host}?page=compare&text={TEXT}&decoding=greedy&{at}")
    target = decode(checkpoint, TEXT, method="greedy").target
    plain = record(checkpoint, TEXT, target)
    first, second = Selection("cross", 1, 2), Selection("cross", 1, 0)
    says = page.locator("#two-heads")
    expect(says).to_contain_text(apart(plain, plain, first, second), timeout=SLOW)
    for name in ("head_view a", "head_view b", "head_map difference"):
        expect(page.locator(f"[data-picture='{name}'] [data-nonce]").first).to_be_visible()
    page.get_by_label("B: Head", exact=True).select_option("3")
    expect(says).to_contain_text(apart(plain, plain, first, Selection("cross", 1, 3)))
    page.get_by_label("Checkpoint of B").select_option("edits")
    expect(says).to_contain_text("0.0000 bits")  # nothing is changed
    page.get_by_role("button", name="Switch Cross L1 H2 off").click()
    edits = ("head-off:cross.1.2",)
    forced = record(checkpoint, TEXT, target, edits)
    expect(says).to_contain_text(apart(plain, forced, first, first))
    page.get_by_label("B writes its own words").check()
    own = decode(checkpoint, TEXT, method="greedy", edits=edits).target
    words = " ".join(words_of([token for token in own if not token.special]))
    expect(page.locator("#both-texts dd").nth(1)).to_have_text(f"{words} ")
    shows(page, written(checkpoint, TEXT, "greedy"))  # A is unchanged
    page.reload()
    expect(page.locator("#both-texts dd").nth(1)).to_have_text(f"{words} ", timeout=SLOW)


def test_two_checkpoints_read_one_text(visitor: BrowserContext, host: str) -> None:
    place = "page=compare&checkpoint=sentiment&checkpoint_b=sentiment-mean&same_head=yes"
    page = opened(visitor, f"{host}?{place}&kind=encoder_self&layer=0&head=1")
    answers(page)
    at = Selection("encoder_self", 0, 1)
    for text in ("A gorgeous, witty and moving film.", "It is dull."):
        field(page).fill(text)
        a, b = (record(load_checkpoint(name), text) for name in ("sentiment", "sentiment-mean"))
        expect(page.locator("#two-heads")).to_contain_text(apart(a, b, at, at), timeout=SLOW)
        assert b.classification is not None
        share = percent(float(b.classification.probs.max()))
        expect(page.locator("#both-texts dd").nth(1)).to_contain_text(share)
    expect(page.locator("[data-table=numbers] tbody tr").first).to_be_visible()
    page.get_by_label("B: Head", exact=True).select_option("3")  # and so A's
    at = Selection("encoder_self", 0, 3)
    expect(page.locator("#two-heads")).to_contain_text(apart(a, b, at, at))
    page.get_by_label("Checkpoint of B").select_option("same")
    expect(page.locator("#both-texts")).to_be_hidden()
    expect(page.locator("#two-heads")).to_contain_text("0.0000 bits")


def test_heads_are_listed_by_a_number_and_open_without_a_weight_before(
    visitor: BrowserContext, host: str, checkpoint: Checkpoint
) -> None:
    asked = list[str]()
    visitor.on("request", lambda request: asked.append(request.url))
    page = opened(visitor, f"{host}?page=heads&heads_order=worth")
    shipped = shipped_survey(checkpoint.path)
    assert shipped is not None
    worth = {place: it.mean for place, it in shipped.worth.items()}
    _, layer, head = max(worth, key=lambda place: worth[place])
    rows = page.locator("[data-table=heads] tbody tr")
    expect(rows).to_have_count(len(worth))
    assert not [each for each in asked if "weights" in each]
    expect(rows.first.locator("th")).to_contain_text(f"L{layer} H{head}")
    page.get_by_role("radio", name="Encoder", exact=True).click()
    expect(page.locator("[data-table=heads] thead th.marked")).to_have_text(re.compile("^worth"))
    alignment = page.locator("[data-table=heads] thead th", has_text=re.compile("^alignment"))
    expect(alignment).to_be_hidden()
    page.get_by_label("Find a head or what it does").fill("L1 H2")
    expect(rows).to_have_count(1)
    rows.first.get_by_role("link").click()
    expect(page).to_have_url(re.compile("kind=encoder_self&layer=1&head=2"))
    chosen = page.get_by_role("gridcell", selected=True)
    expect(chosen).to_have_accessible_name(re.compile("^Encoder L1 H2"), timeout=SLOW)
    page.go_back()
    expect(rows).to_have_count(1)


def test_every_head_is_off_in_turn_and_that_can_be_stopped_and_goes_on(
    visitor: BrowserContext, host: str, checkpoint: Checkpoint
) -> None:
    page = opened(
        visitor, f"{host}?page=sweep&text={TEXT}&decoding=greedy&edits=head-off:cross.1.0"
    )
    answers(page)
    target_of = decode(checkpoint, TEXT, method="greedy").target
    *_, ablation = ablating(checkpoint, TEXT, target_of, method="greedy")
    n = len(ablation.sweep.edits)
    expect(page.locator("#sweep-unchanged")).to_be_visible()
    page.get_by_role("button", name=f"Begin the sweep: {n} runs").click()
    far, rows = page.locator("#sweep-far"), page.locator("[data-table=sweep] tbody tr")
    far.get_by_role("button", name="Stop").click()
    expect(far.get_by_role("status")).to_contain_text("Stopped")
    page.get_by_role("button", name="Go on", exact=True).click()
    expect(far).to_be_hidden(timeout=SLOW)
    expect(rows).to_have_count(n)
    worst = int(ablation.sweep.totals.argmin())
    total = rows.first.locator("td").first
    expect(total).to_have_text(signed(float(ablation.sweep.totals[worst])))
    with page.expect_download() as download:
        page.get_by_role("button", name="Sweep as CSV").click()
    lines = Path(download.value.path()).read_text("utf-8").splitlines()
    assert len(lines) == 1 + n * len(target_of) and lines[1].startswith(
        "head-off:encoder_self.0.0,"
    )
    page.locator("[data-table=sweep] thead th.word").first.get_by_role("link").click()
    expect(page.locator("[data-table=sweep] th.word[aria-sort]")).to_have_count(1)
    assert page.evaluate("new URLSearchParams(location.search).get('sweep_sort')") == "word 0"
    page.get_by_role("link", name="Cross L1 H2", exact=True).click()
    shows(page, written(checkpoint, TEXT, "greedy", edits=["head-off:cross.1.2"]))
    page.go_back()
    expect(rows).to_have_count(n)  # it is at hand
    field(page).fill(OWN)
    expect(page.locator("#sweep-begin")).to_be_visible()
    expect(rows.first).to_be_hidden()
