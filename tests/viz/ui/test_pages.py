"""Every page declares itself: app.py lists none."""

from transformer.discover import discover
from viz.state.page import Page


def test_every_page_has_a_name_and_a_place_of_its_own() -> None:
    pages: dict[str, Page] = discover("viz.pages", "PAGE")
    assert {"explore", "compare", "decode"} <= set(pages)
    assert all(name == page.name for name, page in pages.items())
    assert len({page.order for page in pages.values()}) == len(pages)
    assert len({page.title for page in pages.values()}) == len(pages)
