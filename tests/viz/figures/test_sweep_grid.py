"""The grid of a sweep: shades, numbers, words that went and came, and nothing unescaped."""

import re

import pytest

from viz.figures.sweep_grid import Row, legible, luminance, rewritten, sweep_grid, sweep_legend
from viz.figures.sweep_tables import MeanRow, PairRow, means_table, pairs_table
from viz.theme import DARK, LIGHT, Theme

NASTY = '<img src=x onerror="x">'


def test_a_row_says_its_changes_their_sum_and_where_it_leads() -> None:
    row = Row("Cross L2 H3", "./?a=1&b=2", [-2.0, 0.5, 0.01], -1.49)
    said = sweep_grid([row], ["so", NASTY, "it"], 2.0, LIGHT)
    assert re.findall(r'<td class="c s(\d+)"[^>]*>([^<]*)</td>', said) == [
        ("0", "−2.00"),
        ("24", "+0.50"),
        ("17", ""),
    ]
    assert '<td class="total" data-value="-1.49">−1.49</td>' in said
    assert 'href="./?a=1&amp;b=2"' in said and NASTY not in said


def test_small_numbers_do_not_look_like_0() -> None:
    rows = [Row("a", "./", [-0.004, 0.001], -0.003), Row("b", "./", [0.0, 0.0002], 0.0002)]
    said = sweep_grid(rows, ["so", "it"], 0.004, LIGHT) + sweep_legend(0.004, LIGHT)
    assert re.findall(r'class="total"[^>]*>([^<]*)<', said) == ["−0.0030", "+0.0002"]
    assert "less likely −0.0040 " in said and "+0.0040 nats" in said and "so −0.0040" in said
    pairs = pairs_table([PairRow("a", "./", -0.003, -0.001)], LIGHT)
    assert re.findall(r">(−[.\d]+)<", pairs) == ["−0.0030", "−0.0010", "−0.0020"]
    assert "−0.0040 to +0.0010 nats" in means_table([MeanRow("a", "./", 0, -0.004, 0.001, 0)], DARK)


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


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_numbers_are_legible_on_every_shade(theme: Theme) -> None:
    for colour in theme.difference_scale:
        text = legible(colour, theme)
        lighter, darker = sorted((luminance(text), luminance(colour)), reverse=True)
        assert (lighter + 0.05) / (darker + 0.05) >= 4.5


def test_pairs_have_the_shade_of_their_synergy() -> None:
    rows = [PairRow(NASTY, "./?a&b", -3.0, -1.0), PairRow("b", "./", 0.5, 0.0)]
    said = pairs_table(rows, LIGHT)
    assert re.findall(r'<td class="c s(\d+)"[^>]*>([^<]*)</td>', said) == [
        ("0", "−2.00"),
        ("24", "+0.50"),
    ]
    assert NASTY not in said and 'href="./?a&amp;b"' in said


def test_a_mean_stands_within_its_interval_on_one_scale() -> None:
    rows = [MeanRow(NASTY, "./", -2.0, -4.0, 1.0, 0.5), MeanRow("b", "./", 1.0, None, None, 0.0)]
    said = means_table(rows, DARK)
    assert '<i style="left:0.00%;width:100.00%">' in said
    assert re.findall(r'<b[^>]*style="left:([\d.]+)%', said) == ["40.00", "100.00"]
    assert re.findall(r'<u style="left:([\d.]+)%', said) == ["80.00"] * 2
    assert "−4.00 to +1.00" in said and "of one sentence" in said and NASTY not in said
    assert "50 %" in said and "−4.00 to +1.00 nats" in said
