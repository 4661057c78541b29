"""Two heads off at once: what they do together, one by one, and their synergy."""

from collections.abc import Sequence
from dataclasses import dataclass

from viz.exhibits.shading import rooted
from viz.exhibits.table import Cell, Column, Row, Table
from viz.labels import decimals_of, signed

COLUMNS = (
    Column("off"),
    Column("together", explain="The change of the whole output while both heads are off."),
    Column("one by one", explain="The sum of the changes while only one of the two is off."),
    Column(
        "synergy",
        explain="Together less one by one: 0 where neither head needs or replaces the other.",
    ),
)


@dataclass(frozen=True)
class PairOff:
    """Two heads off at once, in nats of the whole output."""

    title: str
    address: str
    together: float
    apart: float
    """The sum of what each of them does by itself."""

    @property
    def synergy(self) -> float:
        return self.together - self.apart


def pairs_table(pairs: Sequence[PairOff]) -> Table:
    """A row per pair, with the shade of its synergy."""
    largest = max((abs(pair.synergy) for pair in pairs), default=0.0)
    n = decimals_of(max((abs(pair.together) for pair in pairs), default=0.0))

    def row_of(pair: PairOff) -> Row:
        synergy = Cell(signed(pair.synergy, n), pair.synergy, rooted(pair.synergy, largest))
        both = [Cell(signed(value, n), value) for value in (pair.together, pair.apart)]
        return Row(Cell(pair.title, link=pair.address), [*both, synergy])

    return Table("Pairs", COLUMNS, list(map(row_of, pairs)))
