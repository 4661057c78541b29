"""Edits in words, and the factor that leads from one kind to another."""

from pathlib import Path

import pytest

from transformer import decode, load_checkpoint, record
from transformer.analysis.reading import read
from transformer.checkpoint import Checkpoint
from transformer.edits import Edit, EditKind, edit_kinds, parse
from transformer.edits.edit import NUMBERS
from transformer.recording import Recording
from transformer.token import Token
from viz.edit_words import (
    edit_text,
    edits_text,
    factor_of,
    grouped,
    named_tokens,
    scale_of,
    with_factor,
)

TEXT = "The animal didn't cross the street because it was too tired."


@pytest.fixture(scope="module")
def en_de() -> Checkpoint:
    return load_checkpoint(Path("checkpoints/en-de"))


@pytest.fixture(scope="module")
def recording(en_de: Checkpoint) -> Recording:
    return record(en_de, TEXT, decode(en_de, TEXT).target)


@pytest.mark.parametrize(
    ("spelled", "words"),
    [
        ("head-off:cross.2.3", "Cross L2 H3 off"),
        ("head-scale:encoder_self.0.1=0.5", "Encoder L0 H1 × 0.5"),
        ("cut:cross.2.3.1.1", "Cross L2 H3: Tier ↛ animal"),
        ("arrow-scale:encoder_self.2.3.1.1=2", "Encoder L2 H3: animal → animal × 2"),
        ("cut:cross.2.3.99.98", "Cross L2 H3: 99 ↛ 98"),
        ("state-from:encoder_self.1.1=Hi.", "Encoder L1, animal: State from another sentence"),
        ("head-from:cross.2.3=Hi.", "Cross L2 H3: Head from another sentence"),
        ("row-force:cross.2.3.1=1,2", "Cross L2 H3, Tier: Force a row"),
        ("bias-off:encoder_self", "No relative bias, encoder_self"),
        ("positions-shift:source=3", "Shift positions, source: 3"),
        ("hide:source.2", "Hide a word: didn't"),
        ("cut-word:cross.99", "Cut a word off from the decoder: 99"),
    ],
)
def test_an_edit_says_what_it_changes(recording: Recording, spelled: str, words: str) -> None:
    assert edit_text(parse(spelled), recording) == words


@pytest.mark.parametrize(
    ("spelled", "factor", "other"),
    [
        ("head-off:cross.2.3", 0.5, "head-scale:cross.2.3=0.5"),
        ("head-scale:cross.2.3=0.5", 0.0, "head-off:cross.2.3"),
        ("head-scale:cross.2.3=0.5", 1.0, "None"),
        ("cut:cross.2.3.1.1", 2.0, "arrow-scale:cross.2.3.1.1=2"),
        ("arrow-scale:cross.2.3.1.1=2", 0.0, "cut:cross.2.3.1.1"),
    ],
)
def test_a_factor_leads_from_one_kind_to_the_other(spelled: str, factor: float, other: str) -> None:
    edit = parse(spelled)
    kind = scale_of(edit)
    assert kind is not None and factor_of(edit) is not None
    assert str(with_factor(edit, factor, kind)) == other


def test_other_kinds_have_no_factor() -> None:
    assert factor_of(parse("head-uniform:cross.2.3")) is None


def test_forced_rows_that_were_kept_together_are_one_button(recording: Recording) -> None:
    rows = [f"row-force:cross.2.{head}.1=1,0" for head in range(3)]
    other = ["head-off:cross.0.0", "head-off:cross.0.1"]
    assert grouped([*other, *rows, "hide:source.0", rows[0]]) == [
        *((each,) for each in other),
        tuple(rows),
        ("hide:source.0",),
        (rows[0],),
    ]
    assert edits_text([*map(parse, rows)], recording) == "3 rows that write “Tier” forced"
    assert edits_text([parse(rows[0])], recording) == edit_text(parse(rows[0]), recording)


@pytest.mark.parametrize("kind", ["encoder_self", "decoder_self", "cross"])
def test_a_row_has_the_name_that_it_has_in_pictures(recording: Recording, kind: str) -> None:
    row, column = (side[1].piece.strip(" ▁") for side in named_as(recording, kind))
    cuts = [parse(f"cut:{kind}.2.{head}.1.1") for head in range(8)]
    assert edit_text(cuts[3], recording).endswith(f"L2 H3: {row} ↛ {column}")
    assert edits_text(cuts, recording) == f"8 arrows of “{row}” cut, to “{column}”"


def named_as(recording: Recording, kind: str) -> tuple[tuple[Token, ...], tuple[Token, ...]]:
    """Rows and columns of the kind's pictures."""
    map = read(recording, kind)
    return map.rows, map.columns


def test_rows_of_any_kind_have_in_common_what_they_write(recording: Recording) -> None:
    rows = [parse(f"row-force:{kind}.2.0.1=1,0") for kind in ("cross", "decoder_self")]
    assert edits_text(rows, recording) == "2 rows that write “Tier” forced"


def test_many_arrows_of_a_row_are_one_group(recording: Recording) -> None:
    cuts = [f"cut:cross.2.{head}.1.{key}" for head in range(8) for key in (1, 2)]
    other = "cut:cross.2.0.2.1"
    assert grouped([*cuts, other, *cuts[:8]]) == [
        tuple(cuts),
        (other,),
        *((each,) for each in cuts[:8]),
    ]
    text = edits_text([*map(parse, cuts)], recording)
    assert text == "16 arrows of “Tier” cut, to “animal”, “did in didn't”"


@pytest.mark.parametrize(
    ("spelled", "pieces"),
    [
        ("cut:cross.2.3.1.2", ["▁Das", "▁Tier", "▁did"]),
        ("cut:decoder_self.0.0.2.1", ["▁Tier", "▁über", "▁Das"]),
        ("arrow-scale:encoder_self.2.3.1.0=2", ["▁animal", "▁The"]),
        ("row-force:cross.2.3.1=0,1", ["▁Das", "▁Tier", "▁The", "▁animal"]),
        ("emphasise:cross.2.3=0.1,0,2", ["▁The", "▁did"]),
        ("words-swap:source=0,1", ["▁The", "▁animal"]),
        ("state-from:encoder_self.1.1=Hi.", ["▁animal"]),
        ("hide:source.0", ["▁The"]),
        ("cut:cross.2.3.99.0", [None, None, "▁The"]),
        ("cut-word:cross.99", [None]),
    ],
)
def test_the_tokens_that_an_edit_names(
    recording: Recording, spelled: str, pieces: list[str | None]
) -> None:
    tokens = named_tokens(parse(spelled), recording)
    assert [token and token.piece for token in tokens] == pieces


@pytest.mark.parametrize("kind", edit_kinds().values(), ids=lambda kind: kind.name)
def test_edits_of_a_text_are_those_that_name_tokens(recording: Recording, kind: EditKind) -> None:
    values = [*kind.values, *([kind.further] if kind.further else [])]
    place = "source" if kind.of in ("side", "read word") else "cross"
    numbers = tuple(0 for _ in NUMBERS[kind.of])
    edit = Edit(kind.name, place, numbers, tuple(each.default for each in values))
    assert bool(named_tokens(edit, recording)) is kind.is_of_text
