"""A reference on Decode, word by word: where the model departs from it, and what it would write."""

from collections.abc import Iterator
from dataclasses import dataclass

from transformer.analysis.output_change import word_log_probabilities
from transformer.analysis.tables.origins import Side, together
from transformer.causes.reference import Reference, ReferenceWord, reference
from transformer.inputs import InputError
from transformer.visible import visible
from transformer.words import word_groups
from viz.app_packages import st
from viz.components.kit.picture import NothingLeft
from viz.exhibits.exhibit import Exhibit
from viz.exhibits.shading import rooted
from viz.exhibits.table import Cell, Column, Row, Table
from viz.fields.decode import DecodeFields
from viz.labels import counted, number, percent
from viz.run.batches import Runner
from viz.run.growth import Growth
from viz.run.request import Request, answer
from viz.run.study import Study
from viz.state.limits import check_text, may_read
from viz.state.page import Pane
from viz.state.state import bound
from viz.ui.showing import show_declared

TITLE = "Reference, word by word"
FOOT = (
    "Each word is given the text and all words of the reference before it. The rank is "
    "that of each of its pieces, by the model's own distribution: 1 is the most probable one. Its "
    "probability is the product of theirs. As far as the reference goes along with the text that "
    "the model wrote by itself, by the search in use, what it writes is the next word of that; "
    "after it, what it would write greedily behind the reference's words. In all"
)


@dataclass(frozen=True)
class Scores:
    """A reference, and the log-probability of what the model wrote by itself, in nats."""

    reference: Reference
    own: float


@dataclass(frozen=True)
class ScoreReference(Study[Scores]):
    """A reference that the model of a request scores. request: nothing is decided for it."""

    request: Request
    target: str

    def run(self, before: Scores | None, runner: Runner) -> Iterator[Scores]:
        """Raises NothingLeft for a text that the model cannot write."""
        request, plain = self.request, answer(self.request, runner)
        own = plain.recording
        steps = runner.steps(plain.checkpoint.model)
        inputs = plain.checkpoint, request.text, self.target, request.edits, steps.give_way
        with steps.one():
            try:
                result = reference(*inputs, own.target)
            except InputError as error:
                raise NothingLeft(str(error)) from error
        yield Scores(result, sum(word_log_probabilities(own)))

    def n_read(self, value: Scores) -> int:
        return 1 + len(value.reference.departures)


def reference_exhibit(pane: Pane) -> dict[str, Growth[Scores]]:
    """The reference that is typed, scored; none while none is."""
    typed = pane.screen.of(DecodeFields).reference or ""  # with the space before a continuation
    if not typed.strip() or pane.answer.decoding is None:
        return {}
    if not may_read(pane.answer.request.text, typed):  # both are read in one pass
        return {}
    study = ScoreReference(pane.answer.request.unconstrained, typed)
    return {"reference": Growth(TITLE, study, _exhibit)}


def type_reference(pane: Pane) -> None:
    """Draw the field of a reference, and below it what the model makes of it."""
    typed = pane.screen.of(DecodeFields).reference or ""
    st.text_area(
        "Reference",
        typed,
        height=80,
        placeholder="A translation, or continuation, to be scored word by word",
        **bound("reference", typed, ""),
    )
    show_declared(pane, _checked)


def _checked(pane: Pane) -> dict[str, Growth[Scores]]:
    check_text(pane.answer.request.text, pane.screen.of(DecodeFields).reference or "")
    return reference_exhibit(pane)


def _exhibit(of: Scores) -> Exhibit:
    scores = of.reference
    side = Side("reference", scores.tokens)
    origins = [together([side.at([i]) for i in group]) for group in word_groups(scores.tokens)]
    largest = max(abs(each.log_prob) for each in scores.words)
    rows = [
        Row(_head(each), _cells(each, largest), origin=origin)
        for each, origin in zip(scores.words, origins, strict=True)
    ]
    content = Table(
        TITLE,
        [
            Column("Reference"),
            Column("The model writes"),
            Column("Rank of each piece"),
            Column("Probability"),
            Column("Log-probability, nats"),
        ],
        rows,
        scale="share",
        foot=f"{FOOT} the reference has",
        result=f"{number(scores.log_prob)} nats, what the model wrote by itself {number(of.own)}.",
    )
    return Exhibit(TITLE, content, _says(scores))


def _head(word: ReferenceWord) -> Cell:
    return Cell(visible(word.word))


def _cells(word: ReferenceWord, largest: float) -> list[Cell]:
    return [
        Cell(visible(word.instead) if word.is_departure else "", is_marked=word.is_departure),
        Cell(", ".join(f"{rank:,}" for rank in word.ranks), float(max(word.ranks))),
        Cell(percent(word.probability), word.probability),
        Cell(number(word.log_prob), word.log_prob, rooted(-word.log_prob, largest)),
    ]


def _says(scores: Reference) -> str:
    n, words = len(scores.departures), scores.words
    if not n:
        return f"The model would write every word of the reference ({len(words):,})."
    first, n_words = words[scores.departures[0]], counted(len(words), "word", "words")
    return (
        f"The model departs from {n} of {n_words} of the reference, first at "
        f"“{visible(first.word)}”, where it writes “{visible(first.instead)}”."
    )
