"""A stranger's zip is unpacked with limits, and what it cannot be is said in words."""

import io
import zipfile
from collections.abc import Mapping

import pytest

from transformer.files.tensor_files import MOST_FILES, unpacked
from transformer.files.weights import Misfit

ENDINGS = (".svg", ".png")


def zipped(files: Mapping[str, bytes], way: int = zipfile.ZIP_DEFLATED) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", way) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return packed.getvalue()


@pytest.mark.parametrize("way", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_files_of_these_endings_are_given_in_their_order(way: int) -> None:
    files = {"a/one.SVG": b"1" * 99, "two.txt": b"2", "../three.png": b"", "four.png": b"4"}
    assert list(unpacked(zipped(files, way), ENDINGS, 100)) == [b"1" * 99, b"", b"4"]


def test_nothing_is_unpacked_beyond_the_limit() -> None:
    bomb = zipped({"a.svg": bytes(10**7), "b.svg": b"x"})
    assert len(bomb) < 20_000
    with pytest.raises(Misfit, match="holds more than 1,000 bytes when it is unpacked"):
        list(unpacked(bomb, ENDINGS, 1000))
    both = unpacked(zipped({"a.svg": bytes(600), "b.svg": bytes(600)}), ENDINGS, 1000)
    assert next(both) == bytes(600)
    with pytest.raises(Misfit, match="more than 1,000 bytes"):
        next(both)
    assert not list(unpacked(zipped({"a.txt": bytes(10**6)}), ENDINGS, 1000))


def test_a_list_of_very_many_files_is_not_read() -> None:
    many = zipped({f"{i}.svg": b"" for i in range(MOST_FILES + 1)}, zipfile.ZIP_STORED)
    with pytest.raises(Misfit, match="holds more than 1,000 files"):
        list(unpacked(many, ENDINGS, 1000))


@pytest.mark.parametrize("way", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_ways_of_packing_whose_size_cannot_be_limited_are_not_read(way: int) -> None:
    with pytest.raises(Misfit, match="packed in a way that is not read"):
        list(unpacked(zipped({"a.svg": b"1"}, way), ENDINGS, 1000))


def test_a_locked_file_is_refused() -> None:
    content = bytearray(zipped({"a.svg": b"1"}))
    content[content.index(b"PK\x01\x02") + 8] |= 1
    with pytest.raises(Misfit, match="is locked"):
        list(unpacked(bytes(content), ENDINGS, 1000))


def test_whatever_is_damaged_ends_in_a_sentence() -> None:
    """Every byte of a small zip is changed, and it is cut everywhere."""
    whole = zipped({"a.svg": b"abcabcabc" * 9, "b.png": b"x"})
    damaged = [whole[:n] for n in range(len(whole))]
    for place in range(len(whole)):
        damaged += [whole[:place] + bytes([it]) + whole[place + 1 :] for it in (0, 255)]
    said = set()
    for content in damaged:
        try:
            list(unpacked(content, ENDINGS, 1000))
        except Misfit as error:
            said.add(str(error))
    assert "is a zip that is damaged" in said
