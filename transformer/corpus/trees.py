"""Dependency trees of sentences, from CoNLL-U files (Universal Dependencies), and what heads of
attention say of them: whether a word looks most at its head, or the head at the word."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from transformer.analysis.alignment import words_of_pieces
from transformer.inputs import InputError
from transformer.token import Token
from transformer.training.task import lines_in

ENDING = ".conllu"
TO_HEAD, TO_DEPENDENT = 1, 2
"""Bits of a hit: the dependent's row has its largest weight on the head, or the other way round."""
BLIND = 4
"""Times a bit: a mask hides the head from the dependent, or the other way round."""
MOST_DIGITS = 10
"""Digits of a place in a sentence, at most: Python reads no number of thousands."""
Hits = NDArray[np.uint8]


@dataclass(frozen=True)
class Tree:
    """A sentence with its words, each of which but the root hangs on another one."""

    text: str
    words: tuple[str, ...]
    heads: tuple[int | None, ...]
    """The place of each word's head, from 0; None: it is the root."""
    relations: tuple[str, ...]
    """The relation to the head, without subtypes: nsubj, det, ..."""
    contractions: tuple[tuple[int, int, str], ...] = ()
    """Places of the first and the last of words that are written as one, and how: "am"."""

    @property
    def written(self) -> list[tuple[str, int | None]]:
        """The words as they are written, each with its place; None: several are written as one."""
        result: list[tuple[str, int | None]] = []
        starts = {first: (last, text) for first, last, text in self.contractions}
        at = 0
        while at < len(self.words):
            last, text = starts.get(at, (at, self.words[at]))
            result.append((text, at if last == at else None))
            at = max(at, last) + 1
        return result

    @property
    def arcs(self) -> list[tuple[str, int, int]]:
        """Relation, place of the dependent and place of the head; signs are left out."""
        arcs = zip(self.relations, range(len(self.words)), self.heads, strict=True)
        return [(name, at, head) for name, at, head in arcs if head is not None and name != "punct"]


def read_trees(file: Path) -> list[Tree]:
    """Read a CoNLL-U file. Raises InputError where it is none."""
    trees: list[Tree] = []
    text, rows, joined = "", list[list[str]](), list[tuple[int, int, str]]()
    for number, line in enumerate([*lines_in(file), ""], 1):
        if line.startswith("# text = "):
            text = " ".join(line.removeprefix("# text = ").split())
        elif line and not line.startswith("#"):
            cells = line.split("\t")
            if len(cells) != 10:
                raise InputError(f"{file}, line {number}: a word has ten columns in CoNLL-U.")
            if cells[0].isdecimal():  # neither 1-2, a contraction, nor 1.1, which is not said
                rows.append(cells)
            if any(map(str.isspace, cells[7])):
                raise InputError(f"{file}, line {number}: a relation has no spaces in CoNLL-U.")
            first, _, last = map(_number, cells[0].partition("-"))
            if first is not None and last is not None:
                joined.append((first - 1, last - 1, cells[1]))
        elif not line and rows:
            tree = _tree(text or " ".join(row[1] for row in rows), rows, file, number)
            trees.append(replace(tree, contractions=tuple(joined)))
            text, rows, joined = "", [], []
    return trees


def _tree(text: str, rows: Sequence[Sequence[str]], file: Path, number: int) -> Tree:
    heads = [head for row in rows if (head := _number(row[6])) is not None and head <= len(rows)]
    if len(heads) < len(rows):
        raise InputError(f"{file}, line {number}: a word of the sentence before has no head.")
    return Tree(
        text=text,
        words=tuple(row[1] for row in rows),
        heads=tuple(head - 1 if head else None for head in heads),
        relations=tuple(row[7].partition(":")[0] for row in rows),
    )


def _number(text: str) -> int | None:
    """Read a place in a sentence; None: it is none."""
    return int(text) if text.isdecimal() and len(text) < MOST_DIGITS else None


def spelled(tree: Tree) -> str:
    """Spell its arcs: a relation and the head's place minus the dependent's, a space between."""
    return " ".join(f"{name}:{head - at}" for name, at, head in tree.arcs)


def arcs_of(text: str) -> Iterator[tuple[str, int]]:
    """Read what `spelled` wrote.

    >>> list(arcs_of("det:1 nsubj:2"))
    [('det', 1), ('nsubj', 2)]
    """
    for arc in text.split():
        name, _, offset = arc.rpartition(":")
        yield name, int(offset)


def places_of(tree: Tree, tokens: Sequence[Token]) -> list[int | None] | None:
    """Find the word of each token; None where they do not spell the words, as in contractions."""
    try:
        return words_of_pieces(tokens, tree.words)
    except ValueError:
        return None


def hits(
    tree: Tree, weights: Tensor, places: Sequence[int | None], allowed: Tensor | None = None
) -> Hits:
    """Tell of each arc whether a head's largest weight is on it: [N, Q, K] -> [N, A].

    From pieces to words: the mean of a word's rows, the sum of a word's columns. Words do not count
    as their own heads, and special tokens are none. allowed: the cells that no mask closes [Q, K];
    None: all. One that sees no other word by a mask has the bit BLIND.
    """
    n_words = len(tree.words)
    member = torch.zeros(n_words, len(places))
    for at, word in enumerate(places):
        if word is not None:
            member[word, at] = 1.0
    rows = member / member.sum(-1, keepdim=True).clamp_min(1)
    of_words = rows @ weights @ member.mT  # [N, W, W]
    of_words.diagonal(dim1=1, dim2=2).fill_(-1)
    largest, most = of_words.max(-1)  # [N, W]
    # A word that sees no other one, by a mask or for want of tokens, looks at none.
    most = most.masked_fill(largest <= 0, -1)
    arcs = torch.tensor([(at, head) for _, at, head in tree.arcs], dtype=torch.long).view(-1, 2)
    dependents, heads = arcs.unbind(-1)
    is_seen = torch.ones(n_words, n_words, dtype=torch.bool)
    if allowed is not None:
        is_seen = member @ allowed.float() @ member.mT > 0
    bits = TO_HEAD * (most[:, dependents] == heads) + TO_DEPENDENT * (most[:, heads] == dependents)
    blind = TO_HEAD * ~is_seen[dependents, heads] + TO_DEPENDENT * ~is_seen[heads, dependents]
    result: Hits = (bits + BLIND * blind).to(torch.uint8).numpy()
    return result
