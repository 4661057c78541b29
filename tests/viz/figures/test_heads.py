"""Charts and tables of heads: of the survey that en-de comes with."""

from dataclasses import replace
from pathlib import Path

import pytest

from transformer import decode, load_checkpoint, record
from transformer.analysis.corpus_sweep import caution
from transformer.analysis.reading import Reading, read, row_tokens
from transformer.corpus.labels import Atlas, Label, place_of
from transformer.corpus.shipped import shipped_survey
from transformer.corpus.surveyed import Estimate
from transformer.edits import parse
from transformer.inspection.circuits import Composition
from transformer.two_models.head_changes import head_changes, largest_row
from viz.exhibits.chart import Curve, rows_of
from viz.exhibits.table import Cell, Column, Row, Table
from viz.figures.heads import all_heads, changed_heads, of_head
from viz.figures.heads.all_heads import OTHERS, head_name, heads_table, inks_of
from viz.figures.heads.of_head import circuits_table, numbers_of_head, relatives_table
from viz.labels import in_word
from viz.pages.heads.one import rows_of as rows_in_sentences
from viz.painters.chart_plotly import figure
from viz.painters.chart_sheet import sheet
from viz.painters.table_html import table_html
from viz.screen import Screen
from viz.theme import LIGHT

EN_DE = Path(__file__).parents[3] / "checkpoints" / "en-de"


@pytest.fixture(scope="module")
def atlas() -> Atlas:
    shipped = shipped_survey(EN_DE)
    assert shipped is not None
    return Atlas(shipped)


def test_a_map_has_every_head_of_a_kind_once_by_its_name(atlas: Atlas) -> None:
    chart = all_heads.chart(atlas, "cross", "likeness", "likeness")
    rows = rows_of(chart)
    assert len(rows) == 24
    assert {row["point"] for row in rows} == {
        f"Cross L{layer} H{head}" for layer in range(3) for head in range(8)
    }
    traces = figure(chart, LIGHT).data
    assert sum(len(trace.x) for trace in traces) == 24
    drawn = [mark for mark in sheet(chart, LIGHT, 240.0).marks if "x" in getattr(mark, "facts", {})]
    assert sum(len(mark.facts["x"]) for mark in drawn) == 24


def test_a_larger_mark_is_of_a_head_that_is_worth_more(atlas: Atlas) -> None:
    chart = all_heads.chart(atlas, "cross", "entropy", "confidence")
    sizes = {
        name: size
        for mark in chart.marks
        if isinstance(mark, Curve)
        for name, size in zip(mark.names, mark.sizes, strict=True)
    }
    worth = {
        f"Cross L{layer} H{head}": max(0.0, atlas.shipped.worth["cross", layer, head].mean)
        for layer in range(3)
        for head in range(8)
    }
    assert sorted(sizes, key=lambda name: (sizes[name], name)) == sorted(
        worth, key=lambda name: (worth[name], name)
    )


def test_a_head_that_harms_is_a_small_mark(atlas: Atlas) -> None:
    worth = {("cross", 0, 0): -0.5, ("cross", 0, 1): 0.0, ("cross", 0, 2): 0.1}
    known = {place: Estimate(mean, None, None, 1) for place, mean in worth.items()}
    changed = Atlas(replace(atlas.shipped, worth=known))
    chart = all_heads.chart(changed, "cross", "entropy", "worth")
    sizes = {
        name: size
        for mark in chart.marks
        if isinstance(mark, Curve)
        for name, size in zip(mark.names, mark.sizes, strict=True)
    }
    assert sizes["Cross L0 H0"] == sizes["Cross L0 H1"] == all_heads.SMALLEST
    assert sizes["Cross L0 H2"] == all_heads.LARGEST


def test_axes_hold_the_numbers_of_the_survey(atlas: Atlas) -> None:
    rows = rows_of(all_heads.chart(atlas, "cross", "entropy", "worth"))
    row = next(each for each in rows if each["point"] == "Cross L2 H3")
    estimate = atlas.heads["cross", 2, 3].numbers["entropy"]
    assert row["Entropy"] == pytest.approx(estimate.mean)
    assert row["Worth (nats)"] == pytest.approx(atlas.shipped.worth["cross", 2, 3].mean)


def test_a_number_that_a_kind_lacks_is_said_in_place_of_an_empty_map(atlas: Atlas) -> None:
    for kind in ("encoder_self", "decoder_self"):
        chart = all_heads.chart(atlas, kind, "alignment", "worth")
        assert chart.instead and not chart.marks
        assert sheet(chart, LIGHT, 240.0).marks
    assert not all_heads.chart(atlas, "cross", "alignment", "worth").instead


def labels_of(n: int) -> list[Label]:
    role = Label("previous", "Previous token", 1.0, 1.0, 1.0, 0.0, 0.0, 20)
    return [role] + [replace(role, role="r", title=f"r{at}, to head") for at in range(n - 1)]


@pytest.mark.parametrize("n", [2, 8, 16, 40])
def test_no_two_labels_share_a_colour(n: int) -> None:
    inks = inks_of(labels_of(n))
    assert len(set(inks.values())) == len(inks) == min(n, len(LIGHT.head_colours))
    assert (OTHERS in inks) == (n > len(LIGHT.head_colours))
    others = inks_of(labels_of(1))
    assert others.items() <= inks.items() or n > len(LIGHT.head_colours)


def test_each_label_of_a_map_has_a_mark_of_its_own_name_and_colour(atlas: Atlas) -> None:
    for kind in atlas.kinds:
        marks = all_heads.chart(atlas, kind, "likeness", "likeness").marks
        curves = [mark for mark in marks if isinstance(mark, Curve)]
        assert len({mark.ink for mark in curves}) == len(curves)
        titles = {mark.name for mark in curves} - {all_heads.NO_LABEL}
        named = (atlas.label(place_of(each)) for each in atlas.of_kind(kind))
        assert titles == {label.title for label in named if label}


def test_a_row_marks_its_key_in_the_sentence(atlas: Atlas) -> None:
    for place in (("cross", 2, 3), ("encoder_self", 0, 0), ("decoder_self", 1, 2)):
        rows = atlas.heads[place].strongest
        for row, line in zip(rows, rows_in_sentences(atlas, place, rows, Screen()), strict=True):
            marked = [line.text[start:end] for start, end in line.parts]
            piece, _, word = line.key.partition(" in ")
            assert piece in marked and word in line.text
            assert line.origin["key_word"] == (word or piece)
            assert f"q{row.query}" in line.link and f"k{row.key}" in line.link


@pytest.mark.parametrize("kind", ["decoder_self", "cross"])
def test_rows_have_the_names_that_they_have_in_the_picture_of_their_sentence(
    atlas: Atlas, kind: str
) -> None:
    """Of cross-attention what the row writes, though no survey keeps a target's ids."""
    checkpoint, shipped = load_checkpoint(EN_DE, "cpu"), atlas.shipped
    n = 0
    for rows in (head.strongest for head in shipped.survey.heads if head.kind == kind):
        lines = rows_in_sentences(atlas, (kind, 0, 0), rows[:1], Screen())
        for row, line in zip(rows[:1], lines, strict=True):
            texts = shipped.sentences[row.sentence], shipped.targets[row.sentence]
            attention = record(checkpoint, *texts).attentions[kind]
            if len(attention.queries) != len(shipped.pieces_of(kind, row.sentence)[0]):
                continue  # the model wrote its text in other pieces than its tokenizer would
            assert line.query == in_word(row_tokens(attention), row.query)
            read, written = attention.queries[row.query], row_tokens(attention)[row.query]
            assert line.origin["query_piece"] == read.piece
            assert line.origin["written_piece"] == (written.piece if kind == "cross" else "")
            n += 1
    assert n > 10


@pytest.mark.parametrize("kind", ["encoder_self", "decoder_self", "cross"])
def test_the_row_that_changed_most_has_the_name_that_it_has_in_pictures(kind: str) -> None:
    checkpoint, text = load_checkpoint(EN_DE, "cpu"), "The animals were tired."
    target = decode(checkpoint, text).target
    plain, edited = (
        record(checkpoint, text, target, edits=edits)
        for edits in ((), (parse(f"head-uniform:{kind}.0.1"),))
    )
    of, other = plain.attentions[kind], edited.attentions[kind]
    row = largest_row(of, other, (0, 1))
    (changes,) = (each for each in head_changes(plain, edited) if each.kind == kind)
    assert row is not None and row.divergence > 0
    rows = read(plain, kind, Reading(words=True))
    table = changed_heads.largest(
        *([(0.5, kind, (0, 1))], [changes], [row]),
        *(plain.attentions.__getitem__, plain.attentions, lambda *_: "./"),
    )
    cell = table.rows[0].cells[-2]
    assert cell is not None
    name, group = rows.rows[row.query], rows.row_groups[row.query]
    assert cell.text.startswith(f"“{name.piece.strip(' ▁')}”:")
    columns = changed_heads.row_columns(row, of)
    assert columns["query_position"] == " ".join(map(str, group))
    named = columns["written_word" if kind == "cross" else "query_word"]
    assert named == name.piece.strip(" ▁")


def test_relatives_are_of_the_same_kind_and_the_nearest_first(atlas: Atlas) -> None:
    near = atlas.relatives(("encoder_self", 0, 0), 5)
    assert [place[0] for place, _ in near] == ["encoder_self"] * 5
    assert ("encoder_self", 0, 0) not in dict(near)
    distances = [distance for _, distance in near]
    assert distances == sorted(distances)


def test_texts_of_a_table_are_escaped_around_what_stands_out() -> None:
    cell = Cell("a <b> & c", parts=((2, 5),))
    html = table_html(Table("t", [Column(), Column(is_text=True)], [Row(Cell("x"), [cell])]), LIGHT)
    assert "a <b>&lt;b&gt;</b> &amp; c" in html


def test_the_table_has_a_row_for_each_head_in_the_order_that_is_asked_for(atlas: Atlas) -> None:
    places = list(atlas.heads)[::-1]
    table = heads_table(atlas, places, ["worth", "entropy"], ["#"] * len(places), "entropy")
    assert table.rows[0].head.text == "Cross L2 H7"
    assert len(table.rows) == 72


def test_an_interval_over_few_sentences_of_a_large_survey_says_so(
    atlas: Atlas, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A number may be of few of its sentences; so may what a head is worth."""
    place = ("cross", 2, 3)
    few = [
        (lambda: numbers_of_head(atlas, place), atlas.heads[place].numbers, "entropy"),
        (lambda: heads_table(atlas, [place], [], ["#"], "layer"), atlas.shipped.worth, place),
    ]
    for made, numbers, name in few:
        assert caution(made().n_sentences) == "" and made().n_sentences > 0
        monkeypatch.setitem(numbers, name, replace(numbers[name], n_sentences=3))
        assert caution(3) in table_html(made(), LIGHT)


def test_a_table_without_rows_has_no_box() -> None:
    foot = "nobody does"
    alone = table_html(Table("t", [Column()], [], foot=foot), LIGHT)
    assert foot in alone and "<figure" not in alone
    headed = table_html(Table("t", [Column("head")], [], foot=foot), LIGHT)
    assert foot in headed and "<figure" not in headed
    line = Table("t", [Column("head")], [], kind="map")  # its words stand above, and nothing below
    assert "<figure" in table_html(line, LIGHT)


def test_a_footprint_is_whole(atlas: Atlas) -> None:
    for head in atlas.survey.heads:
        chart = of_head.chart(head)
        assert sum(row["share of the weight"] for row in rows_of(chart)) == pytest.approx(
            1, abs=0.01
        )
        assert place_of(head) in atlas.heads


def test_heads_have_the_numbers_that_the_model_gives_their_layers(atlas: Atlas) -> None:
    """On every table and map of a survey, as on Explore; links have the place among them."""
    other = Atlas(atlas.shipped, (("cross", (1, 4, 6)),))
    place = "cross", 2, 3
    assert head_name(place, atlas) == "Cross L2 H3" and head_name(place, other) == "Cross L6 H3"
    assert head_name(("encoder_self", 2, 3), other) == "Encoder L2 H3"
    assert {row["point"] for row in rows_of(all_heads.chart(other, "cross", "likeness", ""))} == {
        f"Cross L{layer} H{head}" for layer in (1, 4, 6) for head in range(8)
    }
    near = relatives_table(other, other.relatives(place, 5), [""] * 5)
    heads = heads_table(other, list(other.heads), ["entropy"], [""] * len(other.heads), "layer")
    composed = Composition(("cross", 1, 0), place, "queries", 0.5, 0.1)
    circuits = circuits_table("Circuits", [composed], [composed], other, lambda _: "./")
    for table in (near, heads, circuits):
        layers = {row.head.text.split()[1] for row in table.rows if row.head.text[0] == "C"}
        assert layers and layers <= {"L1", "L4", "L6"}


def test_a_recording_says_how_its_layers_are_numbered() -> None:
    translator = load_checkpoint(EN_DE, "cpu")
    recording = record(translator, "It rains.", decode(translator, "It rains.").target)
    assert recording.numbering == ()
    cross = replace(recording.attentions["cross"], numbers=(1, 4, 6))
    other = replace(recording, attentions={**recording.attentions, "cross": cross})
    assert other.numbering == (("cross", (1, 4, 6)),)
    assert head_name(("cross", 1, 0), other) == "Cross L4 H0"
