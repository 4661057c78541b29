"""The text that a model wrote, with the probability of each word: on its page and on a wall."""

from math import exp, prod
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.ui.test_app import EXAMPLE, folder, screen, start
from transformer import decode, load_checkpoint, record
from viz.exhibits.exhibit import Words
from viz.page_fields import DecodeFields
from viz.pages.decode.hypotheses import written

__all__ = ["folder"]


def texts(app: AppTest) -> list[str]:
    return [it.proto.body for it in app.get("html") if 'class="text-lines"' in it.proto.body]


def players(app: AppTest) -> int:
    names = [each.proto.component_name for each in app.get("bidi_component")]
    return sum(name.endswith("decode_player") for name in names)


def test_each_word_has_the_probability_of_its_pieces(folder: Path) -> None:
    checkpoint = load_checkpoint(folder / "copy")
    decoding = decode(checkpoint, EXAMPLE, method="greedy")
    words = written(record(checkpoint, EXAMPLE, decoding.target)).content
    assert isinstance(words, Words)
    chosen = [step.candidates[0].prob for step in decoding.steps]
    values = [span.value for span in words.lines[0].spans if span.value is not None]
    assert prod(values) == pytest.approx(prod(chosen), rel=1e-4)
    (total,) = (span.value for span in words.foot if span.value is not None)
    assert exp(total) == pytest.approx(prod(values))


def test_the_page_shows_the_steps_or_the_text(copied: Path) -> None:
    app = start(page="decode")
    assert (players(app), len(texts(app))) == (1, 0)
    (chooser,) = (group for group in app.button_group if group.label == "Show")
    chooser.set_value("text").run()
    assert (players(app), len(texts(app))) == (0, 1)
    assert screen(app).of(DecodeFields).decode_as == "text"


def test_a_wall_has_the_text_where_a_scene_shows_it(copied: Path) -> None:
    on_wall = {"story": "attention-is-all-you-need", "scene": "1", "role": "stage"}
    app = start(page="decode", decode_as="text", **on_wall)
    assert (players(app), len(texts(app))) == (0, 1)
