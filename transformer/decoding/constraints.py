"""Constraints: what a person decided for a decoding, as token ids."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from transformer.checkpoint import Checkpoint
from transformer.inputs import InputError, target_ids, token_ids
from transformer.refusal import items_of, quoted
from transformer.token import Token
from transformer.tokenizer import Tokenizer

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
