"""Run in a tree that holds new views and a new page: prints as JSON what is on the screen."""

import json
import os
from argparse import Namespace
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.testing.v1 import AppTest

from viz.components.kit.browser import unpack
from viz.screen import choose, spell, unread

NAVIGATION = st.navigation
titles: list[str] = []


def navigation(pages: dict[str, list[Any]], **options: Any) -> Any:
    """Streamlit's, and it is written down what it was given."""
    titles[:] = [page.title for links in pages.values() for page in links]
    return NAVIGATION(pages, **options)


def page_of(name: str) -> None:
    """The script of one page by itself."""
    from transformer.discover import discover
    from viz.ui.layout import show

    pages = discover("viz.pages", "PAGE")
    show(pages[name], pages)


def lens_list() -> None:
    """The script of what stands behind *Reading*, where lenses are chosen."""
    from viz.screen import Screen
    from viz.ui.controls import _choose_lens

    _choose_lens(Screen(lens="excess"))


def page(name: str, **query: str) -> AppTest:
    """A page, drawn at an address; its first error is raised."""
    app = AppTest.from_function(page_of, args=(name,), default_timeout=60)
    for field, value in query.items():
        app.query_params[field] = value
    app.run()
    assert not app.exception, app.exception
    return app


def grown(name: str, **query: str) -> AppTest:
    """The same once the study of the page is whole."""
    from viz.run.work import Work

    app = page(name, **query)
    (work,) = (each.work for each in app.session_state["session"].studies.values())
    assert isinstance(work, Work) and work.ended.wait(60)
    return app.run()


def alts(app: AppTest) -> list[str]:
    """What is said of each figure to those who do not see it."""
    return [figure.proto.alt for figure in app.get("plotly_chart")]


def tables(app: AppTest) -> list[str]:
    """The HTML of each table on it."""
    return [each.proto.body for each in app.get("html") if "<table" in each.proto.body]


def lines(app: AppTest) -> list[str]:
    """The HTML of all words that stand for numbers on it."""
    return [each.proto.body for each in app.get("html") if 'class="text-lines"' in each.proto.body]


def images(app: AppTest) -> list[str]:
    """The HTML of each chart that is printed on a wall."""
    return [
        each.proto.body for each in app.get("html") if '<div class="printed">' in each.proto.body
    ]


def saved(page: str, query: str = "") -> list[str]:
    """The first bytes of the figure of an address, its caption, and its numbers as CSV."""
    from viz.figure_at import save_figure

    plain = {
        "width": None,
        "theme": "light",
        "picture": None,
        "slide": False,
        "font": "",
        "scale": "root",
    }
    files = {"out": f"{page}.pdf", "data": f"{page}.csv"}
    screen = f"{page}?checkpoint=copy{query}"
    caption, _ = save_figure(Namespace(screen=screen, **plain, **files))
    figure = Path(files["out"]).read_bytes()
    return [figure[:5].decode(), caption, Path(files["data"]).read_text()]


def payload(app: AppTest, component: str) -> bytes:
    """The packed numbers of a picture, as the browser is sent them."""
    found = (each.proto for each in app.get("bidi_component"))
    (data,) = (each.bytes for each in found if each.component_name.endswith(component))
    _, (numbers,) = unpack(data)
    return bytes(numbers.tobytes())


def header(app: AppTest, component: str) -> dict[str, Any]:
    """What the browser is told of a picture."""
    found, parts = unpack(payload(app, component))
    return found or unpack(parts[0].tobytes())[0]  # of the grid, its first kind's


def said(app: AppTest) -> list[str]:
    return [*(each.value for each in app.caption), *(each.value for each in app.markdown)]


def pressed(app: AppTest, title: str) -> AppTest:
    (button,) = (each for each in app.button if each.label == title)
    return button.click().run()


def edited() -> dict[str, Any]:
    """A new kind of edit is added by its fields, taken back, and made again."""
    app = page("explore", tool="heads")
    app.session_state["new edit 0"] = True  # as a press on Add an edit
    app.run()
    (kind,) = (box for box in app.selectbox if box.label == "Edit")
    kind.set_value("head-against").run()
    (times,) = (number for number in app.number_input if number.label == "Times")
    facts: dict[str, Any] = {"kinds": kind.options, "times": [times.min, times.value, times.max]}
    times.set_value(2.5).run()
    screens = [pressed(app, "Add it").session_state["session"].screen]
    facts["row"] = [each.proto.popover.label for each in app.get("popover")]
    facts["asked"] = app.session_state["session"].answer.request.edits
    screens += [pressed(app, title).session_state["session"].screen for title in ("Undo", "Redo")]
    return facts | {"addresses": [spell(each).get("edits", "") for each in screens]}


ON_WALL = {
    "story": "attention-is-all-you-need",
    "scene": "1",
    "role": "stage",
}


def studied() -> list[Any]:
    """The alternative texts on its page, the images on a wall, and its files, each of a text that
    nobody studied before.
    """
    wall = images(grown("beginnings", text="4 7 2", **ON_WALL))
    files = saved("beginnings", "&text=5 7")
    return [alts(grown("beginnings", text="3 7 2 9")), wall, files]


def edited_elsewhere() -> dict[str, list[Any]]:
    """By the edit: the strip on a wall, the large picture there, and the files of a later head."""
    at = {"text": "3 7 2 9", "kind": "cross", "layer": "1", "head": "0"}
    facts = {}
    for edit in ("", "head-against:encoder_self.0.0=2.5", "head-scale:encoder_self.0.0=-2.5"):
        asked = {**at, "edits": edit} if edit else at
        wall = page("explore", checkpoint="copy", **asked, **ON_WALL)
        strip = [each.proto.popover.label for each in wall.get("popover")]
        files = saved("explore", "".join(f"&{name}={it}" for name, it in asked.items()))
        facts[edit] = [strip, payload(wall, "head_view").hex(), *files]
    return facts


if __name__ == "__main__":
    st.navigation = navigation
    app = AppTest.from_file("app.py", default_timeout=60).run()
    assert not app.exception, app.exception
    st.navigation = NAVIGATION
    explore, positions, numbers = page("explore"), page("positions"), page("numbers")
    read = page("explore", lens="excess")
    grid, large = header(read, "head_grid"), header(read, "head_view")
    (lenses,) = AppTest.from_function(lens_list).run().selectbox
    (of,) = (group for group in numbers.button_group if group.label == "Of")
    of.set_value("layers").run()
    chosen = numbers.session_state["session"].screen
    of_edit = edited()
    of_numbers = [said(page("numbers")), said(numbers), said(page("numbers", **spell(chosen)))]
    (views,) = (group for group in positions.button_group if group.label == "View")
    views.set_value("encoding_sizes").run()
    assert not positions.exception, positions.exception
    on_wall = ON_WALL | {"text": "3 7 2 9"}
    sizes = [tables(page("sizes")), tables(page("sizes", **on_wall)), saved("sizes")]
    words = [lines(page("biggest")), lines(page("biggest", **on_wall)), saved("biggest")]
    view = "encoding_sizes"
    of_chart = [
        images(page("positions", view=view, **on_wall)),
        saved("positions", f"&view={view}"),
    ]
    of_study, of_edits = studied(), edited_elsewhere()
    os.environ["HEADSCOPE_CHECKPOINTS"] = "new/families"  # where the new family's checkpoint is
    (decoding,) = (box for box in page("explore").selectbox if box.label == "Decoding")
    facts = {
        "family": decoding.value,
        "titles": titles,
        "numbers": of_numbers,
        "edit": of_edit,
        "address": [spell(chosen), spell(choose(chosen, checkpoint="other"))],
        "unread": unread({"numbers_of": "layers"}) + unread({"numbers_of": "heads"}),
        "table": sizes,
        "words": words,
        "chart": of_chart,
        "study": of_study,
        "edit elsewhere": of_edits,
        "lens": [lenses.options, lenses.value, grid["lens"]["title"], large["lens"]["title"]],
        "metrics": [metric["title"] for metric in grid["metrics"]],
        "explore": [alts(explore), said(explore)],
        "views": views.options,
        "positions": [alts(positions), said(positions)],
        "decoding": [box.options for box in explore.selectbox if box.label == "Decoding"],
    }
    print(json.dumps(facts))
