"""Marks of a machine: all those that do shards of a job need the same, or results would differ."""

import hashlib
import socket
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from transformer.corpus.manifest import versions
from transformer.device import PRECISION, asked_dtype, precision_name
from transformer.engines.engine import EngineError
from transformer.fingerprint import fingerprint
from transformer.refusal import quoted


def marks_of(checkpoint: Path) -> dict[str, str]:
    """Return the versions, the code, the weights and the precision that a job would run with here.

    The precision is that which is asked for. Raises Refusal where that is none.
    """
    dtype = asked_dtype()
    own = {"code": _code(), "checkpoint": fingerprint(checkpoint)}
    return {**versions(), **own, PRECISION: precision_name(dtype) if dtype else "not set"}


@cache
def _code() -> str:
    """Return the SHA-256 of our own modules that compute something."""
    total = hashlib.sha256()
    room = Path(__file__).parents[1]
    for file in sorted(room.rglob("*.py")):
        total.update(f"{file.relative_to(room)}\n".encode() + file.read_bytes())
    return total.hexdigest()


def check_machine(here: Mapping[str, str], there: Mapping[str, str]) -> None:
    """Raise EngineError where what is compared of the machine that runs this is another there."""
    for name, value in here.items():
        if there[name] != value:
            raise EngineError(
                f"{socket.gethostname()} has {name} {quoted(there[name], 20)}, and this machine "
                f"{quoted(value, 20)}: results would differ. Bring both to the same."
            )
