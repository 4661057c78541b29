"""A JSON header and arrays in one `bytes`: the one form that reaches the browser without base64.

Layout: u32 length of the JSON | JSON | zeros to a multiple of 8 | the arrays, each padded likewise.
The JSON is {"header": ..., "arrays": [{"dtype", "shape", "offset"}]}; offsets count from the first
array. unpack.js reads the same in the browser.
"""

import json
import struct
from collections.abc import Mapping
from operator import index
from typing import Any

import numpy as np
from numpy.typing import NDArray

DTYPES = ("|u1", "<u2", "<i4", "<f4")
"""Types of numbers that unpack.js can read."""
_ALIGNMENT = 8


def pack(header: Mapping[str, Any], *arrays: NDArray[Any]) -> bytes:
    """Header (JSON values) and arrays (dtypes u1, u2, i4, f4) as bytes.

    Raises TypeError for another dtype, and ValueError for NaN or infinity in the header: JSON has
    neither.
    """
    entries, bodies, offset = [], [], 0
    for array in arrays:
        if array.dtype.str not in DTYPES:
            raise TypeError(f"arrays of {array.dtype} cannot be packed; known: {', '.join(DTYPES)}")
        entries.append({"dtype": array.dtype.str, "shape": list(array.shape), "offset": offset})
        bodies.append(_padded(np.ascontiguousarray(array).tobytes()))
        offset += len(bodies[-1])
    text = json.dumps(
        {"header": header, "arrays": entries},
        separators=(",", ":"),
        ensure_ascii=False,
        allow_nan=False,
        default=index,  # a whole number of numpy's
    ).encode()
    return _padded(struct.pack("<I", len(text)) + text) + b"".join(bodies)


def unpack(payload: bytes) -> tuple[dict[str, Any], list[NDArray[Any]]]:
    """Undo `pack`: return the header and the arrays, which are read-only."""
    (length,) = struct.unpack_from("<I", payload)
    content = json.loads(payload[4 : 4 + length])
    start = 4 + length + -(4 + length) % _ALIGNMENT
    return content["header"], [
        np.frombuffer(
            payload, entry["dtype"], int(np.prod(entry["shape"])), start + entry["offset"]
        ).reshape(entry["shape"])
        for entry in content["arrays"]
    ]


def _padded(body: bytes) -> bytes:
    return body + b"\0" * (-len(body) % _ALIGNMENT)
