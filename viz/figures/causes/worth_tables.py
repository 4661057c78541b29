"""The words before a written word in one order: which it looks at, and which it needs."""

from collections.abc import Iterable, Mapping, Sequence

from torch import Tensor

from transformer.causes import Evidence
from transformer.visible import visible
from viz.exhibits.shading import rooted
from viz.exhibits.table import WIDE, Cell, Column, Legend, Row, Table, Tables
from viz.exhibits.words import Line
from viz.figures.causes.verdict_words import verdict_words
from viz.labels import number, percent

FOOT = (
    "Looks at: the weights of the last layer, shaded up to 100 %. Cut: the decoder does not read "
    "the word. Hidden: nothing does. Replaced: the unknown token, or the mean embedding, "
    "stands in its place."
)
LEAST = 0.05
"""A weight, or nats, below which a cell has a shade, and no number."""
Origins = Sequence[Mapping[str, str]]


def worth_tables(
    evidence: Evidence, word: int, of_source: Origins = (), of_target: Origins = ()
) -> Tables:
    """A table of the text's words, and one of those written before it, where there are any; above
    them the verdict.

    word: its number among those that are written. of_source, of_target: the tokens of each word.
    """
    verdict, own = evidence.verdicts[word], visible(evidence.target_words[word])
    heading = verdict_words(evidence, word)
    (title,), remark = (line.plain for line in heading.lines), Line(heading.foot).plain
    before = list(map(visible, evidence.target_words[:word]))
    words = list(map(visible, evidence.source_words))
    rows = [row[word] for row in (evidence.hidden, evidence.cut) if row is not None]
    held = None if evidence.prefix is None or not word else evidence.prefix[word, :word]
    costs = [*rows, *([] if held is None else [held])]
    largest = max(float(row.abs().max()) for row in costs)
    source = Table(
        f"What “{own}” looks at and needs",
        _columns(words, of_source),
        list(_source_rows(evidence, word, words, largest)),
        title="The text",
        foot="" if word else FOOT,
    )
    legend = Legend(
        "signed",
        f"{number(-largest)} (likelier without it)",
        f"{number(largest)} nats, missed (square-root scale).",
        f"The cost of each word to “{own}”.",
    )
    if held is None:
        return Tables([[source]], legend, title, remark)
    needs = [verdict.needs] if verdict.kind == "held by the prefix" else []
    prefix = Table(
        f"What “{own}” needs of what is written before it",
        _columns(before, of_target),
        [Row(Cell("replaced"), _costs(held, before, largest, needs))],
        title="Written before it",
        foot=FOOT,
    )
    return Tables([[source], [prefix]], legend, title, remark)


def _columns(words: Sequence[str], origins: Origins) -> list[Column]:
    pairs = zip(words, origins or [{}] * len(words), strict=False)
    return [Column(), *(Column(word, is_word=True, origin=it) for word, it in pairs)]


def _source_rows(
    evidence: Evidence, word: int, words: Sequence[str], largest: float
) -> Iterable[Row]:
    verdict = evidence.verdicts[word]
    needs = [] if verdict.kind == "held by the prefix" else [verdict.needs, *verdict.also]
    if evidence.weights is not None:
        yield Row(Cell("looks at"), _weights(evidence.weights[word], words, verdict.looks_at))
    if evidence.cut is not None:
        yield Row(Cell("cut"), _costs(evidence.cut[word], words, largest))
    yield Row(Cell("hidden"), _costs(evidence.hidden[word], words, largest, needs))


def _weights(row: Tensor, words: Sequence[str], most: int | None) -> list[Cell]:
    is_wide = len(words) > WIDE
    return [
        Cell(
            percent(weight, 0) if weight >= LEAST and not is_wide else "",
            weight,
            rooted(weight),
            tip=f"{word} {percent(weight)}",
            is_marked=i == most,
        )
        for i, (weight, word) in enumerate(zip(row.tolist(), words, strict=True))
    ]


def _costs(
    row: Tensor, words: Sequence[str], largest: float, needs: Sequence[int | None] = ()
) -> list[Cell]:
    is_wide = len(words) > WIDE
    return [
        Cell(
            number(cost) if abs(cost) >= LEAST and not is_wide else "",
            cost,
            rooted(cost, largest),
            tip=f"{word} {number(cost, 3)} nats",
            is_marked=i in needs,
        )
        for i, (cost, word) in enumerate(zip(row.tolist(), words, strict=True))
    ]
