"""What counts as the same line of a golden file, and what does not."""

import pytest

from tests.golden.matching import differences, sheet_differences


@pytest.mark.parametrize(
    ("golden", "now"),
    [
        ("row: value=0.1234", "row: value=0.1235"),
        ("row: value=-1.560e-06", "row: value=0"),
        ("says: 26 % of H2", "says: 27 % of H2"),
        ("words: −0.03", "words: −0.02"),
        ("words: −0.00", "words: 0.00"),
        ("cell: ground #f0f0f0", "cell: ground #f2f0ef"),
    ],
)
def test_a_rounding_makes_no_other_line(golden: str, now: str) -> None:
    assert not differences([golden], [now])


@pytest.mark.parametrize(
    ("golden", "now"),
    [
        ("row: value=0.1234", "row: value=0.1237"),
        ("row: value=0.1234", "row: value=-0.1234"),
        ("row: layer=2", "row: layer=3"),
        ("row: layer=0", "row: layer=1"),
        ("says: 26 % of H2", "says: 26 % of H3"),
        ("cell: ground #f0f0f0", "cell: ground #e0f0f0"),
        ("words: tired", "words: tire"),
    ],
)
def test_other_numbers_and_words_are_differences(golden: str, now: str) -> None:
    assert differences([golden], [now]) == [f"- {golden}", f"+ {now}"]


def test_lines_are_a_multiset() -> None:
    assert not differences(["a", "b 0.10", "b 0.50"], ["b 0.51", "b 0.10", "a"])
    assert differences(["a", "a"], ["a"]) == ["- a"]
    assert differences(["b 0.10"], ["b 0.11", "b 0.11"]) == ["+ b 0.11"]


def test_marks_of_a_sheet_may_stand_half_a_point_elsewhere() -> None:
    mark = '<rect x="{}" y="7" width="4.35" fill="#0072b2"/>'
    assert not sheet_differences([mark.format("10")], [mark.format("10.4")])
    assert len(sheet_differences([mark.format("10")], [mark.format("11")])) == 2
    assert not sheet_differences(['<path fill="#000000" d="M0 0h9"/>'], [])
