"""Pictures whose reader types: what the engine is asked for is what Python drew, of any text."""

import json
import re
import subprocess
from base64 import b64decode
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.node import node
from tests.viz.live.engine import ENGINE
from tests.viz.live.payloads import Comparison, Found, packed
from transformer import decode, load_checkpoint, record, survey
from transformer.analysis.reading import Reading
from viz import (
    Picture,
    cell_steps,
    decode_player,
    head_grid,
    head_map,
    head_view,
    heads_table,
    search_tree,
)
from viz.components.cell_steps.cell_steps import CellSteps
from viz.live.alive.request import OPTIONS, AliveError, request_of_origin

NAME = "en-de-small"
FIRST, OTHER = "It rains in the city.", "The old man has never seen such a house."
EDITS = ("head-off:cross.1.2",)
MERGED = Reading(words=True, special="hidden")


def answered(text: str, method: str = "beam", edits: tuple[str, ...] = EDITS, **more: Any) -> Any:
    checkpoint = load_checkpoint(NAME)
    decoding = decode(checkpoint, text, method, edits=edits, **more)
    return record(checkpoint, text, decoding.target, edits), decoding


DRAWN: dict[str, Callable[[Any, Any], Picture]] = {
    "head_grid": lambda it, _: head_grid(it, "decoder_self"),
    "head_view": lambda it, _: head_view(it, "cross", 1, lens=MERGED),
    "head_map": lambda it, _: head_map(it, "encoder_self", -1, 3, Reading(words=True)),
    "cell_steps": lambda it, _: cell_steps(it, "cross", 1, 0, 1, 2),
    "decode_player": lambda it, decoding: decode_player(decoding, it, 1, 2),
    "search_tree": lambda _, decoding: search_tree(decoding, words=False),
}


def scene(picture: Picture) -> Any:
    """The scene of a page, as the browser reads it."""
    (content,) = re.findall(r'id="content">(.*?)</script>', picture.live.html, re.S)
    return json.loads(content)["scene"]


def request_of(picture: Picture) -> Any:
    """The part of it that says how the text is answered."""
    made = picture.made_of
    assert made is not None
    return request_of_origin(made.origin, made.target).data()


def test_the_engine_draws_of_another_text_what_python_draws_of_it() -> None:
    pictures, answers = dict[str, Any](), (answered(FIRST), answered(OTHER))
    for name, draw in DRAWN.items():
        drawn = scene(draw(*answers[0]))
        assert (drawn["text"], drawn["method"], drawn["edits"]) == (FIRST, "beam", list(EDITS))
        ((component, of),) = drawn["pictures"]
        assert component == name
        pictures[name] = {**of, **({"cell": None} if "cell" in of else {})}
    asked = {"text": OTHER, "method": drawn["method"], "changes": drawn["kept"]}
    (given,) = packed(NAME, [{"asked": asked, "pictures": pictures}])
    assert "error" not in given, given
    for name, draw in DRAWN.items():
        made, found = draw(*answers[1]).made_of, Found()
        assert made is not None
        picture = made.pictures[0].picture
        picture = replace(picture, cell=None) if isinstance(picture, CellSteps) else picture
        own = Comparison(found, OTHER, is_exact=False)
        own.payloads(name, picture, answers[1], b64decode(given["payloads"][name]))
        assert found.lines == [] and found.n_compared


def test_what_was_decided_of_the_first_text_alone_holds_for_no_other() -> None:
    edits = ("head-off:cross.1.2", "hide:source.1", "cut:cross.0.0.2.1")
    drawn = request_of(head_map(answered(FIRST, edits=edits)[0]))
    assert drawn["edits"] == list(edits) and drawn["kept"] == ["head-off:cross.1.2"]


def test_a_recording_is_known_by_what_writes_its_target() -> None:
    text = "The animal didn't cross the street because it was too tired."
    recordings = {each: answered(text, each)[0] for each in ("greedy", "beam")}
    assert recordings["greedy"].target != recordings["beam"].target
    for method, recording in recordings.items():
        assert request_of(head_map(recording))["method"] == method


def test_decoding_stands_as_it_was_chosen() -> None:
    recording, decoding = answered(OTHER, beam_size=2, prefix="Ein", max_len=6)
    drawn = request_of(decode_player(decoding, recording))
    assert drawn["options"] == {"beam_size": 2, "max_len": 6}
    assert drawn["prefix"] == [token.id for token in decoding.target[: len(drawn["prefix"])]] != []
    short, _ = answered(OTHER, max_len=4)
    assert request_of(head_map(short))["options"] == {"max_len": 4}


def test_what_no_engine_draws_is_refused_by_what_is_in_the_way(tmp_path: Path) -> None:
    import torch

    recording, _ = answered(OTHER)
    drawn, _ = answered(OTHER, edits=("head-scale:cross.1.1=0.5",))
    by_hand = record(NAME, OTHER, "Das ist kein Haus.")
    layer = torch.nn.TransformerEncoderLayer(8, 2, 8, batch_first=True).eval()
    of_module = record(layer, torch.rand(1, 3, 8), ["a", "b", "c"])
    forced = decode(NAME, OTHER, "beam", force=["Haus"])
    for picture, why in (
        (head_map(recording, lens="value_norm"), "value-weighted norm"),
        (head_map(recording, lens=Reading(special="renormalised")), "renormalised"),
        (head_map(drawn), "head-scale"),
        (head_map(by_hand), "greedy"),
        (head_map(of_module), "trained here"),
        (search_tree(forced), "force"),
        (heads_table(survey(NAME, [OTHER])), "no one text"),
        (search_tree(decode("everyday", "She told", "sample", max_len=3)), "Sampling"),
    ):
        with pytest.raises(AliveError, match=re.escape(why)):
            picture.save(tmp_path / "page.html", live=True)
    assert [*tmp_path.iterdir()] == []


def test_a_classifier_and_a_generator_are_typed_into() -> None:
    drawn = scene(head_grid(record("sentiment", "A dull film.")))
    assert (drawn["method"], drawn["written"]) == ("", "negative")
    decoding = decode("everyday", "She told me that she", max_len=5)
    recording = record("everyday", "She told me that she", decoding.target)
    drawn = request_of(head_view(recording))
    assert drawn["method"] == "greedy" and drawn["options"] == {"max_len": 5}


def test_site_and_engine_know_the_same_options_of_decoding() -> None:
    names = "Object.entries(it.METHODS).map(([name, { options }]) => [name, Object.keys(options)])"
    show = f"it => console.log(JSON.stringify({names}))"
    code = f"import('{(ENGINE / 'decoding.js').as_uri()}').then({show})"
    done = subprocess.run([node(), "-e", code], capture_output=True, text=True, check=True)
    known = {name: {*options} for name, options in json.loads(done.stdout)}
    assert {name: {*options} for name, options in OPTIONS.items()} == {
        name: options - {"repeats"} for name, options in known.items()
    }
