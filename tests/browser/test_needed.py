"""A step is asked for another word; what it would have to look at is drawn, and kept."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.server import becomes
from tests.browser.test_app import parameter, row, visit, wait_for_figure
from transformer import decode, load_checkpoint
from transformer.analysis.needed import needed
from viz.labels import bare_label
from viz.pages.decode.counterfactual import TITLE

pytestmark = [pytest.mark.browser, pytest.mark.same_page]


def test_another_word_is_found_and_kept_as_an_experiment(page: Page, address: str) -> None:
    checkpoint = load_checkpoint("checkpoints/en-de")
    text = checkpoint.about.examples[0]
    plain = decode(checkpoint, text)
    written, token = (each.token for each in plain.steps[2].candidates[:2])
    found = needed(checkpoint, text, plain.target, 2, token.id)
    visit(page, f"{address}/decode?decoding=greedy&step=2")
    page.get_by_text(TITLE).click()
    page.get_by_role("button", name="Find it").click()
    said = page.get_by_text(
        re.compile(f"^To write “{bare_label(token)}” in place of “{bare_label(written)}”")
    )
    expect(said).to_contain_text(f"{found.divergence:.2f} nats in all")
    expect(said).to_contain_text(f"{len(found.rows)} heads would have to look elsewhere")
    wait_for_figure(page, "needed-rows")
    head = found.rows[0].edit
    seen = f"Heat map, two rows per head. L{head.layer}H{head.head} looks most at “"
    figure = page.get_by_role("figure", name=re.compile(f"^{re.escape(seen)}.*, needed “"))
    expect(figure).to_have_count(1)
    page.get_by_role("button", name="Keep it as an experiment").click()
    edits = [str(edit) for edit in found.edits]
    becomes(lambda: (parameter(page, "edits") or "").split("/"), edits)
    assert decode(checkpoint, text, edits=edits).target[2] == token
    becomes(lambda: row(page, "target")[2], bare_label(token))
