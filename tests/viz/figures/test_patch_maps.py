"""Maps of patches: numbers, shades, links, what the Tab key reaches, and nothing unescaped."""

import re

from viz.figures.patch_maps import Cell, Map, patch_maps, token_lines
from viz.theme import DARK, LIGHT, N_STOPS

NASTY = '<img src=x onerror="x">'


def test_a_cell_says_its_effect_and_leads_to_its_patch() -> None:
    cells = [
        Cell("./?a=1&b=2", "state", 1.0, is_kept=False),
        Cell("./", NASTY, -0.5, is_kept=False),
        Cell("./", "nothing", 0.004, is_kept=False),
        Cell("./", "kept", 0.004, is_kept=True),
        Cell("./", "not yet", None, is_kept=False),
    ]
    columns = [("cat", "dog"), (NASTY, NASTY), ("a", "a"), ("b", "b"), ("c", "c")]
    said = patch_maps([[Map("Encoder", columns, [("L0", cells)])]], LIGHT)
    last = 2 * (N_STOPS - 1)
    found = re.findall(
        r'<td class="s(\d+)( kept)?"[^>]*><a data-state( tabindex="-1")?[^>]*>([^<]*)', said
    )
    assert found == [
        (f"{last}", "", "", "+1.00"),
        (f"{last // 4}", "", "", "−0.50"),
        (f"{last // 2}", "", ' tabindex="-1"', "&nbsp;"),
        (f"{last // 2}", " kept", "", "0.00"),
    ]
    assert said.count("<td></td>") == 1
    assert 'href="./?a=1&amp;b=2" title="state: effect +1.0000"' in said
    assert NASTY not in said
    assert said.count("class=other") == 2  # one word of A and one of B


def test_sentences_stand_below_each_other() -> None:
    said = token_lines([("A, 2", [("cat", True), (NASTY, False)])], DARK)
    assert "<th>A, 2</th><th class=other>cat</th>" in said and NASTY not in said
