"""Heads: every head of cross-attention over many sentences, by how well it aligns words."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import Any

from transformer.analysis.alignment import Reader
from transformer.corpus.align import Aligner, ReaderScore, Readings, pairs_of
from transformer.corpus.shipping import sentences_for
from transformer.corpus.survey import source_of
from transformer.corpus.surveyed import Estimate
from viz.exhibits.exhibit import Exhibit
from viz.exhibits.table import Cell, Column, Row, Table
from viz.figures.heads.all_heads import INTERVAL, head_name, sentences
from viz.labels import counted, number, percent
from viz.run.line import Runner
from viz.run.request import Request, open_checkpoint
from viz.run.work import Growth, Study
from viz.screen import link, put
from viz.state.focus import on_explore
from viz.state.page import Pane
from viz.ui.parts import Part, Rows

NAME, TITLE = "aligning", "Which head aligns"
STEP = 16
"""Sentences of a step: others wait for the end of one."""
MOST_ROWS = 12
"""Heads and means that are listed; the file has all of them."""
ROWS = {"produced": "writes the word", "read": "has read it"}
ERROR = (
    "Alignment error rate (Och and Ney 2003): 0 is best. No one aligned these texts: links that "
    "count lead from or to words and signs that stand once in each of both and are spelled alike, "
    "such as names, numbers and commas. The sign that ends both is left out."
)
COLUMNS = (
    Column("head"),
    Column("error rate", is_marked=True, explain=ERROR),
    Column("0 to 100 %", axis=(0.0, 100.0), explain=INTERVAL.explain),
    Column(
        "row",
        is_text=True,
        explain="A head may look at a word’s source while it writes the word (Zenkel et al. 2019), "
        "or a row later, once it has read it (Chen et al. 2020).",
    ),
    Column("precision", explain="The share of its links that is right."),
    Column("recall", explain="The share of the links to be found that it makes."),
)


@dataclass(frozen=True)
class HeadsAligned(Study[Readings]):
    """Every head's alignment of the sentences that come with us, and of what the model writes."""

    checkpoint: str
    version: int

    def run(self, before: Readings | None, runner: Runner) -> Iterator[Readings]:
        checkpoint = open_checkpoint(Request(self.checkpoint, self.version, "", "none"))
        lines = pairs_of([source_of(line) for line in sentences_for(checkpoint).lines.values()])
        steps = runner.steps(checkpoint.model)
        yield from steps.of(Aligner(checkpoint).reading(lines, before, STEP))

    def progress(self, value: Readings) -> tuple[int, int]:
        return value.n_done, value.n_lines

    def n_read(self, value: Readings) -> int:
        return value.n_done


def exhibits_of_alignment(pane: Pane) -> dict[str, Growth[Readings]]:
    """Every head of cross-attention by its error rate, the best first."""
    study = HeadsAligned(pane.request.checkpoint, pane.request.version)
    return {NAME: Growth("", study, partial(_exhibit, pane))}


def _exhibit(pane: Pane, readings: Readings) -> Exhibit:
    of = f"in {sentences(readings.n_done)} and what is written for them"
    if readings.diagonal is None:
        says = f"No word or sign is spelled alike {of}: no head can be judged by any."
        table = Table(TITLE, [Column()], (), foot=says)
        return Exhibit(TITLE, table, says, about="checkpoint")
    n = counted(readings.n_links, "word or sign", "words and signs")
    of = f"by {n} that both texts spell alike, {of}"
    foot = (
        f"Judged {of}. Each word linked to the one at the same share of its text: "
        f"{_text(readings.diagonal)}. The best of {len(readings.scores):d} is chosen by these very "
        "texts: its rate is a little low."
    )
    rows = [_row(pane, each) for each in readings.scores[:MOST_ROWS]]
    table = Table(TITLE, COLUMNS, rows, foot=foot, n_sentences=readings.n_pairs)
    says = f"The error rates of every head and mean of a layer, {of}; the best are listed."
    return Exhibit(TITLE, table, says, about="checkpoint")


def _row(pane: Pane, score: ReaderScore) -> Row:
    reader, error = score.reader, score.error
    screen = put(
        on_explore(pane.screen, ("cross", reader.layer, reader.head or 0)),
        rows=reader.rows,
        mean=reader.head is None,
        tokens="words",
    )
    ends = None if error.low is None or error.high is None else (error.low, error.high)
    name = _name(pane, reader)
    head = Cell(name, link=link(screen), tip=f"{name} on Explore, by this row")
    cells = [
        Cell(_text(error), error.mean, ends=ends),
        Cell(interval=(error.low, error.mean, error.high)),
        Cell(ROWS[reader.rows]),
        Cell(percent(score.precision, 0), score.precision),
        Cell(percent(score.recall, 0), score.recall),
    ]
    return Row(head, cells)


def _name(pane: Pane, reader: Reader) -> str:
    if reader.head is not None:
        return head_name(("cross", reader.layer, reader.head), pane.recording)
    first = head_name(("cross", reader.layer, 0), pane.recording).removesuffix(" H0")
    return f"{first} mean"


def _text(error: Estimate) -> str:
    if error.low is None or error.high is None:
        return f"{number(error.mean, 1)} %"
    return f"{number(error.mean, 1)} % ({number(error.low, 1)} to {number(error.high, 1)})"


def _files(pane: Pane) -> Mapping[str, Rows]:
    help = "Every head and mean of a layer, by both rows"
    return {NAME: Rows("All heads as CSV", "headscope-aligning.csv", help, attrgetter("rows"))}


def _below(pane: Pane, readings: Any) -> str:
    command = (
        "A corpus of your own, or links that people made: `python -m transformer align` in a shell."
    )
    if not readings.alignment_heads:
        return command
    return (
        f"For a generation config: `alignment_heads: {readings.alignment_heads}`, the best head by "
        f"the row that writes the word, and those within its interval. {command}"
    )


ALIGN = Part(
    "Align",
    exhibits_of_alignment,
    rows=_files,
    below=_below,
    grows=True,
    is_offered=lambda pane: "cross" in pane.recording.attentions,
)
