"""Tokenizers of Hugging Face's library behind this project's protocol."""

import copy
import json
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise, takewhile, zip_longest
from pathlib import Path
from typing import Any

from transformer.files.foreign_text import clean, reason, some_of, whole
from transformer.hugging_face.chat.rendering import rendered
from transformer.in_a_line import in_a_line
from transformer.marks import BYTES, SPACED, Marks, marks_of
from transformer.token import Token
from transformer.tokenizer import Side, TokenizerError

# A folder's tokenizer.json beside what the library's class makes of it.
#
# Some classes build a tokenizer anew of the file's pieces alone: how it splits a text before it
# looks for pieces (digits one by one, capitals kept) is then the class's own, and a model is
# given other tokens than it was trained with.

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


# Byte-level vocabularies: their pieces are bytes, written in GPT-2's alphabet of them.

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


# Tokenizers of Hugging Face's library behind this project's protocol.

CODE = re.compile(r"[a-z]{2,3}_[A-Z][A-Za-z]{1,3}")
"""A language as a token, such as de_DE or deu_Latn."""

ANY_LENGTH = 10**30
"""The library's length where a tokenizer has none."""


@dataclass(frozen=True)
class Ends:
    """Both ends of what a model reads: the same, whatever text stands between them."""

    n_second: int = 0
    """The tokens of a second text, with those behind it; 0: there is none."""
    first: tuple[int, ...] = ()
    """The segments (token_type_ids) of the first tokens; those of all between are 0."""
    last: tuple[int, ...] = ()
    """The segments of the last tokens."""

    def segments(self, n: int) -> list[int]:
        """Give each of n tokens its own."""
        between = [0] * (n - len(self.first) - len(self.last))
        return [*self.first, *between, *self.last]


ALIKE = Ends()
"""One text, whose tokens are all in segment 0, or in none."""


@in_a_line
class HuggingFaceTokenizer:
    """Any tokenizer that AutoTokenizer opens.

    Pieces of a byte-level vocabulary are written as the text that they stand for, with ▁ for a
    space as in sentencepiece; a byte that is no character by itself as <0xE2>.
    """

    kind = "hugging_face"

    def __init__(self, inner: Any, vocab_size: int) -> None:
        self._inner, self.vocab_size = inner, vocab_size
        if not isinstance(inner.model_max_length, int | float):  # the library compares it
            inner.model_max_length = ANY_LENGTH
        self._lock = threading.Lock()  # the library's own are not to be shared between threads
        self.languages = _languages(inner, vocab_size)
        """Code -> id of its token, of a translator that is told its languages."""
        self.source_language: str | None = inner.src_lang if self.languages else None
        self.target_language: str | None = inner.tgt_lang if self.languages else None
        self.templates: Mapping[str, str] = getattr(inner, "chat_template", None) or {}
        """Name -> chat template, where its folder has some."""
        self._chat: tuple[str, Sequence[tuple[str, str]]] | None = None
        self._second: str | None = None
        self._special = frozenset([*inner.all_special_ids, *self.languages.values()])
        # The id that stands for what the vocabulary lacks; None where it has another role as
        # well.
        names = ("bos_token_id", "eos_token_id", "pad_token_id", "sep_token_id", "cls_token_id")
        id = getattr(inner, "unk_token_id", None)
        roles = [getattr(inner, name, None) for name in (*names, "mask_token_id")]
        self._unknown = None if id is None or id in roles else int(id)
        if self._unknown is not None:
            self._special -= {self._unknown}
        self._marks = _marks(inner)
        self._tokens: dict[int, Token] = {}

    @property
    def mask(self) -> tuple[int, str] | None:
        """Id and text of the token that asks what stands there; None where there is none."""
        id = getattr(self._inner, "mask_token_id", None)
        return None if id is None else (int(id), str(self._inner.mask_token))

    @property
    def gives_segments(self) -> bool:
        """Tell whether it numbers the texts of a pair (token_type_ids) in what it hands a model."""
        return "token_type_ids" in self._inner.model_input_names

    @property
    def longest(self) -> int:
        """Return how many tokens its model reads, by its own word; a huge number without one."""
        limit = self._inner.model_max_length
        return int(limit) if isinstance(limit, int | float) and limit > 0 else ANY_LENGTH

    @property
    def n_pieces(self) -> int:
        """Count them, with those that its model may have no embedding for."""
        return len(self._inner)

    def unlike(self, file: Path) -> str:
        """Say in a sentence where it splits a text otherwise than the file it was made of."""
        return unlike(self._inner, file)

    def for_languages(self, source: str | None, target: str | None) -> "HuggingFaceTokenizer":
        """The same tokenizer for texts of other languages."""
        other = copy.copy(self)
        other.source_language, other.target_language = source, target
        return other

    def for_chat(self, template: str, earlier: Sequence[tuple[str, str]]) -> "HuggingFaceTokenizer":
        """The same tokenizer for what a user says, as a chat template writes it.

        earlier: what was said before, each a role and a text.
        """
        other = copy.copy(self)
        other._chat = (self.templates[template], earlier)
        return other

    def for_pair(self, second: str) -> "HuggingFaceTokenizer":
        """The same tokenizer for texts that this one follows."""
        other = copy.copy(self)
        other._second = second
        return other

    def ends(self, text: str, second: str | None = None) -> Ends:
        """Look at both ends of what it makes of a text, or of two."""
        call = self._called(True, text, second)
        ids, segments = list(call["input_ids"]), list(call.get("token_type_ids", ()))
        before = tuple(takewhile(bool, segments))
        if second is None:
            after = [] if len(before) == len(segments) else [*takewhile(bool, segments[::-1])]
            return Ends(0, before, tuple(after[::-1]))
        first, own = (list(self._called(False, each)["input_ids"]) for each in (text, second))
        places = range(len(ids) - len(own), len(first), -1)
        at = next((at for at in places if own and ids[at : at + len(own)] == own), None)
        if at is None or ids[at - 1] not in self._special:
            return ALIKE
        return Ends(len(ids) - at, before, tuple(segments[at:]) if any(segments) else ())

    def written(self, text: str) -> str:
        """Return a text as it is read: as its chat template has it. Raises TokenizerError."""
        if self._chat is None:
            return text
        template, earlier = self._chat
        return rendered(template, text, earlier, self._inner.special_tokens_map)

    def remarks(self, text: str, side: Side) -> tuple[str, ...]:
        """Say which special tokens would be read twice: those that are typed and added."""
        ids = self.encode(text, side)
        if self._chat is None or side != "prompt":
            dropped = self._once(text, side, self._tokenized(text, side))[1]
            return tuple(f"{self.token(id).piece} is typed and added: read once" for id in dropped)
        is_twice = len(ids) > 1 and ids[0] == ids[1] and ids[0] in self._special
        return (f"its template writes {self.token(ids[0]).piece} twice",) if is_twice else ()

    def starting(self, start_ids: tuple[int, ...]) -> tuple[int, ...]:
        """Return what decoding is fed first, so that it writes the target's language."""
        language = self.languages.get(self.target_language or "")
        if language is None:
            return start_ids
        return (language,) if self._starts_in_it else (*start_ids[:1], language)

    def encode(self, text: str, side: Side = "source") -> list[int]:
        """A target comes without the token of its language: decoding starts with that.

        A special token that is typed where one is added is read once.
        """
        if side == "prompt" and self._chat is not None:  # the template writes all that is added
            return self._tokenized(self.written(text), "continuation")
        ids, _ = self._once(text, side, self._tokenized(text, side))
        if side == "target":
            return [id for id in ids if id not in self.languages.values()]
        return ids[: len(ids) - len(self._behind(text, ids))] if side == "prompt" else ids

    def behind_prompt(self, text: str) -> tuple[str, ...]:
        """Name the tokens that it puts behind a text, and that one which is to go on is without."""
        ids, _ = self._once(text, "prompt", self._tokenized(text, "prompt"))
        return tuple(self.token(id).piece for id in self._behind(text, ids))

    def _behind(self, text: str, ids: list[int]) -> list[int]:
        """Return the last ids that say that a text ends, beside those that are typed."""
        ends = (self._inner.eos_token_id, self._inner.sep_token_id)
        if ids[-1:] == [] or ids[-1] not in ends:
            return []
        typed = self._tokenized(text, "prompt", adds=False)
        both = [list(takewhile(ends.__contains__, each[::-1])) for each in (ids[1:], typed)]
        n = max(0, len(both[0]) - len(both[1]))
        return ids[len(ids) - n :]

    def _tokenized(self, text: str, side: Side, adds: bool = True) -> list[int]:
        adds = adds and side != "continuation"
        if side == "target":
            return list(self._called(adds, text_target=text)["input_ids"])
        return list(self._called(adds, text, self._second if adds else None)["input_ids"])

    def _called(self, adds: bool, *texts: str | None, **named: str) -> Mapping[str, Any]:
        """Call the library's: ids, and segments (token_type_ids) where it gives some."""
        texts = tuple(each and whole(each) for each in texts)
        named = {name: whole(each) for name, each in named.items()}
        with self._lock:
            if self.languages:  # the library's is one for all languages
                self._inner.tgt_lang = self.target_language or self.source_language
                self._inner.src_lang = self.source_language
            try:
                result: Mapping[str, Any] = self._inner(*texts, add_special_tokens=adds, **named)
            except Exception as error:  # of any kind: its vocabulary may lack what it stands on
                raise TokenizerError(
                    f"The tokenizer cannot read this text: {reason(error)}."
                ) from error
        return result

    def _once(self, text: str, side: Side, ids: list[int]) -> tuple[list[int], list[int]]:
        """Return ids, and those left out of them: special ones, added beside what is typed."""
        if not any(a == b and a in self._special for a, b in pairwise(ids)):
            return ids, []
        typed = self._tokenized(text, side, adds=False)
        n = len(typed)
        at = next((at for at in range(len(ids) - n + 1) if ids[at : at + n] == typed), None)
        if at is None or not typed:
            return ids, []
        before, after = ids[:at], ids[at + n :]
        begins = before[-1:] == typed[:1] and typed[0] in self._special
        ends = after[:1] == typed[-1:] and typed[-1] in self._special
        dropped = [*([typed[0]] if begins else []), *([typed[-1]] if ends else [])]
        return [*before[: at - begins], *typed, *after[ends:]], dropped

    def decode(self, ids: Sequence[int]) -> str:
        """Write ids as text. The missing stay: their sign, ⟨100⟩ of an id without a piece."""
        parts: list[str] = []
        for has_piece, run in groupby(map(int, ids), self._has_piece):
            plain_ids = [id for id in run if id not in self._special]
            if has_piece:
                with self._lock:
                    parts.append(self._inner.decode(plain_ids))
            else:
                parts += [f"⟨{id}⟩" for id in plain_ids]
        return parts[0] if len(parts) == 1 else " ".join(filter(None, map(str.strip, parts)))

    def _has_piece(self, id: int) -> bool:
        return not self.token(id).unknown or id == self._unknown

    def token(self, id: int) -> Token:
        if id not in self._tokens:
            with self._lock:
                raw = self._inner.convert_ids_to_tokens(int(id))
            self._tokens[id] = self._token(int(id), raw)
        return self._tokens[id]

    def save(self, folder: Path) -> None:
        self._inner.save_pretrained(folder)

    @property
    def _starts_in_it(self) -> bool:
        """Tell whether decoding starts with the language alone: mBART, not those after it."""
        return type(self._inner).__name__ in ("MBartTokenizer", "MBartTokenizerFast")

    def _token(self, id: int, raw: str | None) -> Token:
        is_missing = raw is None or id == self._unknown  # there may be more embeddings than pieces
        is_special = id in self._special and not is_missing
        return self._marks.token(id, raw or f"<{id}>", is_special, is_missing)


# Two vocabularies: a model that reads one and writes another, in one tokenizer of the library's.
#
# Its `encoder` (piece -> id) is the source's then, and its `decoder` (id -> piece) the target's;
# the special tokens of both have the ids of the source.

_OF_TARGET: Mapping[str, Callable[[Path, Any], dict[str, Any]]] = {
    "MarianTokenizer": lambda folder, inner: {
        "vocab": str(folder / "target_vocab.json"),
        "target_vocab_file": None,
        "separate_vocabs": False,
        **dict.fromkeys(("source_spm", "target_spm"), str(folder / "target.spm")),
    },
    "FSMTTokenizer": lambda folder, inner: {
        "langs": [inner.tgt_lang] * 2,
        "merges_file": str(folder / "merges.txt"),
        **dict.fromkeys(("src_vocab_file", "tgt_vocab_file"), str(folder / "vocab-tgt.json")),
    },
}
"""Class -> arguments with which it is a tokenizer of the target's alone."""


def in_two(inner: Any, folder: Path) -> tuple[Any, Any] | None:
    """Take the library's tokenizer of two vocabularies apart: the source's and the target's.

    None where both sides have one. folder: which it was opened from.
    """
    make = _OF_TARGET.get(type(inner).__name__)
    of_source = {id: piece for piece, id in getattr(inner, "encoder", {}).items()}
    if make is None or of_source == inner.decoder:
        return None
    target = type(inner)(**inner.init_kwargs | make(folder, inner))
    source = copy.copy(inner)
    source.decoder = of_source
    if hasattr(source, "spm_source"):
        source.spm_target = source.spm_source
    return source, target


def _languages(inner: Any, vocab_size: int) -> Mapping[str, int]:
    """Code -> id of its token; empty for a tokenizer that is not told languages."""
    if getattr(inner, "src_lang", None) is None:
        return {}
    by_code = getattr(inner, "lang_code_to_id", None)
    codes = by_code or [token for token in inner.all_special_tokens if CODE.fullmatch(token)]
    tokens = getattr(inner, "lang_code_to_token", {})  # M2M100's are __de__
    ids = {code: inner.convert_tokens_to_ids(tokens.get(code, code)) for code in sorted(codes)}
    strange = (None, inner.unk_token_id)
    return {code: id for code, id in ids.items() if id not in strange and id < vocab_size}


def _marks(inner: Any) -> Marks:
    """The marks of its pieces: as its settings say them, else as the pieces have them.

    ## is a mark by its settings alone: GPT-2 and Llama have it for two signs of a text.
    """
    backend = getattr(inner, "backend_tokenizer", None)
    if backend is None:
        return BYTES if hasattr(inner, "byte_encoder") else marks_of(inner.get_vocab(), SPACED)
    parts = json.loads(backend.to_str())
    model = parts["model"]
    end = model.get("end_of_word_suffix") or ""
    sign = model.get("continuing_subword_prefix") or ""
    if "ByteLevel" in json.dumps([parts.get("pre_tokenizer"), parts.get("decoder")]):
        return Marks(bool(end), end=end, in_bytes=True)
    if sign or end:
        return Marks(True, sign, end=end)
    if model.get("type") == "Unigram":
        return SPACED
    return marks_of(model["vocab"])
