"""All heads of two runs of one text: how much each of them changed, as a study."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from transformer.two_models.head_changes import (
    KindChanges,
    Place,
    Row,
    head_changes,
    largest_row,
    read_by_both,
)
from viz.run.batches import Runner
from viz.run.request import Request, answer
from viz.run.study import Study

MOST_ROWS = 24
"""Heads whose row is looked for that changed most."""


@dataclass(frozen=True, eq=False)
class Changes:
    """The heads of A and what became of them in B."""

    kinds: tuple[KindChanges, ...]
    rows: Mapping[tuple[str, int, int], Row] = field(default_factory=dict)
    """Place of a head -> its row that changed most, for the heads that changed most."""

    @property
    def has_own(self) -> bool:
        """Tell whether it is known what heads changed by themselves."""
        return any(kind.own is not None for kind in self.kinds)

    @property
    def ranked(self) -> list[tuple[float, str, Place]]:
        """All heads, the one that changed most first: by itself, where that is known."""
        heads = [
            (float(of[layer, head]), kind.kind, (layer, head))
            for kind in self.kinds
            for of in [kind.total if kind.own is None else kind.own]
            for layer, head in of.isfinite().nonzero().tolist()
        ]
        return sorted(heads, key=lambda each: (-each[0], *each[1:]))


@dataclass(frozen=True)
class HeadsOfBoth(Study[Changes]):
    """Two runs over one text: of two checkpoints, or of one with edits."""

    first: Request
    second: Request

    def run(self, before: Changes | None, runner: Runner) -> Iterator[Changes]:
        a, b = answer(self.first, runner), answer(self.second, runner)
        first, second = a.recording, b.recording
        if a.checkpoint is b.checkpoint or self.first.chat is not None:
            kinds = tuple(head_changes(first, second))
        else:
            text = "" if a.decoding is None else a.decoding.text
            with runner.turn(a.checkpoint.model):
                target = first.target if a.decoding is not None else ()
                both = read_by_both(a.checkpoint, b.checkpoint, self.first.text, target, text)
            first, second, kinds = both.first, both.second, both.kinds
        changes, rows = Changes(kinds), {}
        for _, kind, place in changes.ranked[:MOST_ROWS]:
            pair = first.attentions[kind], second.attentions[kind]
            if (row := largest_row(*pair, place)) is not None:
                rows[kind, *place] = row
        yield Changes(kinds, rows)
