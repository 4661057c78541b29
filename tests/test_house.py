"""The count of the house is right on one that is counted by hand."""

from tests.house import House, as_table, room_of, rooms, table

FILES = {
    "app.py": "from viz.pages import one\n",
    "viz/pages/one.py": (
        "# Why.\n"
        "from viz.labels import name\n"
        "\n"
        "\n"
        "def draw() -> str:\n"
        "    return _twice(name())\n"
        "\n"
        "\n"
        "def _twice(text: str) -> str:\n"
        "    return text + text\n"
    ),
    "viz/labels.py": (
        "from transformer.token import PIECE\n\n\ndef name() -> str:\n    return PIECE\n"
    ),
    "viz/components/grid/index.js": "one;\ntwo;\n",
    "transformer/token.py": 'PIECE = "a"\n',
    "transformer/__init__.py": "from transformer.token import PIECE\n",
}


def test_a_small_house_is_counted() -> None:
    figures = House(FILES).figures
    assert (figures["files"], figures["files of Python"]) == (6, 5)
    assert (figures["lines"], figures["lines of Python"]) == (20, 18)
    assert figures["median file of Python"] == 1
    assert (figures["lines of imports"], figures["lines of comments"]) == (4, 1)
    assert (figures["functions"], figures["functions of modules that are named once"]) == (3, 2)
    assert figures["files with one public definition"] == 2
    assert (figures["floors of viz"], figures["floors of transformer"]) == (2, 1)


def test_rooms_have_their_lines_and_files() -> None:
    assert room_of("viz/components/grid/index.js") == "viz/components"
    assert rooms(FILES) == {
        "app.py": (1, 1),
        "transformer": (2, 2),
        "viz": (5, 1),
        "viz/components": (2, 1),
        "viz/pages": (10, 1),
    }
    assert '"viz/pages": (10, 1),' in as_table(rooms(FILES))


def test_two_houses_stand_beside_each_other() -> None:
    text = table(
        {"before": House(FILES), "now": House({"app.py": "def main() -> None:\n    pass\n"})}
    )
    assert "| files | 6 | 1 |" in text and "| viz/pages | 10 in 1 | 0 in 0 |" in text
