"""Constraints: what a person decided for a decoding, as token ids, and what else bends its
scores.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

from transformer.checkpoint import Checkpoint
from transformer.decoding.phrases import behind
from transformer.inputs import InputError, target_ids, token_ids
from transformer.refusal import items_of, quoted
from transformer.token import Token
from transformer.tokenizer import Tokenizer, TokenizerError
from transformer.words import ALONE, SPACE, begun_at, class_of, stands_alone

# Constraints: what a person decided for a decoding, as token ids.

Phrase = str | Sequence[Token] | Sequence[int]
"""Words that are to be written: a text, or its tokens or their ids."""


@dataclass(frozen=True)
class Constraints:
    """The beginning of a target, the phrases that must stand in it, and those that may not.

    Token ids and no text: a text that is cut anew may be other tokens, with another price.
    """

    prefix: tuple[int, ...] = ()
    """The target begins with these."""
    force: tuple[tuple[int, ...], ...] = ()
    """Each of these stands somewhere in it, as a whole."""
    forbid: tuple[tuple[int, ...], ...] = ()
    """None of these stands in it, in whatever pieces, nor a longer word that begins with them:
    "dog" forbids "dogs", but neither "hotdog" nor "Dog"."""

    def __bool__(self) -> bool:
        return bool(self.prefix or self.force or self.forbid)


def constraints_of(
    checkpoint: Checkpoint,
    n_source: int,
    prefix: Phrase | None = (),
    force: Iterable[Phrase] | None = (),
    forbid: Iterable[Phrase] | None = (),
) -> Constraints:
    """Constraints from texts, tokens or ids, over a source of n tokens.

    A word that the vocabulary lacks is its pieces; a text that is forced or forbidden has those
    that it has behind another word. Raises InputError for what contradicts itself.
    """
    forced, forbidden = _phrases("force", force), _phrases("forbid", forbid)

    def ids_of(phrase: Phrase) -> tuple[int, ...]:
        ids = _ids(checkpoint, phrase, n_source)
        return behind(checkpoint, ids) if isinstance(phrase, str) else ids

    made = Constraints(
        _ids(checkpoint, prefix, n_source), *(tuple(map(ids_of, it)) for it in (forced, forbidden))
    )
    if () in (*made.force, *made.forbid):
        raise InputError("A phrase that is forced or forbidden has no words: type some.")
    _check_ends(checkpoint, made)
    bars = Bars(made.forbid, checkpoint.tokenizer)
    for what, ids in (("prefix", made.prefix), *(("forced phrase", each) for each in made.force)):
        for at, id in enumerate(ids):
            if id in bars(ids[:at]):
                text = quoted(checkpoint.tokenizer.decode(ids))
                raise InputError(f"The {what} {text} holds what is forbidden: take one away.")
    return made


def _phrases(name: str, phrases: Iterable[Phrase] | None) -> list[Phrase]:
    """The phrases, none for None. Raises InputError for what is no list of them."""
    every = [] if phrases is None else items_of(phrases)
    if every is None:
        raise InputError(f"{name} takes a list of phrases, which {quoted(phrases)} is not.")
    return every


def _check_ends(checkpoint: Checkpoint, constraints: Constraints) -> None:
    """Raise InputError for an end of the text where something is to follow."""
    ends, text = checkpoint.config.eos_ids, checkpoint.tokenizer.decode
    if ends & set(constraints.prefix[:-1]):
        raise InputError(
            f"The prefix {quoted(text(constraints.prefix))} goes on behind the end of a text: let "
            "it stop there, or take the end out."
        )
    if any(ends & set(phrase) for phrase in constraints.force):
        raise InputError("A forced phrase cannot hold the end of the text: take it out.")


def _ids(checkpoint: Checkpoint, phrase: Phrase | None, n_source: int) -> tuple[int, ...]:
    if phrase is None:
        return ()
    if isinstance(phrase, str):
        if not phrase.strip():
            return ()
        ids = target_ids(checkpoint, phrase, n_source) or []
        ends = set(checkpoint.config.eos_ids)
        while ids and ids[-1] in ends:
            ids = ids[:-1]
        return tuple(ids)
    return tuple(token_ids(checkpoint, phrase))


class Bars:
    """The tokens that may not come next, since a forbidden phrase would stand there.

    A phrase is compared by its text too, wherever a word begins, so that neither another way to
    split it nor a space before it lets it pass.
    """

    def __init__(
        self, phrases: Sequence[Sequence[int]], tokenizer: Tokenizer | None = None
    ) -> None:
        """tokenizer: None: phrases are compared by ids alone."""
        self._phrases = [tuple(each) for each in phrases]
        every = map(partial(_text_of_words, tokenizer), self._phrases) if tokenizer else ()
        self._texts = list(filter(None, every))
        self._longest = max(map(len, self._texts), default=0)
        self._tokens = list[Token]()
        self._holding = set[int]()
        """Tokens that have all of a phrase in them, behind something else."""
        self._by_start: dict[bytes, list[int]] = {
            text[n:]: [] for text in self._texts for n in range(len(text))
        }
        """The end of a phrase -> tokens whose text begins with it."""
        if tokenizer is not None and self._texts:
            self._tokens = [tokenizer.token(id) for id in range(tokenizer.vocab_size)]
        firsts = {end[0] for end in self._by_start}
        for id, raw in enumerate(map(_raw, self._tokens)):
            if raw and raw[0] in firsts:
                for n in range(1, min(len(raw), self._longest) + 1):
                    if raw[:n] in self._by_start:
                        self._by_start[raw[:n]].append(id)
            for text in self._texts:
                at = raw.find(text, 1)
                if at > 0 and _begins_word(raw[:at], text):
                    self._holding.add(id)

    def __bool__(self) -> bool:
        return bool(self._phrases)

    def __call__(self, ids: Sequence[int]) -> set[int]:
        """ids: what is written -> the ids that may not follow."""
        result = set(self._holding)
        for phrase in self._phrases:
            before = phrase[:-1]
            if not before or tuple(ids[-len(before) :]) == before:
                result.add(phrase[-1])
        if not self._texts:
            return result
        written = [self._tokens[id] for id in ids[-self._longest - _CONTEXT :]]
        tail, is_open = _raws(written), bool(written) and written[-1].ends is True
        for text in self._texts:
            for n in range(len(text)):
                start = len(tail) - n
                if not tail.endswith(text[:n]):
                    continue
                if n == 0 or _begins_word(tail[:start], text):
                    result |= self._following(tail, text[n:], is_open, n > 0)
        return result

    def _following(self, tail: bytes, rest: bytes, is_open: bool, is_begun: bool) -> set[int]:
        """The tokens that write the rest of a phrase; or all of it, if that is a word there."""
        result = set()
        is_word = not is_begun and _begins_word(tail, rest)
        for id in self._by_start[rest]:
            is_apart = self._is_apart(id, is_open)
            if not is_apart if is_begun else is_apart or is_word:
                result.add(id)
        if is_begun and rest.startswith(b" "):
            every = self._by_start.get(rest[1:], ())
            result |= {id for id in every if self._is_apart(id, is_open)}
        return result

    def _is_apart(self, id: int, is_open: bool) -> bool:
        """Tell whether a space is before a piece. is_open: it would be, by the piece before."""
        return is_open and bool(self._tokens[id].begins)


_SPACE = SPACE.encode()
_CONTEXT = 16
"""Tokens before a phrase by which it is known whether a word begins there."""


def _raw(token: Token) -> bytes:
    """The bytes that a token adds to a text, with a space for ▁."""
    if stands_alone(token) or token.unknown:
        return ALONE.encode()
    raw = b"".join([it if isinstance(it, bytes) else it.encode() for it in token.parts])
    return raw.replace(_SPACE, b" ")


def _raws(tokens: Sequence[Token]) -> bytes:
    """The same of several, with the spaces that are between them."""
    raws = list(map(_raw, tokens))
    for i, (before, token) in enumerate(pairwise(tokens), start=1):
        raws[i] = b" " * bool(token.begins and before.ends) + raws[i]
    return b"".join(raws)


def _begins_word(before: bytes, text: bytes) -> bool:
    """Tell whether a word begins where a text goes on behind another."""
    start = before.decode(errors="replace")
    return len(start) in begun_at(start + text.decode(errors="replace"))


def _text_of_words(tokenizer: Tokenizer, ids: Sequence[int]) -> bytes:
    """The text of a phrase of whole words; b"" of one that begins within a word, or has no text."""
    tokens = [tokenizer.token(id) for id in ids]
    if any(stands_alone(token) or token.unknown for token in tokens):
        return b""
    whole = _raws(tokens)
    raw, text = whole.lstrip(b" "), whole.decode(errors="replace").strip()
    if not text or whole != raw or tokens[0].begins:
        return raw
    is_apart = class_of(text[0]) not in "ahn"  # signs, and scripts without spaces
    try:
        is_word = is_apart or tokenizer.encode(text, "continuation")[:1] == [ids[0]]
    except TokenizerError:
        is_word = tokens[0].begins is None
    return raw if is_word else b""


# Repetition: the tokens that would write the same run once more.

LONGEST_RUN = 6
"""Tokens of a run that is looked at for repetition."""


def barred(ids: Sequence[int], repeats: int) -> set[int]:
    """The tokens that would begin again a run that the end of ids has `repeats` times already.

    A run is one to six tokens. repeats: 0 bars nothing.
    """
    lengths = range(1, LONGEST_RUN + 1) if repeats else ()
    ends = [tuple(ids[-n * repeats :]) for n in lengths if n * repeats <= len(ids)]
    return {end[0] for end in ends if end == end[: len(end) // repeats] * repeats}


def repeats_more(ids: Sequence[int], repeats: int) -> bool:
    """Tell whether ids themselves repeat something more often than that."""
    return any(id in barred(ids[:at], repeats) for at, id in enumerate(ids))
