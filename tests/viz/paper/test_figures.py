"""Figures say what the data say, stay text, and are the same bytes each time."""

import io
import re
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image
from pypdf import PdfReader

from tests.representatives import cases
from tests.viz.conftest import PLACED
from tests.viz.paper.conftest import HOSTILE, PICTURES, WORDS
from transformer import decode
from transformer import record as make_recording
from transformer.analysis.reading import Reading, Selection, read
from transformer.complexity import LAYERS
from transformer.discover import discover
from transformer.recording import Recording
from transformer.token import Token
from viz.components.cell_steps.cell_steps import CellSteps
from viz.components.decode_player.decode_player import DecodePlayer
from viz.components.kit.browser import unpack
from viz.exhibits.chart import Bars, Curve, Grid, root_law
from viz.figure_at import page_of
from viz.figures.masks import STATES
from viz.labels import labels
from viz.painters.chart_sheet import sheet
from viz.painters.shades import luminance
from viz.paper.figure import COLUMN, PAGE, Figure, of_component
from viz.paper.record import FigureError, Record, address_of, read_record
from viz.paper.sheet import FAINT, Box, Line, Words, hatched
from viz.theme import DARK, LIGHT
from viz.ui.saving import figure_of as figure_of_page

SVG = "{http://www.w3.org/2000/svg}"
pictures = pytest.mark.parametrize("name", PICTURES)
kinds = pytest.mark.parametrize("kind", ["svg", "pdf", "png"])


def tree_of(figure: Figure, width: float = COLUMN) -> ElementTree.Element:
    return ElementTree.fromstring(figure.file("svg", width))


def texts(tree: ElementTree.Element) -> list[str]:
    return [node.text or "" for node in tree.iter(f"{SVG}text")]


def test_the_numbers_of_arrows_are_those_of_the_head(
    figure_of: Callable, hostile: Recording
) -> None:
    weights = hostile.attentions["cross"].weights(1)
    tree = tree_of(figure_of("head_view", head=0, heads=(0, 1)))
    lines = [node for node in tree.iter(f"{SVG}path") if "data-weight" in node.attrib]
    found = {
        tuple(int(node.get(f"data-{name}")) for name in ("head", "row", "column")): node
        for node in lines
    }
    expected = {
        (head, row, column): float(weights[head, row, column])
        for head in (0, 1)
        for row in range(weights.shape[1])
        for column in range(weights.shape[2])
        if weights[head, row, column] >= 1e-3
    }
    assert set(found) == set(expected)
    for place, value in expected.items():
        assert float(found[place].get("data-weight")) == pytest.approx(value, rel=1e-6)
        opacity = float(found[place].get("stroke-opacity", "1"))
        assert opacity == pytest.approx(value**0.5, abs=2e-3)
    dashes = {place[0]: node.get("stroke-dasharray") for place, node in found.items()}
    assert len(set(dashes.values())) == 2, "heads are told apart without colour"


def test_only_the_strongest_lines_of_a_row_are_drawn(figure_of: Callable) -> None:
    tree = tree_of(figure_of("head_view", head=0, lines=2))
    rows = [node.get("data-row") for node in tree.iter(f"{SVG}path") if "data-row" in node.attrib]
    assert rows and all(rows.count(row) <= 2 for row in rows)


def test_lines_of_pinned_words_stand_out(figure_of: Callable) -> None:
    tree = tree_of(figure_of("head_view", head=0, pins=("q1", "k2")))
    for node in tree.iter(f"{SVG}path"):
        if "data-row" not in node.attrib:
            continue
        value, shade = (float(node.get(name, "1")) for name in ("data-weight", "stroke-opacity"))
        is_held = node.get("data-row") == "1" or node.get("data-column") == "2"
        assert shade == pytest.approx(value**0.5 * (1 if is_held else 0.12), abs=2e-3)
    assert [node.text for node in tree.iter(f"{SVG}text") if node.get("font-weight")]


@pytest.mark.parametrize("lens", ["weight", "score"])
def test_the_numbers_and_shades_of_a_map_are_those_of_the_head(
    figure_of: Callable, hostile: Recording, lens: str
) -> None:
    tree = tree_of(figure_of("head_map", lens))
    (group,) = (node for node in tree.iter(f"{SVG}g") if f"data-{lens}" in node.attrib)
    values = np.array(group.get(f"data-{lens}").split(), float)
    values = values.reshape(int(group.get("data-rows")), int(group.get("data-columns")))
    expected = read(hostile, "cross", Reading(lens=lens)).values(1, 0)
    np.testing.assert_allclose(values, expected.numpy(), rtol=1e-6)
    if lens == "weight":
        order = [luminance(colour) for _, colour in sorted(zip(*cells(group, values), strict=True))]
        assert all(a >= b - 1e-9 for a, b in pairwise(order)), "more is darker, without colour too"


def cells(group: ElementTree.Element, values: np.ndarray) -> tuple[list[float], list[str]]:
    """Each value and the colour at the middle of its cell."""
    boxes = [
        (*map(float, found), path.get("fill"))
        for path in group.iter(f"{SVG}path")
        for found in re.findall(r"M([\d.]+) ([\d.]+)h([\d.]+)v([\d.]+)", path.get("d"))
    ]
    left, top = min(box[0] for box in boxes), min(box[1] for box in boxes)
    right, bottom = (max(box[i] + box[i + 2] for box in boxes) for i in (0, 1))
    n_rows, n_columns = values.shape
    found = []
    for row in range(n_rows):
        for column in range(n_columns):
            x = left + (column + 0.5) * (right - left) / n_columns
            y = top + (row + 0.5) * (bottom - top) / n_rows
            (colour,) = (it[4] for it in boxes if 0 < x - it[0] < it[2] and 0 < y - it[1] < it[3])
            found.append(colour)
    return values.ravel().tolist(), found


def test_a_grid_has_every_head_with_its_strongest_weight(
    figure_of: Callable, hostile: Recording
) -> None:
    tree = tree_of(figure_of("head_grid"), PAGE)
    heads = [node for node in tree.iter(f"{SVG}g") if "data-kind" in node.attrib]
    assert len(heads) == sum(each.n_layers * each.n_heads for each in hostile.attentions.values())
    for node in heads:
        kind, layer, head = (
            node.get("data-kind"),
            *(int(node.get(f"data-{x}")) for x in ("layer", "head")),
        )
        weights = hostile.attentions[kind].weights(layer, head)
        row, column = (int(node.get(f"data-strongest-{x}")) for x in ("row", "column"))
        assert float(node.get("data-weight")) == pytest.approx(
            float(weights[row, column]), rel=1e-6
        )


def test_a_grid_of_numbers_has_the_heads_that_are_kept(figure_of: Callable) -> None:
    tree = tree_of(figure_of("head_grid", show="entropy", sort="entropy", top=5), PAGE)
    heads = [node for node in tree.iter(f"{SVG}rect") if "data-entropy" in node.attrib]
    for kind in {node.get("data-kind") for node in heads}:
        values = [float(it.get("data-entropy")) for it in heads if it.get("data-kind") == kind]
        assert len(values) <= 5 and values == sorted(values, reverse=True)


def test_cells_below_0_and_masked_ones_are_told_apart_without_colour(
    figure_of: Callable, hostile: Recording
) -> None:
    scores = read(hostile, "cross", Reading(lens="score")).values(1, 0)
    marks = [
        each for each in figure_of("head_map", "score").sheet(PAGE).marks if isinstance(each, Line)
    ]
    n_seen = int((scores < -FAINT * scores.abs().max()).sum())
    assert {len(each.parts) for each in marks} == {n_seen} and n_seen < (scores < 0).sum()
    assert not [each for each in figure_of("head_map").sheet(PAGE).marks if isinstance(each, Line)]
    own = hostile.attentions["decoder_self"]
    closed = ~own.allowed(0)[0].numpy()
    (strokes,) = hatched(closed, (0, 0, 10, 10), "#000000")
    assert isinstance(strokes, Line) and len(strokes.parts) == closed.sum() > 0


@pictures
def test_hostile_words_stay_text_everywhere(figure_of: Callable, name: str) -> None:
    figure = figure_of(name)
    tree = tree_of(figure, PAGE)
    assert tree.findtext(f"{SVG}title") == HOSTILE.replace("\u202e", " ")
    shown = PdfReader(io.BytesIO(figure.file("pdf", PAGE))).pages[0].extract_text()
    if name in ("head_grid", "cell_steps"):  # without words, or with cut ones
        return
    for word in labels(Token(0, word) for word in WORDS):
        in_svg = [text for text in texts(tree) if text == word or text.endswith("…")]
        assert word in in_svg or len(word) > 40, word
        assert word in shown or len(word) > 40, word
    assert "\u202e" not in shown + "".join(texts(tree))


def test_a_cell_from_inside_has_its_numbers(figure_of: Callable, hostile: Recording) -> None:
    cell = CellSteps(Selection("cross", 1, 0))
    header, arrays = unpack(cell.payload(hostile))
    nodes = list(tree_of(figure_of("cell_steps"), PAGE).iter())
    for vector, values in (("q", arrays[0]), ("k", arrays[1]), ("products", arrays[2])):
        bars = [node for node in nodes if node.get("data-vector") == vector]
        found = [float(node.get("data-value")) for node in bars]
        np.testing.assert_allclose(found, values, rtol=1e-6)
    said = {it.get("data-name"): it for it in nodes if it.get("data-name") and it.text}
    for name, value in (("q·k", header["dot"]), ("score", header["score"])):
        assert float(said[name].get("data-value")) == pytest.approx(value, rel=1e-6)
        assert said[name].text == f"{value:.4f}".replace("-", "−")
    weights = [float(node.get("data-weight")) for node in nodes if node.get("data-key")]
    np.testing.assert_allclose(weights, arrays[8][arrays[10]], rtol=1e-6)


def test_a_step_of_decoding_has_its_numbers(recorder: Any, record: Record) -> None:
    decoding = decode(recorder.checkpoint, "3 7 2 9")
    recording = make_recording(recorder.checkpoint, "3 7 2 9", decoding.target)
    player = DecodePlayer(1, 0)
    data = player.data(player.payload(recording, decoding), LIGHT, step=1)
    for width in (COLUMN, PAGE):
        nodes = list(tree_of(of_component("decode_player", data, record), width).iter())
        probs = [float(node.get("data-prob")) for node in nodes if node.get("data-prob")]
        step = decoding.steps[1]
        expected = [each.prob for each in step.candidates]
        np.testing.assert_allclose(probs[: len(expected)], expected, atol=1e-6)
        (weights,) = (node.get("data-weight") for node in nodes if node.get("data-weight"))
        cross = recording.attentions["cross"].weights(1, 0).numpy().ravel()
        np.testing.assert_allclose(np.array(weights.split(), float), cross, rtol=1e-5)
        bits = [float(node.get("data-entropy")) for node in nodes if node.get("data-entropy")]
        np.testing.assert_allclose(bits, [each.entropy for each in decoding.steps], atol=1e-4)


FEW = {"three attentions": "translator", "one": "generator", "a class": "classified"}


@pytest.mark.parametrize(
    "model", cases(["translator", "generator", "classified", "scored", *PLACED], FEW)
)
def test_every_view_is_drawn_with_its_numbers(
    nasty_recordings: Any, record: Record, model: str
) -> None:
    recording = nasty_recordings[model]
    for name, view in discover("viz.views", "VIEW").items():
        if not view.applies_to(recording):
            continue
        choices = {each.name: each.options(recording)[0] for each in view.controls}
        chart = view.content(recording, **choices)
        tree = tree_of(Figure(partial(sheet, chart, LIGHT), record))
        for mark in chart.marks:
            if isinstance(mark, Grid):
                assert_drawn(tree, "z", mark.values.ravel(), name)
            elif isinstance(mark, Curve) and mark.width and not chart.y.is_log:
                assert_drawn(tree, "y", mark.y, name)
            elif isinstance(mark, Bars):
                values = [float(it.get("data-value")) for it in tree.iter() if it.get("data-value")]
                np.testing.assert_allclose(values, mark.values, rtol=1e-5)


def assert_drawn(tree: ElementTree.Element, fact: str, expected: Any, name: str) -> None:
    """Some mark carries these numbers."""
    facts = [it.get(f"data-{fact}") for it in tree.iter()]
    drawn = [np.array(it.split(), float) for it in facts if it]
    assert any(
        it.size == len(expected) and np.allclose(it, expected, rtol=1e-5, equal_nan=True)
        for it in drawn
    ), name


def test_costs_are_told_apart_and_a_note_stands_at_its_line() -> None:
    pane, figures = page_of(address_of("./why_attention?checkpoint=copy&n=50&d=128"))
    marks = figure_of_page(pane, figures["operations"]).draw(225).marks
    said = {mark.text: mark for mark in marks if isinstance(mark, Words)}
    assert {layer.title for layer in LAYERS} <= set(said)
    parts = [mark.parts[0] for mark in marks if isinstance(mark, Line) and len(mark.parts[0]) == 2]
    upright = {a[0] for a, b in parts if a[0] == b[0]}
    for text in ("n = d = 128", "n = 50"):
        assert said[text].anchor == "start"
        assert min(abs(said[text].x - each) for each in upright) < 1e-6
    assert said["n = 50"].x < said["n = d = 128"].x < 150


def test_a_mask_says_what_its_colours_are() -> None:
    pane, figures = page_of(address_of("./masks?checkpoint=copy&mask_text=3+7%0A4+9+5"))
    marks = figure_of_page(pane, figures["mask-1-combined"]).draw(225).marks
    names = {mark.text for mark in marks if isinstance(mark, Words)} & set(STATES)
    fills = {mark.fill for mark in marks if isinstance(mark, Box)}
    assert len(names) > 1 and {LIGHT.mask_colours[STATES.index(it)] for it in names} <= fills


@kinds
@pytest.mark.parametrize("width", [COLUMN, PAGE])
def test_a_figure_is_as_wide_as_the_column(figure_of: Callable, kind: str, width: float) -> None:
    content = figure_of("head_map").file(kind, width)
    if kind == "svg":
        found = float(ElementTree.fromstring(content).get("width").removesuffix("pt")) / 72
    elif kind == "pdf":
        found = float(PdfReader(io.BytesIO(content)).pages[0].mediabox.width) / 72
    else:
        image = Image.open(io.BytesIO(content))
        found = image.width / 300
        assert image.info["Description"] == f"{HOSTILE}. {root_law('weight')}"
    assert found == pytest.approx(width, abs=0.01)


@kinds
def test_every_file_carries_its_record(figure_of: Callable, record: Record, kind: str) -> None:
    found = read_record(figure_of("head_map").file(kind))
    assert found == record.with_law(root_law("weight"))
    assert found.screen.text == "<b>" and found.link.startswith("./?")


@pictures
def test_dark_figures_have_a_dark_ground(figure_of: Callable, name: str) -> None:
    sheet = figure_of(name, theme=DARK).sheet(COLUMN)
    assert sheet.background == DARK.background != LIGHT.background


@pytest.mark.parametrize("width", [0.1, 1e9, float("nan")])
def test_a_width_that_no_paper_has_is_refused(figure_of: Callable, width: float) -> None:
    with pytest.raises(FigureError, match="inches wide"):
        figure_of("head_map").file("svg", width)
