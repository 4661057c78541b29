"""Two sentences by their vectors: the cosine, without the edits in force and with them."""

from collections.abc import Sequence
from dataclasses import replace

from torch import Tensor

from transformer.recording.text_vector import angle, cosine
from transformer.refusal import Refusal
from viz.app_packages import st
from viz.exhibits.exhibit import Exhibit
from viz.exhibits.table import Cell, Column, Row, Table
from viz.export import vectors_csv
from viz.fields.decode import DecodeFields
from viz.labels import number
from viz.run.request import Answer, answer
from viz.state.limits import check_text
from viz.state.note import note
from viz.state.page import Pane
from viz.state.state import bound
from viz.ui.saving import download, for_a_paper
from viz.ui.showing import show

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
    with st.container(horizontal=True, vertical_alignment="center"):
        download(
            "Vectors as CSV",
            lambda: vectors_csv({each.request.text: each.recording for each in answers}),
            "headscope-vectors.csv",
            "One row per dimension, one column per sentence",
        )
        if exhibit is not None:
            for_a_paper(pane, {"similarity": exhibit}, "paper similarity")


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
