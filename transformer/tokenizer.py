"""Text <-> tokens: what every tokenizer does, and those of this project."""

import io
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal, Protocol, Self

import sentencepiece

from transformer.files.foreign_text import whole, write_whole
from transformer.files.regular_file import read_of_checkpoint
from transformer.files.weights import Misfit
from transformer.in_a_line import in_a_line
from transformer.refusal import Refusal
from transformer.token import Token

Side = Literal["source", "target", "text", "prompt", "continuation"]
"""The use of a text: translated or produced; judged; or begun, for a generator to go on with."""


LARGEST, LARGEST_ALPHABET = 64 << 20, 8 << 20
"""Bytes that a vocabulary and a list of characters may have: twice every character there is."""


class TokenizerError(Refusal, ValueError):
    """Text that a tokenizer cannot take; the message says what to change."""


class Tokenizer(Protocol):
    """The interface that models ask of any tokenizer."""

    @property
    def vocab_size(self) -> int: ...

    def encode(self, text: str, side: Side = "source") -> list[int]:
        """The ids of a text, with the special tokens that the model was trained with."""

    def decode(self, ids: Sequence[int]) -> str:
        """The text of ids; special tokens leave no trace."""

    def token(self, id: int) -> Token:
        """The token of an id."""

    def save(self, folder: Path) -> None:
        """Write what `load_tokenizer` needs; nothing where there is nothing to keep."""


# Typographic variants that the training text writes plainly.
_VARIANTS = str.maketrans(
    {"’": "'", "‘": "'", "‚": "'", "“": '"', "”": '"', "„": '"', "–": "-", "—": "-"}
    | {"…": "...", "\u00a0": " ", "\u202f": " "}
)


def plain(text: str) -> str:
    """Composed characters, plain quotes and dashes; half a surrogate pair becomes a "?"."""
    return unicodedata.normalize("NFC", whole(text)).translate(_VARIANTS)


@in_a_line
class SentencePieceTokenizer:
    """A sentencepiece model with byte fallback: no text is unknown to it."""

    kind = "sentencepiece"
    file_name = "tokenizer.model"

    def __init__(self, model: bytes) -> None:
        self._model = model
        self._processor = sentencepiece.SentencePieceProcessor(model_proto=model)
        self._tokens = tuple(map(self._token, range(self.vocab_size)))

    @property
    def vocab_size(self) -> int:
        return self._processor.vocab_size()

    def encode(self, text: str, side: Side = "source") -> list[int]:
        ids: list[int] = self._processor.encode(plain(text))
        if side == "prompt":
            return [self._processor.bos_id(), *ids]
        return ids if side == "text" else [*ids, self._processor.eos_id()]

    def sample(self, text: str, alpha: float) -> list[int]:
        """One of the ways to split a text, drawn at random (Kudo 2018); low alpha: rarer ones.

        Without special tokens. The generator is sentencepiece's own:
        `sentencepiece.set_random_generator_seed`.
        """
        ids: list[int] = self._processor.encode(
            plain(text), enable_sampling=True, nbest_size=-1, alpha=alpha
        )
        return ids

    def decode(self, ids: Sequence[int]) -> str:
        return self._processor.decode([int(id) for id in ids if not self.token(int(id)).special])

    def token(self, id: int) -> Token:
        return self._tokens[id]

    def _token(self, id: int) -> Token:
        special, unknown = self._processor.is_control(id), self._processor.is_unknown(id)
        return Token(id, self._processor.id_to_piece(id), special, unknown=unknown)

    def save(self, folder: Path) -> None:
        write_whole(folder / self.file_name, self._model)

    @classmethod
    def load(cls, folder: Path, vocab_size: int) -> "SentencePieceTokenizer":
        """Read the folder's model. Raises TokenizerError."""
        model = _read(folder / cls.file_name, LARGEST)
        try:
            if not model:  # sentencepiece would take it for no argument
                raise RuntimeError("empty")
            return cls(model)
        except (RuntimeError, UnicodeDecodeError) as error:  # a piece may be no text
            raise TokenizerError(f"{cls.file_name} is not a whole sentencepiece model.") from error

    @classmethod
    def train(
        cls,
        sentences: Iterable[str],
        vocab_size: int,
        folds_case: bool = False,
        splits_digits: bool = False,
    ) -> "SentencePieceTokenizer":
        """Learn a unigram vocabulary: 0 padding, 1 start, 2 end, 3 unknown, then 256 bytes.

        folds_case: whether upper and lower case are one, now and in every text read later.
        splits_digits: whether each digit is a piece, so that no number is rarer than another.
        Raises TokenizerError if the text is too short for that many pieces.
        """
        model = io.BytesIO()
        try:
            sentencepiece.SentencePieceTrainer.train(
                sentence_iterator=map(plain, sentences),
                model_writer=model,
                vocab_size=vocab_size,
                byte_fallback=True,
                normalization_rule_name="nmt_nfkc_cf" if folds_case else "nmt_nfkc",
                character_coverage=0.9998,
                split_digits=splits_digits,
                pad_id=0,
                bos_id=1,
                eos_id=2,
                unk_id=3,
                minloglevel=2,
            )
        except RuntimeError as error:
            reason = str(error).strip().rpartition("] ")[2]
            raise TokenizerError(f"no vocabulary of {vocab_size:,} pieces: {reason}") from error
        return cls(model.getvalue())

    @classmethod
    def trained_in(
        cls,
        folder: Path,
        sentences: Iterable[str],
        vocab_size: int,
        folds_case: bool = False,
        splits_digits: bool = False,
    ) -> "SentencePieceTokenizer":
        """The vocabulary that a run's folder already has, else a new one, kept there."""
        if (folder / cls.file_name).exists():
            return cls.load(folder, vocab_size)
        tokenizer = cls.train(sentences, vocab_size, folds_case, splits_digits)
        tokenizer.save(folder)
        return tokenizer


@in_a_line
class IdTokenizer:
    """The tokenizer of a model without a vocabulary: its tokens are typed as their numbers."""

    kind = "ids"

    def __init__(self, vocab_size: int, advice: str = "") -> None:
        """advice: a sentence that says how text could be typed."""
        self.vocab_size, self.advice = vocab_size, advice

    def encode(self, text: str, side: Side = "source") -> list[int]:
        message = "This checkpoint has no vocabulary, so it reads token ids, from 0 to"
        ids = range(self.vocab_size)
        return _numbers(text, ids, f"{message} {self.vocab_size - 1}", self.advice)

    def decode(self, ids: Sequence[int]) -> str:
        return " ".join(str(int(id)) for id in ids)

    def token(self, id: int) -> Token:
        return Token(id, str(id))

    def save(self, folder: Path) -> None:
        pass

    @classmethod
    def load(cls, folder: Path, vocab_size: int) -> Self:
        return cls(vocab_size)


class NumberTokenizer(IdTokenizer):
    """The copy task's alphabet: the numbers themselves, 0 being padding and 1 the start."""

    kind = "numbers"

    def encode(self, text: str, side: Side = "source") -> list[int]:
        message = f"This model copies numbers from 2 to {self.vocab_size - 1}, written with spaces"
        return _numbers(text, range(2, self.vocab_size), f"{message} between them")

    def decode(self, ids: Sequence[int]) -> str:
        return super().decode([id for id in ids if id > 1])

    def token(self, id: int) -> Token:
        return Token(id, ("<pad>", "<s>")[id] if id < 2 else str(id), special=id < 2)


def _numbers(text: str, allowed: range, message: str, advice: str = "") -> list[int]:
    """The numbers that a text is written in. Raises TokenizerError for a word that is none."""
    words = text.replace(",", " ").split()
    for word in words:
        if not (word.isascii() and word.isdigit() and int(word[:9]) in allowed):
            refusal = f"{message}; “{word[:40]}” is not one of them. {advice}"
            raise TokenizerError(refusal.strip())
    return [int(word) for word in words]


@in_a_line
class CharacterTokenizer:
    """One token per character, 0 being padding."""

    kind = "characters"
    file_name = "characters.txt"

    def __init__(self, characters: str) -> None:
        self.characters = characters
        self._ids = {character: i for i, character in enumerate(characters, 1)}

    @property
    def vocab_size(self) -> int:
        return 1 + len(self.characters)

    def encode(self, text: str, side: Side = "source") -> list[int]:
        strange = next((c for c in plain(text) if c not in self._ids), None)
        if strange is not None:
            raise TokenizerError(
                f"This model has never seen the character “{strange}”: leave it out."
            )
        return [self._ids[character] for character in plain(text)]

    def decode(self, ids: Sequence[int]) -> str:
        return "".join(self.characters[int(id) - 1] for id in ids if id)

    def token(self, id: int) -> Token:
        return Token(id, self.characters[id - 1]) if id else Token(0, "<pad>", special=True)

    def save(self, folder: Path) -> None:
        write_whole(folder / self.file_name, self.characters.encode())

    @classmethod
    def load(cls, folder: Path, vocab_size: int) -> "CharacterTokenizer":
        """Read the folder's characters. Raises TokenizerError."""
        try:
            characters = _read(folder / cls.file_name, LARGEST_ALPHABET).decode()
        except UnicodeDecodeError as error:
            raise TokenizerError(f"{cls.file_name} is not a text in UTF-8.") from error
        if len(set(characters)) < len(characters):
            raise TokenizerError(f"{cls.file_name} names a character twice.")
        return cls(characters)

    @classmethod
    def train(cls, text: str) -> "CharacterTokenizer":
        """Every character of a text, in the order of their code points."""
        return cls("".join(sorted(set(plain(text)))))


def _read(file: Path, most: int) -> bytes:
    """Read a tokenizer's file. Raises TokenizerError."""
    try:
        return read_of_checkpoint(file, most)
    except Misfit as error:
        raise TokenizerError(f"{file.name} {error}.") from error


_KINDS = {
    cls.kind: cls
    for cls in (SentencePieceTokenizer, NumberTokenizer, CharacterTokenizer, IdTokenizer)
}
TOKENIZER_FILES = (SentencePieceTokenizer.file_name, CharacterTokenizer.file_name)
"""The files in a folder of ours for a tokenizer that is kept in one."""


def load_tokenizer(kind: str, folder: Path, vocab_size: int) -> Tokenizer:
    """The tokenizer of a checkpoint folder. Raises TokenizerError."""
    if kind not in _KINDS:
        raise TokenizerError(f"unknown tokenizer kind {kind!r:.40}; known: {', '.join(_KINDS)}.")
    tokenizer: Tokenizer = _KINDS[kind].load(folder, vocab_size)
    if tokenizer.vocab_size != vocab_size:
        raise TokenizerError(
            f"the tokenizer has {tokenizer.vocab_size} pieces, the model {vocab_size}."
        )
    return tokenizer
