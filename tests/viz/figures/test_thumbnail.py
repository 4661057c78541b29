"""The small pictures of the gallery: what is drawn is what the recording holds."""

import re
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import torch

from transformer import Recording
from transformer.analysis.reading import PLAIN, Reading
from transformer.token import Token
from viz.figures.scenes import Picture, cards, describe_thumbnail, draw_thumbnail, facts_there
from viz.screen import Screen
from viz.stories.reading import stories_of
from viz.stories.story import Fact, Scene
from viz.theme import LIGHT

SVG = "{http://www.w3.org/2000/svg}"
FACTS = (
    Fact("cross", 1, 0, 3, 2, "row", "column", 0.0),
    Fact("cross", 1, 1, 3, 4, "row", "other", 0.0),
)


def scene(facts: tuple[Fact, ...] = FACTS, **chosen: Any) -> Scene:
    return Scene("A <title>", "Words & numbers.", Screen(checkpoint="x", **chosen), facts)


def drawn(scene: Scene, recording: Recording, reading: Reading = PLAIN) -> ElementTree.Element:
    return ElementTree.fromstring(draw_thumbnail(scene, recording, reading, LIGHT))


def test_a_line_is_a_weight_of_the_pinned_row(recording: Recording) -> None:
    paths = drawn(scene(pins=("q3",)), recording).findall(f"{SVG}path")
    expected = [
        (LIGHT.head_colours[head], f"{weight:.2f}")
        for head in (0, 1)
        for weight in recording.attentions["cross"].weights(1, head)[3].tolist()
        if weight >= 0.05
    ]
    assert expected
    assert [(p.get("stroke"), p.get("stroke-opacity")) for p in paths] == expected


def test_without_a_pin_every_row_is_drawn(recording: Recording) -> None:
    weights = recording.attentions["cross"].weights(1, 0)
    paths = drawn(scene(FACTS[:1]), recording).findall(f"{SVG}path")
    assert len(paths) == int((weights >= 0.05).sum())
    assert {path.get("stroke") for path in paths} == {LIGHT.ink}


def test_a_scene_that_leaves_special_tokens_out_draws_no_line_to_them(recording: Recording) -> None:
    attention = recording.attentions["decoder_self"]
    plain = torch.tensor([not key.special for key in attention.keys])
    assert not plain.all()
    fact = replace(FACTS[0], kind="decoder_self")
    paths = drawn(scene((fact,), special="hidden"), recording).findall(f"{SVG}path")
    assert len(paths) == int((attention.weights(1, 0)[:, plain] >= 0.05).sum())


def test_a_map_shades_every_cell(recording: Recording) -> None:
    weights = recording.attentions["cross"].weights(1, 0)
    picture = drawn(scene(FACTS[:1], picture="map"), recording)
    frame, *cells = picture.findall(f"{SVG}rect")
    side = float(frame.get("width") or 0) / weights.size(1)
    covered = sum(float(cell.get("width") or 0) for cell in cells) / side
    shaded = (weights.sqrt() * 16).round() > 0
    assert round(covered) == int(shaded.sum())
    assert {cell.get("fill") for cell in cells} <= set(LIGHT.attention_scale)


def test_words_are_text_and_never_touch(recording: Recording) -> None:
    facts = tuple(replace(FACTS[0], key=key, column="<b>&wide words") for key in (0, 1, 2))
    words = drawn(scene(facts, pins=("q3",)), recording).findall(f"{SVG}text")
    assert [word.text for word in words] == ["<b>&wide words", "row"]


def test_it_says_the_exact_weights(recording: Recording) -> None:
    said = describe_thumbnail(scene(), recording, PLAIN)
    attention = recording.attentions["cross"]
    numbers = [f"{float(attention.weights(1, f.head)[f.query, f.key]):.4f}" for f in FACTS]
    assert re.findall(r"\d\.\d{4}", said) == numbers
    assert said.startswith("Cross L1 H0: ")


def test_words_have_a_place_each_and_their_pieces_none(recording: Recording) -> None:
    pieces = (Token(2, "▁cher"), Token(3, "ries"), *recording.source[2:])
    attention = replace(recording.attentions["cross"], keys=pieces)
    spelled = replace(recording, source=pieces, attentions={"cross": attention})
    of_words = Reading(words=True)
    circles = drawn(scene(), spelled, of_words).findall(f".//{SVG}circle")
    assert len(circles) == len(attention.queries) + len(pieces) - 1
    first = replace(FACTS[0], key=0)
    weight = f"{float(attention.weights(1, 0)[3, :2].sum()):.4f}"
    said = describe_thumbnail(scene((first,)), spelled, of_words)
    assert said.endswith(f"→ cherries {weight}")


def test_a_fact_beyond_the_last_word_is_left_out(recording: Recording) -> None:
    far = replace(FACTS[0], query=400)
    assert facts_there(scene((*FACTS, far)), recording, PLAIN) == FACTS


def test_a_card_has_one_link_of_its_own_name() -> None:
    story, *_ = stories_of("gallery")
    n = len(story.scenes)
    pictures = [None, *(Picture("<svg/>", 'a "b" <c>') for _ in range(n - 1))]
    page = cards(story, pictures)
    names = re.findall(r'<a data-state href="\./[^"]+" aria-label="Open: ([^"]+)">', page)
    assert len(set(names)) == n
    assert page.count("<img") == n - 1
    assert 'alt="a &quot;b&quot; &lt;c&gt;"' in page


def test_a_card_spells_a_formula_as_streamlit_draws_none() -> None:
    story, *_ = stories_of("gallery")
    words = "It is $n^2$ (`$d$` costs $5 and $6):\n\n$$\\frac{a}{b}$$"
    page = cards(replace(story, scenes=(replace(story.scenes[0], text=words),)), [None])
    said = "<p>It is <code>n^2</code> (<code>$d$</code> costs $5 and $6):</p>"
    assert f"{said}<p><code>\\frac{{a}}{{b}}</code></p>" in page and "<math" not in page
