"""What is shown is what the golden files say; `python -m tests.golden` writes them anew."""

import logging
from collections.abc import Iterator, Mapping
from functools import cache

import pytest

from tests.golden.checkpoints import make_checkpoints
from tests.golden.files import COMMAND, Golden, file_of, places_and_names, read
from tests.golden.matching import differences, sheet_differences
from tests.golden.places import places
from tests.golden.surveys import make_surveys

HERE = places_and_names()
MOST = 40
"""Lines of a difference that are said."""


@pytest.fixture(scope="module", autouse=True)
def stand_ins(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The checkpoints that the golden files are of, and no other ones."""
    folder = tmp_path_factory.mktemp("golden")
    make_checkpoints(folder)
    make_surveys(folder)
    logging.disable(logging.WARNING)  # Streamlit misses its server
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEADSCOPE_CHECKPOINTS", str(folder))
        yield
    logging.disable(logging.NOTSET)


@cache
def exhibits(place: str) -> Mapping[str, Golden]:
    """Made once for all of its tests."""
    return places()[place]()


@pytest.mark.parametrize("place", places())
def test_every_exhibit_has_a_golden_file_and_every_file_an_exhibit(place: str) -> None:
    files = {name for each, name in HERE if each == place}
    names = set(exhibits(place))
    assert not names - files, f"{place} shows more: {COMMAND} writes files of {names - files}."
    assert not files - names, f"{place} shows no {files - names}: {COMMAND} removes their files."


def everything() -> Iterator[tuple[str, Golden]]:
    for place in places():
        for name, made in exhibits(place).items():
            yield f"{place}.{name}", made


def test_every_column_of_numbers_says_what_these_are() -> None:
    silent = {name: made.unexplained for name, made in everything() if made.unexplained}
    assert not silent, silent


def test_every_table_with_intervals_knows_over_how_many_sentences() -> None:
    """So it says where they say little."""
    uncounted = {name: made.uncounted for name, made in everything() if made.uncounted}
    assert not uncounted, uncounted


@pytest.mark.parametrize(("place", "name"), HERE)
def test_an_exhibit_is_what_its_golden_files_say(place: str, name: str) -> None:
    made = exhibits(place).get(name) if place in places() else None
    assert made, f"There is no {name} at {place}: {COMMAND} removes its file."
    lines = differences(read(file_of(place, name)), made.lines)
    lines += sheet_differences(read(file_of(place, name, "svg")), made.svg)
    more = [f"and {len(lines) - MOST} lines more"] if len(lines) > MOST else []
    said = "\n".join([*lines[:MOST], *more])
    assert not lines, f"{said}\nIf that is meant, {COMMAND} writes its files anew."
