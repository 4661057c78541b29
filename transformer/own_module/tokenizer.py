"""Somebody's own function from text to token ids as a Tokenizer; an error in it ends in one
sentence.
"""

import sysconfig
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from inspect import signature
from logging import getLogger
from numbers import Integral
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import Tensor

from transformer.in_a_line import in_a_line
from transformer.inputs import InputError
from transformer.marks import SPACE_NAMES, SPACED, bytes_as_text, marks_of
from transformer.refusal import Refusal, items_of, quoted
from transformer.token import UNKNOWN, Token
from transformer.tokenizer import Side, TokenizerError
from transformer.watch.kinds.attention import is_special
from transformer.words import text_of

# An error in somebody's own function ends in one sentence that names the place in their file.

MOST = 300
"""Characters of what an error says of itself."""
_FOLDERS = ("stdlib", "platstdlib", "purelib", "platlib")
_LIBRARIES = (
    *(Path(sysconfig.get_path(name)).resolve() for name in _FOLDERS),
    Path(torch.__file__).resolve().parent,
    Path(__file__).resolve().parents[1],
)


@contextmanager
def in_a_sentence(what: str, refusal: type[Refusal] = InputError, hint: str = "") -> Iterator[None]:
    """Turn what is raised inside into a Refusal of this class; its traceback is logged.

    what: the function that runs, as its author calls it. hint: another sentence, said after it.
    """
    try:
        yield
    except Refusal:
        raise
    except (Exception, SystemExit) as error:
        getLogger(__name__).exception("%s failed", what)
        raise refusal(f"{what} failed{_place(error, what)}: {_message(error)}.{hint}") from error


def _message(error: BaseException) -> str:
    first = next(iter(str(error).splitlines()), "").rstrip(".")[:MOST]
    return f"{type(error).__name__}: {first}" if first else type(error).__name__


def _place(error: BaseException, what: str) -> str:
    """The last line that is the author's own, not a library's; and in which function it is."""
    own = [
        (frame.f_code, line)
        for frame, line in traceback.walk_tb(error.__traceback__)
        if not _is_library(frame.f_code.co_filename)
    ]
    if not own:
        return ""
    code, line = own[-1]
    file = Path(code.co_filename)
    cell = "ipykernel" in str(file) or "ipython-input" in file.name
    names = code.co_qualname.split(".<locals>.")
    name = next((each for each in reversed(names) if not each.startswith("<")), what)
    within = f" in {name}" if name != what else ""
    return f"{within} at line {line} of {'a notebook cell' if cell else file.name}"


def _is_library(file: str) -> bool:
    if file.startswith("<frozen"):
        return True
    whole = Path(file).resolve()
    return any(whole.is_relative_to(folder) for folder in _LIBRARIES)


# Somebody's own function from text to token ids, and the names of these, as a Tokenizer.


class Vocabulary(Protocol):
    """A tokenizer of the tokenizers or the transformers library, or another that has these."""

    def get_vocab(self) -> dict[str, int]: ...

    def decode(self, ids: list[int]) -> str: ...


Pieces = Sequence[str] | Sequence[bytes] | Mapping[int, Any] | Mapping[Any, int] | Vocabulary
"""The name of each id: in order, or as a dict, either way round, or a tokenizer that has them.
Names as bytes are what tiktoken gives."""


class Names(tuple[str, ...]):
    """The name of each id, and what else those who gave them have said by that."""

    in_bytes = False
    """True: they were bytes, with the spaces of a text among them."""
    decode: Callable[[list[int]], str] | None = None
    """The function of the tokenizer that gave them."""


Splits = Callable[[str], Any]
"""A text -> its token ids, as a list or a tensor, or as tokenizers of the libraries give them."""


def splitter(owner: Any, is_target: bool = False) -> Splits:
    """Return the function that splits texts: a function itself, or a tokenizer's own.

    is_target: one of the transformers library splits what is written in another way than what is
    read, where its model has a vocabulary or a language for each.
    """
    if not callable(owner):
        split: Splits = owner.encode
        return split
    if is_target and hasattr(owner, "get_vocab") and "text_target" in signature(owner).parameters:
        return lambda text: owner(text_target=text)
    result: Splits = owner
    return result


@in_a_line
class OwnTokenizer:
    """A tokenizer of a module's pieces. Raises TokenizerError for text that it cannot take."""

    def __init__(
        self,
        pieces: Sequence[str],
        special: Sequence[int] = (),
        tokenize: Splits | None = None,
        detokenize: Callable[[list[int]], str] | None = None,
        target_tokenize: Splits | None = None,
        end: int | None = None,
    ) -> None:
        """tokenize, target_tokenize: None where no text is read, or none is written.

        detokenize: None: the pieces, put together. end: the token that a target ends with.
        """
        self._tokenize, self._target_tokenize, self._end = tokenize, target_tokenize, end
        self._detokenize = detokenize or getattr(pieces, "decode", None)
        plain = [name for id, name in enumerate(pieces) if not _is_special(id, name, special)]
        is_of_characters = all(len(name) == 1 for name in plain if name not in UNKNOWN)
        self.kind = "characters" if is_of_characters else "own"
        marks = SPACED if getattr(pieces, "in_bytes", False) else marks_of(plain)
        self._tokens = tuple(
            marks.token(id, name, _is_special(id, name, special), name in UNKNOWN)
            for id, name in enumerate(pieces)
        )

    @property
    def vocab_size(self) -> int:
        return len(self._tokens)

    def encode(self, text: str, side: Side = "source") -> list[int]:
        """A target is without special tokens around it, and ends as the model's own do."""
        is_written = side in ("target", "continuation")
        split = self._target_tokenize if is_written else self._tokenize
        if split is None:
            raise TokenizerError(
                "Nothing says how a text that this module writes is split: give from_module its "
                "target_tokenize, or the tokens here."
            )
        name = "target_tokenize" if is_written and split is not self._tokenize else "tokenize"
        with in_a_sentence(name, TokenizerError):
            ids = _whole_numbers(split(text), name)
        wrong = next((id for id in ids if not 0 <= id < self.vocab_size), None)
        if wrong is not None:
            raise TokenizerError(
                f"{name} gave the id {wrong}, and the pieces have names from 0 to "
                f"{self.vocab_size - 1}."
            )
        if not is_written:
            return ids
        words = [at for at, id in enumerate(ids) if not self._tokens[id].special]
        own = ids[words[0] : words[-1] + 1] if words else []
        return own if side == "continuation" or self._end is None else [*own, self._end]

    def decode(self, ids: Sequence[int]) -> str:
        ids_shown = [int(id) for id in ids if not self._tokens[int(id)].special]
        if self._detokenize is not None:
            with in_a_sentence("detokenize", TokenizerError):
                return str(self._detokenize(ids_shown))
        return text_of([self._tokens[id] for id in ids_shown]).strip(" ")

    def token(self, id: int) -> Token:
        return self._tokens[id]

    def save(self, folder: Path) -> None:
        """Nothing: a function is not data."""


def _list_of(values: Any) -> list[Any] | None:
    """The items of what has an order: the letters of a text, too."""
    return list(values) if isinstance(values, str | bytes) else items_of(values)


def names_of(pieces: Pieces) -> Names:
    """The name of each id from 0 on; one that a dict leaves out is called by its number.

    Raises InputError for what has no order, such as a set, and for a dict without ids.
    """
    owner: Any = pieces if hasattr(pieces, "get_vocab") else None
    vocabulary: Any = pieces if owner is None else owner.get_vocab()
    if not isinstance(vocabulary, Mapping):
        raw = None if isinstance(vocabulary, set | frozenset) else _list_of(vocabulary)
        if raw is None:
            kind = type(vocabulary).__name__
            raise InputError(
                "pieces must be a list, the name of id 0 first, a dict, or a tokenizer that has "
                f"get_vocab; one of type {kind} does not say which id has which name."
            )
    else:
        pairs: list[tuple[Any, Any]] = list(vocabulary.items())
        by_id = dict((id, name) if isinstance(id, Integral) else (name, id) for id, name in pairs)
        strange = next((id for id in by_id if not isinstance(id, Integral) or id < 0), None)
        if strange is not None:
            raise InputError(
                f"pieces must say the id of each name, from 0 on: {quoted(strange)} is not an id."
            )
        raw = [by_id.get(id, f"<{id}>") for id in range(max(by_id, default=-1) + 1)]
    names = Names(bytes_as_text(it) if isinstance(it, bytes) else str(it) for it in raw)
    names.in_bytes = any(isinstance(it, bytes) for it in raw)
    if getattr(owner, "decoder", True) is not None:  # else it puts a space between all pieces
        names.decode = getattr(owner, "decode", None)
    return names


def special_of(*owners: Any) -> list[int]:
    """The ids that tokenizers of the libraries call special, or put around a text themselves.

    Of others, such as functions, there are none. What stands for unknown words is none.
    """
    ids: set[int] = set()
    for owner in owners:
        added = getattr(owner, "get_added_tokens_decoder", None)
        tokens = added() if added else getattr(owner, "added_tokens_decoder", {})
        unknown = getattr(getattr(owner, "model", owner), "unk_token", None)
        ids |= {id for id, it in tokens.items() if it.special and it.content != unknown}
        if added:  # the library has no other way to ask for the tokens of a template
            around = owner.encode("")
            ids |= {
                id
                for id, is_one in zip(around.ids, around.special_tokens_mask, strict=True)
                if is_one
            }
    return sorted(ids)


def _is_special(id: int, name: str, special: Sequence[int]) -> bool:
    return id in special or (is_special(name) and name not in SPACE_NAMES)


def _whole_numbers(ids: Any, name: str) -> list[int]:
    """A list, or a tensor [T] or [1, T], as a list. Raises TokenizerError.

    Tokenizers of the libraries give objects that hold it beside masks, as "ids" or "input_ids".
    """
    ids = getattr(ids, "ids", getattr(ids, "input_ids", ids))
    kind = type(ids).__name__
    if isinstance(ids, Tensor):
        is_row = ids.dim() == 1 or (ids.dim() == 2 and ids.size(0) == 1)
        kind = f"a tensor {list(ids.shape)} of {str(ids.dtype).removeprefix('torch.')}"
        ids = ids.flatten().tolist() if is_row and not ids.is_floating_point() else None
    try:
        return [id.__index__() for id in ids]
    except (TypeError, AttributeError) as error:
        raise TokenizerError(
            f"{name} must give the ids of one text, as a list or a tensor [T]; it gave {kind}."
        ) from error
