"""Ways to damage a file: its bytes, its JSON, or the file itself; by the random numbers given."""

import copy
import json
import os
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

STRANGE: tuple[Any, ...] = (
    *(None, True, False, [], {}, "", [[]], ["a"], {"a": 1}, "a", "\ud800", "\u202e", "a\nb", "<b>"),
    *(0, -1, 1, 2, 3, 7, 2**31, 2**63, 10**30, -(2**63), 0.0, 0.5, -0.5, 1e308, 1e-320),
    *(float("nan"), float("inf"), -float("inf"), "nan", "1", "../../etc/passwd", "/dev/zero", "\0"),
    *("a" * 5000, [0] * 300, [None, 1, "a"], {"": {}}, "__class__", "{}", "%s", "0" * 400),
)
"""Values of every type that JSON has, small and huge."""


def strange_json(random: Random, text: str) -> str:
    """The JSON text with a value, a name or some bytes of it replaced."""
    chosen = random.random()
    if chosen < 0.1:
        return damaged_bytes(random, text.encode()).decode("utf-8", "replace")
    if chosen < 0.15:
        return json.dumps(random.choice(STRANGE))
    if chosen < 0.2:  # Python's own conversion ends at 4,300 digits
        return text.replace("1", "1" + "0" * random.choice((400, 5000)), 1)
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):  # it is damaged already
        return json.dumps(random.choice(STRANGE))
    for _ in range(random.choice((1, 1, 1, 2, 5))):
        places = list(_places(values))
        if places:
            holder, key = random.choice(places)
            _replace(random, holder, key)
    return json.dumps(values)


def _replace(random: Random, holder: Any, key: Any) -> None:
    chosen = random.random()
    if chosen < 0.1:
        del holder[key]
    elif chosen < 0.2 and isinstance(holder, dict):
        holder[str(random.choice(STRANGE))[:20]] = holder.pop(key)
    elif chosen < 0.4 and isinstance(holder[key], int):
        holder[key] = holder[key] + random.choice((-1, 1, -holder[key], holder[key], 1000))
    elif chosen < 0.45:
        holder[key] = [holder[key]]
    else:
        holder[key] = copy.deepcopy(random.choice(STRANGE))  # it may be changed in its turn


def _places(values: Any) -> Iterator[tuple[Any, Any]]:
    """Everything in JSON values that can be replaced, by what holds it and its key there."""
    stack = [values] if isinstance(values, dict | list) else []
    while stack:
        holder = stack.pop()
        keys = list(holder) if isinstance(holder, dict) else range(len(holder))
        for key in list(keys)[:50]:
            yield holder, key
            if isinstance(holder[key], dict | list):
                stack.append(holder[key])


def damaged_bytes(random: Random, content: bytes) -> bytes:
    """Cut off, with bytes flipped, put in, taken out or repeated; or something else altogether."""
    if not content:
        return random.randbytes(random.randrange(100))
    kept = bytearray(content)
    match random.randrange(7):
        case 0:
            del kept[random.randrange(len(kept)) :]
        case 1 | 2:
            # The beginning says what a file is and how large its parts are.
            end = random.choice((16, 200, 2000, len(kept)))
            for _ in range(random.choice((1, 3, 30))):
                kept[random.randrange(min(len(kept), end))] = random.randrange(256)
        case 3:
            place = random.randrange(len(kept))
            kept[place:place] = random.randbytes(random.choice((1, 8, 500)))
        case 4:
            place = random.randrange(len(kept))
            del kept[place : place + random.choice((1, 8, 500))]
        case 5:
            place, n = random.randrange(len(kept)), random.choice((1, 8, 500))
            kept[place : place + n] = random.choice((b"\0", b"\xff")) * n
        case 6:
            return random.choice((b"", b"\0" * 100, b"PK\x03\x04", b"{", b"[" * 5000, b"\xff\xfe"))
    return bytes(kept)


def no_file(random: Random, file: Path) -> None:
    """Something else under the name of a file: a folder, a pipe, a link, or far too much."""
    file.unlink(missing_ok=True)
    match random.randrange(7):
        case 0:
            file.mkdir()
        case 1:
            os.mkfifo(file)
        case 2:
            file.symlink_to("/dev/zero")
        case 3:
            file.touch()
            os.truncate(file, 20 << 30)  # sparse: it takes no room
        case 4:
            file.symlink_to(file.name)
        case 5:
            file.symlink_to("/nowhere")
        case 6:
            pass  # it is missing
