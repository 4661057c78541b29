"""Vocabularies that other code left beside its weights: a list of pieces, and how text splits."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

import sentencepiece

from transformer.files.foreign_text import whole, write_whole
from transformer.in_a_line import in_a_line
from transformer.marks import BYTE_SPACE, SPACED, marks_of
from transformer.token import UNKNOWN, Token
from transformer.tokenizer import Side, Tokenizer, TokenizerError
from transformer.words import SPACE, text_of

Splits = Literal["words", "characters"]

PAD = ("<pad>", "<blank>", "[PAD]")
START = ("<s>", "<bos>", "<sos>", "[CLS]")
END = ("</s>", "<eos>", "[SEP]")
SPECIAL = frozenset(PAD + START + END)
"""Names under which special tokens go, in vocabularies of plain text."""


@dataclass(frozen=True)
class Frame:
    """The special tokens that a model was trained with around its texts; None: no such token."""

    start: int | None = None
    """Before a source."""
    end: int | None = None
    """After a source."""
    target_end: int | None = None
    """After a target."""
    prompt_start: int | None = None
    """Before a text that is to go on."""


@in_a_line
class VocabularyTokenizer:
    """Pieces by their ids; a text is split at its spaces, or into its characters."""

    kind = "vocabulary"

    def __init__(self, pieces: Sequence[str], splits: Splits = "words", frame: Frame | None = None):
        self.pieces = tuple(pieces)
        self.splits, self.frame = splits, frame or Frame()
        self.marks = marks_of(self.pieces) if splits == "words" else SPACED
        self.ids = {piece: id for id, piece in enumerate(self.pieces)}
        self.unknown = self.named(UNKNOWN)

    @property
    def vocab_size(self) -> int:
        return len(self.pieces)

    def named(self, names: Sequence[str]) -> int | None:
        """The id of the first of these pieces that there is."""
        return next((self.ids[name] for name in names if name in self.ids), None)

    def encode(self, text: str, side: Side = "source") -> list[int]:
        starts = {"source": self.frame.start, "prompt": self.frame.prompt_start}
        ends = {"source": self.frame.end, "target": self.frame.target_end}
        framed = (starts.get(side), *self.split(text), ends.get(side))
        return [id for id in framed if id is not None]

    def decode(self, ids: Sequence[int]) -> str:
        tokens = [token for token in map(self.token, map(int, ids)) if not token.special]
        if self.splits == "characters":
            return "".join(token.piece for token in tokens)
        return text_of(tokens).removeprefix(" ")

    def token(self, id: int) -> Token:
        piece = self.pieces[id]
        return self.marks.token(id, piece, piece in SPECIAL, id == self.unknown)

    def split(self, text: str) -> list[int]:
        """The ids of a text without special tokens around it. Raises TokenizerError.

        A text of words may be split already: "lo@@ w@@ er", as the model's own were.
        """
        text = whole(text)
        parts = text.split() if self.splits == "words" else list(text)
        if self.splits == "words" and not self.marks.is_in(text):
            pieces = [self.marks.whole(part, i == 0) for i, part in enumerate(parts)]
            parts = [it if it in self.ids else part for it, part in zip(pieces, parts, strict=True)]
        elif self.marks.in_bytes:  # as its pieces are shown
            parts = [part.replace(SPACE, BYTE_SPACE) for part in parts]
        unknown = next((piece for piece in parts if piece not in self.ids), None)
        if unknown is not None and self.unknown is None:
            what = "word" if self.splits == "words" else "character"
            raise TokenizerError(f"This model has never seen the {what} “{unknown[:40]}”.")
        return [self.ids.get(piece, self.unknown or 0) for piece in parts]

    def save(self, folder: Path) -> None:
        write_whole(folder / "vocab.json", json.dumps(self.ids, ensure_ascii=False).encode())


class SentencePieceVocabulary(VocabularyTokenizer):
    """A sentencepiece model that others trained: no text is changed before it splits it."""

    kind = "sentencepiece"

    def __init__(self, model: bytes, frame: Frame | None = None, further: Sequence[str] = ()):
        """further: special pieces that the model has beyond the file's. Raises TokenizerError."""
        self._model, self._processor = model, _processor(model)
        n = self._processor.vocab_size()
        try:
            pieces = list(map(self._processor.id_to_piece, range(n)))
        except UnicodeDecodeError as error:
            raise TokenizerError("is not a whole sentencepiece model") from error
        super().__init__([*pieces, *further], frame=frame)
        control = (id for id in range(n) if self._processor.is_control(id))
        self._special = {*control, *range(n, n + len(further))}
        self.unknown = self._processor.unk_id()

    def split(self, text: str) -> list[int]:
        ids: list[int] = self._processor.encode(whole(text))
        return ids

    def decode(self, ids: Sequence[int]) -> str:
        return self._processor.decode([int(id) for id in ids if int(id) not in self._special])

    def token(self, id: int) -> Token:
        return Token(id, self.pieces[id], id in self._special, unknown=id == self.unknown)

    def save(self, folder: Path) -> None:
        write_whole(folder / "tokenizer.model", self._model)


class ReorderedPieces(VocabularyTokenizer):
    """Pieces that a sentencepiece model splits text into, and whose ids another file gives."""

    kind = "sentencepiece"

    def __init__(self, pieces: Sequence[str], model: bytes, frame: Frame | None = None) -> None:
        """Raises TokenizerError."""
        super().__init__(pieces, frame=frame)
        self._model, self._processor, self.marks = model, _processor(model), SPACED

    def split(self, text: str) -> list[int]:
        pieces = self._processor.encode(whole(text), out_type=str)
        return [self.ids.get(piece, self.unknown or 0) for piece in pieces]

    def decode(self, ids: Sequence[int]) -> str:
        tokens = [self.token(int(id)) for id in ids]
        return self._processor.decode_pieces([t.piece for t in tokens if not t.special])

    def save(self, folder: Path) -> None:
        super().save(folder)
        write_whole(folder / "tokenizer.model", self._model)


def _processor(model: bytes) -> sentencepiece.SentencePieceProcessor:
    try:
        if not model:  # sentencepiece would take it for no argument
            raise RuntimeError("empty")
        return sentencepiece.SentencePieceProcessor(model_proto=model)
    except RuntimeError as error:
        raise TokenizerError("is not a whole sentencepiece model") from error


@in_a_line
class PairTokenizer:
    """Two vocabularies, where a model reads one and writes another; ids are the target's."""

    kind = "pair"

    def __init__(self, source: Tokenizer, target: Tokenizer) -> None:
        self.source, self.target = source, target

    @property
    def vocab_size(self) -> int:
        return self.target.vocab_size

    def encode(self, text: str, side: Side = "source") -> list[int]:
        return (self.source if side == "source" else self.target).encode(text, side)

    def decode(self, ids: Sequence[int]) -> str:
        return self.target.decode(ids)

    def token(self, id: int) -> Token:
        """The target's: ask `source_side` for one of the source."""
        return self.target.token(id)

    def save(self, folder: Path) -> None:
        for name, side in (("source", self.source), ("target", self.target)):
            side.save(folder / name)


def sides_of(tokenizer: Tokenizer) -> tuple[Tokenizer, ...]:
    """Its one vocabulary, or both: the source's first."""
    if isinstance(tokenizer, PairTokenizer):
        return tokenizer.source, tokenizer.target
    return (tokenizer,)


def source_side(tokenizer: Tokenizer) -> Tokenizer:
    """The tokenizer that a model's source goes through: its only one, in most models."""
    return tokenizer.source if isinstance(tokenizer, PairTokenizer) else tokenizer


# Files that hold a vocabulary in a form that is not read here, by their names.

TIKTOKEN = "a vocabulary of tiktoken's, which the package tiktoken reads"
_MERGES = "merges of byte pairs, without the list of pieces that they make"
_NAME = "a sentencepiece model under another name than its class of tokenizers asks for"
_OBJECTS = "a vocabulary as Python objects, which are not loaded"
_OTHER = "a vocabulary, by its name, in a form that is not read here"
FORMS = {
    "tekken.json": "a vocabulary of Mistral's, which the package mistral-common reads",
    "*.tiktoken": TIKTOKEN,
    "vocab-src.json": "a vocabulary of FSMT's, which is read with the package sacremoses",
    "rwkv_vocab*": "a vocabulary of RWKV's, which the package rwkv reads",
    "dict.txt": "a vocabulary of fairseq's, which the package fairseq reads",
    "dict.*.txt": "a vocabulary of fairseq's, which the package fairseq reads",
    "encoder.json": "the vocabulary of GPT-2: call it vocab.json, and vocab.bpe merges.txt",
    **dict.fromkeys(("merges.txt", "*codes*", "*.bpe"), _MERGES),
    "tokenizer.bin": "a vocabulary for run.c of llama2.c, made of a tokenizer.model",
    "*.subwords": "a vocabulary of tensor2tensor's, which the package tensorflow-datasets reads",
    "*.model": _NAME,
    "*.model.v*": _NAME,
    "*.spm": _NAME,
    "*.vocab": "the list of a sentencepiece model, which splits no text without its .model",
    **dict.fromkeys(("*vocab*.p[kt]*", "*tokenizer*.p[kt]*"), _OBJECTS),
    **dict.fromkeys(("*vocab*", "*tokenizer*", "[is]to[is].*", "*.dict"), _OTHER),
}
"""Pattern of a name -> what such a file is."""
PACKAGES = dict.fromkeys(("vocab-src.json", "vocab-tgt.json"), "sacremoses")
"""File -> the package without which its reader does nothing."""
_SETTINGS = ("*config*.json", "*.py", "*.md", "special_tokens_map.json", "*_map.json")
_RANKED = re.compile(rb"[A-Za-z0-9+/]+={0,2} 0\r?\n[A-Za-z0-9+/]+={0,2} 1\r?\n")


def is_ranked(file: Path) -> bool:
    """Tell whether a file is of tiktoken's form: in each line a piece in base64, and its rank."""
    try:
        with file.open("rb") as opened:
            return bool(_RANKED.match(opened.read(200)))
    except OSError:
        return False


def can_read(file: Path) -> bool:
    """Tell whether the packages are here that a file of a known name is read with."""
    package = PACKAGES.get(file.name, "tiktoken" if is_ranked(file) else "")
    return file.is_file() and (not package or find_spec(package) is not None)


def unread(folder: Path, instead: str = "unless a tokenizer.json is there") -> str:
    """Name a vocabulary that lies in a folder and is not read, in a sentence; "": there is none.

    instead: what would be read.
    """
    files = sorted(file for file in folder.iterdir() if file.is_file())
    names = [it.name for it in files if not any(fnmatch(it.name, one) for one in _SETTINGS)]
    for pattern, form in FORMS.items():
        name = next((name for name in names if fnmatch(name.lower(), pattern)), None)
        if name is not None:
            what = _what(folder / name, form)
            return f"{name} is {what}: texts are ids of tokens, {instead}."
    return ""


def _what(file: Path, form: str) -> str:
    """Look into a file that has the name of a sentencepiece model."""
    if form is not _NAME:
        return form
    if is_ranked(file):
        return TIKTOKEN
    with file.open("rb") as opened:  # the first piece of a sentencepiece model is its first field
        return _NAME if opened.read(1) == b"\n" else _OTHER
