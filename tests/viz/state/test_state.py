"""Widgets show what the Screen says, and only choose on it; what else a session keeps."""

import ast
from dataclasses import dataclass, field
from pathlib import Path

from streamlit.testing.v1 import AppTest

from viz.screen import Screen
from viz.state.state import Session

ROOT = Path(__file__).parents[3]


def script() -> None:
    import streamlit as st

    from viz.state.state import bound, bound_entry, change, session

    layer = session().screen.layer or 0
    st.selectbox("Layer", range(3), layer, **bound("layer", layer, 0))
    seed = int(dict(session().screen.options).get("seed", 4))
    st.number_input("Seed", 0, 9, seed, **bound_entry("options", "seed", seed, 4))
    st.button("grid", on_click=lambda: change(layer=2))


def screen(app: AppTest) -> Screen:
    return app.session_state["session"].screen


def test_a_widget_chooses_and_its_usual_value_is_the_default() -> None:
    app = AppTest.from_function(script).run()
    app.selectbox[0].set_value(1).run()
    app.number_input[0].set_value(7).run()
    assert screen(app) == Screen(layer=1, options=(("seed", 7),))
    app.selectbox[0].set_value(0).run()
    app.number_input[0].set_value(4).run()
    assert screen(app) == Screen()


def test_a_widget_follows_what_is_chosen_elsewhere() -> None:
    app = AppTest.from_function(script).run()
    app.button[0].click().run()
    assert app.selectbox[0].value == 2
    app.selectbox[0].set_value(1).run()
    assert screen(app).layer == 1


def test_what_a_busy_browser_says_of_the_old_widget_is_not_a_choice() -> None:
    app = AppTest.from_function(script).run()
    old = app.selectbox[0].id
    app.button[0].click().run()
    assert app.selectbox[0].id != old


@dataclass
class Remembered:
    """What a module keeps for a person."""

    words: list[str] = field(default_factory=list)


def test_a_module_keeps_something_of_its_own_for_each_person() -> None:
    one, other = Session(), Session()
    one.of(Remembered).words.append("rain")
    assert one.of(Remembered).words == ["rain"]
    assert other.of(Remembered).words == []


def literal_keys(tree: ast.Module) -> set[str]:
    """The texts under which a file reads or writes st.session_state."""
    found = set()
    for node in ast.walk(tree):
        parts: list[ast.expr] = []
        if isinstance(node, ast.Subscript) and ast.unparse(node.value) == "st.session_state":
            parts = [node.slice]
        elif isinstance(node, ast.Compare) and "st.session_state" in map(
            ast.unparse, node.comparators
        ):
            parts = [node.left]
        elif isinstance(node, ast.Call) and ast.unparse(node.func).startswith("st.session_state."):
            parts = node.args[:1]
        found |= {each.value for each in parts if isinstance(each, ast.Constant)}
    return {str(key) for key in found}


def test_what_is_kept_beside_widgets_is_listed_in_one_place() -> None:
    for file in (*(ROOT / "viz").rglob("*.py"), ROOT / "app.py"):
        source = file.read_text("utf-8")
        if "st.session_state" in source:
            keys = literal_keys(ast.parse(source))
            assert not [key for key in keys if f'key="{key}"' not in source], file
