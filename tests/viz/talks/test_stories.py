"""Stories without a browser: opened, put together, and told on a wall, as far as they can be."""

from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.representatives import thorough
from tests.viz.ui.test_app import pictures, start
from viz.__main__ import main
from viz.notebook.story_page import story_page
from viz.screen import Screen
from viz.stories.reading import write_story
from viz.stories.story import Scene, Story
from viz.talks.stories import doubts, offer, open_story
from viz.talks.story_drafts import DRAFTS

WORDS = "So $n^2$ products, <b>and</b> :material/home:."


def story(n: int = 3, **more: Any) -> Story:
    scenes = (Scene(f"Scene number {i}", WORDS, Screen(checkpoint="copy")) for i in range(1, n + 1))
    return Story("", "Mine", "talk", None, "", tuple(scenes), **more)


def saved(folder: Path, text: str | None = None) -> Path:
    file = folder / "talk.md"
    file.write_text(write_story(story()) if text is None else text, "utf-8")
    return file


def html_of(app: AppTest) -> str:
    """All that st.html and st.markdown draw."""
    drawn = [*app.get("html"), *app.markdown]
    return "\n".join(str(getattr(each.proto, "body", "")) for each in drawn)


def scenes_of(app: AppTest) -> dict[str, Any]:
    """What the list of scenes is told."""
    return next(each for each in pictures(app) if "scenes" in each and "at" in each)


def button(app: AppTest, label: str) -> Any:
    return next(each for each in app.button if each.label == label)


@pytest.mark.parametrize("role", ["stage", "presenter", "audience"])
def test_a_story_that_cannot_be_told_says_so_on_the_whole_screen(tmp_path: Path, role: str) -> None:
    file = saved(tmp_path, "")
    app = start(story=str(file), role=role)
    assert not app.exception and "talk.md: line 1: a story begins with a line ---" in html_of(app)
    assert 'class="untold"' in html_of(app)
    gone = start(story=str(tmp_path / "gone<b>.md"), role=role)
    assert "There is no story at gone&lt;b&gt;.md on this machine." in html_of(gone)


def test_formulas_are_drawn_wherever_a_story_is_told(tmp_path: Path) -> None:
    file = saved(tmp_path)
    for role in ({}, {"role": "stage"}):
        app = start(story=str(file), scene="1", checkpoint="copy", **role)
        words = next(each.proto.body for each in app.markdown if "<math" in each.proto.body)
        assert "<math><msup><mi>n</mi><mn>2</mn></msup></math> products, &lt;b&gt;" in words
        assert ":\u2060material/home:\u2060." in words  # Streamlit would draw an icon
    assert "<math><msup>" in story_page(open_story(str(file)), [None] * 3)  # needs no network


def test_what_a_file_names_and_is_not_here_is_said_before_the_talk(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = write_story(story()).replace("---\n\n## Scene", "checkpoint: en-dee\n---\n\n## Scene", 1)
    text = text.replace("./?checkpoint=copy", "https://example.org/?text=x", 1)
    file = saved(tmp_path, text)
    checkpoint = "line 4: there is no checkpoint en-dee here."
    host = "line 9: scenes open here, and not at example.org."
    found = open_story(str(file))
    assert [
        said.startswith(f"talk.md: {line}")
        for said, line in zip(doubts(found, ["copy"]), (checkpoint, host), strict=True)
    ] == [True, True]
    assert doubts(found, ["copy", "en-dee"]) == [f"talk.md: {host}"]
    app = start(story=str(file), scene="1", checkpoint="copy")
    assert {each.value.split(" Open it")[0].replace("\\", "") for each in app.warning} == {
        f"talk.md: {checkpoint}",
        f"talk.md: {host}",
    }
    windows = (start(story=str(file), checkpoint="copy", role=r) for r in ("presenter", "stage"))
    presenter, wall = windows
    assert [each.value for each in presenter.warning] == [each.value for each in app.warning]
    assert not wall.warning
    served: list[str] = []
    monkeypatch.setattr("viz.server.exploring.serve", lambda **said: served.append(said["at"]))
    assert main(["open", str(file)]) == 0
    assert served[0].startswith("./?") and "talk.md" in served[0]
    assert f"warning: talk.md: {checkpoint}" in capsys.readouterr().err
    assert main(["open", str(tmp_path / "gone.md")]) == 1
    assert "There is no story at gone.md" in capsys.readouterr().err


def test_a_story_that_the_app_was_started_with_is_everybody_s(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADSCOPE_PUBLIC", "yes")
    file = saved(tmp_path)
    assert offer(file) == open_story(str(file))


def test_a_large_story_is_a_list_and_one_form_and_remove_is_undone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("viz.talks.story_drafts.this_browser", lambda: "mine")
    code = DRAFTS.begin(story(200), "mine")
    app = start(page="stories", draft=code, scene="150")
    assert len(app.text_area) == 2 and len(app.text_input) <= 4
    listed = scenes_of(app)
    assert len(listed["scenes"]) == 200
    assert listed["scenes"][listed["at"]]["heading"] == "Scene number 150"
    button(app, "Remove").click().run()
    kept = DRAFTS.read(code)
    assert kept is not None and len(kept.scenes) == 199
    button(app, "Put “Scene number 150” back").click().run()
    whole = DRAFTS.read(code)
    assert whole is not None and whole.scenes == story(200).scenes
    assert all("Put" not in each.label for each in app.button)
    button(app, "Down").click().run()
    moved = DRAFTS.read(code)
    assert moved is not None and moved.scenes[150].heading == "Scene number 150"
    assert any(each.label == "Heading of scene 151" for each in app.text_input)
    (box,) = app.checkbox
    box.check().run()
    live = DRAFTS.read(code)
    assert live is not None and [scene.live for scene in live.scenes].index(True) == 150
    assert any("memory only: save it" in each.value for each in app.caption)


def test_a_draft_that_is_gone_is_said_on_explore_and_forgotten() -> None:
    app = start(checkpoint="copy", draft="gone")
    assert any("put together here is gone" in each.value for each in app.warning)
    button(app, "Forget it").click().run()
    assert not app.warning


@pytest.mark.parametrize("title", ["Inspect", thorough("Why attention"), "Compare"])
def test_every_page_with_pictures_is_collected_and_named_in_the_list(
    title: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("viz.talks.story_drafts.this_browser", lambda: "mine")
    page = title.lower().replace(" ", "_")
    app = start(page=page)
    button(app, "Add this to a story").click().run()
    code = app.session_state["session"].screen.draft
    made = DRAFTS.read(code)
    assert made is not None and made.scenes[0].screen.page == page
    assert (made.scenes[0].heading == title) == (page != "compare")  # which has a sentence
    assert scenes_of(start(page="stories", draft=code))["scenes"][0]["shows"] == title


@pytest.mark.parametrize("page", ["lessons", thorough("gallery"), thorough("stories")])
def test_a_list_is_no_scene(page: str) -> None:
    assert not [each for each in start(page=page).button if each.label == "Add this to a story"]
