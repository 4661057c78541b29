"""A slow model: its pictures come first and grow with the text, which can be stopped."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from tests.browser.server import becomes, painted
from tests.browser.test_app import open_app, parameter, row, type_sentence
from tests.conftest import random_model
from transformer import load_checkpoint
from transformer.formats.headscope import save_checkpoint

pytestmark = pytest.mark.browser

LENGTH = 500
DEPTH = """tree => Math.max(...[...tree.querySelectorAll('.node[data-place]')]
    .map(node => node.getAttribute('aria-level') - 1))"""
"""The tokens of the longest hypothesis of a tree."""


@pytest.fixture(scope="module")
def slow(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As large as GPT-2: 85 million weights."""
    folder = tmp_path_factory.mktemp("slow") / "slow"
    made = load_checkpoint(Path("checkpoints/shakespeare"))
    size = {"d_model": 768, "d_ff": 3072, "n_heads": 12, "n_decoder_layers": 12, "max_len": 600}
    config = replace(made.config, **size)
    save_checkpoint(folder, made.about, config, random_model(config).state_dict(), made.tokenizer)
    return folder


@pytest.fixture
def writing(page: Page, address: str, slow: Path) -> Iterator[Page]:
    open_app(page, f"{address}/?checkpoint={quote(str(slow), safe='')}&options.max_len={LENGTH}")
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    yield page
    open_app(page, address)  # nobody waits for the text any more


def test_pictures_come_first_and_grow_until_it_is_stopped(writing: Page) -> None:
    expect(writing.locator(".head-grid .cell")).to_have_count(144)
    n = len(row(writing, "target"))
    assert n < LENGTH
    writing.wait_for_function(
        f"""() => document.querySelector('[data-testid="stText"]')?.textContent.length > {n + 30}"""
    )
    chips = writing.locator('.token-rows .chip[data-side="target"]')
    expect(chips.nth(n)).to_be_attached()  # drawn anew, with more of it
    writing.get_by_role("button", name="Stop").click()
    stopped = writing.get_by_text(re.compile(r"^Stopped after \d+ tokens\.$"))
    expect(stopped).to_be_visible()
    painted(writing)
    said = re.findall(r"\d+", stopped.inner_text())[0]
    assert n < int(said) < LENGTH
    assert len(row(writing, "target")) == int(said)
    becomes(lambda: parameter(writing, "stopped"), said)
    writing.reload()
    expect(stopped).to_have_text(f"Stopped after {said} tokens.")
    writing.get_by_role("button", name="Write all of it").click()
    expect(writing.get_by_role("button", name="Stop")).to_be_visible()
    expect(stopped).to_have_count(0)

    type_sentence(writing, "To be")  # another text is not kept waiting
    expect(writing.locator('.token-rows .chip[data-side="source"]')).to_have_count(5)
    expect(writing.get_by_role("button", name="Stop")).to_be_visible()
    expect(writing.get_by_test_id("stText")).to_have_text(re.compile("^To be"))
    assert len(row(writing, "target")) < LENGTH


@pytest.mark.thorough
def test_the_tree_of_a_beam_search_grows_until_it_is_stopped(writing: Page, address: str) -> None:
    here = writing.evaluate("location.search")
    open_app(writing, f"{address}/decode{here}&decoding=beam&options.beam_size=3")
    tree = writing.locator(".search-tree[data-nonce]")
    expect(writing.get_by_role("button", name="Stop")).to_be_visible()
    expect(tree.locator(".finish .rank")).to_have_count(3)
    n = tree.evaluate(DEPTH)
    becomes(lambda: tree.evaluate(DEPTH) > n, True)  # drawn anew, with more of it
    writing.get_by_role("button", name="Stop").click()
    expect(writing.get_by_text("Stopped after")).to_be_visible()
    becomes(lambda: str(tree.evaluate(DEPTH)) == parameter(writing, "stopped"), True)
