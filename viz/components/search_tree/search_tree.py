"""The nodes of a search as they are drawn: tokens, or the words that they make."""

import json
import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from operator import itemgetter
from typing import Any, ClassVar, NamedTuple

import numpy as np

from transformer.decoding import Decoding
from transformer.decoding.search_tree import Dropped, Node, SearchTree
from transformer.inputs import InputError
from transformer.recording import Recording
from transformer.token import Token
from transformer.words import word_groups, word_piece
from viz.components.kit.browser import Component, digest, envelope, pack
from viz.components.kit.sync import mountable
from viz.labels import bare_label, label, number
from viz.theme import Theme

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
    best = _best_entries(entries, most)
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


def _best_entries(entries: list[Entry], most: int) -> list[Entry]:
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


# The places of the nodes of a tree: columns from left to right, rows from top to bottom.
#
# A layered layout as tidy as Reingold and Tilford 1981: a node stands in the row of its first
# child, so that the best hypothesis is a straight line at the top, and subtrees are packed as
# closely as their outlines allow. Edges never cross.

Place = tuple[int, int]
"""Column and row."""
first = itemgetter(0)


def layout(
    parents: Sequence[int], order: Mapping[int, Sequence[int]], to_the_edge: frozenset[int]
) -> list[Place]:
    """The place of each node. parents: before their children, -1 for the root.

    order: the children of each node, from top to bottom; to_the_edge: leaves that keep their row
    free up to the right edge, where their rank stands.
    """
    columns = [0] * len(parents)
    for node in range(1, len(parents)):
        columns[node] = columns[parents[node]] + 1
    last = max(columns, default=0)
    below = [0] * len(parents)
    outlines: dict[int, deque[int]] = {}
    for node in reversed(range(len(parents))):
        room = last - columns[node] if node in to_the_edge else 0
        children = order.get(node, ())
        if children:
            outlines[node] = _stacked([outlines.pop(each) for each in children], below, children)
            outlines[node].extend([0] * (room + 1 - len(outlines[node])))
        else:
            outlines[node] = deque([0] * (room + 1))
    rows = [0] * len(parents)
    for node in range(1, len(parents)):
        rows[node] = rows[parents[node]] + below[node]
    return list(zip(columns, rows, strict=True))


def _stacked(outlines: list[deque[int]], below: list[int], children: Sequence[int]) -> deque[int]:
    """Put subtrees below each other, and return the lower outline of all, a row per column.

    outlines: of each child, from its own column on and counted from its own row; below: is told how
    many rows each child is below the first one.
    """
    whole = outlines[0]
    for child, outline in zip(children[1:], outlines[1:], strict=True):
        # Nothing of a subtree is above its root, so its root's row clears what is above all of it.
        by = max(map(first, zip(whole, outline, strict=False))) + 1
        below[child] = by
        for column, row in enumerate(outline):
            if column < len(whole):
                whole[column] = row + by
            else:
                whole.append(row + by)
    whole.appendleft(0)
    return whole


def shared_chain(parents: Sequence[int], living: Sequence[bool]) -> list[int]:
    """The nodes after the root that every hypothesis shares, in order, up to where they part.

    Empty where there is only one: then nothing parts.
    """
    following: dict[int, list[int]] = {}
    for node in range(1, len(parents)):
        if living[node]:
            following.setdefault(parents[node], []).append(node)
    chain, node = [], 0
    while len(following.get(node, [])) == 1:
        node = following[node][0]
        chain.append(node)
    return chain if len(following.get(node, [])) > 1 else []


# A decoding's search as a tree: hypotheses, what was dropped, and why.

SEARCH_TREE = Component("search_tree")
search_tree = mountable(SEARCH_TREE)
"""on_node, on_branch: the name of the decoding and the id of a node of its search: one that is
chosen, and one to go on from."""
MOST = 1200
"""Nodes that are drawn; of a larger search the living ones and the best of the others."""
FOLDED = 6
"""Nodes that all hypotheses share, from which on those in the middle are folded."""
CONTINUED = "the search continued with what comes after it"
"""The reason of a node that was neither left nor led to a hypothesis."""


@dataclass(frozen=True)
class DecodeTree:
    """The search of a decoding as a tree."""

    words: bool = True
    """The pieces of a word are one node."""
    component: ClassVar[Component] = SEARCH_TREE

    def title(self, recording: Recording) -> str:
        return "The search as a tree"

    def payload(self, recording: Recording, decoding: Decoding | None = None) -> bytes:
        return pack_tree(_searched(decoding), self.words, source_of(recording))

    def data(
        self,
        payload: bytes,
        theme: Theme,
        *,
        node: int | None = None,
        end: int | None = None,
    ) -> bytes:
        """node: the one that is chosen, by its id in the search; end: the last one of what other
        pictures show, of the best hypothesis where left out.
        """
        return envelope(payload, theme, node=node, end=end)

    def says(self, recording: Recording, decoding: Decoding | None = None, **state: Any) -> str:
        """Name the hypotheses with their scores, and what was left earliest of them."""
        search = _searched(decoding)
        texts = [
            f"{place}, with a score of {number(search.nodes[end].score.total)}: “"
            f"{_text(search, end)}”"
            for place, end in enumerate(search.leaves, 1)
        ]
        n_dropped = len(search.nodes) - len(search.living) + search.n_left_out
        order = "Hypotheses, the best first"
        if search.is_drawn:
            order = "Texts that were drawn, in the order of their seeds"
        ranking = f"{order}: {'; '.join(texts)}." if texts else ""
        return f"The search left {n_dropped:,} of the tokens that it looked at. {ranking}".strip()


def name_of(search: SearchTree) -> str:
    """A name for a search, by which news from a browser are told from those of another one."""
    content = [(node.parent, node.token and node.token.id) for node in search.nodes]
    return digest(json.dumps(content).encode())


def source_of(recording: Recording) -> str:
    """A name for the text that is read: what was opened in its tree goes with it."""
    return digest(json.dumps([token.id for token in recording.source]).encode())


def pack_tree(search: SearchTree, words: bool, source: str = "") -> bytes:
    """A search, laid out, a row of each array an entry. source: as of `source_of`."""
    entries, n_left_out = entries_of(search, words, MOST)
    parents = [entry.parent for entry in entries]
    to_the_edge = frozenset(
        place for place, entry in enumerate(entries) if entry.node.hypothesis is not None
    )
    scores = [entry.node.score for entry in entries]
    totals = [score.total for score in scores]
    places = layout(parents, _children(entries, totals), to_the_edge)
    chain = shared_chain(parents, [entry.is_living for entry in entries])
    path_log_probs = search.path_log_probs
    reasons: dict[str, int] = {"": 0}  # those of a step are often the same
    of_reason = [reasons.setdefault(_reason(entry), len(reasons)) for entry in entries]
    header = {
        "search": name_of(search),
        "source": source,
        "labels": [_label(entry, words) for entry in entries],
        "reasons": list(reasons),
        # The first and the last one stay, so that what is folded has a beginning and an end.
        "fold": chain[1:-1] if len(chain) >= FOLDED else [],
        "inner": _inner(entries),
        "n_left_out": n_left_out,
        "drawn": search.is_drawn,
        "ranks": {place: ranks for place, ranks in _ranks(search, entries) if len(ranks) > 1},
        "words": words,
    }
    whole = [
        [entry.node.id for entry in entries],
        parents,
        *zip(*places, strict=True),
        [-1 if entry.node.hypothesis is None else entry.node.hypothesis for entry in entries],
        [score.length for score in scores],
        of_reason,
    ]
    marks = [[entry.is_living for entry in entries], [entry.node.is_forced for entry in entries]]
    numbers = [
        [entry.log_prob for entry in entries],
        totals,
        [score.log_prob for score in scores],
        [score.divisor for score in scores],
        [score.coverage for score in scores],
        [path_log_probs[entry.node.id] for entry in entries],
    ]
    # Columns here, rows for the browser.
    return pack(
        header, np.array(whole, "<i4").T, np.array(marks, "|u1").T, np.array(numbers, "<f4").T
    )


def _ranks(search: SearchTree, entries: Sequence[Entry]) -> Iterator[tuple[str, list[int]]]:
    """The ranks of the hypotheses that end at each place, from 1 on."""
    for place, entry in enumerate(entries):
        if entry.node.hypothesis is not None:
            yield str(place), [rank + 1 for rank in search.ranks(entry.node.id)]


def _children(entries: Sequence[Entry], totals: Sequence[float]) -> dict[int, list[int]]:
    """The children of each entry from top to bottom: of the best hypothesis, which goes straight
    on, then those that soon end, so that they stand near it; equally long ones by their score.

    totals: the score of each entry.
    """
    best, length = [_best(entry) for entry in entries], [1] * len(entries)
    for place in range(len(entries) - 1, 0, -1):
        parent = entries[place].parent
        best[parent] = min(best[parent], best[place])
        length[parent] = max(length[parent], length[place] + 1)

    def rank(place: int) -> tuple[float, ...]:
        return best[place], -totals[place]

    children: dict[int, list[int]] = {}
    for place, entry in enumerate(entries[1:], 1):
        children.setdefault(entry.parent, []).append(place)
    for each in children.values():
        if len(each) > 1:
            each.sort(key=rank)
            each[1:] = sorted(each[1:], key=lambda place: (length[place], *rank(place)))
    return children


def _inner(entries: Sequence[Entry]) -> list[tuple[int, int]]:
    """Pairs of a node within a word and the place of that word, of a living one if there is."""
    places = {entry.node.id: place for place, entry in enumerate(entries)}
    pairs: dict[int, int] = {}
    for place, entry in enumerate(entries):
        for id in entry.inner:
            before = places.get(id)
            if before is None or (entry.is_living and not entries[before].is_living):
                pairs[id] = places[id] = place
    return list(pairs.items())


def _best(entry: Entry) -> float:
    return np.inf if entry.node.hypothesis is None else entry.node.hypothesis


def _label(entry: Entry, words: bool) -> tuple[str, int]:
    """Return the label, of a word without the sign of its space, and whether it is special."""
    if entry.token is None:
        return "", 0
    return _text_of(entry.token.piece, entry.token.special, words), int(entry.token.special)


@lru_cache(maxsize=10_000)
def _text_of(piece: str, special: bool, words: bool) -> str:
    """The label of a piece, which no id changes: the same of many texts, and quicker to look up."""
    return (bare_label if words else label)(Token(0, piece, special))


def _reason(entry: Entry) -> str:
    """Say why nothing that is drawn was written after it; empty where something was."""
    if entry.is_living:
        return ""
    if entry.node.dropped is None:
        return CONTINUED
    return _clause(entry.node.dropped)


@lru_cache(maxsize=1000)
def _clause(dropped: Dropped) -> str:
    return re.sub(r"-(?=\d)", "−", str(dropped))


def _text(search: SearchTree, id: int) -> str:
    tokens = [node.token for node in search.path(id) if node.token and not node.token.special]
    return "".join(token.piece.replace("▁", " ") for token in tokens).strip()


def _searched(decoding: Decoding | None) -> SearchTree:
    """Raises InputError where nothing was decoded."""
    if decoding is None:
        raise InputError("This model wrote nothing here: there is no search to draw.")
    return decoding.search
