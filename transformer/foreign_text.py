"""Text from a stranger's files, made fit for a sentence, a screen and a pipe."""

import json
from pathlib import Path
from typing import Any


def shown(name: object, most: int = 80) -> str:
    """A stranger's name or message, fit for a sentence: one line, and not a long one."""
    plain = "".join(c if c.isprintable() else "?" for c in str(name)[: most + 1])
    return plain if len(plain) <= most else f"{plain[:most]}…"


def read_json(file: Path) -> Any:
    """The values of a JSON file. Raises OSError, ValueError or RecursionError."""
    return whole_text(json.loads(file.read_text(encoding="utf-8")))


def whole_text(values: Any) -> Any:
    """JSON values with "?" for half a surrogate pair: JSON can write one, and UTF-8 cannot."""
    text = json.dumps(values, ensure_ascii=False, default=str)
    return json.loads(text.encode("utf-8", "replace"))
