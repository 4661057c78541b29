"""What the line above a picture should say, and where it stands."""

from math import nan

from playwright.sync_api import Page, expect

from transformer.analysis.reading import AttentionMap
from viz.map_words import cell_sentence

SAID = ".sentence:visible .said"


def said(map: AttentionMap, layer: int, head: int, row: int, column: int) -> str:
    """The sentence of a cell, as Python computes it."""
    is_open = bool(map.allowed(layer, head)[row, column])
    value = float(map.values(layer, head)[row, column]) if is_open else nan
    return cell_sentence(map, layer, head, (row, column), value)


def strongest(map: AttentionMap, layer: int, head: int) -> str:
    """The sentence of the head's strongest cell."""
    cell = map.strongest(layer, head)
    assert cell is not None
    return said(map, layer, head, *cell)


def says(page: Page, sentence: str, why: str) -> None:
    """The one sentence that is seen is this one, for this reason."""
    line = page.locator(".sentence:visible")
    expect(line.locator(".said")).to_have_text(sentence)
    expect(line.locator(".why")).to_have_text(why)
