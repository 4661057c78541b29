"""Words are shown as words: read off the golden files, which every page, story and lesson has."""

import re
from collections.abc import Iterator
from itertools import chain
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.golden.files import file_of, places_and_names, read
from transformer.words import text_words
from viz.figures.heads.all_heads import BLOCKS

PIECES_ASKED = "tokens=pieces"
SUBJECT = "screens/inspect-more-6"
"""The vocabulary, whose pieces are what its table is of."""
CHARACTERS = "checkpoint=shakespeare"
"""It reads one letter at a time, and shows each."""
SAID = ("title", "says", "caption", "cell", "table", "head")
"""The lines of what is read: sentences and the cells of tables."""
DRAWN = (*SAID, "words", "svg", "alt", "aria-label")
_BARS = re.compile(f"[{BLOCKS}]{{2,}}")
_HALF = re.compile(r"(?<![\w\s)])·\w|[“ ]·\w")


def files(*sorts: str) -> Iterator[tuple[str, list[str]]]:
    for place, name in places_and_names():
        if place.partition("/")[0] in sorts and place != SUBJECT:
            yield f"{place}.{name}", read(file_of(place, name))


def lines_of(lines: list[str], starts: tuple[str, ...]) -> list[str]:
    """Without the small bars of a footprint, which are blocks of the same sort."""
    every = (line.partition(": ") for line in lines)
    return [_BARS.sub("", text) for start, _, text in every if start.split(" ")[0] in starts]


def test_no_sign_stands_for_a_space_where_nobody_asked_for_pieces() -> None:
    """Files as CSV have pieces as they are; views by themselves are read plainly."""
    wrong = [
        (name, line)
        for name, lines in files("pages", "stories", "lessons", "gallery", "saved", "screens")
        if ".csv" not in name and not any(PIECES_ASKED in line for line in lines)
        for line in lines_of(lines, DRAWN)
        if "▁" in line
    ]
    assert not wrong


def test_what_a_table_says_of_its_intervals_stands_once() -> None:
    n = [sum("says little" in line for line in lines) for _, lines in files("pages", "stories")]
    assert max(n) == 1


def test_no_sentence_and_no_cell_has_half_a_word() -> None:
    wrong = [
        (name, word)
        for name, lines in files("pages", "stories", "lessons", "views")
        if not any(PIECES_ASKED in line or CHARACTERS in line for line in lines)
        for word in halves(lines)
    ]
    assert not wrong


def halves(lines: list[str]) -> list[str]:
    """Words in quotation marks that are only within words of the texts; and those with a dot."""
    said = lines_of(lines, SAID)
    quoted = list(chain.from_iterable(re.findall(r"“([^”]*)”", line) for line in said))
    known = set(text_words(" ".join([*(it for it in quoted if " " in it), *_typed(lines)])))
    inside = [it for it in quoted if any(it in each for each in known) and it not in known]
    return [it for it in inside if " " not in it] + [it for it in said if _HALF.search(it)]


def _typed(lines: list[str]) -> list[str]:
    """The texts of an address."""
    query = parse_qs(urlsplit(" ".join(lines_of(lines, ("address",)))).query)
    return [*query.get("text", []), *query.get("pair", [])]


@pytest.mark.parametrize(
    ("line", "n"),
    [
        ("says: It looks at “n”.", 1),
        ("says: It looks at “n in didn't”.", 0),
        ("cell 1.2: “·n”: A “didn't” 1.00", 1),
        ("cell 1.2: Encoder · its page", 0),
    ],
)
def test_half_a_word_is_seen(line: str, n: int) -> None:
    assert len(halves(["caption: reading “She didn't come”", line])) == n
