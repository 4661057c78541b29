"""Sentences token by token, one below the other."""

from collections.abc import Sequence

from viz.exhibits.table import Column, Table


def token_lines(lines: Sequence[tuple[str, Sequence[tuple[str, bool]]]]) -> Table:
    """lines: a title, and tokens, of which some are marked."""
    *heads, columns = [
        [Column(title), *(Column(token, is_marked=is_marked) for token, is_marked in tokens)]
        for title, tokens in lines
    ]
    return Table("Tokens", columns, (), kind="map", heads=heads)
