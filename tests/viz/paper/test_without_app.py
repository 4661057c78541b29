"""What needs no app: figures with the extra `paper`, a picture in a script, tables as files."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.golden.checkpoints import make_checkpoints
from tests.golden.places import MORE
from tests.golden.surveys import make_surveys
from tests.representatives import thorough
from tests.viz.places import PLACES
from transformer.extras import EXTRAS
from viz.paper.record import address_of
from viz.screen import link
from viz.state.checkpoints import shipped_names
from viz.stories.reading import stories_of

ROOT = Path(__file__).parents[3]
BLOCKED = (*EXTRAS["app"], "starlette", "tornado", "altair", "pyarrow")
"""Each absent from Python that has only `pip install ".[paper]"`."""
FIGURES = """
import json, os, sys
sys.modules.update(dict.fromkeys(sys.argv[1].split()))
from viz.figure_at import page_of
from viz.paper.figure import COLUMN
from viz.paper.record import address_of
from viz.ui.saving import figure_of

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
ALONE = """
import json, sys, warnings

class Absent:  # pyarrow takes a module that is None for one
    def find_spec(name, path, target=None):
        if name in sys.argv[1].split():
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Absent)
warnings.simplefilter("error")
import torch
from transformer import record
from viz import head_view

model = torch.nn.TransformerEncoderLayer(8, 2).eval()
picture = str(head_view(record(model, torch.randn(3, 1, 8), list("abc"))))

from transformer.discover import discover
import viz.figure_at, viz.ui.saving

discover("viz.pages", "PAGE")
imported = [name for name in ("matplotlib", "fontTools") if name in sys.modules]

warnings.resetwarnings()
from viz.paper.figure import table

parquet = table([{"weight": 0.5}], "parquet")[:4].decode()
print(json.dumps({"picture": picture, "imported": imported, "parquet": parquet}))
"""
"""In one process, as it takes longer to begin than all of this does."""


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


@pytest.mark.thorough
@pytest.mark.parametrize("every", [False, thorough(True)])
def test_paper_alone_draws_every_address(every: bool, tmp_path: Path) -> None:
    """Those of the gallery of the shipped weights, all others of small ones of the same names.

    Together they enter every part of every page; further choices lead to the same parts.
    """
    make_checkpoints(tmp_path)
    make_surveys(tmp_path)
    small = [*of_pages(), *(of_further_choices() if every else ())]
    gallery = of_the_gallery()[:: 1 if every else 12]
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


@pytest.fixture(scope="module")
def alone() -> dict[str, object]:
    """What a script says that hears no warning."""
    command = (sys.executable, "-c", ALONE, " ".join(EXTRAS["app"]))
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    said: dict[str, object] = json.loads(done.stdout)
    return said


def test_a_parquet_needs_its_own_extra_alone(alone: dict[str, object]) -> None:
    assert alone["parquet"] == "PAR1"


def test_a_script_needs_no_server_and_hears_no_warning(alone: dict[str, object]) -> None:
    assert alone["picture"] == "Picture(title='Encoder self-attention, L0', height=None)"


def test_matplotlib_is_imported_only_for_a_figure(alone: dict[str, object]) -> None:
    assert alone["imported"] == []
