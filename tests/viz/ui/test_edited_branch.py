"""A hypothesis that is shown while the model is changed: what is written, and what is judged."""

import pytest

from viz.exhibits.exhibit import Words
from viz.exhibits.table import Table
from viz.figure_at import page_of
from viz.pages.compare.second import Changed
from viz.pages.decode.side_by_side import EncoderLayers, layers_exhibit
from viz.run.request import Answer
from viz.screen import choose, parse
from viz.server.recording_scenes import saved_scene
from viz.stories.story import Scene
from viz.ui.changed_output import OF_PICTURES

TEXT, EDIT = "She likes nuts.", "head-off:cross.2.2"
SEARCH = {"checkpoint": "en-de-small", "text": TEXT, "decoding": "beam"}


@pytest.fixture(scope="module")
def plain() -> Answer:
    return page_of(parse(SEARCH))[0].answer


@pytest.fixture(scope="module")
def branch(plain: Answer) -> dict[str, str]:
    """The address of the second hypothesis."""
    assert plain.decoding is not None
    return {**SEARCH, "branch": ".".join(map(str, plain.decoding.hypotheses[1].ids))}


def written(plain: Answer) -> str:
    assert plain.decoding is not None
    return plain.decoding.text


def edited(plain: Answer) -> Answer:
    return page_of(parse({**SEARCH, "edits": EDIT}))[0].answer


def test_the_output_with_edits_is_what_the_edited_model_writes(
    plain: Answer, branch: dict[str, str]
) -> None:
    assert written(edited(plain)) != written(plain)
    _, figures = page_of(parse({**branch, "edits": EDIT}))
    _, wanted = page_of(parse({**SEARCH, "edits": EDIT}))
    ours, theirs = figures["output"].content, wanted["output"].content
    assert isinstance(ours, Words) and isinstance(theirs, Words)
    assert ours.lines == theirs.lines and list(ours.foot[:-1]) == list(theirs.foot)
    assert ours.foot[-1].text == OF_PICTURES  # the pictures show another text


def test_an_edited_model_that_writes_by_itself_is_forced_to_no_branch(
    plain: Answer, branch: dict[str, str]
) -> None:
    judged = page_of(parse(branch))[0].answer
    by_itself, reads = (Changed((EDIT,), writes=it)(judged) for it in (True, False))
    assert by_itself.decoding is not None
    assert by_itself.decoding.text == written(edited(plain)) != written(judged)
    assert reads.recording.target == judged.recording.target


def test_a_saved_scene_has_what_the_edited_model_writes(branch: dict[str, str]) -> None:
    judged, free = (
        saved_scene(Scene("An edit", "", parse({**it, "edits": EDIT}))) for it in (branch, SEARCH)
    )
    assert judged is not None and free is not None
    assert free.outputs and judged.outputs.startswith(free.outputs)


def test_another_edit_is_another_search(branch: dict[str, str]) -> None:
    screen = parse(branch)
    assert screen.branch and choose(screen, edits=(EDIT,)).branch == ()
    assert choose(screen, edits=()).branch == screen.branch


def test_heads_are_off_in_what_the_search_wrote(branch: dict[str, str]) -> None:
    _, figures = page_of(parse({**SEARCH, "page": "sweep"}))
    _, of_branch = page_of(parse({**branch, "page": "sweep"}))
    one, other = figures["sweep"].content, of_branch["sweep"].content
    assert isinstance(one, Table) and isinstance(other, Table)
    now, of_search = (
        [[it.text for it in row.cells if it] for row in table.rows] for table in (other, one)
    )
    assert now == of_search != []


def test_no_layer_wrote_a_branch(branch: dict[str, str]) -> None:
    pane, _ = page_of(parse({**branch, "page": "decode", "decoder_lens": "yes"}))
    study = layers_exhibit(pane)["layers"].study
    assert isinstance(study, EncoderLayers) and not study.request.branch
