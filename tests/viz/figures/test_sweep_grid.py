"""The grid of a sweep: shades, numbers, words that went and came, and nothing unescaped."""

import re

from viz.figures.sweep_grid import Row, rewritten, sweep_grid
from viz.theme import DARK, LIGHT

NASTY = '<img src=x onerror="x">'


def test_a_row_says_its_changes_their_sum_and_where_it_leads() -> None:
    row = Row("Cross L2 H3", "./?a=1&b=2", [-2.0, 0.5, 0.01], -1.49)
    said = sweep_grid([row], ["so", NASTY, "it"], 2.0, LIGHT)
    assert re.findall(r'<td class="c s(\d+)"[^>]*>([^<]*)</td>', said) == [
        ("0", "−2.00"),
        ("24", "+0.50"),
        ("17", ""),
    ]
    assert '<td class="total">−1.49</td>' in said
    assert 'href="./?a=1&amp;b=2"' in said and NASTY not in said


def test_words_that_change_stand_beside_their_head() -> None:
    written = rewritten([(["weil"], ["da", NASTY]), ([], ["und"]), (["so"], [])])
    assert written.count("<del>") == 2 and written.count("<ins>") == 2
    assert "</del> → <ins>" in written and "<ins>+ und</ins>" in written and NASTY not in written
    said = sweep_grid([Row("a", "./", [0.0], 0.0, written=written)], ["x"], 0.0, DARK)
    assert written in said and "words that change" in said
    assert rewritten([]) == "<span>the same words</span>"


def test_a_long_text_has_shades_alone() -> None:
    said = sweep_grid([Row("a", "./", [-1.0] * 40, -40.0)], ["word"] * 40, 1.0, LIGHT)
    assert (
        'class="wide"' in said and re.findall(r'<td class="c s0"[^>]*>([^<]*)<', said) == [""] * 40
    )
