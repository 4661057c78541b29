"""The labels of a head with their evidence: score, interval, baseline and corrected p."""

from collections.abc import Sequence

from transformer.corpus.labels import Label
from viz.exhibits.table import Cell, Column, Row, Table
from viz.figures.heads.column_heads import BY_CHANCE, INTERVAL
from viz.labels import number, percent

COLUMNS = (
    Column("label"),
    Column(
        "score",
        explain="The share of the head’s weight that does this, over all sentences; of a relation, "
        "the share of its arcs.",
    ),
    INTERVAL,
    Column(
        "by chance",
        explain=f"{BY_CHANCE} Of a relation, what its best fixed offset has.",
    ),
    Column(
        "p, corrected",
        explain="How likely so much is where the head does no more than a label asks for, "
        "corrected for all heads, roles and relations that were tried (Holm 1979).",
    ),
    Column("sentences", explain="Those where a head can do it at all."),
)


def labels_table(labels: Sequence[Label]) -> Table:
    """A row for each label, the surest first."""
    rows = [
        Row(
            Cell(each.title),
            [
                Cell(percent(each.score, 0), each.score),
                _interval(each),
                Cell(percent(each.baseline, 0), each.baseline),
                Cell(_p(each.p), each.p),
                Cell(f"{each.n_sentences:,d}", each.n_sentences),
            ],
        )
        for each in labels
    ]
    fewest = min((each.n_sentences for each in labels), default=0)
    return Table("Labels", COLUMNS, rows, n_sentences=fewest)


def _interval(label: Label) -> Cell:
    text = f"{percent(label.low, 0).removesuffix(' %')} to {percent(label.high, 0)}"
    return Cell(text, label.score, ends=(label.low, label.high))


def _p(p: float) -> str:
    return "< .0001" if p < 1e-4 else number(p, 4)
