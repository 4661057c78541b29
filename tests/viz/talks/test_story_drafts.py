"""Stories that are put together, and those of files: kept, opened, and refused in a sentence."""

from dataclasses import replace
from pathlib import Path

import pytest

from viz.screen import Screen
from viz.stories.reading import LARGEST, shipped_stories, write_story
from viz.stories.story import Scene, Story
from viz.talks import story_drafts as drafts_on_disk
from viz.talks.stories import open_story, story_of, why_not
from viz.talks.story_drafts import DRAFTS, PREFIX, Drafts

ME = "the number in my cookie"
STORY = Story("", "Mine", "talk", None, "", (Scene("One", "Words.", Screen(checkpoint="copy")),))


def test_whoever_has_not_touched_theirs_for_longest_loses_it_first() -> None:
    drafts = Drafts(most=2)
    first, second = drafts.begin(STORY, ME), drafts.begin(STORY, ME)
    assert first != second and drafts.read(first) == replace(STORY, name=f"{PREFIX}{first}")
    drafts.begin(STORY, ME)
    assert drafts.read(second) is None and drafts.read(first) is not None
    assert not drafts.put(second, STORY, ME)
    assert drafts.put(first, replace(STORY, title="Yours"), ME)
    assert drafts.read(first).title == "Yours"
    assert drafts.read(None) is None and drafts.read("nobody's") is None


def test_only_the_browser_that_began_a_story_changes_it() -> None:
    code = DRAFTS.begin(STORY, ME)
    name = f"{PREFIX}{code}"
    kept = DRAFTS.read(code)
    assert kept is not None and kept.name == name and open_story(name) is kept
    assert DRAFTS.is_of(code, ME)
    for other in ("", "somebody else", f"{ME} ", "ü"):
        assert not DRAFTS.is_of(code, other)
        assert not DRAFTS.put(code, replace(STORY, title="Taken over"), other)
    assert open_story(name).title == "Mine"


def test_a_name_in_the_address_is_a_shipped_story_a_draft_or_a_path(tmp_path: Path) -> None:
    known, shipped = next(iter(shipped_stories().items()))
    assert story_of(known) is shipped and why_not(known) is None
    name = f"{PREFIX}{DRAFTS.begin(STORY, ME)}"
    assert open_story(name).screen_of(1) == Screen(checkpoint="copy", story=name)
    file = tmp_path / "mine.md"
    file.write_text(write_story(STORY), "utf-8")
    assert open_story(str(file)) == replace(STORY, name=str(file))
    file.write_text(write_story(replace(STORY, title="Another")), "utf-8")
    assert open_story(str(file)).title == "Another"
    assert story_of(None) is None and why_not(None) is None


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\xff\n", "mine.md: line 1: this is not text in UTF-8."),
        (b"---\ntitle: x\nkind: talk\n---\nW\xff", "mine.md: line 5: this is not text in UTF-8."),
        (b"no story", "mine.md: line 1: a story begins with a line ---"),
        (b"x" * (LARGEST + 1), "mine.md"),
    ],
)
def test_a_damaged_file_is_a_sentence(tmp_path: Path, content: bytes, said: str) -> None:
    file = tmp_path / "mine.md"
    file.write_bytes(content)
    assert said in (why_not(str(file)) or "") and story_of(str(file)) is None


def test_what_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    assert "by its whole path" in (why_not("nothing") or "")
    assert "not here any more" in (why_not(f"{PREFIX}x") or "")
    assert "no story at gone.md" in (why_not(str(tmp_path / "gone.md")) or "")
    assert why_not(str(tmp_path)) is not None
    assert why_not("/\0") is not None


def test_a_public_server_opens_no_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "mine.md"
    file.write_text(write_story(STORY), "utf-8")
    monkeypatch.setenv("HEADSCOPE_PUBLIC", "yes")
    assert "Opening paths is off" in (why_not(str(file)) or "")


def test_at_home_another_server_finds_the_story_and_who_may_change_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADSCOPE_STORIES", str(tmp_path / "stories"))
    monkeypatch.setenv("HEADSCOPE_PUBLIC", "no")
    code = Drafts().begin(STORY, ME)
    files = sorted(tmp_path.rglob("*.*"))
    assert [each.suffix for each in files] == [".md", ".owner"]
    assert all(each.stat().st_mode & 0o077 == 0 for each in files)  # nobody else's to read
    assert ME not in "".join(each.read_text("utf-8") for each in files)

    after = Drafts()  # whatever is asked for first
    assert Drafts().is_of(code, ME) and not Drafts().is_of(code, "another browser")
    assert Drafts().put(code, STORY, ME)
    assert after.read(code) == replace(STORY, name=f"{PREFIX}{code}")
    assert not after.put(code, replace(STORY, title="Theirs"), "another browser")
    monkeypatch.setenv(
        "HEADSCOPE_PUBLIC", "yes"
    )  # started anew for phones: it is read, not written
    assert after.put(code, replace(STORY, title="Later"), ME)
    third = Drafts().read(code)
    assert third is not None and third.title == "Mine"
    assert Drafts().read("../../../etc/pass") is None


def test_a_public_server_and_no_write_no_story(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder, public in ((str(tmp_path), "yes"), ("no", "no")):
        monkeypatch.setenv("HEADSCOPE_STORIES", folder)
        monkeypatch.setenv("HEADSCOPE_PUBLIC", public)
        Drafts().begin(STORY, ME)
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_takes_nothing_loses_no_story(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("HEADSCOPE_STORIES", str(tmp_path / "file"))
    monkeypatch.setenv("HEADSCOPE_PUBLIC", "no")
    drafts = Drafts()
    code = drafts.begin(STORY, ME)
    assert drafts.read(code) is not None and str(tmp_path / "file") in drafts.unkept(code)


def test_a_story_that_could_not_be_read_again_is_said_and_keeps_the_file_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADSCOPE_STORIES", str(tmp_path))
    monkeypatch.setenv("HEADSCOPE_PUBLIC", "no")
    drafts = Drafts()
    code = drafts.begin(STORY, ME)
    drafts.put(code, replace(STORY, scenes=(replace(STORY.scenes[0], notes=r"$\frac{1}{2$"),)), ME)
    assert "read again" in drafts.unkept(code) and code not in drafts.unkept(code)
    other = drafts.begin(STORY, "another browser")  # of its own story, and of no other
    assert drafts.unkept(other) == "" and drafts.unkept(code)
    before = Drafts().read(code)
    assert before is not None and before.scenes == STORY.scenes
    drafts.put(code, STORY, ME)
    assert drafts.unkept(code) == ""


def test_only_drafts_are_cleared_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADSCOPE_STORIES", str(tmp_path))
    monkeypatch.setenv("HEADSCOPE_PUBLIC", "no")
    monkeypatch.setattr(drafts_on_disk, "MOST_FILES", 2)
    notes = [tmp_path / f"note {i}.md" for i in range(4)]
    for each in notes:
        each.write_text("of my own")
    drafts = Drafts()
    codes = [drafts.begin(STORY, ME) for _ in range(3)]
    assert all(each.exists() for each in notes)
    assert sum((tmp_path / f"{code}.md").exists() for code in codes) == 2


def test_two_servers_at_home_lose_nothing_of_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADSCOPE_STORIES", str(tmp_path))
    monkeypatch.setenv("HEADSCOPE_PUBLIC", "no")
    one, other = Drafts(), Drafts()
    code = one.begin(STORY, ME)
    assert other.read(code) is not None
    other.put(code, replace(STORY, title="Of the other"), ME)
    seen = one.read(code)
    assert seen is not None and seen.title == "Of the other"


@pytest.mark.parametrize("public", ["no", "yes"])  # as one is that was started for phones
def test_the_newest_stories_of_a_browser_are_listed_and_nobody_elses(
    public: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADSCOPE_STORIES", str(tmp_path))
    monkeypatch.setenv("HEADSCOPE_PUBLIC", "no")
    code = Drafts().begin(STORY, ME)
    theirs = Drafts().begin(replace(STORY, title="Mine"), "another browser")
    monkeypatch.setenv("HEADSCOPE_PUBLIC", public)
    assert [(it, story.title) for it, story in Drafts().drafts_of(ME)] == [(code, "Mine")]
    assert Drafts().drafts_of("a browser without a name") == []
    assert Drafts().read(theirs) is not None  # whoever was given its link opens it
