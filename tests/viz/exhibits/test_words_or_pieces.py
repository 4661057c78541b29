"""Words everywhere, or pieces everywhere: what the switch says holds in every picture."""

from collections.abc import Iterator
from typing import Any

import pytest

from transformer.token import Token
from viz.components.decode_player.decode_player import word_so_far
from viz.components.kit.browser import unpack
from viz.exhibits.chart import Chart
from viz.exhibits.exhibit import PictureAt
from viz.figure_at import page_of
from viz.labels import label, word_label
from viz.run.work import Growth
from viz.screen import parse

TEXT = "She overslept."
PAGES = {
    "arrows": {"page": "explore"},
    "map": {"page": "explore", "picture": "map"},
    "inside": {"page": "explore", "picture": "inside"},
    "compare": {"page": "compare"},
    "decode": {"page": "decode"},
}


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("tokens", ["words", "pieces"])
def test_a_space_has_a_sign_in_pictures_of_pieces_alone(page: str, tokens: str) -> None:
    more = {"checkpoint": "en-de", "text": TEXT, "tokens": tokens}
    pane, exhibits = page_of(parse({**PAGES[page], **more}))
    spaced = {}
    for name, exhibit in exhibits.items():
        if isinstance(exhibit, Growth):
            continue
        if isinstance(exhibit.content, PictureAt):
            answer = (exhibit.pane or pane).answer
            texts = list(_texts(unpack(exhibit.content.picture.payload(*answer.parts))[0]))
        elif isinstance(exhibit.content, Chart):
            sides = (exhibit.content.x, exhibit.content.y)
            texts = [each for side in sides for each in _texts(side.labels)]
        else:
            continue
        spaced[name] = any("▁" in each for each in texts)
    spaced.pop("grid", None)  # packed once more
    assert spaced
    assert set(spaced.values()) == {tokens == "pieces"}, spaced


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, Token):
        yield label(value)
    elif isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _texts(each)


@pytest.mark.parametrize(
    ("piece", "name"),
    [
        ("▁Das", "Das"),
        (" Das", "Das"),
        ("ing", "·ing"),
        ("##ing", "##ing"),
        ("'s", "·'s"),
        (",", ","),
        ("日", "日"),
        ("▁", "␣"),
    ],
)
def test_a_piece_that_continues_a_word_shows_it(piece: str, name: str) -> None:
    assert word_label(Token(0, piece)) == name


def test_special_tokens_and_marked_pieces_are_as_they_are() -> None:
    assert word_label(Token(0, "</s>", special=True)) == "</s>"
    assert word_label(Token(0, "ing", begins=False)) == "·ing"
    assert word_label(Token(0, "cat", begins=True)) == "cat"


@pytest.mark.parametrize(
    ("before", "piece", "name"),
    [
        (["▁Die", "▁na"], "ked", "naked"),
        (["▁Die", "▁na"], "▁ked", "ked"),
        (["▁na", "<0xC3>"], "<0xAF>", "naï"),
        (["▁na"], "<0xC3>", "<0xC3>"),
        (["▁na"], ".", "."),
        ([], "ked", "·ked"),
        (["▁Straßen", "bahn", "halte"], "stelle", "…haltestelle"),
    ],
)
def test_a_candidate_is_the_word_that_it_would_make(
    before: list[str], piece: str, name: str
) -> None:
    tokens = [Token(i, each) for i, each in enumerate(before)]
    assert word_so_far(tokens, Token(99, piece)) == name
