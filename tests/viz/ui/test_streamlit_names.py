"""Names of Streamlit's own elements that our styles and scripts use are in the installed version.

A name that is gone changes nothing but looks: what was hidden shows, what was moved stands still.
"""

import re
from pathlib import Path

from streamlit.file_util import get_static_dir

ROOT = Path(__file__).parents[3]
OURS = [ROOT / "app.py", *(ROOT / "viz").rglob("*.*")]
LEANING = (".py", ".js", ".css", ".html")
NAME = re.compile(r"\bst[A-Z]\w+|\bInputInstructions\b|\bmodebar(?:-\w+)*")
"""A class or a test id of Streamlit's, or a class of Plotly's, which Streamlit ships."""
BEGINNING = re.compile(r"`(st[A-Z]\w+)\$\{")
"""The first part of a name whose end their code adds, as the kind of an alert."""
HIDDEN = "stSkillsNudge"


def names_that_we_use() -> dict[str, list[str]]:
    """Each with the files that have it."""
    files: dict[str, list[str]] = {}
    for file in sorted(OURS):
        if file.suffix in LEANING:
            for name in sorted(set(NAME.findall(file.read_text("utf-8")))):
                files.setdefault(name, []).append(file.relative_to(ROOT).as_posix())
    return files


def names_in_streamlit() -> tuple[set[str], set[str]]:
    """Whole names, and beginnings of names."""
    code = [file.read_text("utf-8") for file in sorted(Path(get_static_dir()).rglob("*.js"))]
    whole = {name for text in code for name in NAME.findall(text)}
    return whole, {name for text in code for name in BEGINNING.findall(text)}


def test_streamlit_has_every_name_that_we_lean_on() -> None:
    used, (whole, beginnings) = names_that_we_use(), names_in_streamlit()
    assert HIDDEN in used and len(used) > 50
    lacking = {
        name: files
        for name, files in used.items()
        if name not in whole and not any(name.startswith(each) for each in beginnings)
    }
    assert not lacking, "not in the installed Streamlit any more"
