"""The typefaces of a figure: DejaVu Sans, one that somebody names, and those of this machine.

Each character is in the first that has it. What DejaVu Sans lacks (Chinese, Hindi, Thai) is looked
for among the typefaces that are installed here; what none has is a box, and a sentence says so.
"""

import io
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from transformer.extras import require
from transformer.files.foreign_text import some_of
from transformer.refusal import quoted
from viz.paper.record import FigureError

FAMILY = "DejaVu Sans"
"""The typeface of figures, which comes with matplotlib."""
ENDINGS = (".ttf", ".otf", ".ttc", ".otc")
NEVER = ("lastresort", "adobeblank")
"""Typefaces whose boxes stand for every character."""
ODD = (
    "serif",
    "mono",
    "bold",
    "italic",
    "oblique",
    "light",
    "thin",
    "black",
    "cond",
    "ui",
    "emoji",
)
"""Parts of names of files whose letters are not the plain ones."""
PICTURES = ("CBDT", "sbix", "SVG ")
"""Tables of typefaces whose glyphs are no outlines."""
CJK = ("Han", "Hiragana", "Katakana", "Hangul", "Bopomofo")
REGIONS = {"Hiragana": " JP", "Katakana": " JP", "Hangul": " KR"}
"""A script -> the end of the family in which Chinese characters have its readers' shapes."""
REGION = " SC"
MOST_NAMED = 6
"""Characters of a script that a sentence names."""
_SHAPING = ["init", "medi", "fina", "isol", "rlig", "liga", "calt", "ccmp", "mark", "mkmk", "locl"]
"""Features of a typeface that join letters, and put marks above and below them (OpenType)."""


@dataclass(frozen=True)
class Face:
    """One typeface of a file."""

    path: Path
    family: str
    is_bold: bool = False
    number: int = 0
    """Its place in a file of several."""


@lru_cache(maxsize=2)
def usual(is_bold: bool = False) -> Face:
    """DejaVu Sans. Raises NotInstalled where matplotlib is not here."""
    require("paper")
    import matplotlib  # takes half a second: only when a figure is made

    name = "DejaVuSans-Bold.ttf" if is_bold else "DejaVuSans.ttf"
    return Face(Path(matplotlib.get_data_path()) / "fonts" / "ttf" / name, FAMILY, is_bold)


# The typeface that somebody names: all that is drawn meanwhile is in it.

_named: ContextVar[str] = ContextVar("typeface", default="")


@contextmanager
def typeface(name: str) -> Iterator[None]:
    """Draw in the typeface of this family or file; empty: in the usual one. Raises FigureError."""
    if name:
        named(name)
    token = _named.set(name)
    try:
        yield
    finally:
        _named.reset(token)


@lru_cache(maxsize=16)
def named(name: str) -> tuple[Face, ...]:
    """The faces of a family, or of a file: plain and bold, as far as there are.

    Raises FigureError.
    """
    file = Path(name).expanduser()
    if file.suffix.lower() in ENDINGS:
        if not (faces := faces_in(file)):
            raise FigureError(f"{quoted(name)} is not a typeface that can be read.")
        return faces[:1]
    every = [face for path in installed() for face in faces_in(path)]
    family = [face for face in every if face.family.casefold() == name.casefold()]
    chosen = [next((it for it in family if it.is_bold is bold), None) for bold in (False, True)]
    if faces := tuple(face for face in chosen if face):
        return faces
    raise FigureError(
        f"There is no typeface {quoted(name)} on this machine: name a family that is installed "
        f"({some_of(families(), 8)}), or a file that ends in {', '.join(ENDINGS)}."
    )


# The typefaces of this machine.


@lru_cache(maxsize=1)
def families() -> tuple[str, ...]:
    """The families that are installed here, by their names."""
    return tuple(sorted({face.family for path in installed() for face in faces_in(path)}))


@lru_cache(maxsize=1)
def installed() -> tuple[Path, ...]:
    """Files of typefaces, those with plain letters first."""
    require("paper")
    from matplotlib.font_manager import findSystemFonts

    def oddness(path: Path) -> tuple[int, str]:
        name = path.stem.lower().replace("sansserif", "")
        return sum(part in name for part in ODD) - ("notosans" in name), str(path)

    paths = map(Path, findSystemFonts())
    return tuple(sorted((p for p in paths if not p.stem.lower().startswith(NEVER)), key=oddness))


@lru_cache(maxsize=4096)
def faces_in(path: Path) -> tuple[Face, ...]:
    """The faces of a file; none where it cannot be read, or holds pictures."""
    from fontTools.ttLib import TTCollection, TTFont, TTLibError

    try:
        if path.suffix.lower() in (".ttc", ".otc"):
            with TTCollection(path, lazy=True) as collection:
                return tuple(_face(font, path, i) for i, font in enumerate(collection.fonts))
        with TTFont(path, lazy=True) as font:
            return () if any(it in font for it in PICTURES) else (_face(font, path, 0),)
    except (TTLibError, OSError, KeyError, ValueError, AssertionError):
        return ()


def _face(font: Any, path: Path, number: int) -> Face:
    names, style = font["name"], font["OS/2"].fsSelection if "OS/2" in font else 0
    family = names.getDebugName(16) or names.getDebugName(1) or path.stem
    return Face(path, family, bool(style & 1 << 5), number)


@lru_cache(maxsize=64)
def metrics(face: Face) -> tuple[dict[int, str], dict[str, float]]:
    """Return character -> glyph, and the widths of glyphs in units of an em."""
    with _opened(face, lazy=True) as font:
        em = font["head"].unitsPerEm
        widths = {name: width / em for name, (width, _) in font["hmtx"].metrics.items()}
        return dict(font.getBestCmap() or {}), widths


def _opened(face: Face, lazy: bool = False) -> Any:
    from fontTools.ttLib import TTFont

    number = face.number if face.path.suffix.lower() in (".ttc", ".otc") else -1
    return TTFont(face.path, fontNumber=number, lazy=lazy, recalcTimestamp=False)


@lru_cache(maxsize=4096)
def _face_of(character: str, region: str) -> Face | None:
    """The first typeface of this machine that has a character; those called after its script
    before the others: to read all of them takes seconds.
    """
    script = script_of(character)
    hint = "cjk" if script in CJK else script.lower()
    for path in sorted(installed(), key=lambda it: hint not in it.stem.lower()):
        faces = sorted(faces_in(path), key=lambda it: not it.family.endswith(region))
        if face := next((it for it in faces if ord(character) in _codes(it)), None):
            return face
    return None


@lru_cache(maxsize=1024)
def _codes(face: Face) -> frozenset[int]:
    with _opened(face, lazy=True) as font:
        return frozenset(font.getBestCmap() or ())


# Which character is in which typeface.


def face_of(character: str, is_bold: bool = False, region: str = REGION) -> Face | None:
    """The first face that has a character; None: a box stands in its place."""
    code, names = ord(character), named(_named.get()) if _named.get() else ()
    own = [face for face in names if face.is_bold] if is_bold else []
    for face in (*own, *((usual(is_bold), *names) if own or is_bold else (*names, usual()))):
        if code in metrics(face)[0]:
            return face
    return _face_of(character, region) if character.isprintable() else None


def spread(texts: Iterable[str], is_bold: bool = False) -> dict[Face, str]:
    """Each face with the characters that are in it, DejaVu Sans with those that none has.

    In the order in which they are tried.
    """
    letters = sorted(set("".join(texts)))
    region = next((it for c in letters if (it := REGIONS.get(script_of(c), ""))), REGION)
    result: dict[Face, str] = defaultdict(str)
    for letter in letters:
        result[face_of(letter, is_bold, region) or usual(is_bold)] += letter
    first = named(_named.get()) if _named.get() else ()
    order = [*first, usual(is_bold)]
    return dict(sorted(result.items(), key=lambda it: _place(it[0], order, is_bold)))


def _place(face: Face, order: list[Face], is_bold: bool) -> tuple[int, str]:
    place = order.index(face) if face in order else len(order)
    return (place if face.is_bold == is_bold else len(order)), str(face)


@lru_cache(maxsize=20_000)
def width_in_em(text: str, is_bold: bool, name: str) -> float:
    """name: of the typeface that is named, of which the width is a matter, too."""
    return sum(_width(character, is_bold) for character in text)


def _width(character: str, is_bold: bool) -> float:
    face = face_of(character, is_bold)
    if face is None:  # as wide as it is high
        return 1.0
    glyphs, widths = metrics(face)
    return widths[glyphs[ord(character)]]


def width(text: str, is_bold: bool = False) -> float:
    """In units of an em, in the typefaces of now."""
    return width_in_em(text, is_bold, _named.get())


# What no typeface has.


def lacking(texts: Iterable[str]) -> list[str]:
    """Characters that no typeface here has, in order: boxes stand in their places."""
    letters = sorted(set("".join(texts)))
    return [c for c in letters if c.isprintable() and face_of(c) is None]


def what_lacks(letters: Iterable[str]) -> str:
    """Say which scripts are missing, and what to install; empty where nothing is."""
    scripts: dict[str, list[str]] = defaultdict(list)
    for letter in letters:
        scripts[script_of(letter)].append(f"U+{ord(letter):04X}")
    if not scripts:
        return ""
    of = "; ".join(f"{script} ({some_of(codes, MOST_NAMED)})" for script, codes in scripts.items())
    fonts = " and ".join(dict.fromkeys(map(_font_for, scripts)))
    return (
        f"No typeface on this machine has letters of {of}, which are drawn as boxes: install "
        f"{fonts}, or name a font that has them."
    )


def script_of(character: str) -> str:
    """Name the script as Unicode does; signs that belong to none are of "Common"."""
    from fontTools.unicodedata import script, script_name

    return str(script_name(script(character))).replace("_", " ")


def _font_for(script: str) -> str:
    if script in CJK:
        return "Noto Sans CJK"
    is_sign = script in ("Common", "Inherited", "Unknown")
    return "Noto Emoji or Noto Sans Symbols" if is_sign else f"Noto Sans {script}"


# A typeface with only some characters, as a file embeds it.


def drop_layout(font: Any) -> None:
    """Drop what joins and shifts letters of a TTFont: cutting it takes longer than all the rest."""
    for table in ("GDEF", "GPOS", "GSUB", "kern"):
        if table in font:
            del font[table]


@lru_cache(maxsize=64)
def subset_of(face: Face, characters: str, keeps_names: bool = False) -> bytes:
    """The typeface with only these characters, as TrueType. keeps_names: for a PDF's list."""
    from fontTools import subset

    options = subset.Options()
    options.layout_features = _SHAPING if face.family == FAMILY else ["*"]
    options.hinting, options.notdef_outline = False, True
    options.name_IDs, options.recalc_timestamp = [1, 2, 4, 6] if keeps_names else [], False
    options.drop_tables += ["FFTM"]  # when the typeface was saved last
    with _opened(face) as font:
        if not any(map(_is_shaped, characters)):
            drop_layout(font)
        cutter = subset.Subsetter(options)
        cutter.populate(text=characters)
        cutter.subset(font)
        font = _with_true_outlines(_with_one_look(font))
        file = io.BytesIO()
        font.save(file)
    return file.getvalue()


def _is_shaped(character: str) -> bool:
    """Tell whether a character looks otherwise beside others: marks, and what runs to the left."""
    is_mark = unicodedata.category(character)[0] == "M"
    return is_mark or unicodedata.bidirectional(character) in ("R", "AL")


def _with_one_look(font: Any) -> Any:
    """The plain weight of a typeface that has all of them."""
    if "fvar" not in font:
        return font
    from fontTools.varLib.instancer import instantiateVariableFont

    plain = {axis.axisTag: axis.defaultValue for axis in font["fvar"].axes}
    for axis in font["fvar"].axes:
        if axis.axisTag == "wght":
            plain["wght"] = min(max(400, axis.minValue), axis.maxValue)
    return instantiateVariableFont(font, plain, downgradeCFF2=True)


def _with_true_outlines(font: Any) -> Any:
    """Cubic outlines as quadratic ones: a PDF's Type 42, and matplotlib, know no others."""
    if "glyf" in font:
        return font
    from fontTools.fontBuilder import FontBuilder
    from fontTools.pens.cu2quPen import Cu2QuPen
    from fontTools.pens.ttGlyphPen import TTGlyphPen

    shapes, glyphs, em = font.getGlyphSet(), {}, font["head"].unitsPerEm
    for name in font.getGlyphOrder():
        pen = TTGlyphPen(shapes)
        shapes[name].draw(Cu2QuPen(pen, em / 1000, reverse_direction=True))
        glyphs[name] = pen.glyph()
    for table in ("CFF ", "CFF2", "VORG"):
        if table in font:
            del font[table]
    font.sfntVersion = "\0\1\0\0"
    builder = FontBuilder(font=font)
    builder.isTTF = True
    builder.setupMaxp()
    builder.setupGlyf(glyphs)
    font["post"].formatType = 3.0
    return font
