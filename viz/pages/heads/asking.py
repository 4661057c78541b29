"""A question about heads, in the words of a small grammar: who links “it” to “animal”?"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from transformer.analysis.reading import read
from transformer.corpus.ask import Answer, Frequency, answers, over
from transformer.corpus.atlas import Atlas, Place
from transformer.corpus.questions import GRAMMAR, ask
from transformer.corpus.shipping import sentences_for
from transformer.corpus.surveyor import source_of
from transformer.refusal import Refusal
from viz.app_packages import st
from viz.exhibits.exhibit import Exhibit
from viz.fields.heads import HeadsFields
from viz.figures.heads.answers_table import AnswerRow, answers_table
from viz.labels import literal, word_label
from viz.map_words import counted
from viz.pages.heads.surveys import atlas_of
from viz.run.batches import Runner
from viz.run.growth import Growth
from viz.run.request import Request, answer, open_checkpoint
from viz.run.study import Study
from viz.screen import link, put
from viz.state.head_links import at_head, on_explore
from viz.state.note import note
from viz.state.page import Pane
from viz.state.requests import first_example
from viz.state.state import bound
from viz.ui.progress import paid
from viz.ui.showing import show_growth

MOST_ROWS = 12
"""Heads that are listed."""
NAME = "answers"
EXAMPLE = "who looks at the previous word?"


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

    def run(self, before: Counted | None, runner: Runner) -> Iterator[Counted]:
        checkpoint = open_checkpoint(Request(self.checkpoint, self.version, "", "none"))
        pattern = ask(self.question)
        sentences = sentences_for(checkpoint)
        texts = [source_of(line) for line in sentences.lines.values()]
        so_far = before or Counted(0, len(texts), {}, sentences.name)
        yield so_far
        steps = runner.steps(checkpoint.model)
        for n_done in range(so_far.n_done, len(texts)):
            counts = dict(so_far.counts)
            for of_text in steps.of(over(pattern, checkpoint, [texts[n_done]])):
                for place, count in of_text.items():
                    counts[place] = _sum(counts.get(place), count)
            so_far = Counted(n_done + 1, len(texts), counts, sentences.name)
            yield so_far

    def progress(self, value: Counted) -> tuple[int, int]:
        return value.n_done, value.n_all

    def n_read(self, value: Counted) -> int:
        return value.n_done


def _sum(first: Frequency | None, second: Frequency) -> Frequency:
    if first is None:
        return second
    return Frequency(
        first.n_rows + second.n_rows,
        first.n_largest + second.n_largest,
        first.n_sentences + second.n_sentences,
    )


def ask_heads(pane: Pane) -> None:
    """Draw the question and the sentence, and the heads that answer it."""
    question = pane.screen.of(HeadsFields).heads_ask
    text, first = pane.request.text, first_example(pane.request.checkpoint)
    left, right = st.columns(2)
    with left:
        st.text_input("Question", question, placeholder=EXAMPLE, **bound("heads_ask", question))
    with right:
        st.text_input("Sentence", text, **bound("text", text, first))
    if not question.strip():
        st.caption(literal(f"You can ask: {GRAMMAR}."))
        return
    result = paid(pane.request, st.empty())  # a page of a checkpoint comes with a token only
    if result is None:
        return
    pane = replace(pane, result=result)
    try:
        growth = exhibits_of_question(pane)[NAME]
    except Refusal as reason:
        note(reason)
        return
    show_growth(pane, growth, NAME)


def exhibits_of_question(pane: Pane) -> dict[str, Growth[Counted]]:
    """The heads that do it on the sentence, with how often they do on others. Raises Refusal."""
    question = pane.screen.of(HeadsFields).heads_ask
    if not question.strip():
        return {}
    pattern, pane = ask(question), replace(pane, result=answer(pane.request))
    results = answers(pattern, pane.recording)[:MOST_ROWS]
    rows = [_row(pane, each) for each in results]
    study = HeadsAsked(pane.request.checkpoint, pane.request.version, question)
    return {NAME: Growth("Answers", study, partial(_exhibit, pane, str(pattern), rows))}


def _exhibit(pane: Pane, question: str, rows: list[AnswerRow], counted_: Counted) -> Exhibit:
    n = counted(counted_.n_done, "sentence", "sentences")
    others = f"{n} of {counted_.of}" if counted_.of else n
    says = f"{question} The heads that do it most in “{pane.request.text}”, and over {others}."
    are_all = counted_.n_done == counted_.n_all
    table = answers_table(rows, counted_.counts, _atlas(pane), others, are_all)
    return Exhibit(question, table, says)


def _atlas(pane: Pane) -> Atlas | None:
    try:
        return atlas_of(pane.request)
    except Refusal:
        return None


def _row(pane: Pane, of: Answer) -> AnswerRow:
    place = of.kind, of.layer, of.head
    map = read(pane.recording, of.kind, pane.reading)
    row, column = map.row_of(of.query[0]), map.column_of(of.key[0])
    pins = [f"q{row}"] * (row is not None) + [f"k{column}"] * (column is not None)
    attention = pane.recording.attentions[of.kind]
    words = (
        "".join(word_label(tokens[at]).strip("·") for at in positions)
        for tokens, positions in (
            (attention.queries, of.query),
            (attention.keys, of.key),
        )
    )
    screen = put(on_explore(pane.screen, place), pins=tuple(pins))
    return AnswerRow(of, " → ".join(words), link(screen), link(at_head(pane.screen, place)))
