"""A link names a checkpoint of one's own by its path and by its weights: another path is no end."""

import shutil
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qsl

import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.ui.test_app import EXAMPLE, ROOT, said, start
from transformer import CheckpointError
from transformer.discover import discover
from transformer.fingerprint import fingerprint
from transformer.formats.headscope import save_opening
from viz.choice import SESSION
from viz.figure_at import page_of
from viz.page_fields import CompareFields
from viz.screen import parse
from viz.server.recording_scenes import saved_scene
from viz.server.scene_picture import thumbnail
from viz.state import checkpoints
from viz.state.page import PAGES
from viz.stories.reading import read_story, write_story
from viz.stories.story import Scene, Story
from viz.talks.stories import doubts
from viz.talks.story import key_of
from viz.talks.story_drafts import DRAFTS

SMALL = ROOT / "checkpoints" / "sentiment"


def address_of(app: AppTest) -> dict[str, str]:
    return dict(parse_qsl(app.session_state[SESSION].address.query))


def noted(app: AppTest) -> str:
    return " ".join(each.value.replace("\\", "") for each in app.info)


def warned(app: AppTest) -> str:
    return " ".join(each.value.replace("\\", "") for each in app.warning)


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkpoint that is not shipped, beside a folder of those that are."""
    shutil.copytree(ROOT / "checkpoints" / "copy", tmp_path / "shipped" / "copy")
    monkeypatch.setenv("HEADSCOPE_CHECKPOINTS", str(tmp_path / "shipped"))
    monkeypatch.setenv("HEADSCOPE_PUBLIC", "no")
    monkeypatch.setattr(checkpoints, "_opened_here", {})
    return Path(shutil.copytree(SMALL, tmp_path / "mine" / "films"))


def test_the_address_of_a_path_names_the_weights_and_that_of_a_name_does_not(
    elsewhere: Path,
) -> None:
    app = start(checkpoint=str(elsewhere), text="A good film.")
    assert address_of(app)["weights"] == fingerprint(elsewhere)[:16]
    assert "weights" not in address_of(start(text=EXAMPLE))


def test_what_the_app_was_started_with_is_named_as_it_is_first_nowhere_else(
    elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "opened_at_start", lambda: str(elsewhere))
    for mode, named in (("no", str(elsewhere)), ("yes", None)):
        checkpoints._named_at_start.cache_clear()
        monkeypatch.setenv("HEADSCOPE_PUBLIC", mode)
        assert address_of(start(text="A good film.")).get("checkpoint") == named
    checkpoints._named_at_start.cache_clear()


def test_the_same_weights_are_shown_where_the_path_is_another(elsewhere: Path) -> None:
    theirs = {"checkpoint": "/home/somebody/films", "weights": fingerprint(elsewhere)[:16]}
    begins = theirs["weights"]
    lost = start(**theirs, text="A good film.")
    assert begins in said(lost) and "open yours" in said(lost)

    start(checkpoint=str(elsewhere), text="A good film.")  # in another session
    app = start(**theirs, text="A good film.")
    assert "films has the same weights" in noted(app) and not said(app)
    assert address_of(app)["checkpoint"] == str(elsewhere)

    copy = fingerprint(ROOT / "checkpoints" / "copy")[:16]
    app = start(checkpoint="/home/somebody/digits", weights=copy, text=EXAMPLE)
    assert "copy has the same weights" in noted(app)
    assert not app.exception


def test_no_visitor_of_a_public_server_learns_what_another_has_opened(
    elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADSCOPE_PUBLIC", "yes")
    monkeypatch.setenv("HEADSCOPE_FOLDERS", str(elsewhere.parent))
    start(checkpoint=str(elsewhere), text="A good film.")
    begins = fingerprint(elsewhere)[:16]
    app = start(checkpoint="/home/somebody/films", weights=begins, text="A good film.")
    assert begins in said(app) and str(elsewhere.parent) not in said(app)
    assert not noted(app)


def test_other_weights_at_the_path_of_a_link_are_told(elsewhere: Path) -> None:
    """What lies at a path may have been trained anew since, or be another machine's."""
    theirs = {"checkpoint": str(elsewhere), "weights": "0123456789abcdef"}
    app = start(**theirs, text="A good film.")
    assert "0123456789abcdef" in warned(app) and fingerprint(elsewhere)[:16] in warned(app)
    assert address_of(app)["weights"] == fingerprint(elsewhere)[:16]
    assert not warned(start(checkpoint=str(elsewhere), text="A good film."))

    app = start(checkpoint="copy", weights=theirs["weights"], text=EXAMPLE)
    assert "0123456789abcdef" in warned(app) and "0123456789abcdef" in warned(app.run())


@pytest.mark.parametrize("of", ["weights", "made_with"])
def test_a_link_to_other_weights_shows_those_that_it_names(elsewhere: Path, of: str) -> None:
    copy = ROOT / "checkpoints" / "copy"
    app = start(checkpoint=str(elsewhere), text=EXAMPLE, **{of: fingerprint(copy)[:16]})
    assert address_of(app)["checkpoint"] == "copy"
    assert "copy has the same weights" in noted(app) and not warned(app)
    assert not noted(app.run())


@pytest.mark.parametrize("of", ["weights", "made_with"])
def test_a_link_by_an_earlier_fingerprint_means_the_same_weights(elsewhere: Path, of: str) -> None:
    """The checkpoint's words changed since: at its own path nothing is warned of, and from another
    path it is found.
    """
    before = fingerprint(elsewhere)
    save_opening(elsewhere, ("encoder_self", 1, 1), "shown", (before,))
    assert fingerprint(elsewhere) != before
    for path in (str(elsewhere), "/home/somebody/films"):
        app = start(checkpoint=path, text="A good film.", **{of: before[:16]})
        assert address_of(app)["checkpoint"] == str(elsewhere)
        assert "SHA-256" not in said(app) and "SHA-256" not in warned(app) + noted(app)


def test_a_link_without_a_checkpoint_has_no_path_that_leads_nowhere(elsewhere: Path) -> None:
    copy = fingerprint(ROOT / "checkpoints" / "copy")[:16]
    assert not noted(start(weights=copy, text=EXAMPLE))


def test_where_nothing_has_the_weights_of_a_link_those_of_its_figure_are_shown(
    elsewhere: Path,
) -> None:
    copy = fingerprint(ROOT / "checkpoints" / "copy")[:16]
    theirs = {"checkpoint": "/home/somebody/digits", "weights": "0" * 16, "made_with": copy}
    app = start(**theirs, text=EXAMPLE)
    assert address_of(app)["checkpoint"] == "copy" and not said(app)


@pytest.mark.parametrize("begins", ["", "0", "é" * 16, "z" * 16, "0" * 99, "../../etc"])
def test_what_is_no_fingerprint_finds_nothing(elsewhere: Path, begins: str) -> None:
    app = start(checkpoint="/home/somebody/films", weights=begins, text=EXAMPLE)
    assert not noted(app) and "There is no" in said(app)


@pytest.fixture
def lost(elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The address of another machine's path to weights that somebody has opened here."""
    monkeypatch.setenv("HEADSCOPE_STORIES", "no")
    for name, page in discover("viz.pages", "PAGE").items():  # as in an app that has been opened
        monkeypatch.setitem(PAGES, name, page)
    monkeypatch.setitem(checkpoints._opened_here, str(elsewhere), None)
    begins = fingerprint(elsewhere)[:16]
    return {"checkpoint": "/home/somebody/films", "weights": begins, "text": "A good film."}


def test_a_scene_of_another_path_is_saved_and_pictured_and_is_where_it_leads(
    lost: dict[str, str],
) -> None:
    scene = Scene("One", "Words.", parse({"page": "explore", **lost}))
    story = Story("", "Mine", "talk", None, "", (scene, scene))
    assert saved_scene(scene) is not None
    code = DRAFTS.begin(story, "a browser")
    assert thumbnail(code, key_of(scene.screen), "light")

    app = start(**lost, story=f"draft-{code}", scene="1")
    assert not said(app) and "films has the same weights" in noted(app)
    assert "Back to the scene" not in strip_of(app)
    bad = lost | {"text": "A bad film."}
    assert "Back to the scene" in strip_of(start(**bad, story=f"draft-{code}", scene="1"))

    unknown = replace(scene, screen=replace(scene.screen, weights="0" * 16))
    assert saved_scene(unknown) is None


def strip_of(app: AppTest) -> str:
    return " ".join(str(each.proto) for each in app.get("html"))


def test_no_doubt_is_said_of_a_story_whose_weights_are_here(lost: dict[str, str]) -> None:
    def doubts_of(**query: str) -> str:
        scene = Scene("One", "Words.", parse({"page": "explore", **lost, **query}))
        text = write_story(Story("", "Mine", "talk", None, "", (scene,)))
        return " ".join(doubts(read_story(text, "talk.md"), ["copy"]))

    assert not doubts_of()
    assert lost["checkpoint"] in doubts_of(weights="0" * 16)
    b = {"checkpoint": "copy", "checkpoint_b": lost["checkpoint"], "page": "compare"}
    assert not doubts_of(**b, weights_b=lost["weights"])
    assert lost["checkpoint"] in doubts_of(**b, weights_b="0" * 16)


def test_a_figure_of_another_path_is_that_of_the_same_weights(lost: dict[str, str]) -> None:
    pane, figures = page_of(parse({"page": "explore", **lost}))
    assert Path(pane.request.checkpoint).name == "films" and figures
    with pytest.raises(CheckpointError):
        page_of(parse({"page": "explore", **lost, "weights": "0" * 16}))


def test_the_second_checkpoint_is_named_by_its_weights_too(
    lost: dict[str, str], elsewhere: Path
) -> None:
    copied = shutil.copytree(elsewhere, elsewhere.parent / "others")
    config = copied / "config.json"
    config.write_text(config.read_text().replace("films", "movies"))
    query = {"page": "compare", "checkpoint": str(copied), "text": "A good film."}
    app = start(**query, checkpoint_b=str(elsewhere))
    assert address_of(app)["weights_b"] == lost["weights"]

    b = {"checkpoint_b": lost["checkpoint"], "weights_b": lost["weights"]}
    app = start(**query, **b)
    assert address_of(app)["checkpoint_b"] == str(elsewhere)
    assert "films has the same weights" in noted(app)
    pane, figures = page_of(parse({**query, **b}))
    assert pane.screen.of(CompareFields).checkpoint_b == str(elsewhere)
    assert {"a", "b"} <= set(figures)
