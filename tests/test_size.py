"""The weight of the repository, and of its first page."""

import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TREE, WEIGHTS, ANY_OTHER, PNG = 130 * 10**6, 50 * 10**6, 20 * 10**6, 300_000
"""The most bytes: of all files together, of a file of weights, of any other, of a picture."""
README_LINES = 110


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
    assert 10**6 < sum(files().values()) <= TREE


def test_no_file_is_heavy() -> None:
    for path, size in files().items():
        most = WEIGHTS if path.suffix == ".safetensors" else ANY_OTHER
        most = PNG if path.suffix == ".png" else most
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
