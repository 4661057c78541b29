"""Files of a stranger's zip, one after the other, with limits on how many and on how large.

A few thousand bytes can hold gigabytes once they are unpacked, so they are unpacked no further than
the limit.
"""

import io
import struct
import zipfile
import zlib
from collections.abc import Iterator

from transformer.files.weights import Misfit

BEGINNING = b"PK\x03\x04"
MOST_FILES = 1000
_ENTRY = b"PK\x01\x02"
"""The bytes before each file's name in the list of all."""
_READ = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_DAMAGED = (
    *(zipfile.BadZipFile, zlib.error, struct.error),
    *(EOFError, OSError, RuntimeError, ValueError),
)
"""The errors that reading one may raise."""
_LOCKED = 1
"""The flag of a file that asks for a password."""


def unpacked(content: bytes, endings: tuple[str, ...], most: int) -> Iterator[bytes]:
    """Files whose names end so, in their order. most: bytes of all of them together.

    Raises Misfit, which goes on after the zip's name.
    """
    if content.count(_ENTRY) > MOST_FILES:
        raise Misfit(f"holds more than {MOST_FILES:,} files")
    room = most
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for info in archive.infolist():
                if not info.filename.lower().endswith(endings):
                    continue
                if info.flag_bits & _LOCKED or info.compress_type not in _READ:
                    raise Misfit("is locked, or packed in a way that is not read here")
                with archive.open(info) as file:
                    data = file.read(room + 1)
                room -= len(data)
                if room < 0:
                    raise Misfit(f"holds more than {most:,} bytes when it is unpacked")
                yield data
    except _DAMAGED as error:
        raise Misfit("is a zip that is damaged") from error
