"""Every composition of the gallery is there: its words, its weights, its link."""

import re
from functools import cache
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from transformer import Recording, decode, load_checkpoint, record
from transformer.checkpoint import Checkpoint
from transformer.decoding import decoding_methods
from viz.gallery import COMPOSITIONS, GROUPS, Composition, link
from viz.labels import kind_title

METHODS = {method.title: name for name, method in decoding_methods().items()}
EACH = pytest.mark.parametrize("composition", COMPOSITIONS, ids=lambda each: each.title)


@cache
def opened(name: str) -> Checkpoint:
    return load_checkpoint(Path("checkpoints") / name, "cpu")


@cache
def recorded(checkpoint: str, text: str, decoding: str | None) -> Recording:
    model = opened(checkpoint)
    target = decode(model, text, METHODS[decoding]).target if decoding else None
    return record(model, text, target)


def recording_of(composition: Composition) -> Recording:
    named = composition.parameters
    return recorded(named["checkpoint"], named["text"], named.get("decoding"))


@EACH
def test_its_weights_are_there_between_the_words_it_names(composition: Composition) -> None:
    recording = recording_of(composition)
    assert composition.facts
    for fact in composition.facts:
        attention = recording.attentions[fact.kind]
        rows = attention.produced if fact.kind == "cross" else attention.queries
        assert rows is not None
        assert rows[fact.query].piece.removeprefix("▁") == fact.row
        assert attention.keys[fact.key].piece.removeprefix("▁") == fact.column
        row = attention.weights(fact.layer, fact.head)[fact.query]
        assert fact.least <= float(row[fact.key]) < fact.least + 0.06
        assert int(row.argmax()) == fact.key


@EACH
def test_its_sentence_names_the_words_it_points_at(composition: Composition) -> None:
    first, *more = composition.facts
    pinned = composition.parameters.get("pins", "").split(",")
    words = {first.row, first.column, *(f.row for f in more if f"q{f.query}" in pinned)}
    assert {word for word in words if f"‘{word}’" not in composition.sentence} == set()
    assert re.search(r"\d\.\d\d", composition.sentence)
    assert composition.sentence.endswith(".")


@EACH
def test_its_address_says_what_it_shows(composition: Composition) -> None:
    """The heads of the facts are those of the link; labels are those of the controls."""
    named = composition.parameters
    overlaid = {int(head) for head in named.get("heads", named["head"][1:]).split(",")}
    if "head_b" in named:
        overlaid.add(int(named["head_b"][1:]))
    assert {fact.head for fact in composition.facts} == overlaid
    layers = {named["layer"], named.get("layer_b", named["layer"])}
    assert {f"L{fact.layer}" for fact in composition.facts} == layers
    if "kind" in named:
        assert {kind_title(fact.kind) for fact in composition.facts} == {named["kind"]}
    rows = {f"q{fact.query}" for fact in composition.facts}
    assert set(filter(None, named.get("pins", "").split(","))) <= rows
    cells = {f"{fact.query},{fact.key}" for fact in composition.facts}
    assert named.get("cell", next(iter(cells))) in cells
    assert int(named.get("step", 0)) in {0, *(fact.query for fact in composition.facts)}


@EACH
def test_its_link_reads_back_as_its_parameters(composition: Composition) -> None:
    address = urlsplit(link(composition))
    assert (address.scheme, address.netloc) == ("", "")
    assert address.path == f"./{composition.page}"
    assert {name: value for name, (value,) in parse_qs(address.query).items()} == dict(
        composition.parameters
    )
    assert "+" not in address.query  # a space is %20 for every reader


def test_no_two_are_one() -> None:
    assert len({each.title for each in COMPOSITIONS}) == len(COMPOSITIONS)
    assert len({link(each) for each in COMPOSITIONS}) == len(COMPOSITIONS)
    assert sum(map(len, GROUPS.values())) == len(COMPOSITIONS)
