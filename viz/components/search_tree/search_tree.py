"""A decoding's search as a tree: hypotheses, what was dropped, and why."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from transformer.decoding import Decoding
from transformer.decoding.search_tree import Dropped, SearchTree
from transformer.recording import Recording
from transformer.token import Token
from viz.components.kit.browser import Component, digest, envelope
from viz.components.kit.pack import pack
from viz.components.kit.sync import mountable
from viz.components.search_tree.entries import Entry, entries_of
from viz.components.search_tree.layout import layout, shared_chain
from viz.labels import bare_label, label, number
from viz.theme import Theme

SEARCH_TREE = Component("search_tree")
search_tree = mountable(SEARCH_TREE)
"""on_node, on_branch: the name of the decoding and the id of a node of its search: one that is
chosen, and one to go on from."""
MOST = 1200
"""Nodes that are drawn; of a larger search the living ones and the best of the others."""
FOLDED = 6
"""Nodes that all hypotheses share, from which on those in the middle are folded."""


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
        return "the search continued with what comes after it"
    return _clause(entry.node.dropped)


@lru_cache(maxsize=1000)
def _clause(dropped: Dropped) -> str:
    return re.sub(r"-(?=\d)", "−", str(dropped))


def _text(search: SearchTree, id: int) -> str:
    tokens = [node.token for node in search.path(id) if node.token and not node.token.special]
    return "".join(token.piece.replace("▁", " ") for token in tokens).strip()


def _searched(decoding: Decoding | None) -> SearchTree:
    """Raises ValueError where nothing was decoded."""
    if decoding is None:
        raise ValueError("This model wrote nothing here: there is no search to draw.")
    return decoding.search
