"""Phrases that must stand somewhere in a target, and how far a hypothesis has come with them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Literal, NamedTuple

from transformer.checkpoint import Checkpoint
from transformer.tokenizer import Side, TokenizerError
from transformer.words import class_of, stands_alone, text_of, word_groups

Place = Literal["anywhere", "word", "behind", "beginning"]
"""The places where a spelling may begin: where a word does, behind other words, or before all."""


class Spelling(NamedTuple):
    """One way to write a phrase."""

    phrase: int
    """The number of the phrase."""
    ids: tuple[int, ...]
    place: Place = "anywhere"


def behind(checkpoint: Checkpoint, ids: Sequence[int]) -> tuple[int, ...]:
    """The ids of a phrase as it is spelled behind another word, without special tokens around."""
    own = _unframed(checkpoint, ids)
    return next((ids for _, ids in _spelled_in(checkpoint, own)), own)


def _spelled_in(
    checkpoint: Checkpoint, ids: tuple[int, ...]
) -> list[tuple[Place, tuple[int, ...]]]:
    """Spell a phrase for each place, behind a word first; []: it begins within a word.

    GPT-2 has other pieces where no space is before a word, and in Chinese there is none. Nothing
    is known where nothing splits a text.
    """
    tokens = [checkpoint.tokenizer.token(id) for id in ids]
    text = text_of(tokens).strip()
    side: Side = "continuation" if checkpoint.family.continues else "target"
    if not text or any(stands_alone(token) or token.unknown for token in tokens):
        return []

    def encoded(text: str) -> tuple[int, ...]:
        return _unframed(checkpoint, checkpoint.tokenizer.encode(text, side))

    def after(first: tuple[int, ...], between: str) -> tuple[int, ...]:
        """The ids of the text behind itself; () where it has none of its own there."""
        both = encoded(text + between + text)
        expected = f"{_text(checkpoint, first)}{between}{text}"  # but for spaces at its end
        is_same = (
            both[: len(first)] == first and _text(checkpoint, both).split() == expected.split()
        )
        return both[len(first) :] if is_same else ()

    try:
        first = encoded(text)
        spaced = after(first, " ")
        close = after(first, "") if class_of(text[0]) == "!" and text[0].isalpha() else ()
    except TokenizerError:
        return []
    if not spaced or ids not in (first, spaced):
        return []
    every: list[tuple[Place, tuple[int, ...]]] = [("word", spaced)]
    if first != spaced:
        every = [("behind", spaced), ("beginning", first)]
    return [*every, ("word", close)] if close else every


def _unframed(checkpoint: Checkpoint, ids: Sequence[int]) -> tuple[int, ...]:
    """Ids without the special tokens around them."""
    ends = checkpoint.config.eos_ids
    plain = [
        i
        for i, id in enumerate(ids)
        if id not in ends and not checkpoint.tokenizer.token(id).special
    ]
    return tuple(ids[plain[0] : plain[-1] + 1]) if plain else tuple(ids)


def _text(checkpoint: Checkpoint, ids: Sequence[int]) -> str:
    return text_of([checkpoint.tokenizer.token(id) for id in ids])


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
    others: tuple[Spelling, ...] = ()
    """The ways to write those that are whole words; each of the rest has its own ids anywhere."""
    before: int | None = None
    """The token that a target goes on from; None: it begins a text."""
    is_beginning: Callable[[int], bool] = lambda before: False
    """Tells whether a text begins behind a token, as behind a special one, or after a space."""

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def spellings(self) -> tuple[Spelling, ...]:
        """All ways to write them."""
        has = {each.phrase for each in self.others}
        literal = (Spelling(n, ids) for n, ids in enumerate(self.ids) if n not in has)
        return (*self.others, *literal)

    def may_begin(self, before: int | None, spelling: Spelling) -> bool:
        """Tell whether it may be written behind a token; None: before all others."""
        before = self.before if before is None else before
        if spelling.place == "anywhere":
            return True
        is_first = before is None or self.is_beginning(before)
        if before is None or spelling.place == "beginning":
            return is_first and spelling.place != "behind"
        if spelling.place == "behind":
            return not is_first
        return not self.continues(before, spelling.ids[0])


def phrases_of(
    checkpoint: Checkpoint, phrases: Sequence[tuple[int, ...]], sources: Sequence[int]
) -> Phrases:
    """Phrases with all ways to write them. sources: the ids that a generator goes on from."""
    token, decode = checkpoint.tokenizer.token, checkpoint.tokenizer.decode

    @cache
    def continues(before: int, id: int) -> bool:
        tokens = [token(before), token(id)]
        is_one = not tokens[1].special and len(word_groups(tokens)) == 1
        return is_one and not any(map(str.isspace, decode([before, id]).strip()))

    def begins_text(before: int) -> bool:
        return token(before).special or text_of([token(before)])[-1:].isspace()

    others = list[Spelling]()
    for n, ids in enumerate(phrases):
        every = _spelled_in(checkpoint, ids)
        if not every and token(ids[0]).begins:
            every = [("word", ids)]
        others += [Spelling(n, own, place) for place, own in every]
    before = sources[-1] if checkpoint.family.continues and sources else None
    return Phrases(tuple(phrases), continues, tuple(others), before, begins_text)


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
    last: int | None = None
    """The last token; None: nothing is written."""

    def _at(self, number: int) -> int:
        return self.at[number] if self.at else 0

    def n_tokens(self, phrases: Phrases) -> int:
        """Tokens of all phrases that are written."""
        begun = dict.fromkeys(range(len(phrases)), 0)
        for i, each in enumerate(phrases.spellings):
            most = len(phrases.ids[each.phrase])
            n = most if each.phrase in self.whole else min(self._at(i), most)
            begun[each.phrase] = max(begun[each.phrase], n)
        return sum(begun.values())

    def is_whole(self, phrases: Phrases) -> bool:
        """Tell whether all of them stand in it."""
        return len(self.whole) == len(phrases)

    def following(self, phrases: Phrases) -> set[int]:
        """The tokens that bring it further: the next one of each open phrase, or its first."""
        ids = set()
        for i, each in enumerate(phrases.spellings):
            if each.phrase not in self.whole:
                ids |= {each.ids[at] for at in [self._at(i)] if at}
                ids |= {each.ids[0]} if phrases.may_begin(self.last, each) else set()
        return ids

    def after(self, id: int, phrases: Phrases) -> "Placed":
        """The same after one more token.

        A phrase whose last word goes on does not stand there: "Hund" is not in "Hundert".
        """
        if not phrases:
            return self
        is_broken = self.last is not None and self.fresh and phrases.continues(self.last, id)
        whole, fresh, at = self.whole - (self.fresh if is_broken else set()), set(), []
        for i, spelling in enumerate(phrases.spellings):
            # Tokens of a phrase at the end of a text, where `at` of them were there
            # before this one.
            ids, number = spelling.ids, spelling.phrase
            run = (*ids[: self._at(i)], id)
            n = _overlap(run, self.last, len(ids), spelling, phrases)
            if n == len(ids):
                if number not in whole:
                    fresh.add(number)
                # Tokens at its end with which it begins again.
                n = _overlap(ids, None, n - 1, spelling, phrases)
            at.append(n)
        return Placed(whole | fresh, tuple(at), frozenset(fresh), id)


def _overlap(
    run: tuple[int, ...], before: int | None, most: int, of: Spelling, phrases: Phrases
) -> int:
    """The most tokens at the end of a run, up to so many, with which a phrase begins.

    before: the token before a run of one; a longer run begins as the phrase does.
    """
    for n in range(min(len(run), most), 0, -1):
        start = len(run) - n
        if run[start:] == of.ids[:n]:
            is_begun = start == 0 and n > 1  # where it may begin
            if is_begun or phrases.may_begin(run[start - 1] if start else before, of):
                return n
    return 0
