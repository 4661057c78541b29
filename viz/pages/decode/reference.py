"""A reference word by word, and two sentences by their vectors."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from torch import Tensor

from transformer.analysis.scored import word_log_probabilities
from transformer.analysis.tables import Side
from transformer.causes.pruning import Reference, ReferenceWord, reference
from transformer.inputs import InputError
from transformer.recording.vector import angle, cosine
from transformer.refusal import Refusal, visible
from viz.app_packages import st
from viz.components.kit.picture import NothingLeft
from viz.exhibits.chart import rooted
from viz.exhibits.exhibit import Exhibit
from viz.exhibits.table import Cell, Column, Row, Table
from viz.export import vectors_csv
from viz.labels import counted, number, percent
from viz.page_fields import DecodeFields
from viz.run.line import Runner
from viz.run.request import Answer, Request, answer
from viz.run.work import Growth, Study
from viz.state.limits import check_text
from viz.state.page import Pane
from viz.state.state import bound, note
from viz.ui.parts import Part
from viz.ui.save_menu import offer_figures, offer_file
from viz.ui.showing import show

# A reference on Decode, word by word: where the model departs from it, and what it would write.

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


def _reference(pane: Pane) -> dict[str, Growth[Scores]]:
    """The reference that is typed, scored; none while none is. Raises Refusal."""
    typed = pane.screen.of(DecodeFields).reference or ""  # with the space before a continuation
    if not typed.strip():
        return {}
    check_text(pane.answer.request.text, typed)  # both are read in one pass
    study = ScoreReference(pane.answer.request.unconstrained, typed)
    return {"reference": Growth(TITLE, study, _exhibit)}


def _type_reference(pane: Pane) -> None:
    typed = pane.screen.of(DecodeFields).reference or ""
    st.text_area(
        "Reference",
        typed,
        height=80,
        placeholder="A translation, or continuation, to be scored word by word",
        **bound("reference", typed, ""),
    )


def _exhibit(of: Scores) -> Exhibit:
    scores = of.reference
    origins = Side("reference", scores.tokens).words
    largest = max(abs(each.log_prob) for each in scores.words)
    rows = [
        Row(Cell(visible(each.word)), _cells(each, largest), origin=origin)
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


REFERENCE = Part("Reference", _reference, ahead=_type_reference, grows=True)


# Two sentences by their vectors: the cosine, without the edits in force and with them.

SAYS = (
    "The cosine of two sentences' vectors: 1 where both point the same way, 0 where they are at a "
    "right angle"
)


def second_sentence(pane: Pane) -> None:
    """Draw the field of a second sentence, and below it how alike both are to the model."""
    text = pane.screen.of(DecodeFields).second_text or ""
    st.text_input(
        "A second sentence, to compare their vectors",
        text,
        placeholder="Another sentence",
        **bound("second_text", text),
    )
    try:
        answers, exhibit = _answers(pane), similarity(pane)
    except Refusal as error:
        note(error)
        answers, exhibit = [pane.answer], None
    if exhibit is not None:
        show(exhibit, "similarity")
        offer_figures(pane, {"similarity": exhibit})
    offer_file(
        "Vectors as CSV",
        lambda: vectors_csv({each.request.text: each.recording for each in answers}),
        "headscope-vectors.csv",
        "One row per dimension, one column per sentence",
        "Vectors",
    )


def similarity(pane: Pane) -> Exhibit | None:
    """The cosine of both; None without a second sentence. Raises Refusal."""
    answers = _answers(pane)
    if len(answers) < 2:
        return None
    rows = [_row("with the edits" if pane.answer.request.edits else "as it is", answers)]
    if pane.answer.request.edits:
        plain = [answer(replace(each.request, edits=())) for each in answers]
        rows.insert(0, _row("without the edits", plain))
        names = ("first, turned", "second, turned")  # short: a phone shows the numbers, too
        rows += map(_row, names, zip(plain, answers, strict=True))
    columns = [
        Column("the model"),
        Column("cosine", explain="The cosine of the two vectors: 1 where they point the same way."),
        Column("angle in degrees", explain="The angle whose cosine stands beside it."),
    ]
    table = Table("Similarity", columns, rows)
    return Exhibit("Similarity of two sentences", table, f"{SAYS}. {_texts(answers)}")


def _answers(pane: Pane) -> list[Answer]:
    """The sentence's, and the second one's where there is one. Raises Refusal."""
    text = (pane.screen.of(DecodeFields).second_text or "").strip()
    check_text(text)
    own = pane.answer
    return [own, answer(replace(own.request, text=text))] if text else [own]


def _row(title: str, answers: Sequence[Answer]) -> Row:
    a, b = (_values(each) for each in answers)
    return Row(Cell(title), [_number(cosine(a, b)), _number(angle(a, b))])


def _number(value: float) -> Cell:
    return Cell(number(value, 4), value)


def _values(result: Answer) -> Tensor:
    assert result.recording.vector is not None
    return result.recording.vector.values


def _texts(answers: list[Answer]) -> str:
    first, second = (each.request.text for each in answers)
    return f"“{first}” and “{second}”."
