"""Every picture is a value: equal where it shows the same, with a payload and a true sentence."""

from dataclasses import replace

import numpy as np
import pytest

from transformer import Decoding, Recording, record
from transformer.analysis.reading import Reading, Selection, read
from transformer.recording.data import NoSuchHead
from viz.components.cell_steps.cell_steps import CellSteps
from viz.components.decode_player.decode_player import DecodePlayer
from viz.components.head_grid.head_grid import HeadGrid
from viz.components.head_map.head_map import HeadMap
from viz.components.head_view.head_view import HeadView
from viz.components.kit.browser import unpack
from viz.components.kit.picture import NothingLeft, Picture
from viz.components.token_rows.token_rows import TokenRows
from viz.labels import bare_label, percent
from viz.theme import DARK, LIGHT

CROSS = Selection("cross", 1, 0)
PICTURES: list[Picture] = [
    HeadGrid(("cross",)),
    HeadView("cross", 1),
    HeadMap(CROSS),
    CellSteps(CROSS),
    CellSteps(CROSS, (2, 3), "read"),
    TokenRows(),
    DecodePlayer(1, 0),
]
every_picture = pytest.mark.parametrize("picture", PICTURES, ids=repr)


@pytest.fixture(scope="module")
def decoded(recorder: object, decoding: Decoding) -> tuple[Recording, Decoding]:
    checkpoint = recorder.checkpoint  # type: ignore[attr-defined]
    return record(checkpoint, "3 7 2 9", decoding.target), decoding


@every_picture
def test_a_picture_names_its_payload(picture: Picture, decoded: tuple[Recording, Decoding]) -> None:
    same = replace(picture)  # type: ignore[type-var]
    assert same == picture and hash(same) == hash(picture) and same is not picture
    assert picture.payload(*decoded) == same.payload(*decoded)
    assert picture.title(decoded[0])


def test_layers_are_called_as_the_model_counts_them(decoded: tuple[Recording, Decoding]) -> None:
    recording, decoding = decoded
    numbered = {
        kind: replace(each, numbers=tuple(range(3, 3 + 2 * each.n_layers, 2)))
        for kind, each in recording.attentions.items()
    }
    hybrid = replace(recording, attentions=numbered)
    said = [picture.title(hybrid) for picture in PICTURES]
    assert [each for each in said if "L" in each] == [
        "Cross-attention, L5",
        "Cross-attention, L5 H0",
        "Cross-attention, L5 H0, strongest cell",
        "Cross-attention, L5 H0, query 2 and key 3",
        "Decoding, L5 H0",
    ]
    for picture in (HeadView("cross", 1), HeadMap(CROSS), CellSteps(CROSS), DecodePlayer(1, 0)):
        assert unpack(picture.payload(hybrid, decoding))[0]["layer"] == 5
    assert "of layer 5 looks" in HeadMap(CROSS).says(hybrid)
    section = unpack(unpack(HeadGrid(("cross",)).payload(hybrid))[1][0].tobytes())[0]
    assert section["layers"] == [3, 5]


@every_picture
def test_data_is_the_payload_in_the_colours_of_a_theme(
    picture: Picture, decoded: tuple[Recording, Decoding]
) -> None:
    payload = picture.payload(*decoded)
    state = {"head": 0} if isinstance(picture, HeadView) else {}
    for theme in (LIGHT, DARK):
        header, (inner,) = unpack(picture.data(payload, theme, **state))
        assert inner.tobytes() == payload
        assert header["palette"]["name"] == theme.name


@every_picture
def test_every_picture_says_what_is_seen(
    picture: Picture, decoded: tuple[Recording, Decoding]
) -> None:
    said = picture.says(*decoded)
    assert said and "\n" not in said


def test_the_grid_and_the_arrows_name_the_strongest_cell(
    decoded: tuple[Recording, Decoding],
) -> None:
    recording, _ = decoded
    map = read(recording, "cross")
    for picture, layers in ((HeadGrid(("cross",)), (0, 1)), (HeadView("cross", 1), (1,))):
        weights = np.stack([map.values(layer).numpy() for layer in layers])
        at, head, row, column = np.unravel_index(weights.argmax(), weights.shape)
        said = picture.says(recording)
        cell = f"head {head} of layer {layers[at]} looks at “{bare_label(map.columns[column])}”"
        assert said.startswith(f"{2 * len(layers)} maps of ")
        assert f". Strongest: While writing “{bare_label(map.rows[row])}”, " in said
        assert said.endswith(f"{cell} ({weights.max():.3f}).")


def test_a_cell_that_is_not_named_is_the_strongest(decoded: tuple[Recording, Decoding]) -> None:
    recording, _ = decoded
    weights = recording.attentions["cross"].weights(1, 0)
    cell = divmod(int(weights.argmax()), weights.size(1))
    picture = CellSteps(CROSS)
    assert picture.payload(recording) == replace(picture, cell=cell).payload(recording)
    assert f"({weights.max():.3f}). Inside: " in picture.says(recording)
    assert [each.cell for each in picture.in_row(recording)] == [
        (cell[0], key) for key in range(weights.size(1))
    ]


def test_the_player_names_the_step_that_is_shown_and_the_least_sure_one(
    decoded: tuple[Recording, Decoding],
) -> None:
    recording, decoding = decoded
    probs = [step.chosen.prob for step in decoding.steps]
    said = DecodePlayer(1, 0).says(recording, decoding, step=2)
    word = bare_label(decoding.steps[2].chosen.token)
    assert said.startswith(f"Step 3 of {len(probs)} writes “{word}” with {percent(probs[2])}. ")
    assert f"The least sure is step {np.argmin(probs) + 1}, " in said
    assert "the weights of cross-attention, L1, H0, " in said
    with pytest.raises(ValueError, match="not of that decoding"):
        DecodePlayer().payload(recording)


@pytest.mark.parametrize(
    ("picture", "says"),
    [
        (HeadGrid(("cross", "self")), "no kind of attention 'self' here"),
        (HeadView("cross", 2), "no layer 2: cross has 2"),
        (HeadMap(Selection("cross", 0, 5)), "no head 5: cross has 2"),
        (CellSteps(CROSS, (9, 0)), "no query 9: cross has 0 to "),
        (HeadMap(CROSS, Reading(lens="none")), "no lens 'none' here"),
    ],
    ids=repr,
)
def test_what_a_recording_lacks_is_said(picture: Picture, says: str, recording: Recording) -> None:
    with pytest.raises((ValueError, NoSuchHead), match=says):
        picture.payload(recording)


def test_a_reading_that_leaves_nothing_is_said(recorder: object) -> None:
    short = recorder(1, 1)  # type: ignore[operator]
    hidden = Reading(special="hidden")
    with pytest.raises(NothingLeft, match="Nothing to show"):
        HeadView("decoder_self", 0, hidden).payload(short)
    _, (part,) = unpack(HeadGrid(("decoder_self",), hidden).payload(short))
    header, _ = unpack(part.tobytes())
    assert header["rows"] == []
