"""Tokenizers of Hugging Face's library behind this project's protocol."""

import json
import re
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from transformer.tokenizer import Side, Token

CONTINUES = "##"
"""What WordPiece writes before a piece that goes on with a word (Schuster and Nakajima 2012)."""

ANY_LENGTH = 10**30
"""What the library says where a tokenizer says nothing."""


class HuggingFaceTokenizer:
    """Any tokenizer that AutoTokenizer opens.

    Pieces of a byte-level vocabulary are written as the text that they stand for, with ▁ for a
    space as in sentencepiece; a byte that is no character by itself as <0xE2>.
    """

    kind = "hugging_face"

    def __init__(self, inner: Any, vocab_size: int) -> None:
        self._inner, self.vocab_size = inner, vocab_size
        self._lock = threading.Lock()  # the library's own are not to be shared between threads
        self._special = frozenset(inner.all_special_ids)
        self._bytes = _byte_alphabet() if _is_byte_level(inner) else None
        self._is_word_piece = any(piece.startswith(CONTINUES) for piece in inner.get_vocab())
        self._tokens: dict[int, Token] = {}

    @property
    def mask(self) -> tuple[int, str] | None:
        """Id and text of the token that asks what stands there; None where there is none."""
        id = getattr(self._inner, "mask_token_id", None)
        return None if id is None else (int(id), str(self._inner.mask_token))

    @property
    def longest(self) -> int:
        """How many tokens it says that its model reads; a huge number where it says nothing."""
        said = self._inner.model_max_length
        return int(said) if isinstance(said, int | float) and said > 0 else ANY_LENGTH

    def encode(self, text: str, side: Side = "source") -> list[int]:
        with self._lock:
            if side == "target":
                return list(self._inner(text_target=text)["input_ids"])
            ids = list(self._inner(text, add_special_tokens=side != "continuation")["input_ids"])
        ends = (self._inner.eos_token_id, self._inner.sep_token_id)
        if side == "prompt" and len(ids) > 1 and ids[-1] in ends:
            return ids[:-1]  # a text that is to go on
        return ids

    def decode(self, ids: Sequence[int]) -> str:
        with self._lock:
            text: str = self._inner.decode(list(map(int, ids)), skip_special_tokens=True)
        return text

    def token(self, id: int) -> Token:
        if id not in self._tokens:
            with self._lock:
                raw = self._inner.convert_ids_to_tokens(int(id))
            self._tokens[id] = self._token(int(id), raw)
        return self._tokens[id]

    def save(self, folder: Path) -> None:
        self._inner.save_pretrained(folder)

    def _token(self, id: int, raw: str | None) -> Token:
        if raw is None:  # more embeddings than pieces
            return Token(id, f"<{id}>", special=True)
        if id in self._special:
            return Token(id, raw, special=True)
        if self._is_word_piece:
            return Token(id, raw, begins=not raw.startswith(CONTINUES))
        return Token(id, raw if self._bytes is None else _text(raw, self._bytes))


def _is_byte_level(inner: Any) -> bool:
    """Whether its pieces are written in GPT-2's alphabet of bytes."""
    backend = getattr(inner, "backend_tokenizer", None)
    if backend is None:
        return hasattr(inner, "byte_encoder")
    parts = json.loads(backend.to_str())
    return "ByteLevel" in json.dumps([parts.get("pre_tokenizer"), parts.get("decoder")])


def _byte_alphabet() -> dict[str, int]:
    """Character -> byte, as GPT-2 writes them: printable ones as they are, others shifted."""
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    shifted = [byte for byte in range(256) if byte not in plain]
    return {chr(byte): byte for byte in plain} | {
        chr(256 + i): byte for i, byte in enumerate(shifted)
    }


def _text(raw: str, alphabet: dict[str, int]) -> str:
    """A piece as text; bytes that are no whole character by their numbers."""
    if any(character not in alphabet for character in raw):
        return raw  # added beside the vocabulary, in plain text
    text = bytes(alphabet[character] for character in raw).decode("utf-8", "surrogateescape")
    plain = text.replace(" ", "▁")
    return re.sub("[\udc80-\udcff]", lambda half: f"<0x{ord(half[0]) - 0xDC00:02X}>", plain)
