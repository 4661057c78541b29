"""The vocabulary that lies beside a file of weights, if there is one."""

import io
import json
import pickle
import pickletools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transformer.checkpoint import CheckpointError
from transformer.files.foreign_text import reason, whole_text
from transformer.formats.mappings.mapping import CodeMapping, Found
from transformer.formats.vocabulary_yaml import yaml_ids
from transformer.hugging_face.tokenizer import HuggingFaceTokenizer, read_bpe
from transformer.tokenizer import IdTokenizer, Tokenizer, TokenizerError
from transformer.vocabulary import (
    END,
    PAD,
    START,
    Frame,
    PairTokenizer,
    ReorderedPieces,
    SentencePieceVocabulary,
    Splits,
    VocabularyTokenizer,
)

LARGEST = 64 << 20
"""Bytes of a vocabulary file."""
SENTENCEPIECE = ("tokenizer.model", "vocab.spm")
SPLITTERS = {"source": "source.spm", "target": "target.spm"}
"""Sentencepiece models that split text into the pieces of a list, each with ids of its own."""
LISTS = ("vocab.txt", "vocab.json", "vocab.yml")
CHARACTERS = "meta.pkl"
BPE = (("tokenizer.json",), ("vocab.json", "merges.txt"))
"""Files of a byte-level vocabulary, for code that may have been trained with one."""
BPE_ADVICE = (
    "To type text, put its vocabulary beside the weights: the meta.pkl that it was trained with, "
    "or GPT-2's vocab.json and merges.txt, or a tokenizer.json."
)
SIDES = ("source", "target")
FILES = (
    *SENTENCEPIECE,
    *SPLITTERS.values(),
    *("tokenizer.json", "merges.txt"),
    *(name.replace(".", f".{side}.") for side in SIDES for name in LISTS),
    *LISTS,
    CHARACTERS,
)
"""Whatever may lie beside a file of weights, first come first served."""


@dataclass(frozen=True)
class Vocabulary:
    """What was found: nothing, a sentencepiece model, or lists of pieces for each side."""

    name: str = ""
    """The file, for sentences about it."""
    model: bytes | None = None
    pieces: Mapping[str, tuple[str, ...]] | None = None
    """Under "source" and "target"."""
    splits: Splits = "words"
    splitters: Mapping[str, bytes] | None = None
    """Sentencepiece models that split each side's text into pieces; None: it is split at spaces."""
    bpe: Any = None
    """The library's tokenizer for a byte-level vocabulary."""

    def special_ids(self, names: Sequence[str]) -> dict[str, int]:
        """Those of pad_id, bos_id and eos_id whose pieces go by such names."""
        if self.model is not None:
            tokenizer: VocabularyTokenizer = SentencePieceVocabulary(self.model)
        elif self.pieces is not None and self.splits == "words":
            tokenizer = VocabularyTokenizer(self.pieces["target"])
        else:
            return {}
        pieces = {"pad_id": PAD, "bos_id": START, "eos_id": END}
        found = {name: tokenizer.named(pieces[name]) for name in names}
        return {name: id for name, id in found.items() if id is not None}


def find_vocabulary(folder: Path, found: Found, mapping: CodeMapping) -> Vocabulary:
    """The one inside the file of weights, else one beside it. Raises CheckpointError."""
    if found.vocabulary:
        return Vocabulary("the vocabulary in it", pieces=found.vocabulary)
    for names in BPE if mapping.reads_bpe else ():
        if all((folder / name).is_file() for name in names):
            return _bpe(folder, names)
    for name in SENTENCEPIECE:
        if (folder / name).is_file():
            return _sentencepiece(folder / name)
    for name in LISTS:
        paths = {side: folder / name.replace(".", f".{side}.") for side in SIDES}
        if all(path.is_file() for path in paths.values()):
            pieces = {side: _pieces(path) for side, path in paths.items()}
            both = " and ".join(path.name for path in paths.values())
            return Vocabulary(both, pieces=pieces, splitters=_splitters(folder))
        if (folder / name).is_file():
            pieces = dict.fromkeys(SIDES, _pieces(folder / name))
            return Vocabulary(name, pieces=pieces, splitters=_splitters(folder))
    if (folder / CHARACTERS).is_file():
        characters = _characters(folder / CHARACTERS)
        return Vocabulary(CHARACTERS, pieces=dict.fromkeys(SIDES, characters), splits="characters")
    return Vocabulary()


def make_tokenizer(
    vocabulary: Vocabulary, mapping: CodeMapping, config: Any, n_source: int
) -> Tokenizer:
    """A tokenizer of just the model's sizes. Raises CheckpointError where they differ.

    config: the ModelConfig; n_source: how many tokens the source's vocabulary has.
    """
    start, end = mapping.frames_source
    eos_id = config.eos_id
    frame = Frame(config.bos_id if start else None, eos_id if end else None, eos_id)
    sizes = {"source": n_source, "target": config.vocab_size}
    made = {side: _tokenizer(vocabulary, mapping, side, sizes[side], frame) for side in SIDES}
    for side, size in sizes.items():
        if made[side].vocab_size != size:
            raise CheckpointError(
                f"{vocabulary.name} has {made[side].vocab_size:,} pieces, the model's {side} has "
                f"{size:,}"
            )
    is_one = n_source == config.vocab_size and all(
        each is None or each["source"] == each["target"]
        for each in (vocabulary.pieces, vocabulary.splitters)
    )
    return made["target"] if is_one else PairTokenizer(made["source"], made["target"])


def _tokenizer(
    vocabulary: Vocabulary, mapping: CodeMapping, side: str, size: int, frame: Frame
) -> Tokenizer:
    further = mapping.further_pieces
    if vocabulary.bpe is not None:
        n_pieces = len(vocabulary.bpe)
        if n_pieces > size:  # fewer than the model has room for are usual: 50,257 of 50,304
            raise CheckpointError(f"{vocabulary.name} has {n_pieces:,} pieces, the model {size:,}")
        return HuggingFaceTokenizer(vocabulary.bpe, size)
    if vocabulary.model is not None:
        return SentencePieceVocabulary(vocabulary.model, frame, further)
    if vocabulary.pieces is None:
        return IdTokenizer(size, BPE_ADVICE if mapping.reads_bpe else "")
    if vocabulary.splitters is not None:
        pieces = [*vocabulary.pieces[side], *further]
        return ReorderedPieces(pieces, vocabulary.splitters[side], frame)
    return VocabularyTokenizer([*vocabulary.pieces[side], *further], vocabulary.splits, frame)


def _sentencepiece(file: Path) -> Vocabulary:
    model = _read(file)
    try:
        SentencePieceVocabulary(model)
    except TokenizerError as error:
        raise CheckpointError(f"{file.name} {error}") from error
    return Vocabulary(file.name, model=model)


def _splitters(folder: Path) -> dict[str, bytes] | None:
    files = {side: folder / name for side, name in SPLITTERS.items()}
    if not all(file.is_file() for file in files.values()):
        return None
    models = {side: _sentencepiece(file).model for side, file in files.items()}
    return {side: model for side, model in models.items() if model is not None}


def _bpe(folder: Path, names: Sequence[str]) -> Vocabulary:
    said = " and ".join(names)
    for name in names:
        _read(folder / name)  # which refuses one that is too large
    try:
        return Vocabulary(said, bpe=read_bpe(folder))
    except Exception as error:  # the library's are of many kinds
        raise CheckpointError(f"{said} cannot be read: {reason(error, 120)}") from error


def _read(file: Path) -> bytes:
    try:
        if file.stat().st_size > LARGEST:
            raise CheckpointError(f"{file.name} is larger than any vocabulary ({LARGEST:,} bytes)")
        return file.read_bytes()
    except OSError as error:
        raise CheckpointError(f"{file.name} cannot be read: {error}") from error


def _pieces(file: Path) -> tuple[str, ...]:
    """A piece a line in the order of their ids, or piece -> id as a JSON object or a YAML map."""
    try:
        text = _read(file).decode("utf-8")
        if file.suffix == ".txt":
            return tuple(text.removesuffix("\n").split("\n"))
        if file.suffix == ".yml" and not text.lstrip().startswith("{"):
            return _ordered(yaml_ids(text), file.name)
        return _ordered(json.loads(text), file.name)
    except (ValueError, RecursionError) as error:
        raise CheckpointError(f"{file.name} cannot be read: {error}") from error


def _ordered(ids: Any, name: str) -> tuple[str, ...]:
    """piece -> id as a list: every id from 0 on, once."""
    if isinstance(ids, list) and all(isinstance(piece, str) for piece in ids):
        return tuple(whole_text(ids))
    if not isinstance(ids, dict) or sorted(map(str, ids.values())) != sorted(
        map(str, range(len(ids)))
    ):
        raise CheckpointError(f"{name} must give each piece an id, every number from 0 on once")
    return tuple(whole_text([str(p) for p in sorted(ids, key=lambda piece: int(ids[piece]))]))


def _characters(file: Path) -> tuple[str, ...]:
    """nanoGPT's meta.pkl: {"vocab_size", "itos", "stoi"}, of builtin values alone."""
    data = _read(file)
    try:
        meta = _plain_pickle(data)
    except Exception as error:  # whatever a damaged pickle raises
        reason = str(error)[:100].rstrip(".")
        raise CheckpointError(f"{file.name} is no plain dictionary: {reason}") from error
    if not isinstance(meta, dict) or not isinstance(meta.get("stoi"), dict):
        raise CheckpointError(f"{file.name} has no stoi, which gives each character its id")
    return _ordered(meta["stoi"], file.name)


class _Builtin(pickle.Unpickler):
    """Loads dictionaries, lists, texts and numbers; everything else is named by a class."""

    def find_class(self, module: str, name: str) -> Any:
        raise pickle.UnpicklingError(f"it asks for {module}.{name}")


_OPCODES = re.compile(
    "PROTO|FRAME|STOP|MARK|(EMPTY_)?(DICT|LIST|TUPLE)|SETITEMS?|APPENDS?|TUPLE[123]|NONE|NEWTRUE|"
    "(SHORT_)?BINUNICODE|BININT[12]?|LONG1|NEWFALSE|BINFLOAT|MEMOIZE|(LONG_)?BIN(PUT|GET)"
)
"""Of plain containers; others can call functions, or ask for memory by a number alone."""


def _plain_pickle(data: bytes) -> Any:
    for opcode, argument, _ in pickletools.genops(data):
        if not _OPCODES.fullmatch(opcode.name):
            raise pickle.UnpicklingError(f"it holds more than that ({opcode.name})")
        if opcode.name == "LONG_BINPUT" and int(argument or 0) > len(data):
            raise pickle.UnpicklingError("it counts more objects than it has")
    return _Builtin(io.BytesIO(data)).load()
