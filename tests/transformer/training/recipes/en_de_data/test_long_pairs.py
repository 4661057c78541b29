"""Lines that follow each other are joined to texts that are not too long."""

from pathlib import Path

import pytest

from transformer.training.recipes.en_de_data.mixture import (
    FILE,
    IN_ORDER,
    MOST_WORDS,
    ROOM,
    SOURCES,
    files,
    neighbours,
)
from transformer.training.translation import MissingData


def rows(*lengths: int) -> list[tuple[str, str]]:
    """Line i has so many words, all of them i."""
    return [(" ".join([str(i)] * n), f"Zeile {i}.") for i, n in enumerate(lengths)]


def test_two_and_three_lines_in_turn() -> None:
    texts = neighbours(rows(*[2] * 10))
    assert [source.split()[::2] for source, _ in texts] == [
        *(["0", "1"], ["2", "3", "4"], ["5", "6"], ["7", "8", "9"])
    ]
    assert texts[0] == ("0 0 1 1", "Zeile 0. Zeile 1.")


def test_no_text_is_longer_than_it_may_be_and_no_line_stands_alone() -> None:
    lengths = [30, 40, 10, 20, 25, 61, 5, 5]
    texts = neighbours(rows(*lengths))
    assert texts
    used = [number for source, _ in texts for number in dict.fromkeys(source.split())]
    assert len(used) == len(set(used))
    assert "5" not in used
    for source, _ in texts:
        numbers = list(map(int, dict.fromkeys(source.split())))
        assert numbers == list(range(numbers[0], numbers[-1] + 1))
        assert len(numbers) > 1 and len(source.split()) <= MOST_WORDS


def test_of_nothing_comes_nothing() -> None:
    assert neighbours([]) == neighbours(rows(3)) == []


def test_every_folder_of_a_kind_is_needed(tmp_path: Path) -> None:
    for folders in SOURCES.values():
        for folder in folders:
            (tmp_path / ROOM / folder).mkdir(parents=True)
            (tmp_path / ROOM / folder / FILE).touch()
    assert len(files(tmp_path, "technical")) == len(SOURCES["technical"])
    assert len(files(tmp_path, "neighbours")) == len(IN_ORDER)
    (tmp_path / ROOM / "xquad" / FILE).unlink()
    with pytest.raises(MissingData, match=r"xquad/train\.tsv is missing"):
        files(tmp_path, "general")
