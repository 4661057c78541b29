"""The vocabulary that lies beside a file of weights, if there is one."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transformer.checkpoint import CheckpointError
from transformer.extras import require
from transformer.files.foreign_file import place, read_file, read_json
from transformer.files.foreign_text import clean, reason, some_of, whole_text
from transformer.files.torch_file import read_plain_pickle
from transformer.files.weights import Weights
from transformer.formats.mappings.mapping import OtherCode
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
    is_ranked,
    unread,
)

LARGEST = 64 << 20
"""Bytes of a vocabulary file."""
SENTENCEPIECE = ("tokenizer.model", "vocab.spm")
SPLITTERS = {"source": "source.spm", "target": "target.spm"}
"""Sentencepiece models that split text into the pieces of a list, each with ids of its own."""
LISTS = ("vocab.txt", "vocab.json", "vocab.yml")
JOEY = {"source": "src_vocab.txt", "target": "trg_vocab.txt"}
"""The same as joeynmt calls them."""
CHARACTERS = "meta.pkl"
BPE = (("tokenizer.json",), ("vocab.json", "merges.txt"))
"""Files of a byte-level vocabulary, for code that may have been trained with one."""
BPE_ADVICE = (
    "To type text, put its vocabulary beside the weights: the meta.pkl that it was trained with, "
    "or GPT-2's vocab.json and merges.txt, or a tokenizer.json."
)
INSTEAD = "unless one that docs/formats.md names lies beside the weights"
_COUNTED = re.compile(r"(\S+)[\t ]-?\d[\d.e+-]*")
SIDES = ("source", "target")
FILES = (
    *SENTENCEPIECE,
    *SPLITTERS.values(),
    *("tokenizer.json", "merges.txt"),
    *(name.replace(".", f".{side}.") for side in SIDES for name in LISTS),
    *LISTS,
    *JOEY.values(),
    CHARACTERS,
)
"""Whatever may lie beside a file of weights, first come first served."""


@dataclass(frozen=True)
class Vocabulary:
    """The vocabulary found: nothing, a sentencepiece model, or lists of pieces for each side."""

    place: str = ""
    """The folder and the file, for sentences about it."""
    model: bytes | None = None
    pieces: Mapping[str, tuple[str, ...]] | None = None
    """Under "source" and "target"."""
    splits: Splits = "words"
    splitters: Mapping[str, bytes] | None = None
    """Sentencepiece models that split each side's text into pieces; None: it is split at spaces."""
    unread: str = ""
    """A sentence about a file that may be one, and is none that is read."""
    bpe: Any = None
    """The library's tokenizer for a byte-level vocabulary."""

    def notes(self) -> Iterator[str]:
        """Yield a sentence for each way in which it is not what it looks like."""
        if self.unread:
            yield self.unread
        for side, pieces in (self.pieces or {}).items():
            twice = [piece for piece, n in Counter(pieces).items() if n > 1]
            if twice and (side == SIDES[0] or pieces != (self.pieces or {})[SIDES[0]]):
                yield (
                    f"{self.place} has {some_of(map(repr, map(clean, twice)), 3)} more than once: "
                    "a text is read as the last of them."
                )

    def special_ids(self, names: Sequence[str]) -> dict[str, int]:
        """Find those of pad_id, bos_id and eos_id whose pieces go by such names."""
        if self.model is not None:
            tokenizer: VocabularyTokenizer = SentencePieceVocabulary(self.model)
        elif self.pieces is not None and self.splits == "words":
            tokenizer = VocabularyTokenizer(self.pieces["target"])
        else:
            return {}
        pieces = {"pad_id": PAD, "bos_id": START, "eos_id": END}
        ids = {name: tokenizer.named(pieces[name]) for name in names}
        return {name: id for name, id in ids.items() if id is not None}


def find_vocabulary(folder: Path, weights: Weights, mapping: OtherCode) -> Vocabulary:
    """The one inside the file of weights, else one beside it. Raises CheckpointError."""
    if weights.vocabulary:
        return Vocabulary(f"{folder.name}: the vocabulary in it", pieces=weights.vocabulary)
    for names in BPE if mapping.reads_bpe else ():
        if all((folder / name).is_file() for name in names):
            return _bpe(folder, names)
    for name in SENTENCEPIECE:
        if (folder / name).is_file() and not is_ranked(folder / name):
            return _sentencepiece(folder / name)
    for name in LISTS:
        paths = {side: folder / name.replace(".", f".{side}.") for side in SIDES}
        if name == LISTS[0] and all((folder / other).is_file() for other in JOEY.values()):
            paths = {side: folder / other for side, other in JOEY.items()}
        if all(path.is_file() for path in paths.values()):
            pieces = {side: _pieces(path) for side, path in paths.items()}
            both = " and ".join(path.name for path in paths.values())
            return Vocabulary(f"{folder.name}: {both}", pieces=pieces, splitters=_splitters(folder))
        if (folder / name).is_file():
            pieces = dict.fromkeys(SIDES, _pieces(folder / name))
            return Vocabulary(place(folder / name), pieces=pieces, splitters=_splitters(folder))
    if (folder / CHARACTERS).is_file():
        pieces = dict.fromkeys(SIDES, _characters(folder / CHARACTERS))
        return Vocabulary(place(folder / CHARACTERS), pieces=pieces, splits="characters")
    return Vocabulary(unread=unread(folder, INSTEAD))


def make_tokenizer(
    vocabulary: Vocabulary,
    mapping: OtherCode,
    sizes: Mapping[str, int],
    bos_id: int | None,
    eos_id: int | None,
) -> Tokenizer:
    """A tokenizer of just the model's sizes. Raises CheckpointError where they differ.

    sizes: how many tokens the model has under "source" and "target".
    """
    start, end = mapping.frames_source
    frame = Frame(
        bos_id if start else None,
        eos_id if end else None,
        eos_id,
        bos_id if mapping.starts_prompts else None,
    )
    made = {side: _tokenizer(vocabulary, mapping, side, sizes[side], frame) for side in SIDES}
    for side, size in sizes.items():
        if made[side].vocab_size != size:
            raise CheckpointError(
                f"{vocabulary.place} has {made[side].vocab_size:,} pieces, the model's {side} has "
                f"{size:,}: it has to name every id once, special tokens and padding too."
            )
    is_one = sizes["source"] == sizes["target"] and all(
        each is None or each["source"] == each["target"]
        for each in (vocabulary.pieces, vocabulary.splitters)
    )
    return made["target"] if is_one else PairTokenizer(made["source"], made["target"])


def _tokenizer(
    vocabulary: Vocabulary, mapping: OtherCode, side: str, size: int, frame: Frame
) -> Tokenizer:
    further = mapping.further_pieces
    if vocabulary.bpe is not None:
        n_pieces = len(vocabulary.bpe)
        if n_pieces > size:  # fewer than the model has room for are usual: 50,257 of 50,304
            raise CheckpointError(
                f"{vocabulary.place} has {n_pieces:,} pieces, the model {size:,}."
            )
        return HuggingFaceTokenizer(vocabulary.bpe, size)
    if vocabulary.model is not None:
        return SentencePieceVocabulary(vocabulary.model, frame, further)
    if vocabulary.pieces is None:
        return IdTokenizer(size, vocabulary.unread or (BPE_ADVICE if mapping.reads_bpe else ""))
    pieces = [*vocabulary.pieces[side]]
    while len(pieces) + len(further) > size and not pieces[-1]:  # blank lines at its end
        pieces.pop()
    pieces += further
    if vocabulary.splitters is not None:
        return ReorderedPieces(pieces, vocabulary.splitters[side], frame)
    return VocabularyTokenizer(pieces, vocabulary.splits, frame)


def _sentencepiece(file: Path) -> Vocabulary:
    model = read_file(file, LARGEST)
    try:
        SentencePieceVocabulary(model)
    except TokenizerError as error:
        raise CheckpointError(f"{place(file)} {error}.") from error
    return Vocabulary(place(file), model=model)


def _splitters(folder: Path) -> dict[str, bytes] | None:
    files = {side: folder / name for side, name in SPLITTERS.items()}
    if not all(file.is_file() for file in files.values()):
        return None
    models = {side: _sentencepiece(file).model for side, file in files.items()}
    return {side: model for side, model in models.items() if model is not None}


def _bpe(folder: Path, names: Sequence[str]) -> Vocabulary:
    names_of_files = f"{folder.name}: {' and '.join(names)}"
    for name in names:
        read_file(folder / name, LARGEST)  # which refuses one that is too large
    require("hf")
    try:
        return Vocabulary(names_of_files, bpe=read_bpe(folder))
    except Exception as error:  # the library's are of many kinds
        raise CheckpointError(f"{names_of_files} cannot be read: {reason(error, 120)}.") from error


def _pieces(file: Path) -> tuple[str, ...]:
    """A piece per line in the order of their ids, or piece -> id as a JSON object or a YAML map."""
    if file.suffix == ".json":
        return _ordered(read_json(file, LARGEST), file)
    try:
        text = read_file(file, LARGEST).decode("utf-8-sig")
        if file.suffix == ".txt":
            return _lines(text)
        if text.lstrip().startswith("{"):  # older tools write JSON, which is YAML too
            return _ordered(json.loads(text), file)
        return _ordered(_yaml_ids(text), file)
    except (ValueError, RecursionError) as error:
        raise CheckpointError(f"{place(file)} cannot be read: {reason(error)}.") from error


def _lines(text: str) -> tuple[str, ...]:
    """A piece per line, without what ends each of them: Windows' return, or how often it occurs."""
    lines = text.removesuffix("\n").split("\n")
    if all(line.endswith("\r") for line in lines[:-1]):
        lines = [line.removesuffix("\r") for line in lines]
    counted = [_COUNTED.fullmatch(line) for line in lines if line]
    return tuple(each[1] for each in counted if each) if all(counted) else tuple(lines)


def _yaml_ids(text: str) -> dict[str, int]:
    """piece -> id, as Marian writes it. Raises ValueError for an entry that is something else."""
    from transformer.files.yaml_file import yaml_pairs  # only here is PyYAML needed

    ids = {}
    for piece, id, line in yaml_pairs(text):
        if id is None or not _is_id(id):
            raise ValueError(f"line {line} is not a piece with its id: {clean(piece, 40)}")
        ids[piece] = int(id)
    return ids


def _ordered(ids: Any, file: Path) -> tuple[str, ...]:
    """piece -> id as a list: every id from 0 on, once."""
    if isinstance(ids, list) and all(isinstance(piece, str) for piece in ids):
        return tuple(whole_text(ids))
    is_map = isinstance(ids, dict) and all(map(_is_id, ids.values()))
    pieces = {int(id): str(piece) for piece, id in ids.items()} if is_map else {}
    if not is_map or sorted(pieces) != list(range(len(ids))):
        raise CheckpointError(
            f"{place(file)} must give each piece an id, every number from 0 on once."
        )
    return tuple(whole_text([pieces[id] for id in range(len(ids))]))


def _is_id(value: Any) -> bool:
    """A whole number, or its digits."""
    if isinstance(value, str):
        return value.isascii() and value.isdigit() and len(value) < 10
    return isinstance(value, int) and not isinstance(value, bool)


def _characters(file: Path) -> tuple[str, ...]:
    """nanoGPT's meta.pkl: {"vocab_size", "itos", "stoi"}, of builtin values alone."""
    try:
        meta = read_plain_pickle(read_file(file, LARGEST))
    except ValueError as error:
        raise CheckpointError(
            f"{place(file)} is not a plain dictionary: {reason(error, 100)}."
        ) from error
    if not isinstance(meta, dict) or not isinstance(meta.get("stoi"), dict):
        raise CheckpointError(f"{place(file)} has no stoi, which gives each character its id.")
    return _ordered(meta["stoi"], file)
