"""Two checkpoints over many sentences: which heads changed, which stand elsewhere, what flips."""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from transformer.analysis.corpus_sweep import interval
from transformer.checkpoint import Checkpoint
from transformer.corpus.surveyed import Estimate
from transformer.corpus.targets import decode_many
from transformer.decoding.steps import Decoding
from transformer.files.foreign_text import csv_bytes
from transformer.inputs import InputError, source_ids, target_ids
from transformer.recording import Recording
from transformer.recording.vector import cosine
from transformer.refusal import Refusal
from transformer.token import Token
from transformer.two_models.head_changes import OTHER_WORDS, Place, Reading, read_by_both

LEAST = 1e-3
"""The root of a divergence, or the relative difference of what is written, below which a head is
the same: a pass in float32 leaves some 1e-7."""
NUMBERS = "own", "total", "relative", "cosine"


@dataclass(frozen=True)
class HeadChange:
    """A head of A and what became of it in B; see `KindChanges` for the numbers."""

    kind: str
    layer: int
    head: int
    total: Estimate | None
    """None: B has no head of this place."""
    own: Estimate | None
    """None: not known, as of models that are not of ours or have other sizes."""
    relative: Estimate | None
    cosine: Estimate | None
    counterpart: Place
    """The layer and head of B that are nearest, over all sentences."""
    to_counterpart: float
    """The mean root of the divergence to that head."""

    @property
    def change(self) -> float:
        """The number that heads are ranked by: its own change where it is known, else all of it.

        Below any other where B has no head of that place, so that such heads come last.
        """
        of = self.own or self.total
        return -math.inf if of is None else of.mean

    @property
    def is_changed(self) -> bool | None:
        """True: the head itself changed, where it looks or what it writes; None: not known."""
        if self.own is None:
            return None
        return max(self.own.mean, self.relative.mean if self.relative else 0.0) > LEAST

    @property
    def is_elsewhere(self) -> bool:
        """True: a head of another place is nearer to it than that of its own."""
        return self.counterpart != (self.layer, self.head)


@dataclass(frozen=True)
class Flip:
    """A sentence for which the two checkpoints give different outputs."""

    sentence: int
    """Its number, from 1; of a file its line."""
    source: str
    first: str
    second: str


@dataclass(frozen=True)
class ChangedHeads:
    """The heads of two checkpoints over the same sentences."""

    n_sentences: int
    heads: tuple[HeadChange, ...]
    """The ones that changed most first."""
    flips: tuple[Flip, ...]
    n_outputs: int
    """Sentences of which there are outputs to compare; 0: these models only make vectors."""
    vectors: Estimate | None
    """The cosine of the vectors that both make of a text; None where they make none."""
    left_out: tuple[str, ...] = ()
    """Sentences that say which lines are missing, and why."""

    @property
    def changed(self) -> tuple[HeadChange, ...]:
        """The heads that changed by themselves."""
        return tuple(head for head in self.heads if head.is_changed)

    def to_csv(self) -> bytes:
        """Write a line for each head, in UTF-8."""
        names = [f"{name}{end}" for name in NUMBERS for end in ("", "_low", "_high")]
        header = ("kind", "layer", "head", *names, "counterpart", "to_counterpart")
        return csv_bytes(header, map(_line, self.heads))


def changed_heads(
    first: Checkpoint,
    second: Checkpoint,
    sentences: Sequence[str],
    targets: Sequence[str] | None = None,
) -> ChangedHeads:
    """Compare two checkpoints over sentences: A and B read the same source and the same target.

    targets: of each sentence; without them what A writes greedily. Raises InputError where no
    sentence can be read by both.
    """
    *_, result = changing_heads(first, second, sentences, targets)
    return result.result()


class Comparison:
    """A comparison while its sentences go by."""

    def __init__(self) -> None:
        self.n_done = 0
        self._values: dict[tuple[str, str], list[Tensor]] = defaultdict(list)
        self._apart: dict[str, Tensor] = {}
        self._flips: list[Flip] = []
        self._cosines: list[float] = []
        self._n_outputs = 0
        self._left_out: list[str] = []

    def add(self, number: int, source: str, reading: Reading, outputs: tuple[str, str]) -> None:
        """Take a sentence that both have read. outputs: of A and B; empty: there are none."""
        if not self._values:
            self._kinds = tuple(each.kind for each in reading.kinds)
        for of in reading.kinds:
            for name in NUMBERS:
                if (values := getattr(of, name)) is not None:
                    self._values[of.kind, name].append(values)
            before = self._apart.get(of.kind)
            apart = of.apart.nan_to_num()
            self._apart[of.kind] = apart if before is None else before + apart
        a, b = reading.first.vector, reading.second.vector
        if a is not None and b is not None and a.values.shape == b.values.shape:
            self._cosines.append(cosine(a.values, b.values))
        if any(outputs):
            self._n_outputs += 1
            if outputs[0] != outputs[1]:
                self._flips.append(Flip(number, source, *outputs))

    def leave_out(self, number: int, why: Refusal) -> None:
        self._left_out.append(f"line {number} is left out: {why}")

    def result(self) -> ChangedHeads:
        """Summarise what was read. Raises InputError where that is nothing."""
        if not self._values:
            why = self._left_out[0] if self._left_out else "there is none: give at least one."
            raise InputError(f"No sentence can be compared: {why}")
        heads = [head for kind in self._kinds for head in self._heads(kind)]
        heads.sort(key=lambda each: (-each.change, -(each.relative.mean if each.relative else 0)))
        return ChangedHeads(
            n_sentences=len(next(iter(self._values.values()))),
            heads=tuple(heads),
            flips=tuple(self._flips),
            n_outputs=self._n_outputs,
            vectors=_estimate(torch.tensor(self._cosines)) if self._cosines else None,
            left_out=tuple(self._left_out),
        )

    def _heads(self, kind: str) -> Iterator[HeadChange]:
        numbers = {name: self._estimates(kind, name) for name in NUMBERS}
        n = len(self._values[kind, "total"])
        apart = self._apart[kind] / n
        n_layers, n_heads, _, n_others = apart.shape
        for at in range(n_layers * n_heads):
            layer, head = at // n_heads, at % n_heads
            distances = apart[layer, head]
            place, nearest = (layer, head), float(distances.min())
            is_there = layer < len(distances) and head < n_others
            if not is_there or distances[place] > nearest:
                nearest_at = int(distances.argmin())
                place = nearest_at // n_others, nearest_at % n_others
            of = {name: None if them is None else them[at] for name, them in numbers.items()}
            yield HeadChange(kind, layer, head, **of, counterpart=place, to_counterpart=nearest)

    def _estimates(self, kind: str, name: str) -> list[Estimate | None] | None:
        values = self._values.get((kind, name))
        if values is None:
            return None
        together = torch.stack(values).flatten(1)  # [S, N]
        return [_estimate(column) for column in _columns(together)]


def changing_heads(
    first: Checkpoint,
    second: Checkpoint,
    sentences: Sequence[str],
    targets: Sequence[str] | None = None,
    numbers: Sequence[int] | None = None,
) -> Iterator[Comparison]:
    """`changed_heads`, a sentence more each time: one comparison, which grows.

    numbers: of the sentences, such as their lines in a file; counted from 1 where left out.
    """
    if targets is not None and len(targets) != len(sentences):
        raise InputError(f"There are {len(sentences)} sentences and {len(targets)} targets.")
    comparison = Comparison()
    yield comparison
    for at, (source, outcome) in enumerate(_outcomes(first, second, sentences)):
        comparison.n_done, number = at + 1, numbers[at] if numbers else at + 1
        try:
            a, b = _decodings(outcome)
            target: Sequence[Token] = () if a is None else a.target
            text = "" if a is None else a.text
            if targets is not None and first.family.decodes:
                text = " ".join(targets[at].split())
                # The tokens of a target that was given. Raises InputError.
                n_source = len(source_ids(first, source))
                target = list(map(first.tokenizer.token, target_ids(first, text, n_source) or []))
            reading = read_by_both(first, second, source, target, text)
            outputs = ("" if a is None else a.text, "" if b is None else b.text)
            if a is None or b is None:
                outputs = _output(reading.first), _output(reading.second)
            comparison.add(number, source, reading, outputs)
        except InputError as error:
            comparison.leave_out(number, error)
        yield comparison


Outcome = tuple[Decoding | Refusal, Decoding | Refusal] | None


def _outcomes(
    first: Checkpoint, second: Checkpoint, sentences: Sequence[str]
) -> Iterator[tuple[str, Outcome]]:
    """Each sentence with what both write greedily; None where one of them writes nothing."""
    lines = [" ".join(sentence.split()) for sentence in sentences]
    if first.family.reads != second.family.reads or first.family.decodes != second.family.decodes:
        raise InputError(OTHER_WORDS)
    if not first.family.decodes:
        yield from ((line, None) for line in lines)
        return
    both = decode_many(first, lines), decode_many(second, lines)
    for (line, a), (_, b) in zip(*both, strict=True):
        yield line, (a, b)


def _decodings(outcome: Outcome) -> tuple[Decoding | None, Decoding | None]:
    """Raises the Refusal of either."""
    if outcome is None:
        return None, None
    a, b = outcome
    if isinstance(a, Refusal):
        raise InputError(str(a)) from a
    if isinstance(b, Refusal):
        raise InputError(str(b)) from b
    return a, b


def _output(recording: Recording) -> str:
    """Name the class that a model chose; empty where it names none."""
    if recording.classification is not None:
        classes, logits = recording.classification.classes, recording.classification.logits
        return classes[int(logits.argmax())]
    return ""


def _columns(values: Tensor) -> Iterator[Tensor]:
    return (values[:, at] for at in range(values.size(1)))


def _estimate(values: Tensor) -> Estimate | None:
    """values: [S], of which those are left out that are no numbers; None where none is left."""
    values = values[values.isfinite()]
    if not len(values):
        return None
    of = interval(values[:, None])
    is_one = len(values) < 2
    low, high = (None if is_one else float(each[0]) for each in (of.low, of.high))
    return Estimate(float(of.mean[0]), low, high, len(values))


def _line(head: HeadChange) -> tuple[object, ...]:
    numbers: list[str] = []
    for name in NUMBERS:
        of: Estimate | None = getattr(head, name)
        each = (None,) * 3 if of is None else (of.mean, of.low, of.high)
        numbers += ["" if number is None else f"{number:.6g}" for number in each]
    layer, number = head.counterpart
    place = f"{head.kind} L{layer} H{number}"
    return head.kind, head.layer, head.head, *numbers, place, f"{head.to_counterpart:.6g}"
