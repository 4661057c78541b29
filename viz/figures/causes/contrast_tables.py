"""The right word beside the written one: how likely both are, and what speaks for either."""

from collections.abc import Sequence
from math import exp

from torch import Tensor

from transformer.causes.contrast import Contrast
from transformer.causes.pruning import Pruning
from transformer.visible import visible
from viz.exhibits.shading import rooted
from viz.exhibits.table import WIDE, Cell, Column, Legend, Row, Table, Tables
from viz.exhibits.words import Line, Span, Words
from viz.figures.causes.worth_tables import Origins
from viz.labels import number, percent, signed, word_label

LEAST = 0.05
"""Nats below which a cell has a shade, and no number."""
FOOT = (
    "The cost of a word, hidden or, if written before, replaced, to the written word less that to "
    "the right one."
)
PROBABILITY, LOG_PROB, RANK = "probability", "log-probability, in nats", "rank"
OF_PIECE = "rank of a piece"


def right_word(contrast: Contrast, vocab_size: int, way: Pruning | None = None) -> Words:
    """The right word's probability, beside that of what is written; the rank of each piece.

    A rank is a place in one distribution, over pieces: a word of several has none of its own.

    way: of the right word through the search, where that wrote the text.
    """
    own, other = visible(contrast.written), visible(contrast.other)
    p = contrast.probability
    (first, *more), of = contrast.pieces, f"of {vocab_size:,}"
    line = [Span(f"“{other}”:"), Span(f"{percent(p)},", value=p, measure=PROBABILITY)]
    if more:
        line += [
            Span(f"of its {len(contrast.pieces)} pieces together; the first,"),
            Span(f"{word_label(first.token)}, has"),
            Span(f"rank {first.rank:,} {of}.", value=first.rank, measure=OF_PIECE),
        ]
    else:
        line.append(Span(f"rank {first.rank:,} {of}.", value=first.rank, measure=RANK))
    line += [
        Span(f"“{own}”, which is written:"),
        Span(f"{percent(exp(contrast.log_prob_written))}.", value=exp(contrast.log_prob_written)),
    ]
    foot = [
        Span("Log-probabilities:"),
        Span(number(contrast.log_prob), value=contrast.log_prob, measure=LOG_PROB),
        Span("and"),
        Span(number(contrast.log_prob_written), value=contrast.log_prob_written, measure=LOG_PROB),
        Span("nats."),
    ]
    if more:
        foot.append(Span("Ranks of its pieces, each after those before it:"))
        *some, last = (f"{word_label(it.token)} {it.rank:,}" for it in contrast.pieces)
        names = [*(f"{it}," for it in some), f"{last}."]
        foot += [
            Span(name, value=it.rank, measure=OF_PIECE)
            for name, it in zip(names, contrast.pieces, strict=True)
        ]
    lines = [Line(line)]
    if way is not None:
        score = Span(visible(way.text), value=way.score, measure="score of the right word")
        lines.append(Line([score]))
    return Words(lines, foot)


def contrast_tables(contrast: Contrast, of_source: Origins = (), of_target: Origins = ()) -> Tables:
    """A row of the text's words, and one of those written before. of_...: the tokens of each."""
    own, other = visible(contrast.written), visible(contrast.other)
    sides = {
        "The text": (contrast.source_words, contrast.of_source, of_source),
        "Written before it": (contrast.prefix_words, contrast.of_prefix, of_target),
    }
    rows = [values for _, values, _ in sides.values() if len(values)]
    largest = max(float(values.abs().max()) for values in rows)
    legend = Legend(
        "signed",
        f"{number(-largest)} nats, speaks for “{other}”",
        f"{number(largest)} nats, for “{own}” (square-root scale).",
        f"The contrast of “{own}” with “{other}”.",
    )
    tables = [
        _table(title, *side, own, other, largest) for title, side in sides.items() if len(side[1])
    ]
    return Tables([[table] for table in tables], legend)


def _table(
    title: str,
    words: Sequence[str],
    values: Tensor,
    origins: Origins,
    own: str,
    other: str,
    largest: float,
) -> Table:
    names, is_wide = list(map(visible, words)), len(words) > WIDE
    pairs = zip(names, origins or [{}] * len(names), strict=False)
    cells = [
        Cell(
            signed(value) if abs(value) >= LEAST and not is_wide else "",
            value,
            rooted(value, largest),
            tip=f"{name} {signed(value, 3)} nats, for “{own if value >= 0 else other}”",
        )
        for name, value in zip(names, values.tolist(), strict=True)
    ]
    return Table(
        f"{title}: words that speak for “{own}” or for “{other}”",
        [Column(), *(Column(name, is_word=True, origin=it) for name, it in pairs)],
        [Row(Cell("contrast"), cells)],
        title=title,
        foot=FOOT if title == "The text" else "",
    )


def contrast_text(contrast: Contrast) -> str:
    """Say which words speak most for either."""
    own, other = visible(contrast.written), visible(contrast.other)
    parts = []
    for name, sign in ((own, 1), (other, -1)):
        worth, word = max(
            (sign * value, word)
            for value, word in zip(contrast.of_source.tolist(), contrast.source_words, strict=True)
        )
        if worth > 0:
            parts.append(f"“{visible(word)}” speaks most for “{name}” ({number(worth)} nats)")
    return f"Words of the text: {' and '.join(parts)}." if parts else ""
