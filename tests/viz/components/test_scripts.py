"""What browser files compute without a page, tested in Node; and the linter's verdict on them."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.node import node
from transformer.files.tensor_files import MOST_FILES
from viz.components.head_map.head_map import MAX_REGION
from viz.components.kit.picture import FULL, MASKED
from viz.lessons.task import FLOOR
from viz.state.preview_route import AGAIN

FOLDER = Path(__file__).parent / "scripts"
COMPONENTS = Path(__file__).parents[3] / "viz" / "components"


def test_scripts_compute_what_they_should() -> None:
    files = sorted(str(file) for file in FOLDER.glob("*.test.mjs"))
    done = subprocess.run([node(), "--test", *files], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert files


@pytest.mark.parametrize(
    ("file", "name", "value"),
    [
        ("kit/shade.js", "MASKED", MASKED),
        ("kit/shade.js", "FULL", FULL),
        ("head_map/values.js", "LARGEST_REGION", MAX_REGION),
        ("token_rows/asking.js", "AGAIN", AGAIN),
        ("question/points.js", "FLOOR", FLOOR),
        ("figure_drop/crate.js", "MOST_FILES", MOST_FILES),
    ],
)
def test_numbers_that_python_also_keeps_are_the_same(file: str, name: str, value: float) -> None:
    (found,) = re.findall(rf"const {name} = ([\d.]+);", (COMPONENTS / file).read_text("utf-8"))
    assert float(found) == value


def test_no_script_sets_a_handler_that_browsers_have_not() -> None:
    """An element has no `onfocusin`: what is set there is never called; listeners are."""
    wrong = re.compile(r"\bonfocus(in|out)\b")
    for file in COMPONENTS.rglob("*.js"):
        assert not wrong.search(file.read_text("utf-8")), file.name


def test_a_style_meets_what_the_kit_draws_only_below_a_class_of_its_own() -> None:
    """In one page's part live the kit's elements too: a bare `.below` moved those of a sentence."""
    kit = COMPONENTS / "kit"
    made = re.compile(r'element\("\w+", "([^"]+)"')
    drawn = {
        name
        for file in kit.rglob("*.js")
        for names in made.findall(file.read_text("utf-8"))
        for name in names.split()
    }
    assert {"sentence", "controls"} <= drawn
    for file in set(COMPONENTS.rglob("*.css")) - set(kit.rglob("*.css")):
        rules = re.sub(r"/\*.*?\*/", "", file.read_text("utf-8"), flags=re.DOTALL)
        selectors = re.findall(r"(?:^|[{},])\s*\.([\w-]+)(?::[^,{]*)?(?=\s*[,{])", rules)
        assert not drawn & set(selectors), file
