"""Every head off on many sentences: a line per sentence and head, then a mean with its interval."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import torch

from transformer.analysis.bootstrap import interval
from transformer.analysis.sweep import Sweep, sweep
from transformer.analysis.synergy import pairs_of
from transformer.analysis.tables.sweep_table import Line, rounded
from transformer.checkpoint import Checkpoint
from transformer.decoding.decode import decode
from transformer.inputs import InputError
from transformer.refusal import Refusal, quoted
from transformer.token import Token

Sentences = Mapping[int, str]
"""Line number -> sentence."""
Say = Callable[[str], None]


@dataclass(frozen=True)
class Worth:
    """The effect of an edit, or of two at once, on the output of S sentences, in nats; of
    vectors, minus the angle that each turns by, in degrees; of a number its change."""

    edits: str
    n_sentences: int
    mean: float
    low: float | None
    high: float | None
    """Between low and high lie 95 % of the means of resampled sentences; None: there is only one
    sentence."""
    share_other: float
    """The share of sentences in which another token became most probable somewhere."""


def sweep_sentences(
    checkpoint: Checkpoint,
    sentences: Sentences,
    before: Sequence[Line] = (),
    n_pairs_of: int = 0,
    say: Say = lambda sentence: None,
    pair: str = "",
) -> Iterator[list[Line]]:
    """All lines that there are, whenever a sentence is done; those in `before` stay as they are.

    n_pairs_of: of so many heads, those that are worth most on average, all pairs follow. A sentence
    that the model cannot read is left out, and that is said. pair: the second text that the
    checkpoint reads with each. Raises InputError where `before` is of other sentences, of another
    second text or of other weights.
    """
    lines = _checked(checkpoint, sentences, before, pair)
    singles = [line for line in lines if line.synergy is None]
    pairs = [line for line in lines if line.synergy is not None]
    done = {line.sentence for line in singles}
    for number, source in sentences.items():
        if number in done:
            continue
        try:
            singles += _singles(checkpoint, number, source, pair, _number_of(singles))
        except InputError as error:
            say(f"line {number} is left out: {error}")
        singles.sort(key=lambda line: line.sentence)
        yield [*singles, *pairs]
    wanted = [each.edits for each in strongest(worths(singles), n_pairs_of)]
    wanted_pairs = {" ".join(two) for two in combinations(wanted, 2)}
    pairs = _of_pairs(pairs, wanted_pairs)
    there = {line.sentence for line in pairs}
    for number in dict.fromkeys(line.sentence for line in singles):
        if wanted_pairs and number not in there:
            pairs += _pairs(checkpoint, number, sentences[number], wanted, singles)
            pairs.sort(key=lambda line: line.sentence)
            yield [*singles, *pairs]
    yield [*singles, *pairs]


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


def judged_target(checkpoint: Checkpoint, source: str) -> tuple[Token, ...] | None:
    """Decode greedily what a sweep judges; None: it judges the text, or the class."""
    if not checkpoint.family.decodes or checkpoint.family.continues:
        return None
    return decode(checkpoint, source).target


def _number_of(lines: Sequence[Line]) -> str:
    """The number that all lines are of, where a model puts several on a text: the first one's."""
    return lines[0].written if lines else ""


def _singles(
    checkpoint: Checkpoint, number: int, source: str, pair: str, judged: str
) -> list[Line]:
    """judged: of several numbers the one that the sentences before are judged by."""
    target = judged_target(checkpoint, source)
    singles = replace(sweep(checkpoint, source, target), number=judged)
    totals, others = singles.totals.tolist(), (singles.best_edited != singles.best).sum(-1).tolist()
    n_words = 1 if singles.output.classes else len(singles.target) or 1
    start = (number, source, _output_text(checkpoint, singles), n_words)
    return [
        Line(*start, _log_prob(singles), str(edit), rounded(change), n_other, pair=pair)
        for edit, change, n_other in zip(singles.edits, totals, others, strict=True)
    ]


def _output_text(checkpoint: Checkpoint, sweep: Sweep) -> str:
    if sweep.output.classes:
        return sweep.output.classes[int(sweep.best)]
    if sweep.output.numbers:
        return sweep.judged_number
    return checkpoint.tokenizer.decode([token.id for token in sweep.target])


def _pairs(
    checkpoint: Checkpoint, number: int, source: str, wanted: Sequence[str], singles: Sequence[Line]
) -> list[Line]:
    target = judged_target(checkpoint, source)
    result = replace(sweep(checkpoint, source, target, wanted), number=_number_of(singles))
    if len(result.edits) < len(wanted):
        return []
    *_, tried = pairs_of(checkpoint, result, range(len(wanted)))
    own = {line.edits: line for line in singles if line.sentence == number}
    some = own[wanted[0]]
    lines = []
    changes, others = tried.together.tolist(), tried.n_other.tolist()
    for two, change, n_other in zip(tried.pairs, changes, others, strict=True):
        synergy = rounded(change) - sum(own[str(edit)].change for edit in two)
        start = (number, source, some.written, some.n_words, some.log_prob, " ".join(map(str, two)))
        lines.append(Line(*start, rounded(change), n_other, rounded(synergy), some.pair))
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
