"""The heads that answer a question on a sentence, counted on others while somebody looks."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from transformer.analysis.reading import read, row_tokens
from transformer.corpus.ask import Answer, Frequency, answers, over
from transformer.corpus.atlas import Atlas
from transformer.corpus.questions import Pattern, ask
from transformer.corpus.questions.cells import Spot, countable
from transformer.corpus.shipped import Place
from transformer.corpus.shipping import sentences_for
from transformer.corpus.surveyor import source_of
from transformer.refusal import Refusal
from viz.exhibits.exhibit import Exhibit
from viz.fields.explore import ExploreFields
from viz.figures.heads.answers_table import AnswerRow, Others, answers_table
from viz.figures.heads.names import head_name, sentences
from viz.labels import word_label
from viz.pages.heads.drawing import in_words
from viz.pages.heads.surveys import atlas_of
from viz.run.batches import Runner
from viz.run.growth import Growth
from viz.run.request import Request, open_checkpoint
from viz.run.study import Study
from viz.screen import link, put
from viz.state.head_links import at_head, on_explore
from viz.state.page import Pane

MOST_ROWS = 12
"""Heads that are listed."""
NAME = "answers"


@dataclass(frozen=True, eq=False)
class Counted:
    """The rows in which each head does it, of the sentences that were read."""

    n_done: int = 0
    n_all: int = 0
    counts: Mapping[Place, Frequency] = field(default_factory=dict)
    of: str = ""
    """The name of their file: those that come with us, whichever a survey beside the checkpoint
    was made of, since that one keeps only some of its own."""


@dataclass(frozen=True)
class HeadsAsked(Study[Counted]):
    """A question to a checkpoint, over the sentences that come with us and fit it."""

    checkpoint: str
    version: int
    question: str
    """A pattern, spelled: one question has one spelling."""

    def run(self, before: Counted | None, runner: Runner) -> Iterator[Counted]:
        checkpoint = open_checkpoint(Request(self.checkpoint, self.version, "", "none"))
        pattern = ask(self.question)
        corpus = sentences_for(checkpoint)
        texts = [source_of(line) for line in corpus.lines.values()]
        so_far = before or Counted(0, len(texts), {}, corpus.name)
        yield so_far
        steps = runner.steps(checkpoint.model)
        counting = over(pattern, checkpoint, texts[so_far.n_done :], so_far.counts)
        for n_done, counts in enumerate(steps.of(counting), so_far.n_done + 1):
            so_far = Counted(n_done, len(texts), counts, corpus.name)
            yield so_far

    def progress(self, value: Counted) -> tuple[int, int]:
        return value.n_done, value.n_all

    def n_read(self, value: Counted) -> int:
        return value.n_done


def answers_to(
    pane: Pane, pattern: Pattern, spot: Spot | None = None, pins: tuple[str, ...] | None = None
) -> Exhibit | Growth[Counted]:
    """The heads that do it on the pane's sentence, with how often they do on others.

    They grow with these, where the pattern can be counted there. spot: where it is meant. pins:
    those of each head's link; None: the query and the key that it is about. Raises Refusal.
    """
    every = answers(pattern, pane.recording, spot)
    there = [each for each in every if each.looks_there]
    rows = [_row(pane, each, pins) for each in there[:MOST_ROWS]]
    rest = [each for each in every if each not in there[:MOST_ROWS]]
    exhibit = partial(_exhibit, pane, in_words(pattern, pane.recording), rows, rest)
    other, request = countable(pattern, pane.recording), pane.request
    if other is None:
        return exhibit(None)
    study = HeadsAsked(request.checkpoint, request.version, str(other))
    return Growth("Answers", study, exhibit)


def _exhibit(
    pane: Pane,
    question: str,
    rows: list[AnswerRow],
    rest: Sequence[Answer],
    counted_: Counted | None,
) -> Exhibit:
    """counted_: None where other sentences have none of it."""
    says, others = f"{question} The heads that do it most in “{pane.request.text}”", None
    if counted_ is not None:
        n = sentences(counted_.n_done)
        name = f"{n} of {counted_.of}" if counted_.of else n
        says = f"{says}, and over {name}"
        others = Others(counted_.counts, name, counted_.n_done == counted_.n_all)
    table, is_main = answers_table(rows, rest, others, _atlas(pane)), pane.screen.page == "heads"
    return Exhibit(question, table, f"{says}.", is_main=is_main)


def _atlas(pane: Pane) -> Atlas | None:
    try:
        return atlas_of(pane.request, pane.recording.numbering)
    except Refusal:
        return None


def _row(pane: Pane, of: Answer, pins: tuple[str, ...] | None) -> AnswerRow:
    place = of.kind, of.layer, of.head
    attention = pane.recording.attentions[of.kind]
    words = (
        "".join(word_label(tokens[at]).strip("·") for at in positions)
        for tokens, positions in (
            (row_tokens(attention, pane.reading), of.query),
            (attention.keys, of.key),
        )
    )
    pins = _pins(pane, of) if pins is None else pins
    asks = pane.screen.of(ExploreFields).asks and "there"  # what was asked goes by the pins now
    screen = put(on_explore(pane.screen, place), pins=pins, asks=asks)
    name = head_name(place, pane.recording)
    return AnswerRow(of, name, " → ".join(words), link(screen), link(at_head(pane.screen, place)))


def _pins(pane: Pane, of: Answer) -> tuple[str, ...]:
    """Both words, as Explore shows them."""
    map = read(pane.recording, of.kind, pane.reading)
    row, column = map.row_of(of.query[0]), map.column_of(of.key[0])
    pins = [f"q{row}"] * (row is not None) + [f"k{column}"] * (column is not None)
    return tuple(pins)
