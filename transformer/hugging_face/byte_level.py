"""Byte-level vocabularies: their pieces are bytes, written in GPT-2's alphabet of them."""

import json
import re
from pathlib import Path
from typing import Any

GPT2_END = "<|endoftext|>"


def read_bpe(folder: Path) -> Any:
    """The library's tokenizer for a byte-level vocabulary: tokenizer.json, else GPT-2's two files.

    Raises what the library does over files that are none.
    """
    from transformers import GPT2Tokenizer, PreTrainedTokenizerFast

    fast: Any = PreTrainedTokenizerFast  # the library leaves its arguments without types
    file = folder / "tokenizer.json"
    if not file.is_file():
        vocab, merges = folder / "vocab.json", folder / "merges.txt"
        return GPT2Tokenizer(vocab=str(vocab), merges=str(merges))
    inner: Any = fast(tokenizer_file=str(file))
    if GPT2_END in inner.get_vocab():
        inner.eos_token = GPT2_END
    return inner


def is_byte_level(inner: Any) -> bool:
    """Tell whether its pieces are written in GPT-2's alphabet of bytes."""
    backend = getattr(inner, "backend_tokenizer", None)
    if backend is None:
        return hasattr(inner, "byte_encoder")
    parts = json.loads(backend.to_str())
    return "ByteLevel" in json.dumps([parts.get("pre_tokenizer"), parts.get("decoder")])


def byte_alphabet() -> dict[str, int]:
    """Character -> byte, as GPT-2 writes them: printable ones as they are, others shifted."""
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    shifted = [byte for byte in range(256) if byte not in plain]
    return {chr(byte): byte for byte in plain} | {
        chr(256 + i): byte for i, byte in enumerate(shifted)
    }


def as_text(raw: str, alphabet: dict[str, int]) -> str:
    """A piece as text; bytes that are no whole character by their numbers."""
    if any(character not in alphabet for character in raw):
        return raw  # added beside the vocabulary, in plain text
    text = bytes(alphabet[character] for character in raw).decode("utf-8", "surrogateescape")
    plain = text.replace(" ", "▁")
    return re.sub("[\udc80-\udcff]", lambda half: f"<0x{ord(half[0]) - 0xDC00:02X}>", plain)
