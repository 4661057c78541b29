"""Other scripts in files: copied text is what was drawn, and letters that join do so."""

import io
from base64 import b64decode
from xml.etree import ElementTree

import pytest
from fontTools.ttLib import TTFont
from pypdf import PdfReader

from tests.representatives import cases
from viz.paper.printed import pdf
from viz.paper.sheet import Sheet, Words, fitted
from viz.paper.svg import svg

SVG = "{http://www.w3.org/2000/svg}"
FLAG = "\N{WAVING BLACK FLAG}\U000e0067\U000e0062\U000e007f"
TEXTS = [
    *("שלום", "מֶמֶ", "مرحبا", "می\u200cخواهم", "मेंमें", "नमस्ते दुनिया", "क्\u200dष"),
    *("ฉันรักแมว", "บ้านบ้าน", "ກ່ກ້", "日本", "👩\u200d👩\u200d👧", "👍🏽👍🏽", "🇩🇪", FLAG),
    *("e\u0301", "e\u0330\u0301q", "fi ffl", "aa"),
]

FEW = {
    "right to left": "שלום",
    "marks, right to left": "מֶמֶ",
    "letters that join, and one that keeps them apart": "می\u200cخواهم",
    "marks that stand before": "मेंमें",
    "letters that are kept apart as one": "क्\u200dष",
    "marks above marks": "บ้านบ้าน",
    "a script of few typefaces": "ກ່ກ້",
    "another typeface": "日本",
    "emoji that are one": "👩\u200d👩\u200d👧",
    "two letters that are a flag": "🇩🇪",
    "tags": FLAG,
    "a mark": "e\u0301",
    "two marks": "e\u0330\u0301q",
    "ligatures": "fi ffl",
    "none of it": "aa",
}


def sheet(text: str) -> Sheet:
    return Sheet(200, 50, "#ffffff", (Words(10, 20, text, 7, "#000000"),))


@pytest.mark.parametrize("text", cases(TEXTS, FEW))
def test_text_is_copied_as_it_was_drawn(text: str) -> None:
    page = PdfReader(io.BytesIO(pdf(sheet(text), "a", "b", "{}"))).pages[0]
    assert page.extract_text().strip() == text
    tree = ElementTree.fromstring(svg(sheet(text), text, "b", "{}"))
    assert [tree.findtext(f"{SVG}text"), tree.findtext(f"{SVG}title")] == [text, text]


@pytest.mark.parametrize(
    ("text", "run"), [("שלום!", "rtl"), ("(مرحبا) x", "rtl"), ("x שלום!", None)]
)
def test_a_text_in_an_svg_runs_as_its_first_letter_does(text: str, run: str | None) -> None:
    (node,) = ElementTree.fromstring(svg(sheet(text), "a", "b", "{}")).iter(f"{SVG}text")
    assert node.get("direction") == run
    assert node.get("text-anchor") == ("end" if run else None)  # it stays where it was


def features(text: str) -> set[str]:
    """Return the features of the typeface that an SVG of a text carries."""
    style = ElementTree.fromstring(svg(sheet(text), "a", "b", "{}")).findtext(f"{SVG}style")
    assert style is not None
    file = b64decode(style.split("base64,")[1].split(")")[0])
    with TTFont(io.BytesIO(file)) as font:
        tables = [font[name].table for name in ("GSUB", "GPOS") if name in font]
        lists = [table.FeatureList for table in tables if table.FeatureList]
        return {record.FeatureTag for each in lists for record in each.FeatureRecord}


def test_letters_that_join_do_so_in_an_svg() -> None:
    assert features("مرحبا") >= {"init", "medi", "fina"}
    assert features("\u0301x") >= {"mark"}
    assert features("fine") == set()  # no larger than it was


@pytest.mark.parametrize("text", ["👩\u200d👩\u200d👧", "मेंमें", "e\u0301e\u0301", FLAG * 2])
def test_a_text_is_cut_between_what_is_read_as_characters(text: str) -> None:
    whole = {"👩\u200d👩\u200d👧", "में", "मेंमें", "e\u0301", "e\u0301e\u0301", FLAG, FLAG * 2, ""}
    for room in range(60):
        assert fitted(text, room).removesuffix("…") in whole
