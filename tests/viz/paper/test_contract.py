"""What every kind of picture keeps as a file: bytes, numbers, and text that stays text."""

import csv
import io
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from pypdf import PdfReader

from tests.representatives import thorough
from tests.viz.places import PLACES
from transformer.extras import EXTRAS
from transformer.token import Token
from transformer.tokenizer import NumberTokenizer
from viz.__main__ import main
from viz.exhibits.exhibit import Exhibit, PictureAt
from viz.figure_at import page_of
from viz.paper.figure import COLUMN, PAGE, rows
from viz.paper.record import address_of
from viz.paper.sheet import Box, Words
from viz.ui.saving import figure_of

ROOT = Path(__file__).parents[3]
SVG = "{http://www.w3.org/2000/svg}"
NASTY = ("<script>", '"onload=', "]]>", "=1+1", "%s", "a\0b", "a\u202eb", "@x", "&lt;", "--", "\tx")
SEEN = {"<script>", '"onload=', "]]>", "=1+1", "%s", "aU+0000b", "aU+202Eb", "@x", "&lt;", "--"}
"""How they are shown: what hides or reorders text by its number."""
LIKE_ANOTHER = {
    *("sequential", "longest_path", "validation-scores", "ov"),
    *("mask-#-padding", "mask-#-subsequent"),
    *("encoding_shift", "encoding_similarity", "token_vectors"),
}
"""Pictures that are drawn as another one of their page, of other numbers."""
EVERY = 4
"""Files of each so many-eth are made twice: all are written by the same writers."""
FEW = {
    "each component of its own": (
        *("head_map", "head_grid", "cell_steps", "head_view", "search_tree", "decode_player"),
        "snapshot_player",
    ),
    "words": ("output", "verdict"),
    "tables": ("why", "patches"),
    "a table, with bars, links and intervals": ("sweep", "heads", "answers"),
    "charts of cells, curves, bars, points and states": (
        *("encoding_heatmap", "learning-rate", "histogram", "map_encoder_self", "mask-#-combined"),
    ),
}
"""What writers meet. Other kinds are of the same marks, whose numbers are looked at in all."""
TWICE = ("explore", "decode", "sweep")
"""Pages of which `make test` makes the figures twice."""
FIRST = "./why_attention?checkpoint=copy&text=2"
"""Of a text that nothing else reads: the command is heard before tokens have other names."""
ELSEWHERE = f"""
import sys
sys.modules.update(dict.fromkeys({EXTRAS["app"]}))
from pathlib import Path
from viz.__main__ import main
folder, pages, kinds = Path(sys.argv[1]), *(each.split() for each in sys.argv[2:])
main(["figure", {FIRST!r}, "--out", str(folder / "first.svg")])
from tests.viz.paper import test_contract
test_contract.NumberTokenizer.token = test_contract.nasty_token
test_contract.save_all(folder, pages, kinds, kinds)
"""
NUMBER = re.compile(r"-?\d+(\.\d+)?(e[+-]\d+)?|-?inf|nan")
SAID = re.compile(r"([+−]?[\d,]+(\.\d+)?)( %)?")


def nasty_token(self: NumberTokenizer, id: int) -> Token:
    return Token(id, NASTY[id % len(NASTY)], special=id < 2)


def kind_of(shown: Exhibit, name: str) -> str:
    if isinstance(shown.content, PictureAt):
        return shown.content.picture.component.name
    return re.sub(r"\d", "#", name)


def every_kind(pages: Sequence[str] = tuple(PLACES)) -> dict[str, tuple[str, str, Exhibit, Any]]:
    """By its kind, the first picture of it: address, name, what is shown, and of which pane."""
    return _every_kind(tuple(pages))


@cache
def _every_kind(pages: tuple[str, ...]) -> dict[str, tuple[str, str, Exhibit, Any]]:
    found: dict[str, tuple[str, str, Exhibit, Any]] = {}
    for page in pages:
        for query in PLACES[page]:
            address = f"./{page}?checkpoint=copy&{query}"
            pane, figures = page_of(address_of(address))
            for name, shown in figures.items():
                if (kind := kind_of(shown, name)) not in LIKE_ANOTHER:
                    found.setdefault(kind, (address, name, shown, pane))
    return found


def save_all(
    folder: Path, pages: Sequence[str], in_crates: Collection[str], in_pngs: Collection[str]
) -> None:
    """By the command, crates and PNGs of these kinds; and the marks of all kinds as text."""
    for kind, (address, name, shown, pane) in every_kind(pages).items():
        sheet = figure_of(pane, shown, name=name).sheet(PAGE)
        (folder / f"{kind}.txt").write_text(repr(sheet.marks), "utf-8")
        for ending, kinds in {"zip": in_crates, "png": in_pngs}.items():
            if kind in kinds:
                out = str(folder / f"{kind}.{ending}")
                assert main(["figure", address, "--picture", name, "--out", out]) == 0


@pytest.fixture(scope="module", params=["few", thorough("all")])
def kinds(request: pytest.FixtureRequest) -> tuple[str, ...]:
    """Whose files are made."""
    few = tuple(kind for each in FEW.values() for kind in each)
    return few if request.param == "few" else tuple(every_kind())


@pytest.fixture(scope="module")
def pages(kinds: tuple[str, ...]) -> tuple[str, ...]:
    """Of which files are made twice."""
    return tuple(PLACES) if len(kinds) == len(every_kind()) else TWICE


@pytest.fixture(scope="module")
def twice(kinds: tuple[str, ...], pages: tuple[str, ...]) -> tuple[str, ...]:
    """The kinds of which crates and PNGs are made twice."""
    here = every_kind(pages)
    return tuple(kind for kind in kinds if kind in here)[::EVERY]


@pytest.fixture(scope="module", autouse=True)
def other_names(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Of the tokens of a copy of the shipped checkpoint."""
    checkpoints = tmp_path_factory.mktemp("all")
    shutil.copytree(ROOT / "checkpoints" / "copy", checkpoints / "copy")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEADSCOPE_CHECKPOINTS", str(checkpoints))
        patch.setenv("SOURCE_DATE_EPOCH", "0")
        patch.setattr(NumberTokenizer, "token", nasty_token)
        yield


@pytest.fixture(scope="module")
def saved(
    tmp_path_factory: pytest.TempPathFactory, kinds: tuple[str, ...], twice: tuple[str, ...]
) -> Path:
    """The files."""
    folder = tmp_path_factory.mktemp("saved")
    save_all(folder, tuple(PLACES), kinds, twice)
    assert main(["figure", FIRST, "--out", str(folder / "first.svg")]) == 0
    return folder


def crates(saved: Path) -> Iterator[tuple[str, dict[str, bytes]]]:
    for file in sorted(saved.glob("*.zip")):
        with zipfile.ZipFile(file) as archive:
            yield file.stem, {name: archive.read(name) for name in archive.namelist()}


@pytest.mark.thorough
def test_another_process_says_only_captions_and_makes_the_same_bytes(
    saved: Path, pages: tuple[str, ...], twice: tuple[str, ...], tmp_path: Path
) -> None:
    """Later, with another order of sets, elsewhere on earth, and without what draws pages."""
    more = {"PYTHONHASHSEED": "7", "TZ": "Pacific/Apia"}
    look: Any = {"env": os.environ | more, "cwd": ROOT, "check": False}
    said = " ".join(pages), " ".join(twice)
    command = [sys.executable, "-c", ELSEWHERE, str(tmp_path), *said]
    done = subprocess.run(command, capture_output=True, text=True, **look)
    assert (done.returncode, done.stderr) == (0, "")
    names = {file.name for file in tmp_path.iterdir()}
    assert not [it for it in names if (saved / it).read_bytes() != (tmp_path / it).read_bytes()]
    assert {it for it in names if it.endswith(".txt")} == {
        f"{kind}.txt" for kind in every_kind(pages)
    }
    files = [it for it in names if not it.endswith(".txt")]
    assert len(files) == 1 + 2 * len(twice) > 6 and done.stdout.count("\n") == len(files)


def test_svg_runs_and_fetches_nothing_whatever_tokens_say(saved: Path) -> None:
    said: set[str | None] = set()
    for kind, held in crates(saved):
        content = held["figure.svg"]
        tree = ElementTree.fromstring(content)
        tags = {node.tag.removeprefix(SVG) for node in tree.iter()}
        known = {"svg", "title", "desc", "metadata", "style", "rect", "g", "path", "text"}
        assert tags <= known, kind
        names = {name for node in tree.iter() for name in node.attrib}
        assert not [name for name in names if name.startswith("on") or "href" in name], kind
        assert b"<!" not in content and content.count(b"<?") == 1, kind
        sources = re.findall(rb"(?:url\(|@import)([^)]{0,30})", content)
        assert all(it.startswith(b"data:font/ttf;base64,") for it in sources), kind
        assert not re.search("[\0\u202e]", content.decode()), kind
        said |= {node.text for node in tree.iter(f"{SVG}text")}
    assert said >= SEEN


def test_pdf_runs_nothing_embeds_its_typefaces_and_has_no_type_3(saved: Path) -> None:
    said = ""
    for kind, held in crates(saved):
        content = held["figure.pdf"]
        active = (b"/JavaScript", b"/JS", b"/AA", b"/OpenAction", b"/URI", b"/Launch", b"/Type3")
        assert not [name for name in active if name in content], kind
        (page,) = PdfReader(io.BytesIO(content)).pages
        fonts = [font.get_object() for font in page["/Resources"]["/Font"].values()]
        inner = [it.get_object() for font in fonts for it in font.get("/DescendantFonts", [font])]
        assert inner and all("/FontFile2" in it["/FontDescriptor"] for it in inner), kind
        said += page.extract_text()
    assert not [word for word in SEEN if word not in said] and "\u202e" not in said


def test_a_table_computes_nothing_and_has_the_numbers_of_its_figure(saved: Path) -> None:
    texts = set()
    for kind, held in crates(saved):
        _, name, shown, pane = every_kind()[kind]
        figure = figure_of(pane, shown, name=name)
        numbers = figure.rows() if figure.rows else rows(figure.sheet(figure.width), figure.maps())
        drawn = [it for row in numbers for it in row.values()]
        _, *table = csv.reader(io.StringIO(held["numbers.csv"].decode(), newline=""))
        cells = [cell for row in table for cell in row if cell]
        assert not [it for it in cells if re.match(r"[=+@\t\r]|-(?!\d|inf)", it)], kind
        texts |= set(cells)
        said = [float(it) for it in cells if NUMBER.fullmatch(it) and it != "nan"]
        known = [float(it) for it in drawn if NUMBER.fullmatch(str(it)) and str(it) != "nan"]
        assert sorted(said) == pytest.approx(sorted(known), rel=1e-6), kind
    assert {"'=1+1", "'@x", "'--", "<script>"} <= texts


def test_numbers_that_are_written_are_those_of_the_table() -> None:
    """What stands in a cell, or beside a bar, is its number to the digits that are shown."""
    n = dict.fromkeys(every_kind(), 0)
    for kind, (_, name, shown, pane) in every_kind().items():
        for width in (COLUMN, PAGE):
            marks = figure_of(pane, shown, name=name).sheet(width).marks
            boxes = [mark for mark in marks if isinstance(mark, Box) and value_of(mark) is not None]
            for words in (mark for mark in marks if isinstance(mark, Words)):
                around = [box for box in boxes if is_within(words, box)]
                value = value_of(words)
                if value is None and around:
                    value = value_of(min(around, key=lambda box: box.width * box.height))
                if value is not None and (found := SAID.fullmatch(words.text)):
                    number = float(found[1].replace("−", "-").replace(",", ""))
                    digits = len((found[2] or ".")[1:])
                    apart = abs(number - (100 if found[3] else 1) * value)
                    assert apart <= 0.5001 * 10**-digits, (kind, words.text, value)
                    n[kind] += 1
    written = ("sweep", "pairs", "patches", "position-dependence", "score", "cell_steps")
    assert all(n[kind] for kind in written), n


def value_of(mark: Box | Words) -> float | None:
    """The one number with decimals that a mark stands for."""
    found = [it for it in mark.facts.values() if isinstance(it, float)]
    return found[0] if len(found) == 1 else None


def is_within(words: Words, box: Box) -> bool:
    x = words.x + {"start": 1, "middle": 0, "end": -1}[words.anchor]
    return 0 <= x - box.x <= box.width and 0 <= words.y - box.y <= box.height
