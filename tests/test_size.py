"""The weight of the repository, and of its first page."""

import re
import subprocess
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from tests.house import product, rooms

ROOT = Path(__file__).parents[1]
TREE = 131 * 10**6
"""The most bytes of all files together: whoever clones it waits for them, and nothing else is
fetched before the app runs. In November 2026 it weighs 128 MB, of which 114 are checkpoints:
snapshots of trainings 50, `en-de` 30, `en-de-1` 18, all others 17; golden files are 3, pictures 2.
Where it is reached, a new checkpoint takes the place of an old one. The last snapshot of a training
is the same file as its weights, and `list_snapshots` does without: that is 4 MB. Code is 5 MB: it
never is the reason."""
WEIGHTS = 50 * 10**6
"""The most bytes of a file of weights: hosts of repositories warn above it. A larger model comes
from a folder of its owner's, or from Hugging Face's hub."""
PICTURE, ANY_OTHER = 500_000, 10**6
"""The most bytes of a picture, which a page of documents shows among others, and of any other file:
what is larger is data that a command can make, or fetch."""
PICTURES = (".png", ".webp", ".jpg", ".gif", ".svg")
README_LINES = 110
"""A page that one scrolls once: what it is, how it starts, what it does, how it stands beside
others, which models there are. More goes to a file of docs/, and a link to it stays."""
NAMED = 8
"""The heaviest folders that are named where the tree is too heavy."""

ROOMS = {
    "app.py": (54, 1),
    "transformer": (3_549, 25),
    "transformer/analysis": (5_623, 20),
    "transformer/causes": (3_630, 12),
    "transformer/commands": (2_021, 11),
    "transformer/corpus": (5_212, 22),
    "transformer/decoding": (3_489, 17),
    "transformer/editing": (1_047, 6),
    "transformer/edits": (824, 6),
    "transformer/engines": (716, 4),
    "transformer/files": (1_972, 10),
    "transformer/formats": (4_381, 21),
    "transformer/hugging_face": (5_251, 27),
    "transformer/inspection": (1_217, 5),
    "transformer/layers": (717, 5),
    "transformer/models": (447, 6),
    "transformer/own_module": (863, 4),
    "transformer/positions": (802, 4),
    "transformer/recording": (3_732, 15),
    "transformer/training": (4_809, 25),
    "transformer/two_models": (684, 3),
    "transformer/watch": (8_343, 31),
    "viz": (3_336, 20),
    "viz/causes": (2_267, 10),
    "viz/commands": (536, 4),
    "viz/components": (17_081, 184),
    "viz/exhibits": (823, 4),
    "viz/figures": (2_509, 13),
    "viz/lessons": (3_371, 18),
    "viz/live": (10_806, 86),
    "viz/notebook": (2_286, 15),
    "viz/pages": (9_487, 39),
    "viz/painters": (2_514, 10),
    "viz/paper": (3_522, 18),
    "viz/run": (3_077, 13),
    "viz/server": (2_379, 16),
    "viz/state": (2_985, 15),
    "viz/stories": (793, 4),
    "viz/talks": (1_871, 8),
    "viz/ui": (5_105, 21),
    "viz/views": (1_510, 7),
}
"""Lines and files of each room, of Python and JavaScript: the brake. Lines are a cost, and a house
is ground fine as easily as it grows. Who raises a number changes this table in the same commit, by
`python -m tests.house --write`, and says why in its body."""
FILES, MEDIAN = 548, 150
"""The most files of Python of the product, and the least lines of the median one: one function a
file made 1,028 files of 73 lines, of which nobody could see how they hang together."""
SLACK = 0.02
"""The share by which a room may have shrunk without saying so: beyond, its number follows it down,
or others would fill the place that somebody has cleared."""


@cache
def files() -> dict[Path, int]:
    """All files under version control, or where there is none those that it would take; sizes."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    if listed.returncode:
        pytest.skip("not a checkout of git's")
    paths = [ROOT / name for name in listed.stdout.decode().split("\0") if name]
    return {path: path.stat().st_size for path in paths if path.is_file()}


def test_the_tree_is_light() -> None:
    weights: Counter[str] = Counter()
    for path, size in files().items():
        weights["/".join(path.relative_to(ROOT).parts[:-1][:3])] += size
    heaviest = ", ".join(f"{n / 10**6:.1f} MB {name}" for name, n in weights.most_common(NAMED))
    assert 10**6 < weights.total() <= TREE, heaviest


def test_no_file_is_heavy() -> None:
    for path, size in files().items():
        most = WEIGHTS if path.suffix == ".safetensors" else ANY_OTHER
        most = PICTURE if path.suffix in PICTURES else most
        assert size <= most, path.relative_to(ROOT)


def test_the_readme_is_read_in_one_go() -> None:
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= README_LINES


def test_the_readme_states_what_each_checkpoint_weighs() -> None:
    """Of the files of weights, in MB: the snapshots of a training weigh as much each."""
    readme = (ROOT / "README.md").read_text("utf-8")
    rows = re.findall(r"^\| (`[^|]+`) \| .+ \| ([\d.]+) MB(?: each)? \|$", readme, re.M)
    stated = {name: float(size) for names, size in rows for name in re.findall("`(.+?)`", names)}
    weights = ROOT.glob("checkpoints/*/model.safetensors")
    sizes = {file.parent.name: file.stat().st_size / 10**6 for file in weights}
    assert set(stated) == set(sizes)
    for name, size in sizes.items():
        n_digits = 0 if size >= 0.5 else 1
        assert stated[name] == round(size, n_digits), name
    (shipped,) = re.findall(r"model of (\d+) MB is in the\nrepository", readme)
    assert float(shipped) == stated["en-de"]


def test_no_room_grows_unsaid() -> None:
    assert set(rooms(product())) == set(ROOMS)
    for room, (lines, n) in rooms(product()).items():
        most_lines, most_files = ROOMS[room]
        assert (lines <= most_lines, n <= most_files) == (True, True), (room, lines, n)
        assert lines >= (1 - SLACK) * most_lines - 10, f"{room} has {lines} lines: write it down"
        assert n >= (1 - SLACK) * most_files - 1, f"{room} has {n} files: write it down"


def test_a_file_is_read_in_one_sitting() -> None:
    texts = [text for name, text in product().items() if name.endswith(".py")]
    lengths = sorted(text.count("\n") for text in texts)
    assert len(texts) <= FILES and lengths[len(texts) // 2] >= MEDIAN
