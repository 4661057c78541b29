"""A patch is tried at every place, kept by a click, and opened where the model is changed."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.server import becomes
from tests.browser.test_app import parameter, visit
from transformer import decode, load_checkpoint
from transformer.analysis.patching import patching
from transformer.edits import Edit
from transformer.inputs import source_ids
from viz.pages.sweep.patch import EXAMPLES

pytestmark = [pytest.mark.browser, pytest.mark.same_page]


def test_a_patch_is_kept_by_a_click_and_opened_on_explore(page: Page, address: str) -> None:
    visit(page, f"{address}/sweep?experiment=patch")
    page.get_by_role("button", name="Example").click()
    cell = page.get_by_role("link", name=re.compile("^Encoder L0, cat for dog: effect"))
    head = page.get_by_role("link", name=re.compile("^Encoder L2 H4: effect"))
    (other, text), checkpoint = EXAMPLES["source"], load_checkpoint("checkpoints/en-de")
    *_, tried = patching(checkpoint, text, other)
    effect = tried.effects[Edit("head-from", "encoder_self", (2, 4), text=other)]
    expect(head).to_have_text(f"{effect:+.2f}")
    kept = f"{tried.effects[Edit('state-from', 'encoder_self', (0, 3), text=other)]:+.2f}"
    expect(cell).to_have_text(kept)
    cell.click()
    edit = f"state-from:encoder_self.0.3={other}"
    becomes(lambda: parameter(page, "edits"), edit)
    expect(page.locator(".data td.marked a")).to_have_text(kept)
    output = page.locator(".text-lines dd").nth(1)
    written = decode(checkpoint, text, "beam", edits=[edit]).text
    becomes(lambda: "".join(output.inner_text().split()), written.replace(" ", "") + "</s>")
    page.get_by_role("link", name="Open on Explore").click()
    name = "Encoder L0, dog: State from another sentence"
    expect(page.get_by_role("button", name=name)).to_be_visible()
    expect(page.get_by_role("button", name="Undo")).to_be_enabled()
    page.go_back()
    page.locator(".data td.marked a").click()
    becomes(lambda: parameter(page, "edits"), None)
    expect(page.locator(".text-lines")).to_have_count(0)

    field = page.get_by_label("Sentence A, whose states")
    longer = "I see an elephant in the wonderful garden."
    a, b = (len(source_ids(checkpoint, each)) for each in (longer, text))
    assert a > b
    field.fill(longer)
    field.press("Enter")
    expect(
        page.get_by_text(f"(A) has {a} tokens and the text (B) {b}; a state is put where it was")
    ).to_be_visible()
    becomes(lambda: parameter(page, "patch_from"), longer)
