"""The page about training, as a person uses it."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.server import ROOT, becomes, painted
from tests.browser.test_app import figures, parameter, row, visit, wait_for_figure
from transformer import decode, load_checkpoint, record
from viz.labels import bare_label

pytestmark = [pytest.mark.browser, pytest.mark.same_page]


def test_training_shows_labels_rates_and_losses(page: Page, address: str) -> None:
    visit(page, f"{address}/training?checkpoint=copy&topic=smoothing")
    wait_for_figure(page, "label_smoothing 0")
    table = page.get_by_test_id("stTable")
    expect(table).to_contain_text("0.5262")  # the entropy of 12 pieces, 0.1 of it spread
    page.get_by_role("slider").press("ArrowRight")
    expect(table).not_to_contain_text("0.5262")
    painted(page)
    becomes(lambda: parameter(page, "epsilon"), "0.11")

    page.get_by_role("radio", name="Learning rate").click()
    wait_for_figure(page, "learning_rate")
    # Between two figures there is none for a moment.
    peak = "document.querySelector('.js-plotly-plot')?.layout?.annotations?.[0]?.text"
    page.wait_for_function(f"{peak} === 'peak 0.0006988 at step 4,000'")
    page.get_by_label("Warm-up steps").fill("1000")
    page.get_by_label("Warm-up steps").press("Enter")
    page.wait_for_function(f"{peak} === 'peak 0.001398 at step 1,000'")

    page.get_by_role("radio", name="Loss").click()
    wait_for_figure(page, "score_curves")
    becomes(lambda: set(figures(page)), {"loss_curve", "score_curves"})  # the last one goes
    expect(page.get_by_test_id("stException")).to_have_count(0)


def test_training_opens_on_heads_of_a_checkpoint_that_has_snapshots(
    page: Page, address: str
) -> None:
    visit(page, f"{address}/training")
    expect(
        page.get_by_text("en-de has no snapshots: these are the heads of en-de-small")
    ).to_be_visible()
    player = page.locator(".snapshot-player[data-nonce]")
    expect(player).to_be_visible()
    small = load_checkpoint(ROOT / "checkpoints" / "en-de-small")
    text = small.about.examples[0]
    made = record(small, text, decode(small, text, method="beam").target)
    assert row(page, "target") == [bare_label(token) for token in made.target]
    page.get_by_label("Head", exact=True).click()
    page.get_by_role("option", name="H1", exact=True).click()
    becomes(lambda: parameter(page, "head"), "1")
    expect(player).to_be_visible()
    page.get_by_role("radio", name="Learning rate").click()
    becomes(lambda: parameter(page, "topic"), "rate")
    expect(page.get_by_text("has no snapshots")).to_have_count(0)
