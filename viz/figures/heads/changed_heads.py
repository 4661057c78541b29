"""The change of each head between two runs: all of them as maps, the largest ones in words."""

import math
from collections.abc import Callable, Mapping, Sequence

from transformer.analysis.reading import row_tokens
from transformer.analysis.tables import Columns, Side, Sides
from transformer.recording import Attention
from transformer.two_models.head_changes import KindChanges, Place, Row
from transformer.words import word_groups
from viz.exhibits.table import Cell, Column, Legend, Table, Tables
from viz.exhibits.table import Row as TableRow
from viz.figures.positions import dependence_table
from viz.labels import counted, kind_title, word_text

SAME = 5e-4
"""A change that is 0.000: the head does the same."""
MOST_NUMBERS = 40
"""Heads beside each other whose numbers are written; of more they are under the pointer."""
MOST_LAYERS = 16
"""Layers of which maps still fit above the pictures; of more, the largest changes are listed."""
_DIVERGENCE = (
    "The root of the Jensen-Shannon divergence of the head’s rows in A and B: 0 where they are the "
    "same, 1 where they have no key in common"
)
CHANGE = Column("Change", explain=f"{_DIVERGENCE}.")
OWN = Column("Change", "by itself", explain=f"{_DIVERGENCE}; B’s head is given A’s states.")
TOTAL = Column("In all", explain="The same with what reaches the head in B, which may differ too.")
COSINE = Column(
    "Cosine",
    explain="The cosine of what both write, all rows as one vector: 1 where it is alike.",
)
NEAREST = Column(
    "Nearest in B", explain="The head of B whose rows are nearest to these, and how far they are."
)
Link = Callable[[str, Place, Place | None], str]
"""(kind, head of A, head of B or None: the same place) -> an address."""


def number_of(kind: KindChanges, place: Place) -> float:
    """The change of a head: by itself where it is known, else all of it; NaN where B has none."""
    return float((kind.total if kind.own is None else kind.own)[place])


def maps(
    kinds: Sequence[KindChanges],
    attentions: Callable[[str], Attention],
    link: Link,
    chosen: tuple[str, Place],
) -> Tables:
    """A number for every head: layers are rows, heads are columns."""
    own = any(kind.own is not None for kind in kinds)
    is_small = sum(kind.total.size(1) for kind in kinds) > MOST_NUMBERS
    says = "root of the Jensen-Shannon divergence of each head’s rows in A and B"
    says += ", given the same states." if own else "."
    tables = []
    for kind in kinds:
        n_layers, n_heads = kind.total.shape
        rows = [
            (
                f"L{attentions(kind.kind).number(layer)}",
                [
                    _cell(kind, attentions(kind.kind), (layer, head), link, chosen, is_small)
                    for head in range(n_heads)
                ],
            )
            for layer in range(n_layers)
        ]
        tables.append(dependence_table(kind_title(kind.kind), rows))
    legend = Legend(
        "share", "0", "1: no key in common.", f"Change: {says}", "A click shows a head."
    )
    return Tables([tables], legend)


def _cell(
    kind: KindChanges,
    of: Attention,
    place: Place,
    link: Link,
    chosen: tuple[str, Place],
    is_small: bool,
) -> Cell:
    value, is_chosen = number_of(kind, place), (kind.kind, place) == chosen
    title, address = _name(of, place), link(kind.kind, place, None)
    if math.isnan(value):
        tip = f"{title}: B has no such head"
        return Cell("—", None, 0.0, link=address, tip=tip, is_marked=is_chosen)
    tip = f"{title}: {value:.4f} by itself, {float(kind.total[place]):.4f} in all"
    if kind.own is None:
        tip = f"{title}: {value:.4f}"
    text = "" if is_small else f"{value:.2f}"
    return Cell(text, value, value, link=address, tip=tip, is_marked=is_chosen)


def largest(
    ranked: Sequence[tuple[float, str, Place]],
    kinds: Sequence[KindChanges],
    rows: Sequence[Row | None],
    attentions: Callable[[str], Attention],
    others: Mapping[str, Attention],
    link: Link,
) -> Table:
    """The heads of `ranked`, each with the row that changed most. rows: one for each; others: the
    attentions of B.
    """
    by_kind = {kind.kind: kind for kind in kinds}
    has_own = any(kind.own is not None for kind in kinds)
    has_cosine = any(kind.cosine is not None for kind in kinds)
    columns = [Column("Head"), OWN if has_own else CHANGE]
    columns += [TOTAL] if has_own else []
    columns += [COSINE] if has_cosine else []
    has_rows = any(rows)
    columns += [Column("Its row that changed most", is_text=True)] if has_rows else []
    columns += [NEAREST]
    lines = []
    for (value, name, place), row in zip(ranked, rows, strict=True):
        kind, of = by_kind[name], attentions(name)
        cells = [Cell(f"{value:.3f}", value, value)]
        cells += [_plain(float(kind.total[place]))] if has_own else []
        if has_cosine:
            cells.append(Cell() if kind.cosine is None else _plain(float(kind.cosine[place])))
        cells += [Cell(_words(row, of))] if has_rows else []
        cells.append(_nearest(kind, others.get(name), place, link))
        head = Cell(_name(of, place), link=link(name, place, None))
        lines.append(TableRow(head, cells))
    return Table("Heads that changed most", columns, lines, scale="share")


def describe(
    ranked: Sequence[tuple[float, str, Place]],
    name: Callable[[str, Place], str],
    has_own: bool,
) -> str:
    """The alternative text: the largest and the smallest change."""
    if not ranked:
        return "No head of A has a counterpart of the same place in B."
    (most, kind, place), (least, other, there) = ranked[0], ranked[-1]
    if most < SAME:
        return f"None of {counted(len(ranked), 'head', 'heads')} changed: all rows are the same."
    n = sum(value >= SAME for value, _, _ in ranked)
    how = " by themselves" * has_own
    return (
        f"{n} of {counted(len(ranked), 'head', 'heads')} changed{how}. "
        f"Most: {name(kind, place)}, {most:.2f}; least: {name(other, there)}, {least:.2f} "
        "(0: the same rows, 1: no key in common)."
    )


def _plain(value: float) -> Cell:
    return Cell("—") if math.isnan(value) else Cell(f"{value:.3f}", value)


def _name(of: Attention, place: Place) -> str:
    return f"{kind_title(of.kind)} L{of.number(place[0])} H{place[1]}"


def _words(row: Row | None, of: Attention) -> str:
    """The row's word, and what it looks at in A and in B."""
    if row is None:
        return ""
    if is_still(row):
        return "only within words"
    queries, keys = (
        [word_text([tokens[i] for i in group]) for group in word_groups(tokens)]
        for tokens in (row_tokens(of), of.keys)
    )
    (a, before), (b, after) = row.first, row.second
    looks = f"A “{keys[a]}” {before:.2f}, B “{keys[b]}” {after:.2f}"
    return f"“{queries[row.query]}”: {looks}"


def is_still(row: Row) -> bool:
    """Tell whether no row of the head changed: it is the first of many alike then."""
    return row.divergence < SAME**2


def row_columns(row: Row, of: Attention) -> Columns:
    """The row's word and what it looks at in A and in B, as columns of a file."""
    keys = word_groups(of.keys)
    looks = [
        Side(f"key_{name}", of.keys).at(keys[place]) | {f"weight_{name}": f"{weight:.6g}"}
        for name, (place, weight) in (("a", row.first), ("b", row.second))
    ]
    query = Sides(of).query(*word_groups(row_tokens(of))[row.query])
    return query | looks[0] | looks[1]


def _nearest(kind: KindChanges, of: Attention | None, place: Place, link: Link) -> Cell:
    """The head of B that is nearest, where it is another place."""
    other, distance = kind.counterpart(*place)
    if other == place or math.isinf(distance):
        return Cell("same" if other == place else "")
    layer = other[0] if of is None else of.number(other[0])
    text = f"L{layer} H{other[1]} ({distance:.2f})"
    return Cell(text, distance, link=link(kind.kind, place, other), tip="Show both heads")
