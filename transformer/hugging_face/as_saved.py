"""A folder's tokenizer.json beside what the library's class makes of it.

Some classes build a tokenizer anew of the file's pieces alone: how it splits a text before it looks
for pieces (digits one by one, capitals kept) is then the class's own, and a model is given other
tokens than it was trained with.
"""

import json
from itertools import zip_longest
from pathlib import Path
from typing import Any

from transformer.files.foreign_text import clean, some_of

WHOLE, SETTINGS = "tokenizer.json", "tokenizer_config.json"
FOLLOW = (
    f'"tokenizer_class": "PreTrainedTokenizerFast" in {SETTINGS} has the file followed as it is'
)
_TEXT = "It's 12,345 o'Clock (x+1): naïve Café"
_BEFORE_PIECES = ("normalizer", "pre_tokenizer")
_SHOWN = 4


def unlike(inner: Any, file: Path) -> str:
    """A sentence where a text is split otherwise than the file says; "": it is not.

    inner: of the library. file: tokenizer.json, which it was made of, if it is there.
    """
    backend = getattr(inner, "backend_tokenizer", None)
    if backend is None or not file.is_file():
        return ""
    own, theirs = (json.loads(text) for text in (backend.to_str(), file.read_text("utf-8")))
    if all(own.get(part) == theirs.get(part) for part in _BEFORE_PIECES):
        return ""
    saved = _pieces(_tokenizer_of(file), _TEXT)
    used = _pieces(backend, _TEXT)
    at = next((i for i, (a, b) in enumerate(zip_longest(saved, used)) if a != b), None)
    if at is None:
        return ""
    first, second = (some_of(map(clean, each[at : at + _SHOWN]), _SHOWN) for each in (saved, used))
    return (
        f"{WHOLE} by itself splits a text otherwise than {type(inner).__name__}, which the library "
        f"takes for it: {first} where that has {second or 'nothing'}. {FOLLOW}."
    )


def opens_by_itself(file: Path) -> bool:
    """Tell whether a tokenizer.json is there and whole."""
    try:
        return file.is_file() and _tokenizer_of(file) is not None
    except Exception:  # of any kind: it is a stranger's
        return False


def _tokenizer_of(file: Path) -> Any:
    from tokenizers import Tokenizer

    return Tokenizer.from_file(str(file))


def _pieces(tokenizer: Any, text: str) -> list[str]:
    """Its pieces; none where it cannot read the text, as without a piece for what is unknown."""
    try:
        return list(tokenizer.encode(text, add_special_tokens=False).tokens)
    except Exception:  # of any kind: it is a stranger's
        return []
