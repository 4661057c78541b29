"""Numbers are read as people write them, and as pages do."""

import pytest

from viz.labels import number
from viz.lessons.task import read_number


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0.5", 0.5),
        ("0,5", 0.5),
        (" ½ ", 0.5),
        ("1/2", 0.5),
        ("-1/4", -0.25),
        ("5e-1", 0.5),
        ("1e-3", 0.001),
        ("1E2", 100.0),
        ("−4.1", -4.1),
        ("- 4,1", -4.1),
        (".5", 0.5),
        ("3.", 3.0),
        ("0,500", 0.5),
        ("1,234", 1234.0),
        ("1,234.5", 1234.5),
        ("12,345,678", 12345678.0),
        ("25 %", 25.0),
        ("25", 25.0),
        ("٣", 3.0),
        ("", None),
        ("  ", None),
        ("%", None),
    ],
)
def test_a_number_is_read(text: str, number: float | None) -> None:
    assert read_number(text, "%") == number


@pytest.mark.parametrize(
    "text",
    [
        "a",
        "1/0",
        "1,2,3",
        "nan",
        "inf",
        "1e999",
        "--1",
        "0x10",
        "1_000",
        "1.2.3",
        "½½",
        "9" * 400,
    ],
)
def test_what_is_no_number_is_said(text: str) -> None:
    with pytest.raises(ValueError, match="is not a number: write it") as error:
        read_number(text)
    assert len(str(error.value)) < 120


@pytest.mark.parametrize("value", [-12.34, 0.0, 1234.5, 0.001])
def test_what_the_page_says_is_read(value: float) -> None:
    assert read_number(number(value, 3)) == pytest.approx(value)
    assert read_number(f"{value:,.3f}") == pytest.approx(value)


def test_the_unit_may_follow() -> None:
    assert read_number("1.3 nats", "nats") == 1.3
    assert read_number("90 degrees", "degrees") == 90
