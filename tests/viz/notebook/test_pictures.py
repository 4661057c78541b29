"""Pictures that stand alone hold the app's own bytes, reach no network, and say what is missing."""

import json
import re
import sys
from base64 import b64decode
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tests.browser.apps.random_attention import random_recording
from tests.transformer.watch.invented import HEADS, TOKENS, D, HeadsAsAxis
from transformer import Decoding, Recording, record
from transformer.analysis.cell import inside
from transformer.analysis.reading import Reading, read
from transformer.recording.data import NoSuchHead
from viz import Picture, cell_steps, decode_player, head_grid, head_map, head_view
from viz.components.cell_steps.cell_steps import pack_cell
from viz.components.decode_player.decode_player import DecodePlayer
from viz.components.head_grid.head_grid import pack_kinds
from viz.components.head_map.head_map import pack_head_map
from viz.components.head_view.head_view import HeadView, pack_head_view
from viz.components.kit import browser
from viz.components.kit.browser import unpack
from viz.paper.record import FigureError
from viz.sentence import wording
from viz.theme import DARK, LIGHT

ROOT = Path(__file__).parents[3]
SVG = "http://www.w3.org/2000/svg"
"""A name, not an address: nothing is fetched from it."""
PICTURES: dict[str, Callable[[Recording], Picture]] = {
    "head_view": head_view,
    "head_grid": head_grid,
    "head_map": head_map,
    "cell_steps": lambda recording: cell_steps(recording, None, 0, 0, 1, 1),
}
every_picture = pytest.mark.parametrize("draw", PICTURES.values(), ids=PICTURES)


def content(picture: Picture) -> dict[str, Any]:
    """What the page hands to its script."""
    found = re.search(r'<script type="application/json" id="content">(.*?)</script>', picture.html)
    assert found is not None
    return dict(json.loads(found.group(1)))


def payload(picture: Picture) -> bytes:
    return b64decode(content(picture)["first"]["payload"])


class Elements(HTMLParser):
    """The elements of a page in order, and their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


@every_picture
def test_a_page_reaches_no_network(
    draw: Callable[[Recording], Picture], recording: Recording
) -> None:
    page = draw(recording).html
    assert "default-src 'none'" in page
    assert set(re.findall(r"https?://[\w./]+", page)) <= {SVG}
    elements = Elements(page).found
    assert not [1 for _, attributes in elements if {"src", "href"} & set(attributes)]
    assert "@import" not in page
    assert set(re.findall(r"url\(.", page)) <= {"url(#"}  # within a figure that is saved


@every_picture
def test_pieces_never_end_an_element(
    draw: Callable[[Recording], Picture], nasty: Recording, recording: Recording
) -> None:
    tags = [[tag for tag, _ in Elements(draw(each).html).found] for each in (nasty, recording)]
    assert tags[0] == tags[1]
    assert tags[0].count("script") == 2


@every_picture
def test_a_notebook_shows_the_same_page_in_a_frame(
    draw: Callable[[Recording], Picture], nasty: Recording, tmp_path: Path
) -> None:
    picture = draw(nasty)
    found = Elements(picture._repr_html_()).found
    assert [tag for tag, _ in found] == ["div", "style", "iframe", "div", "img", "p"]
    attributes = found[2][1]
    assert attributes["srcdoc"] == picture.html
    assert attributes["title"] == picture.title
    file = picture.save(tmp_path / "picture.html")
    assert file.read_text(encoding="utf-8") == picture.html
    assert len(repr(picture)) < 200


@every_picture
def test_the_ending_of_a_file_is_what_it_holds(
    draw: Callable[[Recording], Picture], recording: Recording, tmp_path: Path
) -> None:
    """A page in a file of another kind is one that nothing opens."""
    picture = draw(recording)
    kinds = {"bmp", "", "png"} - ({"png"} if picture.figure else set())
    for kind in kinds:
        with pytest.raises(FigureError, match=r"end it in \.html"):
            picture.save(tmp_path / f"picture.{kind}")
    assert not list(tmp_path.iterdir())
    assert picture.save(tmp_path / "picture.HTM").read_bytes() == picture.html.encode()


def test_whole_numbers_of_numpy(recording: Recording) -> None:
    """Whoever looks for the strongest cell has such numbers."""
    one = np.int64(1)
    for draw in (
        lambda n: head_view(recording, "cross", n, [n]),
        lambda n: head_map(recording, "cross", n, n),
        lambda n: cell_steps(recording, "cross", n, n, n, n),
    ):
        assert draw(one).html == draw(1).html


def test_pages_hold_the_bytes_that_the_app_sends(recording: Recording) -> None:
    plain = read(recording, "cross")
    assert payload(head_view(recording, "cross", 1)) == pack_head_view(plain, 1)
    assert payload(head_grid(recording, "cross")) == pack_kinds([plain])
    assert payload(head_map(recording, "cross", 1, 1)) == pack_head_map(plain, 1, 1)
    words = Reading(lens="value_norm", words=True)
    expected = pack_head_map(read(recording, "decoder_self", words), 0, 1)
    assert payload(head_map(recording, "decoder_self", 0, 1, words)) == expected


def test_each_theme_is_the_apps_envelope(recording: Recording) -> None:
    given = content(head_view(recording, "cross", heads=[1, 0]))["first"]
    data = partial(HeadView("cross", 0).data, head=-1, heads=(1, 0))
    for theme in (LIGHT, DARK):
        whole = b64decode(given["heads"][theme.name]) + b64decode(given["payload"])
        assert whole == data(b64decode(given["payload"]), theme)
    assert list(content(head_view(recording, theme="dark"))["first"]["heads"]) == ["dark"]


def test_a_generators_text_begins_with_its_prompt(recordings: dict[str, Recording]) -> None:
    recording = recordings["generator"]
    expected = pack_head_view(read(recording, "decoder_self"), 0)
    assert payload(head_view(recording)) == expected
    n_prompt = len(recording.source)
    assert unpack(expected)[0]["sides"]["rows"]["source"] == list(range(n_prompt))


def test_a_cell_holds_those_beside_it(recording: Recording) -> None:
    plain = read(recording, "cross")
    answers = content(cell_steps(recording, "cross", 1, 0, 2, 3))["answers"]
    assert sorted(answers) == sorted(f'["cell",[2,{key}]]' for key in range(len(plain.columns)))
    cell = inside(recording, "cross", 1, 0, 2, 5)
    expected = pack_cell(cell, plain.rows[2], plain.columns[5], plain.columns, wording(plain))
    assert b64decode(answers['["cell",[2,5]]']["payload"]) == expected


def test_a_decoding_plays(recorder: Any, decoding: Decoding) -> None:
    recording = record(recorder.checkpoint, "3 7 2 9", decoding.target)
    for head in (None, 1):
        shown = payload(decode_player(decoding, recording, 1, head))
        assert shown == DecodePlayer(1, head).payload(recording, decoding)
    last = payload(decode_player(decoding, recording, -1, -1))
    assert last == DecodePlayer(1, 1).payload(recording, decoding)
    with pytest.raises(ValueError, match=r"not of that decoding: record the same source"):
        decode_player(decoding, recorder(4, 3))


@pytest.mark.parametrize(("n_tokens", "block"), [(600, [1, 1]), (1100, [3, 3])])
def test_a_long_map_is_exact_up_to_1024_tokens(n_tokens: int, block: list[int]) -> None:
    header, arrays = unpack(payload(head_map(random_recording("encoder_self", 1, n_tokens))))
    assert header["block"] == block
    assert arrays[0].shape == (-(-n_tokens // block[0]),) * 2


def test_a_model_of_ones_own_is_drawn_with_what_it_computed() -> None:
    torch.manual_seed(0)
    model = HeadsAsAxis().eval()
    pieces = [f"</p>{i}" for i in range(TOKENS)]
    recording = record(model, torch.randn(1, TOKENS, D), pieces)
    _, (values,) = unpack(payload(head_view(recording, heads=range(HEADS))))
    allowed = ~torch.from_numpy(values.copy()).isnan()
    shown = torch.from_numpy(values.copy()).nan_to_num(0.0)
    torch.testing.assert_close(shown, model.wanted, rtol=0, atol=0)
    assert (model.wanted[~allowed] == 0).all()
    head_grid(recording)
    head_map(recording, head=2)
    with pytest.raises(ValueError, match="only the weights"):
        cell_steps(recording, None, 0, 0, 1, 1)
    with pytest.raises(ValueError, match="only the weights"):
        head_map(recording, lens="score")


def test_the_example_in_the_readme_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    section = (ROOT / "README.md").read_text(encoding="utf-8").split("## In a notebook")[1]
    code = section.split("```python")[1].split("```")[0]
    layer = torch.nn.TransformerEncoderLayer(48, 6, 8, batch_first=True)
    model = torch.nn.TransformerEncoder(layer, 3, enable_nested_tensor=False).eval()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "headscope", import_module("viz.headscope"))
    exec(code, {"model": model, "inputs": torch.randn(1, 3, 48), "tokens": list("abc")})
    saved = Path("head.html").read_text(encoding="utf-8")
    assert "<title>Encoder self-attention, L2 H5</title>" in saved


MISTAKES: dict[str, tuple[Callable[[Recording], object], str]] = {
    "kind": (
        lambda r: head_view(r, "crossed"),
        "There is no kind of attention 'crossed' here: there is encoder_self, decoder_self, cross.",
    ),
    "layer": (lambda r: head_view(r, "cross", 2), "There is no layer 2: cross has 2, "),
    "below 0": (lambda r: head_map(r, "cross", -3), "There is no layer -3: cross has 2, "),
    "head": (lambda r: head_map(r, "cross", 0, 2), "There is no head 2: cross has 2, "),
    "heads": (lambda r: head_view(r, heads=[0, 5]), "no head 5: encoder_self has 2, "),
    "inside": (lambda r: cell_steps(r, "cross", 0, 2, 0, 0), "no head 2: cross has 2, "),
    "query": (lambda r: cell_steps(r, "cross", 0, 0, 5, 0), "no query 5: cross has 0 to 4."),
    "key": (lambda r: cell_steps(r, "cross", 0, 0, 0, 7), "no key 7: cross has 0 to 6."),
    "lens": (lambda r: head_grid(r, lens="lense"), "There is no lens 'lense' here: there is "),
    "metric": (lambda r: head_grid(r, show="size"), "no thing to show 'size' here: there is maps,"),
    "order": (lambda r: head_grid(r, sort="size"), "no order 'size' here: there is layer, "),
    "theme": (lambda r: head_grid(r, theme="blue"), "no theme 'blue': there are auto, light, dark"),  # type: ignore[arg-type]
    "height": (lambda r: head_grid(r, height=0), "A height of 0 pixels shows nothing"),
    "nothing": (lambda r: head_grid(replace(r, attentions={})), "holds no attention"),
}


@pytest.mark.parametrize(("mistake", "says"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes_end_in_a_sentence(
    mistake: Callable[[Recording], object], says: str, recording: Recording
) -> None:
    with pytest.raises((ValueError, NoSuchHead), match=re.escape(says)):
        mistake(recording)


def test_heads_are_counted_from_the_end_too(recording: Recording) -> None:
    """As the recording itself counts them."""
    both: list[Callable[[int], Picture]] = [
        lambda last: head_map(recording, "cross", last, last),
        lambda last: head_view(recording, "cross", last, [last]),
        lambda last: cell_steps(recording, "cross", last, last, 1, 1),
    ]
    for made in both:
        assert made(-1).title == made(1).title
        assert made(-1).html == made(1).html


def test_components_name_their_element() -> None:
    component = browser.Component("head_view")
    assert component.html.startswith('<div class="headscope head-view"></div><template ')
