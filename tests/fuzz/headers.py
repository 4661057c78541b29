"""Headers of safetensors files: lengths, offsets, shapes, types and names that lie."""

import json
import struct
from pathlib import Path
from random import Random
from typing import Any

from tests.fuzz.checkpoints import emptied, used
from tests.fuzz.damage import damaged_bytes, strange_json
from tests.fuzz.kind import Attempt, Kind
from tests.fuzz.tensors import strange_name

TYPES = ("F32", "F16", "BF16", "F8_E4M3", "I64", "BOOL", "C64", "U16", "F4", "X", "", None)
SIZES = (0, 1, 2, 3, 7, 2**31, 2**63, 2**64, -1, 10**30, 0.5, "2", None)


def start(folder: Path) -> Attempt:
    def attempt(random: Random) -> None:
        file = emptied(folder / "tried") / "model.safetensors"
        header, values = _made(random)
        text = json.dumps(header)
        if random.random() < 0.3:
            text = strange_json(random, text)
        content = text.encode("utf-8", "replace")
        lies = (len(content) + random.choice((-1, 1, 8, 1000)), 0, 2**63, 2**64 - 1, 2**27)
        length = random.choice(lies) if random.random() < 0.1 else len(content)
        whole = struct.pack("<Q", max(0, length)) + content + values
        file.write_bytes(damaged_bytes(random, whole) if random.random() < 0.1 else whole)
        used(file)

    return attempt


def _made(random: Random) -> tuple[dict[str, Any], bytes]:
    """A header with a few tensors, most of them as they should be; and the values."""
    header: dict[str, Any] = {}
    at = 0
    for i in range(random.choice((0, 1, 3, 20))):
        shape: list[Any] = [random.choice((1, 2, 3, 0)) for _ in range(random.randrange(4))]
        size = 4
        for n in shape:
            size *= n
        name = f"layers.{i}.weight"
        entry: dict[str, Any] = {"dtype": "F32", "shape": shape, "data_offsets": [at, at + size]}
        at += size
        if random.random() < 0.2:
            name = strange_name(random, name)
        match random.randrange(12):
            case 0:
                entry["dtype"] = random.choice(TYPES)
            case 1:
                entry["shape"] = [random.choice(SIZES) for _ in range(random.choice((1, 2, 9)))]
            case 2:
                entry["data_offsets"] = [random.choice(SIZES), random.choice(SIZES)]
        header[name] = entry
    if random.random() < 0.2:
        header["__metadata__"] = random.choice(({"format": "pt"}, {"a": 1}, [], None, {"": ""}))
    return header, random.randbytes(at)


KIND = Kind("headers", start, n=2000)
