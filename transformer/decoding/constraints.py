"""Constraints: what a person decided for a decoding, as token ids, and what else bends its
scores.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from transformer.checkpoint import Checkpoint
from transformer.inputs import InputError, target_ids, token_ids
from transformer.refusal import items_of, quoted
from transformer.token import Token
from transformer.tokenizer import Tokenizer

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
    """None of these stands in it, in whatever pieces, nor a longer word that begins with them."""

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

    A word that the vocabulary lacks is its pieces. Raises InputError for what contradicts itself.
    """
    forced, forbidden = _phrases("force", force), _phrases("forbid", forbid)
    made = Constraints(
        _ids(checkpoint, prefix, n_source),
        tuple(_ids(checkpoint, each, n_source) for each in forced),
        tuple(_ids(checkpoint, each, n_source) for each in forbidden),
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

    A phrase is compared by its text too, so that no other way to split it lets it pass.
    """

    def __init__(
        self, phrases: Sequence[Sequence[int]], tokenizer: Tokenizer | None = None
    ) -> None:
        """tokenizer: None: phrases are compared by ids alone."""
        self._phrases = [tuple(each) for each in phrases]
        self._tokenizer = tokenizer
        self._texts = [self._text(each) for each in self._phrases]
        ends = {text[n:] for text in self._texts for n in range(len(text))}
        size = tokenizer.vocab_size if tokenizer is not None and ends else 0
        pieces = ((id, tokenizer.token(id)) for id in range(size)) if tokenizer is not None else ()
        self._ids = {each.piece: id for id, each in pieces if each.piece in ends}
        self._longest = max(map(len, self._texts), default=0)

    def __bool__(self) -> bool:
        return bool(self._phrases)

    def __call__(self, ids: Sequence[int]) -> set[int]:
        """ids: what is written -> the ids that may not follow."""
        result = set()
        for phrase in self._phrases:
            before = phrase[:-1]
            if not before or tuple(ids[-len(before) :]) == before:
                result.add(phrase[-1])
        tail = self._text(ids[-self._longest :]) if self._longest else ""
        for text in self._texts:
            for n in range(len(text)):
                if tail.endswith(text[:n]) and text[n:] in self._ids:
                    result.add(self._ids[text[n:]])
        return result

    def _text(self, ids: Sequence[int]) -> str:
        token = self._tokenizer.token if self._tokenizer is not None else None
        return "" if token is None else "".join(token(id).piece for id in ids)


# Phrases that must stand somewhere in a target, and how far a hypothesis has come with them.

Continues = Callable[[int, int], bool]
"""Tells whether a token goes on with the word that the token before it is of."""


def separate(before: int, id: int) -> bool:
    """Say that no token goes on with a word."""
    return False


@dataclass(frozen=True)
class Phrases:
    """Phrases of tokens, to stand in a target as whole words."""

    ids: tuple[tuple[int, ...], ...] = ()
    continues: Continues = separate

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True)
class Placed:
    """A state of a hypothesis: the phrases that stand in it, and how much of the others is written.

    Each phrase is followed by itself, so that one may stand within another, or overlap it.
    """

    whole: frozenset[int] = frozenset()
    """Numbers of the phrases that stand in it."""
    at: tuple[int, ...] = ()
    """Tokens of each phrase that the end of the text has; empty: of none."""
    fresh: frozenset[int] = frozenset()
    """The phrases that the last token has made whole."""

    def _at(self, number: int) -> int:
        return self.at[number] if self.at else 0

    def n_tokens(self, phrases: Phrases) -> int:
        """Tokens of all phrases that are written."""
        numbers = range(len(phrases))
        return sum(len(phrases.ids[n]) if n in self.whole else self._at(n) for n in numbers)

    def is_whole(self, phrases: Phrases) -> bool:
        """Tell whether all of them stand in it."""
        return len(self.whole) == len(phrases)

    def following(self, phrases: Phrases) -> set[int]:
        """The tokens that bring it further: the next one of each open phrase, or its first."""
        open_ones = [n for n in range(len(phrases)) if n not in self.whole]
        return {phrases.ids[n][at] for n in open_ones for at in {0, self._at(n)}}

    def after(self, id: int, phrases: Phrases) -> "Placed":
        """The same after one more token.

        A phrase whose last word goes on does not stand there: "Hund" is not in "Hundert".
        """
        if not phrases:
            return self
        ids = phrases.ids
        broken = {n for n in self.fresh if phrases.continues(ids[n][-1], id)}
        whole, fresh, at = self.whole - broken, set(), []
        for number, phrase in enumerate(ids):
            # Tokens of a phrase at the end of a text, where `at` of them were there
            # before this one.
            n = _overlap((*phrase[: self._at(number)], id), phrase)
            if n == len(phrase):
                if number not in whole:
                    fresh.add(number)
                # Tokens at its end with which it begins again.
                n = _overlap(phrase[1:], phrase)
            at.append(n)
        return Placed(whole | fresh, tuple(at), frozenset(fresh))


def _overlap(text: tuple[int, ...], phrase: tuple[int, ...]) -> int:
    """The most tokens at the end of a text with which a phrase begins."""
    lengths = range(min(len(text), len(phrase)), -1, -1)
    return next(n for n in lengths if text[len(text) - n :] == phrase[:n])


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
