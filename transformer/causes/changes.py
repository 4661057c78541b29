"""The changes that could make a model write another word, and what each does to a sentence."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from transformer.analysis.outputs.output import Output
from transformer.analysis.scored import scored
from transformer.analysis.sweep import heads_off
from transformer.causes.another_word import AnotherWord
from transformer.causes.arrows import arrows
from transformer.checkpoint import Checkpoint
from transformer.decoding.alone import OnStep
from transformer.decoding.decode import decoding_methods
from transformer.editing.read_words import side_read
from transformer.editing.within import within
from transformer.edits.edit import Edit
from transformer.recording.ours import record
from transformer.token import Token
from transformer.words import word_groups

N_ARROWS = 20
"""The strongest arrows of the row that writes the word, each of which is cut."""
MOST_RUNS = 200
"""Changes of a model that is watched, at most: it runs twice for each."""

Kind = Literal["method", "word hidden", "head off", "arrow cut", "rows"]


@dataclass(frozen=True)
class Change:
    """Something that is done otherwise: another decoding method, or edits of the model."""

    kind: Kind
    edits: tuple[Edit, ...] = ()
    method: str = ""
    """The other method, with its usual options; empty: the one in use."""


@dataclass(frozen=True)
class Forecast:
    """The effects of a change by forced passes, before anything is decoded with it; in nats."""

    change: Change
    cost: float
    """The loss of the other written words, all together."""
    lead: float
    """The lead of the right word over the written one."""
    margin: float
    """The lead of the sentence that goes on with the right word over the written sentence."""


def other_methods(method: str) -> list[Change]:
    """Every method that writes by itself but the one in use."""
    every = decoding_methods().items()
    return [Change("method", (), it) for it, of in every if not of.needs_target and it != method]


def changes(
    checkpoint: Checkpoint,
    text: str,
    target: Sequence[Token],
    place: AnotherWord,
    edits: Sequence[Edit],
    on_step: OnStep | None = None,
) -> list[Change]:
    """Each word that is read hidden, each head off, and the strongest arrows cut.

    edits: in force, none of which is a change. on_step: called between two batches. Raises
    InputError, of an edit EditError.
    """
    plain = record(checkpoint, text, target, edits)
    hidden = (Edit("hide", side_read(checkpoint), (i,)) for i in range(_n_words(plain.source)))
    output = Output(text, tuple(target), tuple(target))
    groups: dict[Kind, Iterable[Edit]] = {
        "word hidden": hidden,
        "head off": heads_off(checkpoint, output),
        "arrow cut": _strongest(checkpoint, text, target, place, edits, on_step),
    }
    every = [Change(kind, (it,)) for kind, some in groups.items() for it in some if it not in edits]
    return every[:MOST_RUNS] if checkpoint.family.is_watched else every


def _n_words(tokens: Sequence[Token]) -> int:
    return len(word_groups(tokens))


def _strongest(
    checkpoint: Checkpoint,
    text: str,
    target: Sequence[Token],
    place: AnotherWord,
    edits: Sequence[Edit],
    on_step: OnStep | None,
) -> list[Edit]:
    """The arrows whose cuts cost the written word most beyond what they cost the right one.

    Of a model that is watched, and under edits, those of the largest weights: there each arrow
    that is cut needs a whole run.
    """
    step = len(place.before) + place.n_shared
    if step >= len(target) or place.n_shared >= len(place.other):
        return []
    if checkpoint.family.is_watched or edits:
        return _heaviest(checkpoint, text, target, step, edits)
    written, other = (
        arrows(checkpoint, text, tokens, step, on_step=on_step)
        for tokens in (target[: step + 1], (*place.before, *place.other)[: step + 1])
    )
    worth = [
        (value, Edit("cut", kind, (layer, head, written.query, key)))
        for (kind, layer), costs in written.costs.items()
        for head, row in enumerate((costs - other.costs[kind, layer]).tolist())
        for key, value in enumerate(row)
        if value == value
    ]
    return [edit for _, edit in sorted(worth, key=lambda pair: -pair[0])[:N_ARROWS]]


def _heaviest(
    checkpoint: Checkpoint, text: str, target: Sequence[Token], step: int, edits: Sequence[Edit]
) -> list[Edit]:
    recording = record(checkpoint, text, target, edits)
    kind = "cross" if "cross" in recording.attentions else "decoder_self"
    attention = recording.attentions.get(kind)
    if attention is None:
        return []
    query = len(attention.queries) - len(target) + step
    worth = [
        (weight, Edit("cut", kind, (layer, head, query, key)))
        for layer in range(attention.n_layers)
        for head in range(attention.n_heads)
        for key, weight in enumerate(attention.weights(layer, head)[query].tolist())
    ]
    return [edit for _, edit in sorted(worth, key=lambda pair: -pair[0])[:N_ARROWS]]


@dataclass(frozen=True)
class Forecasting:
    """Judges changes by two forced passes each: over what is written, and over the right words."""

    checkpoint: Checkpoint
    text: str
    target: tuple[Token, ...]
    """The written sentence."""
    place: AnotherWord
    right: tuple[Token, ...]
    """The sentence up to the word, the right word, and how the model continues it."""
    edits: tuple[Edit, ...]
    """In force all the while."""
    on_step: OnStep | None = None

    def of(self, every: Sequence[Change]) -> list[Forecast]:
        """One for each change that the model can have. Raises InputError, EditError."""
        groups = [self.edits, *((*self.edits, *each.edits) for each in every)]
        written, right = (
            torch.cat(list(self._scores(it, groups))) for it in (self.target, self.right)
        )
        rows = zip(every, written[1:], right[1:], strict=True)
        forecasts = [self._forecast(change, written[0], *pair) for change, *pair in rows]
        return [each for each in forecasts if each.cost == each.cost]

    def _scores(
        self, target: tuple[Token, ...], groups: Sequence[Sequence[Edit]]
    ) -> Iterator[Tensor]:
        """Log-probabilities [N, T] in float64; not a number where an edit cannot be made."""
        groups = [within(self.checkpoint, self.text, target, group) for group in groups]
        for part in scored(self.checkpoint, Output(self.text, target, target), groups):
            yield part.log_probs.double()
            if self.on_step is not None:
                self.on_step()

    def _forecast(self, change: Change, plain: Tensor, written: Tensor, right: Tensor) -> Forecast:
        """plain: of what is written, without the change; written, right: with it. [T] each."""
        first, place = len(self.place.before), self.place
        own = slice(first, first + len(place.written))
        lost = plain - written
        lead = right[first : first + len(place.other)].sum() - written[own].sum()
        return Forecast(
            change,
            cost=float(lost.sum() - lost[own].sum()),
            lead=float(lead),
            margin=float(right.sum() - written.sum()),
        )
