"""Plans of edits: which call of a module is which attention.

Which call is which is known after a pass only. So one pass is watched first; in the next the same
calls, counted module by module, are the same attentions.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from transformer.editing.editor import Sizes
from transformer.editing.reach import kinds_of
from transformer.edits.edit import Edit, EditError
from transformer.edits.spelling import edit_kinds
from transformer.models.family import ForcedPass
from transformer.watch.calls.seen import Seen
from transformer.watch.calls.watcher import Watcher
from transformer.watch.editing.states import layer_paths
from transformer.watch.kinds.kind import Kind
from transformer.watch.kinds.schemes import has_two_sides, positions_added, token_inputs
from transformer.watch.kinds.stacks import by_kind

Call = tuple[str, int]
"""A module's path, and which of its calls in a pass."""


@dataclass(frozen=True)
class Spot:
    """The place of a call among attentions."""

    kind: str
    layer: int
    first_head: int
    """More than 0 where the heads of a layer are calls of their own."""
    order: tuple[int, ...] | None
    """The order of the axes of weights by hand."""


class Plan:
    """A table of which call is which attention, as one pass has shown."""

    def __init__(self, watcher: Watcher, kinds: Mapping[str, Kind], inputs: Any) -> None:
        """inputs: what the pass was given, a tensor, a tuple or a dict."""
        added = positions_added(watcher, by_kind(watcher.seen), token_inputs(inputs))
        self.additions = {it.where: (side, it) for side, (it, _) in added.items()}
        self.sides = {side: it.n_positions for side, (it, _) in added.items()}
        if not has_two_sides(kinds) and watcher.turns.turned:
            self.sides["text"] = max(kind.sizes[1] for kind in kinds.values())
        spots = {
            id(part): spot
            for name, kind in kinds.items()
            if not kind.is_softmax
            for layer, call in enumerate(kind.calls)
            for part, spot in _spots(name, layer, call)
        }
        self.calls: dict[Call, Spot] = {}
        self.softmaxes: dict[Call, Spot] = {}
        of_softmax: dict[int, Spot] = {}
        n_calls: Counter[str] = Counter()
        for seen in watcher.seen:
            if seen.is_softmax:
                of_softmax.pop(id(seen.softmax), None)  # its weights are changed afterwards
                continue
            path = seen.place.path
            if id(seen) in spots:
                self.calls[path, n_calls[path]] = spots[id(seen)]
                if seen.softmax is not None:
                    of_softmax[id(seen.softmax)] = spots[id(seen)]
            n_calls[path] += 1
        n_softmaxes: Counter[str] = Counter()
        for origin in watcher.softmaxes:
            if id(origin) in of_softmax:
                self.softmaxes[origin.path, n_softmaxes[origin.path]] = of_softmax[id(origin)]
            n_softmaxes[origin.path] += 1
        self.n_calls, self.n_softmaxes = n_calls, n_softmaxes
        self.sizes = {name: _sizes(kind) for name, kind in kinds.items() if not kind.is_softmax}
        self._n_words = {
            name: kind.sizes[2] - len(kind.calls[0].added) for name, kind in kinds.items()
        }
        """Kind -> the keys that nobody is known to have added."""
        self.layers = layer_paths(kinds)

    def check_words(self, edits: Sequence[Edit], forced: ForcedPass) -> None:
        """Raise EditError for a word of attentions whose keys are others than the tokens read.

        Such a model has a prefix of its own, or shortens what it reads.
        """
        for edit in edits:
            is_word = edit_kinds()[edit.name].of == "read word"
            for kind in kinds_of(edit) if is_word else ():
                rows, n_words = forced.rows.get(kind), self._n_words.get(kind)
                if n_words is not None and (rows is None or len(rows.keys) != n_words):
                    raise EditError(
                        f"{edit}: the {n_words} keys of {kind} are not the tokens that are read, "
                        "so it is not known which of them are the word's."
                    )

    def spots(self, watcher: Watcher) -> Iterator[tuple[Seen, Spot]]:
        """Yield what another pass of the same module has shown, and which attention each of it is.

        Told by where it was called: what is computed there may look like another kind.
        """
        n_calls: Counter[str] = Counter()
        for seen in watcher.seen:
            path = seen.place.path
            spot = self.calls.get((path, n_calls[path]))
            n_calls[path] += 1
            if spot is not None:
                yield seen, spot


def _spots(kind: str, layer: int, call: Seen) -> list[tuple[Seen, Spot]]:
    first, result = 0, []
    for part in call.parts or (call,):
        result.append((part, Spot(kind, layer, first, part.order)))
        first += part.sizes[0]
    return result if first == call.sizes[0] else []


def _sizes(kind: Kind) -> Sizes:
    return Sizes(len(kind.calls), *kind.sizes, is_same_sequence=kind.role != "cross")
