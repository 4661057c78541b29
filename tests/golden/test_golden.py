"""What is shown is what the golden files say; `python -m tests.golden` writes them anew."""

import logging
from collections.abc import Iterator, Mapping
from functools import cache

import pytest

from tests.golden.checkpoints import make_checkpoints
from tests.golden.exhibits_of import Exhibit
from tests.golden.files import COMMAND, file_of, places_and_names, read
from tests.golden.lines import lines_of
from tests.golden.matching import differences
from tests.golden.places import places

MOST = 40
"""Lines of a difference that are said."""


@pytest.fixture(scope="module", autouse=True)
def stand_ins(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The checkpoints that the golden files are of, and no other ones."""
    folder = tmp_path_factory.mktemp("golden")
    make_checkpoints(folder)
    logging.disable(logging.WARNING)  # Streamlit misses its server
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEADSCOPE_CHECKPOINTS", str(folder))
        yield
    logging.disable(logging.NOTSET)


@cache
def exhibits(place: str) -> Mapping[str, Exhibit]:
    """Made once for all of its tests."""
    return places()[place]()


@pytest.mark.parametrize("place", places())
def test_every_exhibit_has_a_golden_file_and_every_file_an_exhibit(place: str) -> None:
    files = {name for each, name in places_and_names() if each == place}
    names = set(exhibits(place))
    assert not names - files, f"{place} shows more: {COMMAND} writes files of {names - files}."
    assert not files - names, f"{place} shows no {files - names}: {COMMAND} removes their files."


@pytest.mark.parametrize(("place", "name"), places_and_names())
def test_an_exhibit_is_what_its_golden_file_says(place: str, name: str) -> None:
    made = places().get(place) and exhibits(place).get(name)
    assert made, f"There is no {name} at {place}: {COMMAND} removes its file."
    lines = differences(read(file_of(place, name)), lines_of(made))
    more = [f"and {len(lines) - MOST} lines more"] if len(lines) > MOST else []
    said = "\n".join([*lines[:MOST], *more])
    assert not lines, f"{said}\nIf that is meant, {COMMAND} writes the file anew."
