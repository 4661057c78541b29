"""Every head off on many sentences: a line per sentence and head, then a mean with its interval."""

from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, combinations
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from transformer.analysis.ablation import Sweep, pairs_of, sweep
from transformer.analysis.tables import Line, rounded
from transformer.checkpoint import Checkpoint
from transformer.corpus.shards import Shard
from transformer.corpus.targets import judged_target, judged_targets
from transformer.edits.spelling import parse
from transformer.engines.engine import Done, Work
from transformer.field_docs import fields_in_help
from transformer.formats.opening import load_checkpoint
from transformer.hugging_face.model import pairing
from transformer.in_a_line import in_a_line
from transformer.inputs import InputError
from transformer.refusal import Refusal, quoted
from transformer.token import Token

# A mean over sentences and how sure it is: the percentile bootstrap (Efron 1979).

N_RESAMPLES = 2000
_AT_ONCE = 100
FEWEST = 10
"""Sentences below which an interval says little. The percentile bootstrap is narrower than an
interval by Student's t by the factor 1.96 / t * sqrt((n - 1) / n), of what is normal: by 18 % at 10
sentences, by 37 % at 5, by 63 % at 3; and of 2 it gives just the two values."""
SEED = 0


def caution(*numbers: int) -> str:
    """Say that intervals over so many sentences say little, of several the fewest that have one;
    empty where they do not.

    >>> caution(1, 40, 3), caution(10), caution(1)
    ('An interval over 3 sentences says little: below 10 it is too narrow.', '', '')
    """
    n = min((each for each in numbers if each > 1), default=FEWEST)
    if n >= FEWEST:
        return ""
    return f"An interval over {n} sentences says little: below {FEWEST} it is too narrow."


@dataclass(frozen=True, eq=False)
class Interval:
    """Means of N quantities, and between what 95 % of the means of resampled sentences lie."""

    mean: Tensor
    low: Tensor
    high: Tensor


def interval(values: Tensor, sizes: Tensor | None = None) -> Interval:
    """values: [S, N], a row per sentence -> [N] each; the same values give the same interval.

    sizes: [S] or [S, N], what each sentence counts for, such as its words, of which values are
    means; None: all count alike. With one sentence nothing is known of others: low and high are not
    a number.
    """
    n, values = len(values), values.double()
    sizes = torch.ones(n).double() if sizes is None else sizes.double()
    sizes = sizes.reshape(n, -1)  # [S, 1 or N]
    totals = values * sizes
    mean = totals.sum(0) / sizes.sum(0)
    if n < 2:
        none = torch.full(values.shape[1:], torch.nan, dtype=torch.float64)
        return Interval(mean, none, none)
    generator = torch.Generator().manual_seed(SEED)
    means = []
    for _ in range(0, N_RESAMPLES, _AT_ONCE):
        drawn = torch.randint(n, (_AT_ONCE, n), generator=generator)
        counts = torch.zeros(_AT_ONCE, n, dtype=torch.float64)
        counts.scatter_add_(1, drawn, torch.ones_like(counts))
        means.append(counts @ totals / (counts @ sizes))
    low, high = torch.cat(means).quantile(torch.tensor([0.025, 0.975]).double(), dim=0)
    return Interval(mean, low, high)


# Every head off on many sentences: a line per sentence and head, then a mean with its interval.

Sentences = Mapping[int, str]
"""Line number -> sentence."""
Say = Callable[[str], None]
TOGETHER = 32
"""Sentences whose targets are written in one batch, where a model takes batches."""
Target = tuple[Token, ...] | None
"""The tokens that are judged; None: the text itself is, or a class."""


@fields_in_help
@dataclass(frozen=True)
@in_a_line
class Worth:
    """The effect of an edit, or of two at once, on the output of S sentences, in nats; of
    vectors, minus the angle that each turns by, in degrees; of a number its change."""

    edits: str
    """The edit, or two with a space between them, as "head-off:cross.2.3"."""
    n_sentences: int
    """The S sentences."""
    mean: float
    """The mean of the S changes."""
    low: float | None
    """95 % of the means of resampled sentences lie between low and high; None: there is only one
    sentence."""
    high: float | None
    """The other end of it."""
    share_other: float
    """The share of sentences in which another token became most probable somewhere."""

    @property
    def kind(self) -> str | None:
        """The head's kind of attention, such as "cross"; None of two edits at once."""
        return None if " " in self.edits else parse(self.edits).place

    @property
    def layer(self) -> int | None:
        """The head's layer, counted from 0; None of two edits at once."""
        return None if " " in self.edits else parse(self.edits).layer

    @property
    def head(self) -> int | None:
        """The head, counted from 0; None of two edits at once."""
        return None if " " in self.edits else parse(self.edits).head


@dataclass(frozen=True)
class SweepJob:
    """Every head off on each sentence of a shard, or some edits two at a time."""

    checkpoint: Path
    device: str | None = None
    pair: str = ""
    """The second text that is read with each sentence; empty: there is none."""
    number: str = ""
    """The number that is judged, where a model puts several on a text; empty: the first text's."""
    together: tuple[str, ...] = ()
    """The edits that are tried two at a time; none: every head is off by itself."""

    def open(self) -> Work:
        opened = load_checkpoint(self.checkpoint, self.device)
        return partial(self.do, pairing(opened, self.pair) if self.pair else opened)

    def do(
        self, checkpoint: Checkpoint, shard: Shard, targets: Mapping[str, Target] | None = None
    ) -> Done:
        """Sweep the sentences of a shard; the result has a list for each, by its line's number.

        targets: of sentences, where they are written; None: those of the shard are written first.
        """
        left_out: list[str] = []
        result: dict[int, list[Any]] = {}
        if targets is None:  # ours write fast, and what tables hold of them stays
            watched = checkpoint.family.is_watched
            targets = judged_targets(checkpoint, [*filter(None, shard.lines)]) if watched else {}
        for number, source in enumerate(shard.lines, shard.first + 1):
            if not source:
                continue
            try:
                if self.together:
                    target = _target(checkpoint, source, targets)
                    two = checkpoint, source, target, self.together
                    result[number] = _tried(*two, self.number)
                else:
                    # judged: of several numbers the one that the sentences before are judged
                    # by.
                    target = _target(checkpoint, source, targets)
                    singles = replace(sweep(checkpoint, source, target), number=self.number)
                    totals, others = (
                        singles.totals.tolist(),
                        (singles.best_edited != singles.best).sum(-1).tolist(),
                    )
                    n_words = 1 if singles.output.classes else len(singles.target) or 1
                    start = (number, source, _output_text(checkpoint, singles), n_words)
                    result[number] = [
                        Line(
                            *start,
                            _log_prob(singles),
                            str(edit),
                            rounded(change),
                            n_other,
                            pair=self.pair,
                        )
                        for edit, change, n_other in zip(singles.edits, totals, others, strict=True)
                    ]
            except InputError as error:
                left_out.append(f"line {number} is left out: {error}")
        return Done(shard.number, len(result), left_out=tuple(left_out), result=result)


Run = Callable[[SweepJob, Sequence[Shard]], Iterator[Done]]
"""An engine's run."""


def sweep_sentences(
    checkpoint: Checkpoint,
    sentences: Sentences,
    before: Sequence[Line] = (),
    n_pairs_of: int = 0,
    say: Say = lambda sentence: None,
    pair: str = "",
    run: Run | None = None,
    on_step: Callable[[], object] = lambda: None,
) -> Iterator[list[Line]]:
    """All lines that there are, whenever a sentence is done; those in `before` stay as they are.

    n_pairs_of: of so many heads, those that are worth most on average, all pairs follow. A sentence
    that the model cannot read is left out, and that is said. pair: the second text that the
    checkpoint reads with each. run: has sentences swept elsewhere, in any order. on_step: called
    before each that is swept here. Raises InputError where `before` is of other sentences, of
    another second text or of other weights.
    """
    lines = _checked(checkpoint, sentences, before, pair)
    singles = [line for line in lines if line.synergy is None]
    pairs = [line for line in lines if line.synergy is not None]
    job = SweepJob(checkpoint.path.absolute(), str(checkpoint.device), pair)

    def here(job: SweepJob, shards: Sequence[Shard]) -> Iterator[Done]:
        targets: Mapping[str, Target] = {}
        for i, shard in enumerate(shards):
            if not i % TOGETHER and checkpoint.family.is_watched:  # ours write fast
                texts = [text for each in shards[i : i + TOGETHER] for text in each.lines]
                targets = judged_targets(checkpoint, texts)
            on_step()
            yield job.do(checkpoint, shard, targets)

    def swept(job: SweepJob, run: Run, shards: Sequence[Shard]) -> Iterator[Mapping[int, Any]]:
        for done in run(job, shards):
            for why in done.left_out:
                say(why)
            yield done.result

    left = _shards(sentences, {line.sentence for line in singles})
    while left and not singles:  # the first one decides which number is judged
        for result in swept(job, here, [left.pop(0)]):
            singles += chain(*result.values())
            yield [*singles, *pairs]
    job = replace(job, number=_number_of(singles))
    for result in swept(job, run or here, left):
        singles += chain(*result.values())
        singles.sort(key=lambda line: line.sentence)
        yield [*singles, *pairs]
    wanted = tuple(each.edits for each in strongest(worths(singles), n_pairs_of))
    wanted_pairs = {" ".join(two) for two in combinations(wanted, 2)}
    pairs = _of_pairs(pairs, wanted_pairs)
    there = {line.sentence for line in singles} if wanted_pairs else set()
    tried = {number: sentences[number] for number in sorted(there)}
    left = _shards(tried, {line.sentence for line in pairs})
    for result in swept(
        replace(job, number=_number_of(singles), together=wanted), run or here, left
    ):
        for number, changes in result.items():
            pairs += _pairs(number, changes, singles)
        pairs.sort(key=lambda line: line.sentence)
        yield [*singles, *pairs]
    yield [*singles, *pairs]


def _shards(sentences: Sentences, done: Container[int]) -> list[Shard]:
    """A shard for each sentence that is left: it is a batch by itself."""
    left = ((number, text) for number, text in sentences.items() if number not in done)
    return [Shard(i, number - 1, (text,)) for i, (number, text) in enumerate(left)]


def worths(lines: Iterable[Line]) -> list[Worth]:
    """Mean and interval of each edit's change, and of pairs of their synergy."""
    of: dict[str, list[Line]] = defaultdict(list)
    for line in lines:
        of[line.edits].append(line)
    alike: dict[tuple[int, ...], list[str]] = defaultdict(list)
    for edits, each in of.items():
        alike[tuple(line.sentence for line in each)].append(edits)
    result: dict[str, Worth] = {}
    for numbers, together in alike.items():
        rows = [[_value(line) for line in of[edits]] for edits in together]
        estimate = interval(torch.tensor(rows, dtype=torch.float64).T)
        bounds = zip(estimate.low.tolist(), estimate.high.tolist(), strict=True)
        for edits, mean, (low, high) in zip(together, estimate.mean.tolist(), bounds, strict=True):
            share = sum(line.n_other > 0 for line in of[edits]) / len(numbers)
            low, high = (low, high) if len(numbers) > 1 else (None, None)
            result[edits] = Worth(edits, len(numbers), mean, low, high, share)
    return [result[edits] for edits in of]


def _value(line: Line) -> float:
    return line.change if line.synergy is None else line.synergy


def strongest(worths: Sequence[Worth], n: int) -> list[Worth]:
    """Return the n whose mean is furthest from 0, up or down, the first first."""
    return sorted(worths, key=lambda worth: -abs(worth.mean))[:n]


def _number_of(lines: Sequence[Line]) -> str:
    """The number that all lines are of, where a model puts several on a text: the first one's."""
    return lines[0].written if lines else ""


def _output_text(checkpoint: Checkpoint, sweep: Sweep) -> str:
    if sweep.output.classes:
        return sweep.output.classes[int(sweep.best)]
    if sweep.output.numbers:
        return sweep.judged_number
    return checkpoint.tokenizer.decode([token.id for token in sweep.target])


Tried = tuple[str, float, int]
"""Two edits, the change by both at once, and the tokens at which another one is most probable."""


def _target(checkpoint: Checkpoint, source: str, targets: Mapping[str, Target]) -> Target:
    """Take the one that was written with others, or write it. Raises InputError."""
    return targets[source] if source in targets else judged_target(checkpoint, source)


def _tried(
    checkpoint: Checkpoint, source: str, target: Target, wanted: Sequence[str], number: str
) -> list[Tried]:
    """Try all pairs of edits; none where the sentence lacks one of them."""
    result = replace(sweep(checkpoint, source, target, wanted), number=number)
    if len(result.edits) < len(wanted):
        return []
    *_, tried = pairs_of(checkpoint, result, range(len(wanted)))
    names = (" ".join(map(str, two)) for two in tried.pairs)
    changes = map(rounded, tried.together.tolist())
    return list(zip(names, changes, tried.n_other.tolist(), strict=True))


def _pairs(number: int, tried: Sequence[Tried], singles: Sequence[Line]) -> list[Line]:
    own = {line.edits: line for line in singles if line.sentence == number}
    lines = []
    for edits, change, n_other in tried:
        synergy = change - sum(own[edit].change for edit in edits.split())
        some = own[edits.split()[0]]
        start = (number, some.source, some.written, some.n_words, some.log_prob, edits)
        lines.append(Line(*start, change, n_other, rounded(synergy), some.pair))
    return lines


def _of_pairs(pairs: Sequence[Line], wanted: set[str]) -> list[Line]:
    """Keep the wanted pairs of sentences that have every one of them."""
    of: dict[int, list[Line]] = defaultdict(list)
    for line in pairs:
        if line.edits in wanted:
            of[line.sentence].append(line)
    return [line for lines in of.values() if len(lines) == len(wanted) for line in lines]


def _checked(
    checkpoint: Checkpoint, sentences: Sentences, lines: Sequence[Line], pair: str
) -> list[Line]:
    """Lines of a run that was stopped. Raises InputError where they are of another one."""
    for line in lines:
        if line.pair != pair:
            there = f"the second text {quoted(line.pair)}" if line.pair else "no second text"
            raise InputError(f"The table is of {there}: give --out another name.")
        if sentences.get(line.sentence) != line.source:
            raise InputError(
                f"The table is of other sentences: its line {line.sentence} is "
                f"{quoted(line.source)}. Give --out another name."
            )
    if lines:
        first = lines[0]
        try:
            target = judged_target(checkpoint, first.source)
            plain = sweep(checkpoint, first.source, target, ())
            total = _log_prob(replace(plain, number=first.written))
        except Refusal:
            total = float("nan")
        if not abs(total - first.log_prob) < 1e-3 * max(1.0, abs(first.log_prob)):
            raise InputError(
                "The table is of another model or of other weights: give --out another name."
            )
    n_of = Counter(line.sentence for line in lines if line.synergy is None)
    whole = {sentence for sentence, n in n_of.items() if n == max(n_of.values())}
    return [line for line in lines if line.sentence in whole]


def _log_prob(sweep: Sweep) -> float:
    """Return the output's log-probability without an edit."""
    return rounded(float(sweep.totalled(sweep.log_probs)))
