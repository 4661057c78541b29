"""Inspect in a browser: every part is legible to axe-core and shows what Python computes."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_accessibility import faults
from tests.browser.test_app import visit
from tests.representatives import cases
from transformer.inspection.circuits import copying_scores
from transformer.inspection.survey import survey
from transformer.inspection.tensor_statistics import statistics

pytestmark = [pytest.mark.browser, pytest.mark.same_page]

COPY = Path(__file__).parents[2] / "checkpoints" / "copy"
PARTS = ("Modules", "Tensor", "Circuits", "Vocabulary", "Positions")


@pytest.mark.parametrize("part", cases(PARTS, {"numbers": "Tensor", "a list": "Vocabulary"}))
def test_every_part_says_what_python_computes(page: Page, address: str, part: str) -> None:
    visit(page, f"{address}/inspect?checkpoint=copy&inspect={part.lower()}")
    expect(page.get_by_text(_said(part))).to_be_visible()
    assert faults(page) == []


def test_a_part_is_chosen_and_stands_in_the_address(page: Page, address: str) -> None:
    visit(page, f"{address}/inspect?checkpoint=copy")
    expect(page.get_by_text("Nothing suspicious.")).to_be_visible()
    page.get_by_role("radio", name="Vocabulary", exact=True).click()
    page.get_by_label("Search the vocabulary").fill("1")
    page.get_by_label("Search the vocabulary").press("Enter")
    expect(page.get_by_text("3 of 12 pieces")).to_be_visible()
    page.wait_for_url(re.compile("(?=.*inspect=vocabulary)(?=.*piece=1)"))


def _said(part: str) -> str:
    """A text that only the right numbers make."""
    found = survey(COPY)
    tensor = statistics(found.read("embedding.weight"))
    return {
        "Modules": f"{found.n_parameters:,} parameters",
        "Tensor": f"{tensor.effective_rank:.2f} of 12",
        "Circuits": f"L1 H0 has the copying score {_score()}.",
        "Vocabulary": "12 of 12 pieces",
        "Positions": "This model has no learned positions.",
    }[part]


def _score() -> str:
    score = float(copying_scores(survey(COPY).heads, "cross")[1, 0])
    return f"{score:.4f}".replace("-", "−")
