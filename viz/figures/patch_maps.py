"""Effects of patches: layers are rows; words, or heads, are columns. A click keeps a patch."""

from collections.abc import Mapping, Sequence

from viz.exhibits.shading import even
from viz.exhibits.table import Cell, Column, Legend, Row, Table, Tables
from viz.labels import signed

LEAST = 0.05
"""Effects below have a shade, and no number."""
REACHED = 0.1
"""Effects from which on the Tab key leads to a cell; all others are for a pointer."""


def patch_cell(address: str, title: str, effect: float | None, is_kept: bool) -> Cell | None:
    """One patch, with a link that puts it in force or takes it back.

    title: what is put where; effect: None where it is not tried yet.
    """
    if effect is None:
        return None
    return Cell(
        signed(effect) if abs(effect) >= LEAST or is_kept else "",
        effect,
        even(effect),
        link=address,
        tip=f"{title}: effect {signed(effect, 4)}",
        is_marked=is_kept,
        is_reached=abs(effect) >= REACHED or is_kept,
    )


def patch_map(
    title: str,
    columns: Sequence[tuple[str, str]],
    rows: Sequence[tuple[str, Sequence[Cell | None]]],
    origins: Sequence[Mapping[str, str]] = (),
) -> Table:
    """The patches of one kind of attention.

    columns: what stands above, of A and of B, which differ where A has another word; origins: the
    tokens that they are.
    """
    is_two = any(a != b for a, b in columns)
    above = [
        [
            Column(both[i], is_marked=both[0] != both[1], origin=origin)
            for both, origin in zip(columns, origins or [{}] * len(columns), strict=True)
        ]
        for i in (0, 1)
    ]
    return Table(
        title,
        [Column("B" if is_two else ""), *above[1]],
        [Row(Cell(name), cells) for name, cells in rows],
        kind="map",
        heads=[[Column("A"), *above[0]]] if is_two else (),
        title=title,
    )


def patch_maps(lines: Sequence[Sequence[Table]]) -> Tables:
    """Lines of maps, on a scale from -1 over 0 to 1; effects beyond have its ends."""
    return Tables(
        lines,
        Legend(
            "signed",
            "Effect −1",
            "1.",
            "0: the patch changes nothing; 1: B is answered as A is.",
            "A click keeps a patch and shows the output with it.",
        ),
    )
