"""shipping(): make the survey that is kept beside a checkpoint."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

import torch

from transformer.analysis.corpus_sweep import interval, sweep_sentences
from transformer.analysis.scored import output_of
from transformer.analysis.tables import Line
from transformer.checkpoint import Checkpoint
from transformer.corpus.measured import SentenceHeads
from transformer.corpus.shipped import Place, ShippedSurvey
from transformer.corpus.summary import summary
from transformer.corpus.survey import BATCH, Surveyor, counted, source_of
from transformer.corpus.surveyed import Estimate, HeadSummary, Survey
from transformer.corpus.trees import Tree
from transformer.edits.spelling import parse
from transformer.inputs import InputError
from transformer.tokenizer import TokenizerError
from transformer.training.task import lines_in

ROOM = Path(__file__).parent / "sentences"
OTHERS = "english"
"""The sentences of a checkpoint whose recipe has none of its own."""
ALIKE = {"sentiment-mean": "sentiment"}
"""A recipe -> the one whose sentences it reads, too."""


@dataclass(frozen=True)
class Sentences:
    """Sentences that a survey reads."""

    lines: Mapping[int, str]
    """Number of a line, from 1 -> a source, or a source, a tab and its target."""
    about: str
    """Their owner and licence, in Markdown."""
    name: str = ""
    """The name of their file."""


def sentences_for(checkpoint: Checkpoint) -> Sentences:
    """The sentences that come with us and fit this checkpoint."""
    recipe = checkpoint.about.recipe
    own = ROOM / f"{ALIKE.get(recipe, recipe)}.txt"
    return sentences_in(own if recipe and own.is_file() else ROOM / f"{OTHERS}.txt")


def sentences_in(file: Path) -> Sentences:
    """Read a file of sentences, a line each; a file of its name in .md says whose they are.

    Raises InputError.
    """
    lines = dict(enumerate(lines_in(file), 1))
    if not any(map(source_of, lines.values())):
        raise InputError(f"{file} has no sentence: write one per line.")
    return Sentences(lines, about_of(file), file.name)


def about_of(file: Path) -> str:
    """Read whose sentences a file has, in the file of its name in .md. Raises InputError."""
    card = file.with_suffix(".md")
    return "\n".join(lines_in(card)).strip() if card.is_file() else f"`{file.name}`."


@dataclass(frozen=True, eq=False)
class Gathered:
    """The result of some of the sentences, which may grow."""

    about: str
    unit: str
    n_lines: int
    """The sentences that are to be read."""
    lines: Mapping[int, str] = field(default_factory=dict)
    """The lines that were read or left out."""
    heads: tuple[SentenceHeads, ...] = ()
    swept: tuple[Line, ...] = ()
    left_out: tuple[str, ...] = ()
    one_by_one: str = ""

    @property
    def n_done(self) -> int:
        return len(self.lines)

    @cached_property
    def shipped(self) -> ShippedSurvey:
        """The survey of these sentences, and what each head is worth over them."""
        survey = replace(summary(self.heads, self.one_by_one), left_out=self.left_out)
        written = {line.sentence: line.written for line in self.swept if self.unit == "nats"}
        named = _named(survey)
        sides, pieces = _sides(self.heads)
        return ShippedSurvey(
            survey=survey,
            sentences={n: source_of(self.lines[n]) for n in named},
            targets={n: written[n] for n in named if n in written},
            pieces={n: pieces[n] for n in named},
            sides=sides,
            worth=worth_of(self.swept),
            unit=self.unit,
            about=self.about,
        )


def shipping(
    checkpoint: Checkpoint,
    sentences: Sentences,
    before: Gathered | None = None,
    batch: int = BATCH,
) -> Iterator[Gathered]:
    """Survey sentences and switch every head off on them, a batch after the other.

    before: what an earlier call gave last, of the same sentences; those are not read again. batch:
    sentences at a time. Raises Refusal where the device fails, InputError where no line is read.
    """
    lines = dict(sentences.lines)
    surveyor = Surveyor(checkpoint, batch, counts=counted(checkpoint, lines.values()))
    so_far = before or Gathered(sentences.about, _unit(checkpoint, lines), len(lines))
    left = [n for n in lines if n not in so_far.lines]
    for first in range(0, len(left), batch):
        some = {n: lines[n] for n in left[first : first + batch]}
        portion = surveyor.survey(some)
        read = {n: source_of(lines[n]) for n in _numbers(so_far.heads, portion.heads)}
        *_, swept = [so_far.swept, *sweep_sentences(checkpoint, read, so_far.swept)]
        so_far = replace(
            so_far,
            lines={**so_far.lines, **some},
            heads=(*so_far.heads, *portion.heads),
            swept=tuple(swept),
            left_out=(*so_far.left_out, *portion.left_out),
            one_by_one=surveyor.why_alone,
        )
        yield so_far


def with_relations(
    shipped: ShippedSurvey, checkpoint: Checkpoint, trees: Sequence[Tree], about: str
) -> ShippedSurvey:
    """Add how well each head finds the relations of these trees, which are not kept themselves.

    about: whose trees they are, in Markdown. Raises Refusal where the device fails.
    """
    surveyor = Surveyor(checkpoint, counts={}, trees=dict(enumerate(trees, 1)))
    portion = surveyor.survey({n: tree.text for n, tree in enumerate(trees, 1)})
    of = {_place(head): head.syntax for head in summary(portion.heads).heads}
    heads = tuple(replace(each, syntax=of.get(_place(each), {})) for each in shipped.survey.heads)
    if not any(head.syntax for head in heads):
        return shipped
    return replace(
        shipped,
        survey=replace(shipped.survey, heads=heads),
        about=f"{shipped.about}\n\nRelations between words: over {len(trees)} trees of {about}",
    )


def _place(head: HeadSummary) -> Place:
    return head.kind, head.layer, head.head


def with_card(shipped: ShippedSurvey, name: str, fingerprint: str, by: str) -> ShippedSurvey:
    """Say what was surveyed, whose sentences they are, when and how, as its card.

    name: of the checkpoint; by: what made the survey, such as a command, in Markdown.
    """
    n, today = shipped.survey.n_sentences, datetime.now(UTC).date()
    about = (
        f"# The heads of {name} over {n} sentences\n\n{shipped.about}\n\n"
        f"Made on {today} by {by}, of the files whose fingerprint is\n`{fingerprint}`.\n"
    )
    return replace(shipped, about=about)


def worth_of(lines: Sequence[Line]) -> dict[Place, Estimate]:
    """The mean loss without each head, for a token that is judged; sentences count alike.

    Lines tell of changes: the loss is 0 less the change, so that a useful head's worth is above 0.
    """
    losses: dict[str, dict[int, float]] = {}
    for line in lines:
        losses.setdefault(line.edits, {})[line.sentence] = 0.0 - line.change / line.n_words
    result: dict[Place, Estimate] = {}
    for edit, of in losses.items():
        estimate = interval(torch.tensor([*of.values()], dtype=torch.float64)[:, None])
        mean, low, high = (float(each) for each in (estimate.mean, estimate.low, estimate.high))
        is_one, off = len(of) < 2, parse(edit)
        result[off.at_head] = Estimate(
            mean, None if is_one else low, None if is_one else high, len(of)
        )
    return result


def _unit(checkpoint: Checkpoint, lines: Mapping[int, str]) -> str:
    """The unit of what is judged of the first line that the model reads. Raises InputError."""
    why: Exception | None = None
    if checkpoint.family.decodes:
        return "nats"
    for line in lines.values():
        try:
            return output_of(checkpoint, source_of(line), None).unit
        except (InputError, TokenizerError) as error:
            why = error
    raise InputError(f"There is no sentence that this model reads: {why}")


def _named(survey: Survey) -> list[int]:
    """The sentences that rows of any head name, in their order."""
    named: set[int] = set()
    for head in survey.heads:
        for rows in (head.strongest, *(each.rows for each in head.deciles)):
            named.update(row.sentence for row in rows)
    return sorted(named)


def _sides(
    heads: Sequence[SentenceHeads],
) -> tuple[dict[str, tuple[int, int, int]], dict[int, tuple[str, ...]]]:
    """Kind -> its sides, and sentence -> the pieces of each side; equal ones stand there once."""
    of: dict[tuple[str, int], dict[int, str]] = {}
    for each in heads:
        for number, pieces in enumerate((each.queries, each.keys, each.names)):
            of.setdefault((each.kind, number), {})[each.sentence] = pieces
    different: list[dict[int, str]] = []
    at: dict[tuple[str, int], int] = {}
    for side, texts in of.items():
        if texts not in different:
            different.append(texts)
        at[side] = different.index(texts)
    sides = {kind: (at[kind, 0], at[kind, 1], at[kind, 2]) for kind, _ in of}
    numbers = _numbers(heads)
    return sides, {n: tuple(texts[n] for texts in different) for n in numbers}


def _numbers(*heads: Sequence[SentenceHeads]) -> list[int]:
    """The sentences that these are of, in their order."""
    return sorted({each.sentence for some in heads for each in some})
