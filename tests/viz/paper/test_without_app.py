"""Figures of every page with the extra `paper` alone: what draws pages cannot be imported."""

import json
import subprocess
import sys
from pathlib import Path

from tests.golden.checkpoints import make_checkpoints
from tests.golden.places import MORE
from tests.golden.surveys import make_surveys
from tests.viz.places import PLACES
from transformer.extras import EXTRAS
from viz.paper.record import address_of
from viz.screen import link
from viz.state.checkpoints import shipped_names
from viz.stories.shipped import stories_of

ROOT = Path(__file__).parents[3]
BLOCKED = (*EXTRAS["app"], "starlette", "tornado", "altair", "pyarrow")
"""Each absent from Python that has only `pip install ".[paper]"`."""
FIGURES = """
import json, os, sys
sys.modules.update(dict.fromkeys(sys.argv[1].split()))
from viz.figure_at import page_of
from viz.paper.figure import COLUMN
from viz.paper.record import address_of
from viz.ui.printing import figure_of

sizes = {}
for folder, address in json.load(sys.stdin):
    os.environ["HEADSCOPE_CHECKPOINTS"] = folder
    pane, figures = page_of(address_of(address))
    made = {name: figure_of(pane, each, name=name) for name, each in figures.items()}
    sizes[address] = [len(each.sheet(COLUMN).marks) for each in made.values()]
    assert all(each.table("csv", COLUMN) for each in made.values()), address
for kind, start in {"svg": b"<?xml", "pdf": b"%PDF-"}.items():
    assert all(each.file(kind, COLUMN).startswith(start) for each in made.values())
print(json.dumps(sizes))
"""
PARQUET = """
import sys

class Absent:  # pyarrow takes a module that is None for one
    def find_spec(name, path, target=None):
        if name in sys.argv[1].split():
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Absent)
from viz.paper.table import table

assert table([{"weight": 0.5}], "parquet").startswith(b"PAR1")
"""


def of_pages() -> list[str]:
    """Addresses that show, together, everything that pages draw."""
    return [
        f"./{page}?checkpoint=copy&{query}" for page, queries in PLACES.items() for query in queries
    ]


def of_the_gallery() -> list[str]:
    return [link(scene.screen) for story in stories_of("gallery") for scene in story.scenes]


def of_further_choices() -> list[str]:
    """Other families, second checkpoints, other methods, and texts that are written otherwise."""
    every = [f"./{page}?{query}" for page, queries in MORE.items() for query in queries]
    names = [*shipped_names(), None]
    here = [each for each in every if address_of(each).checkpoint in names]
    assert len(here) > 20
    return [*here, "./compare?text=It+rains.&method_b=greedy"]


def test_paper_alone_draws_every_address(tmp_path: Path) -> None:
    """Those of the gallery of the shipped weights, all others of small ones of the same names."""
    make_checkpoints(tmp_path)
    make_surveys(tmp_path)
    small, gallery = [*of_pages(), *of_further_choices()], of_the_gallery()
    places = [*((str(tmp_path), each) for each in small)]
    places += [(str(ROOT / "checkpoints"), each) for each in gallery]
    done = subprocess.run(
        (sys.executable, "-c", FIGURES, " ".join(BLOCKED)),
        cwd=ROOT,
        input=json.dumps(places),
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    sizes = json.loads(done.stdout)
    assert list(sizes) == [*small, *gallery] and all(map(all, sizes.values()))


def test_a_parquet_needs_its_own_extra_alone() -> None:
    command = (sys.executable, "-c", PARQUET, " ".join(EXTRAS["app"]))
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
