"""Arguments of pictures: one order and one meaning each, and the spellings of the last version."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from inspect import isfunction, signature
from types import SimpleNamespace
from typing import Any

import pytest
import torch

import viz
from tests.transformer.watch.invented import TOKENS, D, HeadsAsAxis
from tests.vocabulary import FORMER, ORDER
from transformer import InputError, decode, load_checkpoint, record
from transformer.analysis.reading import Reading, strongest_weight
from transformer.old_spelling import Respelled
from viz import cell_steps, decode_player, head_grid, head_map, head_view
from viz.notebook.tracking import Track

FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{
        name: function
        for name in viz.__all__
        if isfunction(function := getattr(viz, name)) and name != "panels"
    },
    "Track.picture": Track.picture,
}
TEXT = "The neighbours gardened."


@cache
def things() -> SimpleNamespace:
    checkpoint = load_checkpoint("en-de-small", device="cpu")
    decoding = decode(checkpoint, TEXT)
    recording = record(checkpoint, TEXT, decoding.target)
    return SimpleNamespace(checkpoint=checkpoint, decoding=decoding, recording=recording)


def lengths(picture: Any) -> tuple[int, ...]:
    """The rows and columns of each map that a picture is of."""
    maps = picture.paper.exhibit.maps(picture.paper.recording).values()
    return tuple(n for map in maps for n in (len(map.rows), len(map.columns)))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_arguments_stand_in_one_order(name: str) -> None:
    names = [each for each in signature(FUNCTIONS[name]).parameters if each in ORDER]
    assert names == sorted(names, key=ORDER.index)
    assert len(names) > (name != "explore")
    assert {*FORMER, "model", "selection"}.isdisjoint(signature(FUNCTIONS[name]).parameters)


@pytest.mark.parametrize("draw", [head_view, head_grid, head_map])
def test_words_are_one_row_and_one_column(draw: Callable[..., Any]) -> None:
    recording = things().recording
    worded, plain = draw(recording, "cross", words=True), draw(recording, "cross")
    assert lengths(worded)[1] < lengths(plain)[1] == len(recording.source)
    columns = worded.paper.exhibit.maps(recording)["cross"].columns
    assert [it.piece for it in columns][:3] == ["The", "neighbours", "gardened"]
    reading = Reading(words=True)
    assert draw(recording, "cross", lens=reading).html == worded.html
    with_lens = draw(recording, "cross", lens=Reading(lens="value_norm"), words=True)
    assert with_lens.paper.exhibit.reading == replace(reading, lens="value_norm")


def test_words_of_a_decoding_are_one_column_each() -> None:
    it = things()
    worded = decode_player(it.decoding, it.recording, words=True)
    plain = decode_player(it.decoding, it.recording)
    (rows, columns), (steps, tokens) = lengths(worded), lengths(plain)
    assert rows == steps == len(it.decoding.target) and columns < tokens


def test_old_places_work_and_warn() -> None:
    of: Any = things().recording
    grid: Any = head_grid
    with pytest.warns(Respelled, match="show, sort, lens") as caught:
        old = grid(of, "cross", "entropy", "entropy", "value_norm")
    assert caught[0].filename == __file__
    assert (
        old.html == head_grid(of, "cross", show="entropy", sort="entropy", lens="value_norm").html
    )
    with pytest.warns(Respelled, match="show"):
        assert grid(of, "cross", "entropy").html == head_grid(of, "cross", show="entropy").html
    drawn: Any = head_map
    with pytest.warns(Respelled, match="path"):
        old = drawn(of, "cross", 1, 2, "weight", True)
    assert old.html == head_map(of, "cross", 1, 2, path=True).html


def test_the_old_name_of_a_module_works_and_warns() -> None:
    model, inputs = HeadsAsAxis().eval(), torch.randn(1, TOKENS, D)
    track: Any = viz.track
    with pytest.warns(Respelled, match="module"):
        assert track(model=model, inputs=inputs).course.steps == (0,)


def test_a_cell_left_out_is_the_strongest() -> None:
    recording = things().recording
    attention = recording.attentions["cross"]
    query, key = strongest_weight(attention, 1, 2)
    content = {len(cell_steps(recording, "cross", 1, 2, *each).html) for each in ((), (query, key))}
    assert len(content) == 1 or max(content) - min(content) < 200  # their titles differ
    strongest = cell_steps(recording, "cross", 1, 2).paper
    chosen = cell_steps(recording, "cross", 1, 2, query, key).paper
    assert strongest and chosen
    assert strongest.exhibit.payload(recording) == chosen.exhibit.payload(recording)
    assert cell_steps(recording).title == cell_steps(recording, "encoder_self", 0, 0).title


def test_a_query_alone_has_its_strongest_key() -> None:
    recording = things().recording
    weights = recording.attentions["cross"].weights(1, 2)
    of_row = cell_steps(recording, "cross", 1, 2, query=1).paper
    assert of_row and of_row.exhibit.cell == (1, int(weights[1].argmax()))
    of_column = cell_steps(recording, "cross", 1, 2, key=2).paper
    assert of_column and of_column.exhibit.cell == (int(weights[:, 2].argmax()), 2)
    for wrong in ({"query": 99}, {"key": -1}):
        with pytest.raises(InputError, match=next(iter(wrong))):
            cell_steps(recording, "cross", **wrong)


def test_one_head_needs_no_list() -> None:
    recording = things().recording
    for head in (0, 3, -1):
        assert head_view(recording, heads=head).html == head_view(recording, heads=[head]).html


def test_a_decoding_is_recorded_where_it_can_be() -> None:
    it = things()
    whole = decode_player(it.decoding, it.recording, 1, 2)
    assert decode_player(it.decoding, layer=1, head=2).html == whole.html
    with pytest.raises(InputError, match="recording"):
        decode_player(replace(it.decoding, origin=None))


@pytest.mark.parametrize("name", ["block", "port", "address", "opens_browser", "live"])
def test_explore_takes_no_wrong_thing(name: str) -> None:
    wrong: Any = {name: object()}
    with pytest.raises(InputError, match=name):
        viz.explore(HeadsAsAxis(), **wrong)


def test_a_generator_of_heads_is_refused() -> None:
    """Whoever counts them takes them away."""
    with pytest.raises(InputError, match="list of heads"):
        head_view(things().recording, heads=(head for head in (0, 1)))


def test_a_figure_as_bytes() -> None:
    picture = head_map(things().recording, "cross")
    assert picture.pdf(3.3, scale="linear").startswith(b"%PDF")
