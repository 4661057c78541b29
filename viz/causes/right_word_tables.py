"""The right word beside the written one: what speaks for each, and what repairs it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import exp
from typing import NamedTuple

import torch
from torch import Tensor

from transformer.analysis.tables import Sides
from transformer.causes.contrast import Contrast
from transformer.causes.direct import BIASES, FEED_FORWARD, INPUT, Direct, Name
from transformer.causes.pruning import Pruning
from transformer.causes.repairs import Change, Repair, Repairs
from transformer.decoding import decoding_methods
from transformer.edits.edit import Edit
from transformer.recording import Attention, Recording
from transformer.refusal import visible
from viz.causes.tables import Origins
from viz.edit_words import edits_text
from viz.exhibits.chart import Axis, Bars, Chart, Ink, even, rooted, weights
from viz.exhibits.exhibit import Line, Span, Words
from viz.exhibits.table import WIDE, Cell, Column, Legend, Row, Table, Tables
from viz.figures.tables import heat_map
from viz.labels import counted, in_word, kind_title, number, percent, signed, word_label

# The right word beside the written one: how likely both are, and what speaks for either.

LEAST = 0.05
"""Nats below which a cell has a shade, and no number."""
CONTRAST_TABLES_FOOT = (
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
        foot=CONTRAST_TABLES_FOOT if title == "The text" else "",
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


# Direct logit attribution: what each part of the decoder adds to the logit of a written token.

MOST_BARS = 14
"""Parts with a bar of their own; all others share one."""
MARGIN = 0.22
"""Room for the numbers behind bars, as a share of all."""
LAST_LAYER = (
    "Norms stand behind the sums here, so this is of the last layer only: little that lower layers "
    "add is left in the logit itself."
)
DIRECT = "What a part does by way of later ones, and the whole encoder, is not in it."


@dataclass(frozen=True)
class Parts:
    """The parts of a logit, and those of its lead over that of the runner-up."""

    logit: Direct
    lead: Direct
    token: str
    """The token in words."""
    runner_up: str

    @property
    def error(self) -> float:
        """The larger of both distances from the sum."""
        return max(self.logit.error, self.lead.error)


def chart(parts: Parts) -> Chart:
    """The parts that give most of the lead, and the sum of all others."""
    lead, logit = parts.lead.parts, parts.logit.parts
    order = sorted(lead, key=lambda name: -abs(lead[name]))
    some, others = order[:MOST_BARS], order[MOST_BARS:]
    lines = [(part_name(name), lead[name], logit[name]) for name in some]
    if others:
        of_lead, of_logit = (sum(values[name] for name in others) for values in (lead, logit))
        lines.append((f"{len(others)} others", of_lead, of_logit))
    names, amounts, logits = zip(*lines, strict=True)
    inks: list[Ink] = ["above" if amount >= 0 else "below" for amount in amounts]
    hover = "{y}: {x:.3f} of the lead, {0:.3f} of the logit"
    more = [[amount] for amount in logits]
    texts = list(map(signed, amounts))
    bars = Bars("", range(len(lines)), amounts, inks, hover, is_level=True, texts=texts, more=more)
    of = f" over “{parts.runner_up}”, {number(parts.lead.logit)}: its direct parts"
    room = MARGIN * (max(0.0, *amounts) - min(0.0, *amounts))
    ends = (min(0.0, *amounts) - room, max(0.0, *amounts) + room)
    x = Axis("logit", ends=ends)
    title, y = f"The lead of “{parts.token}”", Axis("", labels=names)
    return Chart("logit-parts", title, of, x, y, [bars])


def parts_table(parts: Parts, n_heads: int) -> Table:
    """All parts of the lead: a line for each layer's attention, a column for each head."""
    lead = parts.lead.parts
    largest = max(map(abs, lead.values()))

    def cell(value: float, title: str) -> Cell:
        return Cell(signed(value), value, even(value, largest), tip=title)

    def row(title: str, names: Sequence[Name], is_first: bool) -> Row:
        heads = [cell(lead[name], part_name(name)) for name in names if name[2] >= 0]
        whole = cell(sum(lead[name] for name in names), title)
        return Row(Cell(title), [*heads, *[None] * (n_heads - len(heads)), whole], is_first)

    rows = [row(*line) for line in _lines(parts)]
    ends = (signed(-largest), f"{signed(largest)} of the lead.")
    return Table(
        "Direct logit attribution",
        [Column("part"), *(Column(f"H{head}") for head in range(n_heads)), Column("whole")],
        rows,
        title=f"The lead of “{parts.token}” over “{parts.runner_up}”",
        legend=Legend("signed", *ends, "What each part adds to it directly."),
        foot=foot(parts),
    )


def foot(parts: Parts) -> str:
    """Say whether the sum is right, and what it leaves out."""
    total = sum(parts.lead.parts.values())
    text = (
        f"All parts sum to {number(total, 3)}; the lead is {number(parts.lead.logit, 3)} "
        f"(off by {number(parts.error, 1, 'e')}). {DIRECT}"
    )
    return f"{text} {LAST_LAYER}" if parts.logit.last_layer_only else text


def describe(parts: Parts) -> str:
    """Name what speaks most for the token beside its runner-up, and what most against it."""
    lead = parts.lead.parts
    most, least = max(lead, key=lambda name: lead[name]), min(lead, key=lambda name: lead[name])
    sides = [
        f"{part_name(name)} most {side} it ({signed(lead[name])})"
        for name, side, is_so in (
            (most, "for", lead[most] > 0),
            (least, "against", lead[least] < 0),
        )
        if is_so
    ]
    text = (
        f"The logit of “{parts.token}” is the sum of {len(parts.logit.parts)} parts. Its lead over "
        f"“{parts.runner_up}” is {signed(parts.lead.logit)}"
    )
    text += f": {', and '.join(sides)}." if sides else "."
    return f"{text} {LAST_LAYER}" if parts.logit.last_layer_only else text


def part_name(name: Name) -> str:
    """Such as "Cross L2 H3"."""
    kind, layer, head = name
    titles = {INPUT: "Embedding", BIASES: "All biases", FEED_FORWARD: f"Feed-forward L{layer}"}
    return titles.get(kind) or f"{kind_title(kind)} L{layer} H{head}"


def _lines(parts: Parts) -> Iterator[tuple[str, list[Name], bool]]:
    """The title of a line, its parts, and whether a layer begins."""
    names, last = parts.lead.parts, -1
    lines: dict[tuple[str, int], list[Name]] = {}
    for name in names:
        lines.setdefault(name[:2], []).append(name)
    for (kind, layer), some in lines.items():
        title = f"{kind_title(kind)} L{layer}" if some[0][2] >= 0 else part_name(some[0])
        yield title, some, layer != last
        last = layer


# Repairs of a written word: what is changed, what that costs, and the sentence written then.

MOST = 12
"""Repairs that have a row."""
REPAIRS_TABLE_FOOT = (
    "Cost: what all other written words together lose in the changed model; below 0 they gain. "
    "Another method changes no model."
)


def repairs_table(
    repairs: Repairs, recording: Recording, address: Callable[[Change], str]
) -> Table:
    """The cheapest repairs. address: the link that keeps one."""
    rows = [_row(it, recording, address(it.change)) for it in repairs.repairs[:MOST]]
    return Table(
        f"Repairs after which “{visible(repairs.place.text)}” is written",
        [
            Column("Change"),
            Column(),
            Column("Cost, nats", explain="What all other written words together lose then."),
            Column("Written then", is_text=True),
        ],
        rows,
        foot=f"{visible(repairs.text)} {REPAIRS_TABLE_FOOT}" if rows else visible(repairs.text),
    )


ROWS = "What these heads look at now, and what they would have to look at"
MOST_SAID = 8
"""Heads whose rows are said in words."""


class ForcedRow(NamedTuple):
    """The row of one head, as it is and as a repair forces it; [K] each, both sum to 1."""

    edit: Edit
    written: Tensor
    needed: Tensor


def forced_rows(repairs: Repairs, recording: Recording) -> list[ForcedRow]:
    """The rows that the repair by rows forces; none where there is no such repair.

    Of a word of several pieces those of the first one: the rows of later ones read what is not
    written, so the recording has no row to put beside them.
    """
    by_rows = (it.change.edits for it in repairs.repairs if it.change.kind == "rows")
    edits = next(by_rows, ())
    first = min((edit.query for edit in edits), default=0)
    rows = []
    for edit in (it for it in edits if it.query == first):
        now = recording.attentions[edit.place].weights(edit.layer, edit.head)[edit.query]
        needed = torch.zeros_like(now)
        needed[: len(edit.values)] = torch.tensor(edit.values)[: len(now)]
        rows.append(ForcedRow(edit, now, needed / needed.sum()))
    return rows


def rows_chart(rows: Sequence[ForcedRow], recording: Recording) -> Chart:
    """Two lines a head, one below the other: what it looks at, and what it would have to look at.

    rows: all of one kind of attention.
    """
    attention = recording.attentions[rows[0].edit.place]
    values = torch.stack([line for row in rows for line in (row.written, row.needed)])
    labels = [f"{_head(attention, row.edit)}·{when}" for row in rows for when in ("now", "needed")]
    queries = [Sides(attention).query(row.edit.query) for row in rows for _ in ("now", "needed")]
    lines = Axis("head", labels=labels, origins=queries)
    keys = Axis("key", labels=attention.keys, origins=Sides(attention).keys)
    hover = "{y}, {x}: {z:.4f}"
    return heat_map(
        "needed-rows", ("", "Rows now, and as needed"), values, lines, keys, weights(), hover
    ).in_words


def rows_text(rows: Sequence[ForcedRow], recording: Recording) -> str:
    """The same in words: where each head looks most, now and then."""
    attention, sentences = recording.attentions[rows[0].edit.place], []
    for edit, *lines in rows[:MOST_SAID]:
        now, needed = (
            f"“{in_word(attention.keys, int(it.argmax()))}” ({percent(float(it.max()))})"
            for it in lines
        )
        name = _head(attention, edit)
        sentences.append(f"{name} looks most at {now}, needed {needed}")
    n = len(rows) - MOST_SAID
    more = f"; and {n} more" if n > 0 else ""
    return f"Heat map, two rows per head. {'; '.join(sentences)}{more}."


def rows_cost(rows: Sequence[ForcedRow], repairs: Repairs) -> str:
    """Say how far all are from what the heads look at: the sum of KL(needed || now)."""
    nats = sum(
        float(torch.where(it.needed > 0, it.needed * (it.needed / it.written).log(), 0.0).sum())
        for it in rows
    )
    n = counted(len(rows), "head", "heads")
    word = visible(repairs.place.text)
    return f"To begin “{word}” here, {n} would have to look elsewhere, {nats:.2f} nats in all."


def row_cells(rows: Sequence[ForcedRow], recording: Recording) -> list[dict[str, object]]:
    """A row of a file for each key of each row that is forced."""
    sides = Sides(recording.attentions[rows[0].edit.place])
    return [
        {"kind": edit.place, "layer": edit.layer, "head": edit.head}
        | {**sides.query(edit.query), **sides.key(key)}
        | {"before": float(now[key]), "after": float(needed[key])}
        for edit, now, needed in rows
        for key in range(len(now))
    ]


def _head(attention: Attention, edit: Edit) -> str:
    return f"L{attention.number(edit.layer)}H{edit.head}"


def _row(repair: Repair, recording: Recording, address: str) -> Row:
    name = change_text(repair.change, recording)
    cells = [
        Cell("Keep", link=address, tip=f"Keep: {name}"),
        Cell(number(repair.cost), repair.cost),
        Cell(visible(repair.text)),
    ]
    return Row(Cell(name), cells)


def change_text(change: Change, recording: Recording) -> str:
    """A change as a button says it: "Method: Greedy", "Cross L2 H3 off", "9 rows forced"."""
    if change.method:
        return f"Method: {decoding_methods()[change.method].title}"
    return edits_text(change.edits, recording)
