"""Letters that DejaVu Sans lacks: from a typeface of this machine, or of a name, or said."""

import io
import re
from base64 import b64decode
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.t2CharStringPen import T2CharStringPen
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.ttLib import TTCollection, TTFont
from pypdf import PdfReader

from transformer.recording import Recording
from viz import head_map
from viz.paper import typefaces
from viz.paper.figure import Figure
from viz.paper.record import FigureError, Record
from viz.paper.sheet import Sheet, Words, width_of

WORDS = ("注意力", "Straße", "السلام")
EM = 1000


def a_font(family: str, letters: str, wide: int = EM, is_cubic: bool = False) -> TTFont:
    """A typeface whose letters are squares."""
    names = [".notdef", *(f"u{ord(c):04X}" for c in letters)]
    builder = FontBuilder(EM, isTTF=not is_cubic)
    builder.setupGlyphOrder(names)
    builder.setupCharacterMap({ord(c): f"u{ord(c):04X}" for c in letters})
    shapes = {}
    for name in names:
        pen = T2CharStringPen(wide, None) if is_cubic else TTGlyphPen(None)
        for move, point in zip("mlll", ((0, 0), (0, 700), (700, 700), (700, 0)), strict=True):
            (pen.moveTo if move == "m" else pen.lineTo)(point)
        pen.closePath()
        shapes[name] = pen.getCharString() if is_cubic else pen.glyph()
    if is_cubic:
        builder.setupCFF(f"{family.replace(' ', '')}-Regular", {}, shapes, {})
    else:
        builder.setupGlyf(shapes)
    builder.setupHorizontalMetrics(dict.fromkeys(names, (wide, 0)))
    builder.setupHorizontalHeader(ascent=800, descent=-200)
    style = {"familyName": family, "styleName": "Regular"}
    builder.setupNameTable({**style, "psName": f"{family.replace(' ', '')}-Regular"})
    builder.setupOS2()
    builder.setupPost()
    return builder.font


def use(monkeypatch: pytest.MonkeyPatch, *files: Path) -> None:
    """Let these be the typefaces of the machine."""
    for cached in (typefaces._face_of, typefaces.named, typefaces.width_in_em):
        cached.cache_clear()
    monkeypatch.setattr(typefaces, "installed", lambda: files)


@pytest.fixture(autouse=True)
def _nothing_is_left() -> Iterator[None]:
    yield
    for cached in (typefaces._face_of, typefaces.named, typefaces.width_in_em):
        cached.cache_clear()


@pytest.fixture
def collection(tmp_path: Path) -> Path:
    """Of two typefaces with cubic outlines, as those of Chinese are kept."""
    both = TTCollection()
    both.fonts = [a_font(f"Han {it}", "注意力", is_cubic=True) for it in ("JP", "SC")]
    file = tmp_path / "Han.ttc"
    both.save(file)
    return file


def figure(*texts: str, font: str = "", is_bold: bool = False) -> Figure:
    """A figure of these words, a line each."""
    marks = [
        Words(0, 10 * (i + 1), it, 7, "#000000", is_bold=is_bold) for i, it in enumerate(texts)
    ]
    record = Record("explore", "", "", "", "", "", "a", "a")
    return Figure(lambda width: Sheet(width, 40, "#ffffff", tuple(marks)), record, font=font)


def faces_of_svg(content: bytes) -> dict[str, TTFont]:
    """Family -> what the file embeds of it."""
    found = re.findall(rb"font-family:'([^']+)';[^(]*\(data:font/ttf;base64,([^)]+)", content)
    return {family.decode(): TTFont(io.BytesIO(b64decode(it))) for family, it in found}


def test_letters_that_are_lacking_are_in_a_typeface_of_this_machine(
    monkeypatch: pytest.MonkeyPatch, collection: Path
) -> None:
    use(monkeypatch, collection)
    made = figure(*WORDS)
    embedded = faces_of_svg(made.file("svg"))
    codes = {family: {chr(it) for it in font.getBestCmap()} for family, font in embedded.items()}
    assert codes["Han SC"] == set("注意力") and "glyf" in embedded["Han SC"]
    assert codes["DejaVu Sans"] == set("Straßeالسلام")
    page = PdfReader(io.BytesIO(made.file("pdf"))).pages[0]
    assert page.extract_text().split() == list(WORDS)
    fonts = [it.get_object() for it in page["/Resources"]["/Font"].values()]
    assert {it["/BaseFont"].partition("+")[2] for it in fonts} >= {"HanSC-Regular", "DejaVuSans"}
    assert {it["/Subtype"] for it in fonts} <= {"/Type0", "/TrueType"}, "publishers refuse Type 3"
    assert made.lacks() == ""
    assert all(made.file(kind) == figure(*WORDS).file(kind) for kind in ("svg", "pdf", "png"))


def test_the_shapes_are_those_of_the_readers(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, collection: Path
) -> None:
    kana = tmp_path / "kana.ttf"
    a_font("Kana", "ひ").save(kana)
    use(monkeypatch, collection, kana)
    assert {"Han JP", "Kana"} <= set(faces_of_svg(figure("注意", "ひ").file("svg")))


@pytest.mark.parametrize("by", ["family", "file"])
def test_a_named_typeface_is_that_of_all_that_it_has(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, by: str
) -> None:
    file = tmp_path / "wide.ttf"
    a_font("Wide One", "Sta注意力", wide=2 * EM).save(file)
    use(monkeypatch, file)
    font = {"family": "wide one", "file": str(file)}[by]
    embedded = faces_of_svg(figure(*WORDS, font=font).file("svg"))
    assert set(map(chr, embedded["Wide One"].getBestCmap())) == set("Sta注意力")
    assert set(map(chr, embedded["DejaVu Sans"].getBestCmap())) == set("rßeالسلام")
    usual = width_of("Sa")
    with typefaces.typeface(font):
        assert width_of("Sa", 7) == 28 > usual
    assert width_of("Sa") == usual, "what is drawn next is in the usual one"
    bold = faces_of_svg(figure("Sa", font=font, is_bold=True).file("svg"))
    assert set(bold) == {"DejaVu Sans"}, "bold words stay bold where the typeface has no bold"


@pytest.mark.parametrize("font", ["No Such Family", "none.ttf"])
def test_a_name_of_no_typeface_is_refused(font: str) -> None:
    with pytest.raises(FigureError, match=re.escape(font)):
        figure("a", font=font).file("svg")


def test_letters_that_no_typeface_has_are_said_with_what_to_install(
    monkeypatch: pytest.MonkeyPatch, recording: Recording
) -> None:
    use(monkeypatch)
    made = figure("注意", "สวัสดี", "a")
    assert "Han (U+6CE8, U+610F)" in made.lacks().replace("U+610F, U+6CE8", "U+6CE8, U+610F")
    assert "Noto Sans CJK" in made.lacks() and "Noto Sans Thai" in made.lacks()
    below = " ".join(it.text for it in made.sheet(3.3).marks if isinstance(it, Words))
    assert made.lacks() in below
    shown: Callable[..., str] = head_map(recording).figure.lacks  # type: ignore[union-attr]
    assert shown() == ""
