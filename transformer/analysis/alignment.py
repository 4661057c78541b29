"""Word alignments read from attention, and how far they are from those that people made.

From pieces to words: what a word of the target gives a word of the source is the sum over the
source word's pieces and the mean over the rows of the target word's pieces; a piece belongs to the
word that holds its first character; special tokens belong to no word. Every target word is linked
to the source word that it gives most; where the special tokens together get more, to none.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, count
from unicodedata import normalize

import torch
from torch import Tensor

from transformer.analysis.reading import Reading, read
from transformer.inputs import InputError
from transformer.recording import Recording
from transformer.token import Token
from transformer.tokenizer import plain
from transformer.words import characters

Link = tuple[int, int]
"""A source word and a target word, counted from 0."""
Links = frozenset[Link]


@dataclass(frozen=True)
class AlignedPair:
    """An English sentence, its German translation, and which words people linked."""

    source: str
    target: str
    source_words: tuple[str, ...]
    target_words: tuple[str, ...]
    sure: frozenset[Link]
    possible: frozenset[Link]
    """The sure ones among them."""


def error_rate(alignments: Iterable[Iterable[Link]], gold: Iterable[AlignedPair]) -> float:
    """Alignment error rate in percent over all pairs together, 0 is best (Och and Ney 2003):
    1 - (|A and S| + |A and P|) / (|A| + |S|), found A, sure S, possible P with S among them.
    """
    right = total = 0
    for links, pair in zip(alignments, gold, strict=True):
        unique = set(links)
        right += len(unique & pair.sure) + len(unique & pair.possible)
        total += len(unique) + len(pair.sure)
    return 100 * (1 - right / total) if total else 0.0


def diagonal(pair: AlignedPair) -> Links:
    """Every target word linked to the source word at the same share of its sentence."""
    n_source, n_target = len(pair.source_words), len(pair.target_words)
    return frozenset(((2 * j + 1) * n_source // (2 * n_target), j) for j in range(n_target))


def words_of_pieces(tokens: Sequence[Token], words: Sequence[str]) -> list[int | None]:
    """Find the word of each token, by number; None for special and unknown tokens.

    Raises ValueError where the pieces do not spell the words.
    """
    lengths = [len(_spelled(word)) for word in words]
    ends = list(accumulate(lengths))
    places: list[int | None] = []
    start = 0
    for token, added in zip(tokens, characters(tokens), strict=True):
        is_in_text = not token.special and not token.unknown
        places.append(bisect_right(ends, start) if is_in_text else None)
        start += len(_spelled(added)) if is_in_text else 0
    if start != ends[-1] or not all(lengths):
        raise ValueError(f"the pieces do not spell the words “{' '.join(words)}”.")
    return [None if place is None else min(place, len(words) - 1) for place in places]


def _spelled(text: str) -> str:
    """Spell a text's characters as our tokenizers do, without spaces."""
    return normalize("NFKC", plain(text)).replace("▁", "").replace(" ", "")


def word_links(recording: Recording, layer: int, head: int) -> Links:
    """Return what one head of cross-attention links, by the words that the pieces make.

    Signs are words; special tokens are none. Raises InputError where there is no cross-attention.
    """
    if "cross" not in recording.attentions:
        raise InputError("Words are aligned by cross-attention only.")
    map = read(recording, "cross", Reading(words=True))
    rows, columns = _numbered(map.rows), _numbered(map.columns)
    if all(word is None for word in rows) or all(word is None for word in columns):
        return frozenset()
    return links_of(map.values(layer, head)[None], rows, columns)[0]


def _numbered(words: Iterable[Token]) -> list[int | None]:
    counter = count()
    return [None if word.special else next(counter) for word in words]


def links_of(
    values: Tensor, rows: Sequence[int | None], columns: Sequence[int | None]
) -> list[Links]:
    """values [N, Q, K] -> N alignments.

    rows, columns: the target word of each row and the source word of each column, None for none.
    """
    n_target, n_source = (1 + max(w for w in side if w is not None) for side in (rows, columns))
    shares = values.double() @ _members(columns, n_source + 1)  # [N, Q, words and none]
    of_row = _members(rows, n_target + 1)[:, :-1]
    means = (of_row / of_row.sum(0)).mT @ shares  # [N, target words, source words and none]
    return [
        frozenset((i, j) for j, i in enumerate(chosen) if i < n_source)
        for chosen in means.argmax(-1).tolist()
    ]


def _members(words: Sequence[int | None], n: int) -> Tensor:
    """[tokens, n]: 1 where a token belongs to a word; those of no word belong to the last."""
    places = torch.tensor([n - 1 if word is None else word for word in words])
    return torch.nn.functional.one_hot(places, n).double()
