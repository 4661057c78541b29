"""What a figure carries is read back from any bytes, or refused in a sentence."""

import json
import random
from base64 import urlsafe_b64encode
from dataclasses import asdict, replace
from typing import Any

import pytest

from viz.paper.record import LARGEST, MARK, FigureError, Record, address_of, read_record
from viz.screen import Screen, query


def carried(said: Any) -> bytes:
    return MARK.encode() + urlsafe_b64encode(json.dumps(said).encode())


def test_a_record_is_found_wherever_it_stands(record: Record) -> None:
    """Of a PNG the next bytes are a checksum, which may look like a part of the word."""
    for before, after in ((b"", b""), (b"%PDF (\\)", b") /Producer"), (b"<metadata>", b"</m")):
        assert read_record(before + record.state.encode() + after) == record
    for n in range(3):  # of every length modulo 3
        longer = replace(record, text="x" * n)
        for after in (b"A", b"Ab1_", b"=", b"====", b"\x00"):
            assert read_record(longer.state.encode() + after) == longer
        old = carried(asdict(longer))
        assert [read_record(old + b"Ab1"[: i + 1]) for i in range(3)] == [longer] * 3


@pytest.mark.parametrize("content", [b"", b"\x00" * 100, b"<svg/>", MARK.encode(), b"%PDF-1.4"])
def test_a_file_without_one_is_refused(content: bytes) -> None:
    with pytest.raises(FigureError, match=r"^a\.svg carries no state"):
        read_record(content, "a.svg")


@pytest.mark.parametrize(
    "said",
    [1, [], {}, {"page": "explore"}, None, "x" * 99],
)
def test_what_is_no_record_is_refused(said: Any) -> None:
    with pytest.raises(FigureError, match=r"damaged|carries no"):
        read_record(carried(said))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("page", "../x"),
        ("page", "//evil"),
        ("page", ""),
        ("query", 3),
        ("text", None),
        ("versions", 1),
    ],
)
def test_every_field_is_checked(record: Record, name: str, value: Any) -> None:
    known = {each: getattr(record, each) for each in Record.__dataclass_fields__}
    assert read_record(carried({**known, "versions": {}})).text == record.text
    with pytest.raises(FigureError, match="damaged"):
        read_record(carried({**known, name: value}))


def test_damage_ends_in_a_sentence(record: Record) -> None:
    rng = random.Random(3)
    for _ in range(300):
        content = bytearray(record.state.encode())
        for _ in range(rng.randrange(1, 4)):
            content[rng.randrange(len(content))] = rng.randrange(256)
        try:
            read_record(bytes(content))
        except FigureError:
            continue


def test_a_large_file_is_not_looked_through() -> None:
    with pytest.raises(FigureError, match="fewer"):
        read_record(bytes(LARGEST + 1))


def test_a_link_leads_nowhere_else(record: Record) -> None:
    known = {each: getattr(record, each) for each in Record.__dataclass_fields__}
    hostile = Record(**{**known, "query": "page=//evil.example&text=https://evil.example#x"})
    assert hostile.link.startswith("./?")


@pytest.mark.parametrize(
    ("said", "page"),
    [
        ("http://localhost:8501/?kind=cross", "explore"),
        ("http://localhost:8501?kind=cross", "explore"),
        ("http://host/below/decode?kind=cross#top", "decode"),
        ("./?kind=cross", "explore"),
        ("decode?kind=cross", "decode"),
        ("./decode?kind=cross", "decode"),
        ("?kind=cross", "explore"),
    ],
)
def test_an_address_is_read_as_it_is_copied(said: str, page: str) -> None:
    screen = address_of(said)
    assert (screen.page, screen.kind) == (page, "cross")
    assert query(screen) == query(Screen(kind="cross"))
