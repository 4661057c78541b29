"""Scenes of a story are dragged into their order, and a long list goes on under what is held."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.server import becomes, painted
from tests.browser.test_app import visit

pytestmark = [pytest.mark.browser, pytest.mark.same_page]

N = 30


@pytest.fixture
def story(tmp_path: Path) -> Path:
    scenes = (
        f"## {i}\n\nscreen: ./inspect?checkpoint=copy&layer={i % 2}\n\nWords.\n" for i in range(N)
    )
    file = tmp_path / "long.md"
    file.write_text("\n".join(["---\ntitle: Long\nkind: talk\n---\n", *scenes]))
    return file


def headings(page: Page) -> list[str]:
    return page.locator(".scene-list li a").all_inner_texts()


def test_the_first_is_dragged_behind_the_last_while_the_pointer_rests_at_the_edge(
    page: Page, address: str, story: Path
) -> None:
    visit(page, f"{address}/stories")
    page.get_by_role("button", name="Open a story").click()
    page.get_by_test_id("stFileUploaderDropzoneInput").set_input_files(story)
    grip = page.locator(".scene-list .grip").first
    grip.scroll_into_view_if_needed()
    painted(page)
    assert headings(page) == [str(i) for i in range(N)]
    expect(page.locator(".scene-list .none").first).to_be_visible()  # Inspect has none in small
    at, edge = grip.bounding_box(), page.locator(".scene-list ol").bounding_box()
    assert at is not None and edge is not None and at["y"] < edge["y"] + edge["height"] - 40
    x = at["x"] + at["width"] / 2
    page.mouse.move(x, at["y"] + at["height"] / 2)
    page.mouse.down()
    page.mouse.move(x, edge["y"] + edge["height"] - 5, steps=3)  # and it rests there
    becomes(lambda: headings(page)[-1], "0")
    page.mouse.up()
    painted(page)
    assert headings(page) == [*(str(i) for i in range(1, N)), "0"]
    page.reload()
    expect(page.locator(".scene-list li a").last).to_have_text("0")
