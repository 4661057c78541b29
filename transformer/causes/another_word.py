"""Another word in the place of a written one: its pieces, and the text that leads up to it."""

from collections.abc import Sequence
from dataclasses import dataclass

from transformer.checkpoint import Checkpoint
from transformer.inputs import InputError, target_ids
from transformer.models.family import Ids
from transformer.token import Token
from transformer.tokenizer import Side
from transformer.words import word_groups, words_of


@dataclass(frozen=True)
class AnotherWord:
    """A word, or several, that could stand where a target has one of its words."""

    word: int
    """The number of the written word, by `word_groups`."""
    before: tuple[Token, ...]
    """The tokens that are written before it."""
    written: tuple[Token, ...]
    """The tokens of the written word."""
    other: tuple[Token, ...]
    """The tokens of the other."""

    @property
    def text(self) -> str:
        return " ".join(self.words)

    @property
    def words(self) -> list[str]:
        """The words that the other is, without the spaces before them."""
        return words_of(self.other)

    @property
    def n_shared(self) -> int:
        """The pieces that both begin with."""
        pairs = zip(self.written, self.other, strict=False)
        return next((i for i, (a, b) in enumerate(pairs) if a.id != b.id), len(self.written))


def another_word(
    checkpoint: Checkpoint, target: Sequence[Token], word: int, typed: str
) -> AnotherWord:
    """Split what somebody types as the model would write it there. Raises InputError."""
    groups = word_groups(target)
    if not 0 <= word < len(groups):
        raise InputError(f"There is no word {word}: {len(groups)} are written, counted from 0.")
    tokens = [target[i] for i in groups[word]]
    before = tuple(target[: groups[word][0]])
    wanted = " ".join(typed.split())
    if not wanted:
        raise InputError("The right word is empty: type the word that should stand here.")
    ids = _ids(checkpoint, before, tokens, wanted)
    other = tuple(map(checkpoint.tokenizer.token, ids))
    if not other or all(each.unknown for each in other):
        raise InputError(f"“{wanted}” has no piece that {checkpoint.name} can write.")
    target_ids(checkpoint, [*before, *other])  # its length
    if word_groups([*before, *other])[:word] != groups[:word]:
        raise InputError(f"“{wanted}” continues the word before it: type a word by itself.")
    result = AnotherWord(word, before, tuple(tokens), other)
    if result.n_shared == len(other) == len(tokens):
        raise InputError(f"“{wanted}” is what is written here: type another word.")
    if result.n_shared == len(other):
        raise InputError(
            f"“{wanted}” is how the written word begins, so its pieces are written here: type the "
            "word that should follow, too."
        )
    return result


def word_number(target: Sequence[Token], named: str) -> int:
    """Find a word of a target by its number, from 0, or as it is written. Raises InputError."""
    words = words_of(target)
    places = [i for i, word in enumerate(words) if word == named]
    if len(places) == 1:
        return places[0]
    if places:
        raise InputError(
            f"“{named}” is written {len(places)} times: name it by its number, one of "
            f"{', '.join(map(str, places))}."
        )
    if named.isascii() and named.isdecimal() and int(named) < len(words):
        return int(named)
    raise InputError(f"“{named}” is not written: these words are, from 0: {' '.join(words)}")


def _ids(
    checkpoint: Checkpoint, before: Sequence[Token], written: Sequence[Token], typed: str
) -> Ids:
    """Split it behind what is written before it, as the pieces of a word depend on its space."""
    tokenizer = checkpoint.tokenizer
    side: Side = "continuation" if checkpoint.family.continues else "target"

    def encoded(text: str) -> list[int]:
        return [id for id in tokenizer.encode(text, side) if not tokenizer.token(id).special]

    begun = [token.id for token in before if not token.special]
    text = tokenizer.decode(begun)
    with_written = tokenizer.decode([*begun, *(token.id for token in written)])
    space = _space(with_written.removeprefix(text), typed)
    ids = encoded(f"{text}{space}{typed}")
    is_behind = ids[: len(begun)] == begun
    return ids[len(begun) :] if is_behind else encoded(f"{space}{typed}")


def _space(written: str, typed: str) -> str:
    """The space before what is typed: that of the written word, where both are of a sort."""
    bare = written.lstrip()
    is_word = typed[0].isalnum()
    if bare and bare[0].isalnum() == is_word:
        return written[: len(written) - len(bare)]
    return " " if is_word else ""
