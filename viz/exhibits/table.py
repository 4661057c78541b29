"""A table as data: what its cells say and stand for, and its numbers as rows."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from transformer.analysis.corpus_sweep import caution
from transformer.refusal import visible
from viz.exhibits.chart import Scale

# A table as data: what its cells say and stand for. HTML, sheets and files are made of it.

WIDE = 24
"""Columns of words beyond which words are written upwards, and cells have no room for numbers."""


@dataclass(frozen=True, slots=True)
class Change:
    """Words that went and words that came in their place; either may be empty."""

    old: str
    new: str

    @property
    def parts(self) -> tuple[str, str]:
        """The words as they are read; new ones that replace nothing have a plus."""
        return self.old, self.new if self.old or not self.new else f"+ {self.new}"


@dataclass(frozen=True, slots=True)
class Sample:
    """A piece of a line, as a chart draws it."""

    colour: str
    thick: float
    """In pixels."""
    dashes: tuple[int, int] = (1, 0)
    """Lengths of a stroke and of the gap after it."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell. Its text is plain; painters escape it."""

    text: str = ""
    value: float | None = None
    """The number that it stands for."""
    shade: float | None = None
    """A place on the table's colour scale; None: it has no ground."""
    small: str = ""
    """A second line."""
    link: str = ""
    tip: str = ""
    """Said to a pointer, and of a link to those who do not see it."""
    interval: tuple[float | None, float, float | None] | None = None
    """Low, value and high on the axis of its column; low and high may be unknown."""
    ends: tuple[float, float] | None = None
    """Low and high of the interval around its value, where its text, or the cell beside it, has
    one."""
    changes: tuple[Change, ...] = ()
    bars: tuple[float, ...] = ()
    """Shares of 1, one bar below the other, the first one dim."""
    sample: Sample | None = None
    """Stands before the text."""
    parts: tuple[tuple[int, int], ...] = ()
    """Parts of the text that stand out, in order: first letter, and the one behind the last."""
    is_marked: bool = False
    is_formula: bool = False
    is_reached: bool = True
    """The Tab key leads to its link."""

    @property
    def plain(self) -> str:
        """The text without its second line."""
        text = " · ".join(" → ".join(filter(None, each.parts)) for each in self.changes)
        return text or self.text


@dataclass(frozen=True, slots=True)
class Column:
    """The head of a column."""

    title: str = ""
    small: str = ""
    """A second line."""
    n_columns: int = 1
    """Columns that it stands above."""
    is_word: bool = False
    """It is a token: written upwards where there are many."""
    is_text: bool = False
    """Its cells are words beside the numbers."""
    is_marked: bool = False
    is_formula: bool = False
    axis: tuple[float, float] | None = None
    """The ends of a scale that is as wide as the column, for intervals."""
    origin: Mapping[str, str] = field(default_factory=dict)
    """Further columns of a file: the token of the text that it is about."""
    link: str = ""
    """Leads to the same table sorted by this column, the smallest value first."""
    is_sorted: bool = False
    """The rows are sorted by it."""
    explain: str = ""
    """A sentence that says what its numbers are: the head opens it where it is no link."""


@dataclass(frozen=True, slots=True)
class Row:
    """A head and its cells; None: there is nothing."""

    head: Cell
    cells: Sequence[Cell | None]
    is_first: bool = False
    """It begins a group."""
    origin: Mapping[str, str] = field(default_factory=dict)
    """The same as that of a column."""


@dataclass(frozen=True, slots=True)
class Legend:
    """A scale with its two ends, and what it is of."""

    scale: Scale
    low: str
    high: str
    says: str
    hint: str = ""
    """The effect of a click: on the screen only."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows below the heads of their columns, the first of which is that of the rows' heads."""

    name: str
    """The name for those who do not see it."""
    columns: Sequence[Column]
    rows: Sequence[Row]
    kind: Literal["rows", "map", "list"] = "rows"
    """Rows that are compared; a map of cells; or a plain list of facts."""
    heads: Sequence[Sequence[Column]] = ()
    """Further lines of heads above."""
    scale: Scale = "signed"
    """The scale of its shades."""
    title: str = ""
    legend: Legend | None = None
    foot: str = ""
    """A line below."""
    result: str = ""
    """The result of the foot, behind it."""
    n_sentences: int = 0
    """The fewest that one of its intervals is over; 0: it has none."""

    @property
    def below(self) -> str:
        """The foot, and where its intervals say little."""
        return " ".join(filter(None, (self.foot, caution(self.n_sentences))))

    @property
    def is_wide(self) -> bool:
        """More words stand above than cells with numbers have room for."""
        return sum(each.is_word for each in self.columns) > WIDE

    @property
    def lines_above(self) -> list[Sequence[Column]]:
        """All lines of heads that say something."""
        lines = [*self.heads, self.columns]
        return [line for line in lines if any(each.title or each.small for each in line)]

    @property
    def above(self) -> list[Column]:
        """The head above each cell of a row, its own head being the first cell."""
        return [column for column in self.columns for _ in range(column.n_columns)]


@dataclass(frozen=True, slots=True)
class Tables:
    """Several that stand beside each other, in lines."""

    lines: Sequence[Sequence[Table]]
    legend: Legend | None = None
    title: str = ""
    """A sentence above all of them, in large type."""
    remark: str = ""
    """A line below that, in small type."""
    plain: str = ""
    """The title in words that need no card, for a first visit: there it takes the title's place."""

    def __iter__(self) -> Iterator[Table]:
        return (table for line in self.lines for table in line)


def named_numbers(value: float, ends: tuple[float, float] | None) -> dict[str, float]:
    """A value, and the ends of its interval, as files name them."""
    low_and_high = {} if ends is None else {"low": ends[0], "high": ends[1]}
    return {"value": value, **low_and_high}


def as_tables(content: Table | Tables) -> Tables:
    """One table as the only one of its line."""
    return content if isinstance(content, Tables) else Tables([[content]], content.legend)


def place_on(axis: tuple[float, float], value: float) -> float:
    """Percent of the way from the low end of a column's axis to its high one."""
    least, most = axis
    return 100 * (value - least) / ((most - least) or 1.0)


# A table's numbers as rows: each cell with the heads of its row and its column.


def cells_of(content: Table | Tables) -> list[dict[str, Any]]:
    """A row for each cell that stands for a number, the head of a row, too, where that has one; of
    several tables with the table's title. An interval is its value, low and high.
    """
    if isinstance(content, Table):
        return list(_cells(content))
    return [{"table": visible(table.title)} | row for table in content for row in _cells(table)]


def _cells(table: Table) -> Iterator[dict[str, Any]]:
    for row in table.rows:
        for cell, column in zip((row.head, *row.cells), table.above, strict=True):
            if cell is not None and cell.value is not None:
                named = {
                    "row": visible(" ".join(row.head.plain.split())),
                    "column": visible(column.title),
                }
                yield {
                    **named,
                    **row.origin,
                    **column.origin,
                    **named_numbers(cell.value, cell.ends),
                }
