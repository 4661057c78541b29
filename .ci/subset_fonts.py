"""make fonts: small copies of Streamlit's typefaces, with what the first load of the app needs.

Streamlit sends three files of 690 kB before a word is drawn. The copies hold Western European
letters, every sign that our texts have, and the icons that we and Streamlit's own code name. The
whole files stay in use for all other characters: a browser asks for them where one occurs.

Needs fontTools and brotli, which the app does not: run it when Streamlit's version changes.
"""

import re
from hashlib import sha256
from pathlib import Path

import streamlit
from fontTools import subset
from fontTools.ttLib import TTFont

ROOT = Path(__file__).parents[1]
STATIC = Path(streamlit.__file__).parent / "static" / "static"
TO = ROOT / "viz" / "server" / "typefaces"
TEXT_FACES = {
    "SourceSansVF-Upright": ("Source Sans", "normal", "100 900"),
    "SourceSansVF-Italic": ("Source Sans", "italic", "100 900"),
}
ICONS = "MaterialSymbols-Rounded", ("Material Symbols Rounded", "normal", "400")
ASCII = {*range(0x20, 0x7F)}
LETTERS = ASCII | {*range(0xA0, 0x180), *range(0x2010, 0x2028), *range(0x2030, 0x203B)}
"""Latin-1, Latin Extended-A; dashes, quotes and the like."""
NAMES = ["0", "7", "8", "9", "11", "13", "14"]
"""Entries of a font's table of names that say whose it is, and its licence."""
FEATURES = ["kern", "mark", "mkmk", "ccmp", "locl", "liga", "rlig", "calt", "rclt", "tnum", "lnum"]
RULE = (
    '@font-face{{font-family:"{family}";font-style:{style};font-weight:{weight};'
    'font-display:block;src:url("{file}")format("woff2");unicode-range:{range}}}\n'
)


def texts() -> str:
    """All that the app may write by itself: code, scripts, stories and lessons."""
    kinds = (".py", ".js", ".css", ".html", ".md")
    files = (f for room in ("viz", "transformer") for f in (ROOT / room).rglob("*"))
    return "".join(f.read_text("utf-8") for f in files if f.suffix in kinds)


def icon_names(font: TTFont) -> dict[str, str]:
    """The glyph of each icon by its name: the ligatures of the font."""
    letters = {glyph: chr(code) for code, glyph in font.getBestCmap().items() if code < 0x7F}
    names = {}
    for lookup in font["GSUB"].table.LookupList.Lookup:
        for table in lookup.SubTable:
            table = getattr(table, "ExtSubTable", table)
            for first, ligatures in getattr(table, "ligatures", {}).items():
                for each in ligatures:
                    name = "".join(letters.get(g, "?") for g in (first, *each.Component))
                    names[name] = each.LigGlyph
    return names


def named_icons() -> set[str]:
    """Every icon that our code or Streamlit's names."""
    package = STATIC.parents[1]
    theirs = (package.rglob("*.py"), (STATIC / "js").glob("*.js"))
    code = texts() + "".join(f.read_text("utf-8") for files in theirs for f in files)
    return set(re.findall(r":material/([a-z0-9_]+):", code))


def ranges(codes: set[int]) -> str:
    """Code points as CSS writes them: U+20-7E,U+A0."""
    parts: list[list[int]] = []
    for code in sorted(codes):
        if parts and parts[-1][1] == code - 1:
            parts[-1][1] = code
        else:
            parts.append([code, code])
    return ",".join(f"U+{a:X}" if a == b else f"U+{a:X}-{b:X}" for a, b in parts)


def write(name: str, face: tuple[str, str, str], **wanted: object) -> str:
    """Write the copy of one file, with another name of its own; return its rule of CSS."""
    (file,) = (STATIC / "media").glob(f"{name}.*")
    font = TTFont(file, recalcTimestamp=False)
    options = subset.Options()
    options.flavor, options.name_IDs, options.layout_features = "woff2", NAMES, FEATURES
    options.layout_closure = "glyphs" not in wanted  # an icon's letters lead to all other icons
    options.notdef_outline = options.glyph_names = False
    subsetter = subset.Subsetter(options)
    subsetter.populate(**wanted)
    subsetter.subset(font)
    # Its licence keeps the name "Source" for the whole font.
    for record in (1, 4, 6):
        font["name"].setName(f"Headscope-{name[-7:]}", record, 3, 1, 0x409)
    font.flavor = "woff2"
    copy = TO / f"{name}.woff2"
    font.save(copy)
    content = copy.read_bytes()
    print(copy.relative_to(ROOT), len(content))
    family, style, weight = face
    return RULE.format(
        family=family,
        style=style,
        weight=weight,
        file=f"{name}.woff2?{sha256(content).hexdigest()[:8]}",
        range=ranges(ASCII | {*font.getBestCmap()}),
    )


def whole() -> set[int]:
    """All characters that a whole typeface for texts has."""
    files = (next((STATIC / "media").glob(f"{name}.*")) for name in TEXT_FACES)
    return {code for file in files for code in TTFont(file).getBestCmap()}


def main() -> None:
    """Write the copies, `faces.css`, `icons.txt`, and in `others.txt` what the copies lack."""
    TO.mkdir(exist_ok=True)
    signs = LETTERS | {ord(letter) for letter in texts()}
    rules = [write(name, face, unicodes=signs) for name, face in TEXT_FACES.items()]
    name, face = ICONS
    (file,) = (STATIC / "media").glob(f"{name}.*")
    known = icon_names(TTFont(file))
    icons = named_icons() & set(known)
    # With signs that no icon's name has: for a space alone a browser would fetch the whole file.
    rules.append(write(name, face, unicodes=ASCII, glyphs=[known[icon] for icon in icons]))
    (TO / "others.txt").write_text(ranges(whole() - signs - ASCII), "utf-8")
    (TO / "faces.css").write_text("".join(rules), "utf-8")
    (TO / "icons.txt").write_text("".join(f"{icon}\n" for icon in sorted(icons)), "utf-8")
    print(len(signs), "signs,", len(icons), "icons")


if __name__ == "__main__":
    main()
