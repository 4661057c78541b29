"""smallest_change(): the fewest heads without which a sentence is written otherwise, in one place.

Almost every sentence changes when one head of cross-attention is switched off, mostly to a synonym
or another order. A person sees at once that something happened where a negation is gone, a word is
lost, or a number is another one, and all else stays: only these three are looked for.

Which heads are tried is forecast by forced passes over the text that is written: at each word the
heads whose absence costs it most, one by one and in pairs; best are those after which exactly this
word is skipped, as its successor is then the most probable token in its place. What counts is the
text that the decoding in use writes without them. Groups of heads that are known to carry the
negation (`Carriers`) are decoded first, and need no forced pass.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import combinations
from typing import Any, Literal

import torch
from torch import Tensor

from transformer.analysis.ablation import heads_off
from transformer.analysis.scored import Group, Output, Scored, scored
from transformer.checkpoint import Checkpoint
from transformer.decoding.decode import decode
from transformer.decoding.shared_batch import OnStep, in_steps
from transformer.decoding.steps import Decoding
from transformer.edits.edit import Edit
from transformer.inputs import InputError
from transformer.token import Token
from transformer.words import text_words, word_groups, words_of

# The difference of two texts, where it is in one place and seen at once.

Kind = Literal["negation", "word", "number"]
NEGATING: Mapping[str, str] = {
    "de": r"nicht|nichts|nie|niemals|niemand(en|em|es)?|kein(e|en|em|er|es|s)?|nirgend(s|wo)|weder",
    "en": r"no|not|never|none|nobody|nothing|nowhere|neither|nor|cannot|\w+n['’]t",
}
"""Language -> a pattern of its negating words, in small letters. Of another language none is known:
there a lost negation is a lost word."""
FUNCTION_WORDS: Mapping[str, str] = {
    "de": r"ich|du|er|sie|es|wir|ihr|man|mich|dich|sich|uns|euch|ih[nmr]|ihnen|mir|dir"
    r"|d(er|ie|as|en|em|es)|ein(e|en|em|er|es)?|bin|bist|ist|sind|war(en|st)?|wird|w[eu]rden?|worden"
    r"|hab(e|en|t)|hast?|hat(te|ten)?|sein|zu|und|oder|aber|dass|ob",
    "en": r"i|you|he|she|it|we|they|me|him|her|us|them|myself|yourself|himself|herself|itself"
    r"|the|an?|am|is|are|was|were|be|been|being|has|have|had|do|does|did|to|and|or|but|that|if",
}
"""Language -> a pattern of words whose loss breaks a sentence more than it changes what it says."""


@dataclass(frozen=True)
class Difference:
    """The one place in which a text differs from another."""

    kind: Kind
    """A negation that is gone, a word that is lost, or a number that is another one."""
    gone: str
    """The words that stand there no longer; of a negation the negating ones."""
    came: str
    """The words in their place; empty: none."""


def difference(before: str, after: str, language: str = "") -> Difference | None:
    """Compare two texts; None where they are the same, or differ in another way than these.

    Signs, and capital letters, make no difference.

    >>> difference("Er hat zwei kleine Hunde.", "Er hat zwei Hunde.")
    Difference(kind='word', gone='kleine', came='')
    >>> difference("Ich habe kein Auto.", "Ich habe ein Auto.", "de").kind
    'negation'
    """
    old, new = (_bare_words(each) for each in (before, after))
    a, b = ([word.lower() for word in words] for words in (old, new))
    codes = SequenceMatcher(None, a, b, autojunk=False).get_opcodes()
    places = [(old[i:j], new[k:n]) for code, i, j, k, n in codes if code != "equal"]
    if len(places) != 1:
        return None
    gone, came = places[0]
    if negating := [word for word in gone if negates(word, language)]:
        is_kept = any(negates(word, language) for word in came)
        return None if is_kept else Difference("negation", " ".join(negating), " ".join(came))
    if not came and not all(_is_in(FUNCTION_WORDS, language, word) for word in gone):
        return Difference("word", " ".join(gone), "")
    if gone and came and all(any(map(_has_digit, words)) for words in (gone, came)):
        return Difference("number", " ".join(gone), " ".join(came))
    return None


def negates(word: str, language: str) -> bool:
    """Tell whether a word is a negating one of a language."""
    return _is_in(NEGATING, language, word)


def _is_in(patterns: Mapping[str, str], language: str, word: str) -> bool:
    pattern = patterns.get(language)
    return pattern is not None and re.fullmatch(pattern, word.lower()) is not None


def has_negation(text: str, language: str) -> bool:
    """Tell whether a text has a negating word of a language."""
    return any(negates(word, language) for word in text_words(text))


def _bare_words(text: str) -> list[str]:
    return [word for word in text_words(text) if any(map(str.isalnum, word))]


def _has_digit(word: str) -> bool:
    return any(map(str.isdigit, word))


# The search: what is known, what forced passes promise, and what the decoding then writes.

N_STRONGEST = 5
"""Heads of each written word that are tried: those whose absence costs it most."""
MOST_DECODED = 4
"""Groups that are decoded, at most, beside those that are known."""
SHORTEST = 3
"""Letters of a word that is looked for as lost: shorter ones mostly hold a sentence together."""
ROWS = 24
"""Groups of a forced pass: between two of them others get the device."""


@dataclass(frozen=True)
class Carriers:
    """Groups of heads that are known to carry the negation: without them it is mostly gone."""

    language: str
    """The language of what is written, as NEGATING names it."""
    groups: tuple[tuple[Edit, ...], ...]
    """In the order in which they are tried, the smallest first."""


@dataclass(frozen=True)
class SmallestChange:
    """Heads, and the one place in which the text is another without them."""

    heads: tuple[Edit, ...]
    """Each switches a head of cross-attention off."""
    difference: Difference
    text: str
    """The text that is written without them."""
    is_known: bool = False
    """True: they are known to carry the negation, and not this sentence's alone."""


@dataclass(frozen=True)
class ChangeSearch:
    """The search for it, as far as that is."""

    change: SmallestChange | None = None
    n_scored: int = 0
    """Groups whose effect was forecast by a forced pass."""
    n_decoded: int = 0


def smallest_change(
    checkpoint: Checkpoint,
    text: str,
    method: str = "beam",
    options: Mapping[str, Any] | None = None,
    carriers: Carriers | None = None,
) -> SmallestChange | None:
    """Find it for a text that a method writes with these options: see `changing_search`."""
    plain = decode(checkpoint, text, method=method, **(options or {}))
    *_, last = searching_change(checkpoint, text, plain, method, options, carriers)
    return last.change


def searching_change(
    checkpoint: Checkpoint,
    text: str,
    plain: Decoding,
    method: str,
    options: Mapping[str, Any] | None = None,
    carriers: Carriers | None = None,
    on_step: OnStep | None = None,
) -> Iterator[ChangeSearch]:
    """Search it, decoding after decoding; the last value is the result.

    plain: what the method writes of the text with these options, which may name what `decode` takes
    of prefix, force and forbid. on_step: called before each pass; what it raises ends the search.
    Raises InputError for a model that has no cross-attention, or is not ours.
    """
    heads = cross_heads(checkpoint)
    language = "" if carriers is None else carriers.language

    def without(group: Sequence[Edit], is_known: bool = False) -> SmallestChange | None:
        choices = {"method": method, "edits": group, "on_step": on_step, **(options or {})}
        after = decode(checkpoint, text, **choices).text
        of = difference(plain.text, after, language)
        return None if of is None else SmallestChange(tuple(group), of, after, is_known)

    search = ChangeSearch()
    yield search
    first = () if carriers is None else carriers.groups
    for group in first if has_negation(plain.text, language) else ():
        change = without(group, is_known=True)
        search = replace(search, n_decoded=search.n_decoded + 1)
        if change is not None and change.difference.kind == "negation":
            yield replace(search, change=change)
            return
        yield search
    groups, best = _forecast(checkpoint, text, plain.target, heads, on_step)
    search = replace(search, n_scored=len(groups))
    for some in _promising(plain.target, groups, best, language)[:MOST_DECODED]:
        change = without(some)
        search = replace(search, change=change, n_decoded=search.n_decoded + 1)
        yield search
        if change is not None:
            return
    yield search


def cross_heads(checkpoint: Checkpoint) -> list[Edit]:
    """An edit for each head of cross-attention, which switches it off. Raises InputError."""
    if checkpoint.family.is_watched or "cross" not in checkpoint.family.attentions:
        raise InputError(f"{checkpoint.name}: only cross-attention of our models is searched.")
    return [edit for edit in heads_off(checkpoint) if edit.place == "cross"]


def _forecast(
    checkpoint: Checkpoint,
    text: str,
    target: tuple[Token, ...],
    heads: Sequence[Edit],
    on_step: OnStep | None,
) -> tuple[list[Group], Tensor]:
    """Groups of heads, the first of which is empty, and the most probable tokens [N, T] under each:
    each head of cross-attention, and pairs of those that a word misses most.
    """
    output = Output(text, target, target)

    def passes(groups: Sequence[Group]) -> tuple[Tensor, Tensor]:
        parts: list[Scored] = []
        for first in in_steps(range(0, len(groups), ROWS), on_step):
            parts += scored(checkpoint, output, groups[first : first + ROWS])
        return torch.cat([it.log_probs for it in parts]), torch.cat([it.best for it in parts])

    singles: list[Group] = [(), *((edit,) for edit in heads)]
    log_probs, best = passes(singles)
    losses = log_probs[0] - log_probs[1:]  # [H, T]
    pairs: set[tuple[int, ...]] = set()
    for group in word_groups(target):
        strongest = losses[:, list(group)].sum(-1).topk(min(N_STRONGEST, len(heads))).indices
        pairs.update(combinations(sorted(strongest.tolist()), 2))
    of_pairs: list[Group] = [tuple(heads[i] for i in each) for each in sorted(pairs)]
    if not of_pairs:
        return singles, best
    return [*singles, *of_pairs], torch.cat([best, passes(of_pairs)[1]])


def _promising(
    target: tuple[Token, ...], groups: Sequence[Group], best: Tensor, language: str
) -> list[Group]:
    """The groups after which one word is likely to be lost, or a negation or number to be another,
    the most promising first.
    """
    words, places = words_of(target), word_groups(target)
    starts = {group[0]: number for number, group in enumerate(places)}
    chosen: dict[tuple[int, int], tuple[float, Group]] = {}
    for group, tokens in zip(groups[1:], best[1:], strict=True):
        flips = (tokens != best[0]).nonzero()[:, 0].tolist()
        for place in flips:
            number = starts.get(place)
            if number is None or number + 1 == len(places):
                continue
            word, id = words[number], int(tokens[place])
            is_skipped = id == target[places[number + 1][0]].id and len(word) >= SHORTEST
            is_skipped = is_skipped and not _is_in(FUNCTION_WORDS, language, word)
            if not (is_skipped or negates(word, language) or _has_digit(word)):
                continue
            worth = 4.0 * is_skipped - 0.7 * len(group) - 0.8 * len(flips)
            before = chosen.get((place, id))
            if before is None or worth > before[0]:
                chosen[place, id] = worth, group
    ranked = sorted(chosen.values(), key=lambda pair: -pair[0])
    return list(dict.fromkeys(group for _, group in ranked))
