"""Where a notebook drops frames, styles and scripts, each output still shows what it is of."""

from collections.abc import Callable
from html.parser import HTMLParser
from types import SimpleNamespace

import pytest

from transformer import Checkpoint, Decoding, Recording, evidence, load_checkpoint, record, survey
from transformer.extras import NotInstalled
from viz import (
    Picture,
    cell_steps,
    decode_player,
    figure,
    head_grid,
    head_map,
    head_view,
    heads_table,
    search_tree,
    word_card,
)
from viz.notebook import picture as still

TEXT = "It rains."
DROPPED_WHOLE = {"style", "script", "textarea", "option", "noscript"}
"""JupyterLab's sanitiser (packages/apputils/src/sanitizer.ts) drops these with what they hold."""
DROPPED = {"iframe", "svg", "html", "head", "body", "meta", "link", "object", "embed"}
"""And these alone; of what we use it keeps the rest, and an image's data."""


class Sanitised(HTMLParser):
    """An output as it is shown where nobody trusts it: its tags, its images, its text."""

    def __init__(self, output: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.images: list[dict[str, str | None]] = []
        self.text = ""
        self._within: list[str] = []
        self.feed(output)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in DROPPED_WHOLE:
            self._within.append(tag)
        elif tag not in DROPPED and not self._within:
            self.tags.append(tag)
            self.images += [dict(attrs)] if tag == "img" else []

    def handle_endtag(self, tag: str) -> None:
        if self._within and self._within[-1] == tag:
            self._within.pop()

    def handle_data(self, data: str) -> None:
        self.text += "" if self._within else data


@pytest.fixture(scope="module")
def translator() -> Checkpoint:
    return load_checkpoint("checkpoints/en-de-1", "cpu")


IMAGES: dict[str, Callable[[Recording], Picture]] = {
    "head_view": head_view,
    "head_grid": head_grid,
    "head_map": head_map,
    "cell_steps": lambda recording: cell_steps(recording, None, 0, 0, 1, 1),
}


@pytest.mark.parametrize("draw", IMAGES.values(), ids=IMAGES)
def test_a_picture_leaves_an_image_and_a_sentence(
    draw: Callable[[Recording], Picture], nasty: Recording
) -> None:
    assert_image(draw(nasty))


def test_so_does_a_decoding(checkpoint: Checkpoint, decoding: Decoding) -> None:
    recording = record(checkpoint, "3 7 2 9", decoding.target)
    assert_image(decode_player(decoding, recording))
    assert_image(search_tree(decoding))


def assert_image(picture: Picture) -> None:
    shown = Sanitised(picture._repr_html_())
    (image,) = shown.images
    assert image["alt"] == picture.title
    assert (image["src"] or "").startswith("data:image/svg+xml;base64,")
    assert picture.title in shown.text


def test_a_table_leaves_its_cells(translator: Checkpoint) -> None:
    found = evidence(translator, TEXT)
    shown = Sanitised(word_card(found, 0)._repr_html_())
    assert "table" in shown.tags and f"{float(found.hidden[0].max()):.2f}" in shown.text
    heads = Sanitised(heads_table(survey(translator, [TEXT]))._repr_html_())
    n_above = 2  # the heads of the columns, and what they mean
    assert heads.tags.count("tr") == n_above + 72 and "Cross L2 H3" in heads.text


def test_a_figure_brings_an_image_and_its_sentence(recording: Recording) -> None:
    drawn = figure(recording, "head_heatmap")
    assert not callable(drawn._ipython_display_)
    bundle = drawn._repr_mimebundle_()
    (image,) = Sanitised(bundle["text/html"]).images
    assert image["alt"] == bundle["text/plain"]
    assert drawn.update_layout(height=300)._repr_mimebundle_() == bundle


def test_without_what_draws_it_the_sentence_is_left(
    recording: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    picture = head_map(recording)

    def refuse(*_: object) -> bytes:
        raise NotInstalled("matplotlib is not here")

    monkeypatch.setattr(type(picture.figure), "file", refuse)
    shown = Sanitised(picture._repr_html_())
    assert not shown.images and picture.title in shown.text
    assert still.image(None, "") == ""


def test_as_text_a_picture_says_what_it_is(recording: Recording) -> None:
    said: list[str] = []
    head_map(recording, "cross", 1, 1)._repr_pretty_(SimpleNamespace(text=said.append), False)
    assert len(said) == 1 and "Cross-attention, L1 H1" in said[0]
