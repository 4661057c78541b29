"""Run in a tree that holds new views and a new page: prints as JSON what is on the screen."""

import json
import os
from typing import Any

import streamlit as st
from streamlit.testing.v1 import AppTest

NAVIGATION = st.navigation
titles: list[str] = []


def navigation(pages: list[Any], **options: Any) -> Any:
    """Streamlit's, and it is written down what it was given."""
    titles[:] = [page.title for page in pages]
    return NAVIGATION(pages, **options)


def page_of(name: str) -> None:
    """The script of one page by itself."""
    from transformer.discover import discover
    from viz.ui.layout import show

    pages = discover("viz.pages", "PAGE")
    show(pages[name], pages)


def page(name: str) -> AppTest:
    """A page, drawn; its first error is raised."""
    app = AppTest.from_function(page_of, args=(name,), default_timeout=60).run()
    assert not app.exception, app.exception
    return app


def alts(app: AppTest) -> list[str]:
    """What is said of each figure to those who do not see it."""
    return [figure.proto.alt for figure in app.get("plotly_chart")]


def said(app: AppTest) -> list[str]:
    return [*(each.value for each in app.caption), *(each.value for each in app.markdown)]


if __name__ == "__main__":
    st.navigation = navigation
    app = AppTest.from_file("app.py", default_timeout=60).run()
    assert not app.exception, app.exception
    st.navigation = NAVIGATION
    explore, positions, numbers = page("explore"), page("positions"), page("numbers")
    (views,) = (group for group in positions.button_group if group.label == "View")
    views.set_value("encoding_sizes").run()
    assert not positions.exception, positions.exception
    os.environ["HEADSCOPE_CHECKPOINTS"] = "new/families"  # where the new family's checkpoint is
    (decoding,) = (box for box in page("explore").selectbox if box.label == "Decoding")
    facts = {
        "family": decoding.value,
        "titles": titles,
        "numbers": said(numbers),
        "explore": [alts(explore), said(explore)],
        "views": views.options,
        "positions": [alts(positions), said(positions)],
        "decoding": [box.options for box in explore.selectbox if box.label == "Decoding"],
    }
    print(json.dumps(facts))
