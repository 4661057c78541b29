"""Tables as data: the shades, numbers, links and words of each."""

import math
from dataclasses import replace

from transformer.analysis.corpus_sweep import Worth, caution
from transformer.commands.sweep import COMMAND as SWEEP
from viz.exhibits.table import Cell, Change, Table
from viz.figures.positions import (
    Part,
    dependence_cell,
    dependence_table,
    dependence_tables,
    score_split,
)
from viz.figures.sweeps import (
    CLASSES,
    HeadOff,
    MeanOff,
    PairOff,
    means_table,
    pairs_table,
    patch_cell,
    patch_map,
    sweep_table,
)
from viz.painters.shades import stop_of


def cells(table: Table, row: int = 0) -> list[Cell]:
    return [cell for cell in table.rows[row].cells if cell is not None]


def stops(table: Table, row: int = 0) -> list[int]:
    shades = (cell.shade for cell in cells(table, row))
    return [stop_of(it, table.scale == "signed") for it in shades if it is not None]


def test_a_row_says_its_changes_their_sum_and_where_it_leads() -> None:
    table = sweep_table(
        [HeadOff("Cross L2 H3", "./?a=1&b=2", [-2.0, 0.5, 0.01], -1.49)], ["so", "a", "it"]
    )
    total, *changes, _ = cells(table)
    assert (total.text, total.value, total.shade) == ("−1.49", -1.49, None)
    assert [each.text for each in changes] == ["−2.00", "+0.50", ""]
    assert stops(table) == [0, 24, 17]
    assert table.rows[0].head == Cell("Cross L2 H3", link="./?a=1&b=2")


def test_small_numbers_do_not_look_like_0() -> None:
    rows = [
        HeadOff("a", "./", [-0.004, 0.001], -0.003),
        HeadOff("b", "./", [0.0, 0.0002], 0.0002),
    ]
    table = sweep_table(rows, ["so", "it"])
    assert [cells(table, i)[0].text for i in (0, 1)] == ["−0.0030", "+0.0002"]
    assert table.legend is not None and cells(table)[1].tip == "so −0.0040"
    assert table.legend.low == "less likely −0.0040" and "+0.0040 nats" in table.legend.high
    pairs = pairs_table([PairOff("a", "./", -0.003, -0.001)])
    assert [each.text for each in cells(pairs)] == ["−0.0030", "−0.0010", "−0.0020"]
    means = means_table([MeanOff("a", "./", 0, -0.004, 0.001, 0)])
    assert means.columns[-1].title == "−0.0040 to +0.0010 nats"


def test_words_that_change_stand_beside_their_head() -> None:
    changes = (Change("weil", "da"), Change("", "und"), Change("so", ""))
    rows = [
        HeadOff("a", "./", [0.0], 0.0, written=changes),
        HeadOff("b", "./", [0.0], 0.0, written=()),
        HeadOff("c", "./", [0.0], 0.0),
    ]
    table = sweep_table(rows, ["x"])
    assert table.columns[-1].title == "words that change" and table.columns[-1].is_text
    assert [cells(table, i)[-1].plain for i in range(3)] == [
        "weil → da · + und · so",
        "the same words",
        "",
    ]
    assert cells(sweep_table(rows, ["x"], CLASSES), 1)[-1].text == "the same class"


def test_a_long_text_has_shades_alone() -> None:
    table = sweep_table([HeadOff("a", "./", [-1.0] * 40, -40.0)], ["word"] * 40)
    assert table.is_wide and stops(table) == [0] * 40
    assert {cell.text for cell in cells(table)[1:-1]} == {""}


def test_pairs_have_the_shade_of_their_synergy() -> None:
    table = pairs_table([PairOff("a", "./?a&b", -3.0, -1.0), PairOff("b", "./", 0.5, 0.0)])
    assert [stops(table, i) for i in (0, 1)] == [[0], [24]]
    assert [cells(table, i)[-1].text for i in (0, 1)] == ["−2.00", "+0.50"]


def test_a_mean_stands_within_its_interval_on_one_scale() -> None:
    table = means_table(
        [MeanOff("a", "./", -2.0, -4.0, 1.0, 0.5), MeanOff("b", "./", 1.0, None, None, 0.0)]
    )
    assert table.columns[-1].axis == (-4.0, 1.0)
    assert cells(table)[-1].interval == (-4.0, -2.0, 1.0)
    assert [cell.text for cell in cells(table)][1:3] == ["−4.00 to +1.00", "50 %"]
    assert cells(table, 1)[1].text == "of one sentence"


def test_an_interval_over_few_sentences_is_said_to_say_little() -> None:
    """On the screen and in the shell."""
    mean = MeanOff("a", "./", -2.0, -4.0, 1.0, 0.5)
    worth = Worth("head-off:cross.0.0", 3, -2.0, -4.0, 1.0, 0.5)
    for n, is_few in ((2, True), (9, True), (10, False)):
        assert ("interval" in means_table([mean], "nats", n).below) == is_few
        result = {"heads": [vars(replace(worth, n_sentences=n))], "pairs": [], "unit": "nats"}
        assert ("says little" in SWEEP.text(result)) == is_few
        assert f"{n} sentences" in SWEEP.text(result)
    assert caution(1) == ""  # where there is no interval


def test_a_patch_says_its_effect_and_what_the_tab_key_reaches() -> None:
    tried = [
        patch_cell("./?a", "state", 1.0, is_kept=False),
        patch_cell("./", "b", -0.5, is_kept=False),
        patch_cell("./", "nothing", 0.004, is_kept=False),
        patch_cell("./", "kept", 0.004, is_kept=True),
        patch_cell("./", "not yet", None, is_kept=False),
    ]
    columns = [("cat", "dog"), ("x", "x"), ("a", "a"), ("b", "b"), ("c", "c")]
    table = patch_map("Encoder", columns, [("L0", tried)])
    assert stops(table) == [32, 8, 16, 16] and table.rows[0].cells[-1] is None
    said = [(cell.text, cell.is_marked, cell.is_reached) for cell in cells(table)]
    assert said == [
        ("+1.00", False, True),
        ("−0.50", False, True),
        ("", False, False),
        ("0.00", True, True),
    ]
    assert cells(table)[0].tip == "state: effect +1.0000"
    marked = [column.title for line in table.lines_above for column in line if column.is_marked]
    assert marked == ["cat", "dog"]


def test_each_head_has_its_number_and_the_chosen_one_a_mark() -> None:
    heads = [
        dependence_cell("./a", "L0 H0", 0.25, is_chosen=False),
        dependence_cell("./b", "L0 H1", 1.0, is_chosen=True),
        dependence_cell("./c", "L0 H2", math.nan, is_chosen=False),
    ]
    table = dependence_table("Encoder", [("L0", heads)])
    assert stops(table) == [8, 16, 0]  # the root of 0.25 is half of the way
    assert [cell.text for cell in cells(table)] == ["0.25", "1.00", "—"]
    assert [cell.value for cell in cells(table)] == [0.25, 1.0, None]
    assert [cell.is_marked for cell in cells(table)] == [False, True, False]
    legend = dependence_tables([table], "How far.").legend
    assert legend is not None and (legend.scale, legend.says) == ("share", "How far.")


def test_terms_stand_where_query_and_key_say() -> None:
    values = {("content", "content"): 1.25, ("content", "position"): -2.0}
    values |= {("position", "content"): 0.5, ("position", "position"): 4.0}
    parts = {place: Part(value, 0.125) for place, value in values.items()}
    named = {"content": ("a", "b"), "position": ("position 3", "position 1")}
    table = score_split(parts, named, {"biases": 0.25}, 4.0)
    assert [[cell.text for cell in cells(table, i)] for i in (0, 1)] == [
        ["+1.250", "−2.000"],
        ["+0.500", "+4.000"],
    ]
    assert [column.small for column in table.columns] == ["", "b", "position 1"]
    assert (table.foot, table.result) == ("these 4 + biases +0.250 = score", "+4.000")
