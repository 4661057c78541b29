"""The nodes of a search as they are drawn: tokens, or the words that they make."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from transformer.decoding.search_tree import Node, SearchTree
from transformer.token import Token
from transformer.words import word_groups, word_piece

SPACES = frozenset(" ▁")
MOST_PIECES = 64
"""Pieces that are joined to one word: a text without spaces would be a single one, looked at anew
at each piece."""


class Entry(NamedTuple):
    """One node that is drawn."""

    node: Node
    """The node of the search at which it ends: its only one, or a word's last."""
    parent: int
    """The place of the entry before it; -1 for the root."""
    token: Token | None
    """The token, or the word as one; None for the root."""
    log_prob: float
    """The log-probability of its tokens together, given the path before them, in nats."""
    is_living: bool
    """A hypothesis leads through it; through a word only where it goes on with another one."""
    inner: tuple[int, ...]
    """The nodes of the word before its last one, by their ids."""


class _Word(NamedTuple):
    """A word as far as a node has written it."""

    tokens: tuple[Token, ...]
    before: int
    """The node that its first token comes after."""
    log_prob: float
    inner: tuple[int, ...] = ()


def entries_of(search: SearchTree, words: bool, most: int) -> tuple[list[Entry], int]:
    """At most so many entries, parents first, and how many nodes of the search are left out.

    words: whether the pieces of a word are one entry; an alternative within a word stands as the
    word that it would have made. Of too many, those that no hypothesis leads through go first, and
    of these the ones that ranked lowest at their step.
    """
    spelled = [_Word((), -1, 0.0)]
    for node in search.nodes[1:]:
        spelled.append(_word(node, spelled[node.parent or 0], words))
    ends = _ends(search, spelled)
    through = {0} | {spelled[id].before for id in search.living if id}
    through |= {node.id for node in search.nodes if node.hypothesis is not None}
    places: dict[int, int] = {}
    entries: list[Entry] = []
    for node in search.nodes:
        if node.id not in ends:
            continue
        word = spelled[node.id]
        places[node.id] = len(entries)
        parent = places[word.before] if entries else -1
        is_living = node.id in through
        token = _token(word.tokens)
        entries.append(Entry(node, parent, token, word.log_prob, is_living, word.inner))
    best = _best(entries, most)
    return best, len(entries) - len(best) + search.n_left_out


def _word(node: Node, before: _Word, words: bool) -> _Word:
    assert node.token is not None and node.parent is not None
    is_inside = words and 0 < len(before.tokens) < MOST_PIECES
    if is_inside and not _begins(before.tokens[-1], node.token):
        whole = (*before.tokens, node.token)
        if len(word_groups(whole)) == 1:
            log_prob, inner = before.log_prob + node.log_prob, (*before.inner, node.parent)
            return _Word(whole, before.before, log_prob, inner)
    return _Word((node.token,), node.parent, node.log_prob)


def _begins(before: Token, last: Token) -> bool:
    """Tell whether a token plainly begins a word; else the rule of words is asked."""
    is_spaced = last.piece[:1] in SPACES and len(last.piece) > 1
    return is_spaced and last.begins is None and before.piece[-1:] not in SPACES


def _ends(search: SearchTree, spelled: Sequence[_Word]) -> set[int]:
    """The nodes at which a word ends: nothing follows, another word does, or a hypothesis ends."""
    has_next = {node.parent for node in search.nodes[1:]}
    ends = {node.id for node in search.nodes if node.id not in has_next}
    ends |= {word.before for word in spelled[1:]}
    return ends | {node.id for node in search.nodes if node.hypothesis is not None} | {0}


def _token(tokens: Sequence[Token]) -> Token | None:
    """A word of several pieces as a token by itself; a single one as it is."""
    if len(tokens) < 2:
        return tokens[0] if tokens else None
    piece = word_piece(tokens)
    return replace(tokens[0], piece=piece.replace("▁", " ", 1) if piece[0] == "▁" else piece)


def _best(entries: list[Entry], most: int) -> list[Entry]:
    """The entries that a tree takes, each with all before it."""
    if len(entries) <= most:
        return entries
    order = sorted(range(len(entries)), key=lambda i: (not entries[i].is_living, _rank(entries[i])))
    chosen: set[int] = set()
    for place in order:
        path, at = [], place
        while at >= 0 and at not in chosen:
            path.append(at)
            at = entries[at].parent
        if entries[place].is_living or len(chosen) + len(path) <= most:
            chosen.update(path)
    new = {old: place for place, old in enumerate(sorted(chosen))}
    return [entries[old]._replace(parent=new.get(entries[old].parent, -1)) for old in new]


def _rank(entry: Entry) -> int:
    return entry.node.rank
