"""A story reads back as it was written, and what is wrong in a file is said with its line."""

import random
from dataclasses import replace

import pytest

from tests.representatives import thorough
from tests.viz.stories.made import some_story
from viz.screen import Screen
from viz.stories.reading import LARGEST, MOST_SCENES, read_story, write_story
from viz.stories.story import Fact, Question, Scene, Story, StoryError

TEXT = """---
title: Two of them
kind: lesson
checkpoint: en-de
---

What it is *about*.

## A verb

screen: ./decode?text=Tom+didn't%2B&decoding=beam&layer=2
writes: Tom ist nicht da.
fact: cross.2.2.7.2 gefunden found 0.98
fact: a b.0.1.2.3 %20 50%25 0.5
ask: row cross.2.2.7
ask-in-words: Which word?

It looks

back.

notes:
Say *this*.

## Another

screen: http://host:8501/?checkpoint=copy&story=old&scene=7&role=stage&room=x
"""
STORY = Story(
    "two",
    "Two of them",
    "lesson",
    "en-de",
    "What it is *about*.",
    (
        Scene(
            "A verb",
            "It looks\n\nback.",
            Screen("decode", checkpoint="en-de", text="Tom didn't+", decoding="beam", layer=2),
            (
                Fact("cross", 2, 2, 7, 2, "gefunden", "found", 0.98),
                Fact("a b", 0, 1, 2, 3, " ", "50%", 0.5),
            ),
            Question("cross", 2, 2, 7, "Which word?"),
            "Say *this*.",
            "Tom ist nicht da.",
        ),
        Scene("Another", "", Screen(checkpoint="copy")),
    ),
)


def test_a_file_is_read_and_written() -> None:
    assert read_story(TEXT, "two") == STORY
    assert read_story("\ufeff" + TEXT.replace("\n", "\r\n"), "two") == STORY
    assert read_story(write_story(STORY), "two") == STORY
    ours = TEXT.replace("http://host:8501/", "./").partition("&story")[0] + "\n"
    assert write_story(STORY) == ours


def test_a_told_scene_names_its_story_and_its_number() -> None:
    assert STORY.screen_of(2) == Screen(checkpoint="copy", story="two", scene=2)
    assert STORY.screen_of(99) == STORY.screen_of(2) and STORY.screen_of(0) == STORY.screen_of(1)


@pytest.mark.parametrize("seeds", [range(50), thorough(range(50, 200))])
def test_every_story_reads_back(seeds: range) -> None:
    for seed in seeds:
        story = some_story(random.Random(seed))
        text = write_story(story)
        assert read_story(text, story.name) == story, seed
        assert write_story(read_story(text, story.name)) == text, seed


@pytest.mark.parametrize(
    "written",
    [
        "notes: Say *this*.",
        "Notes: Say *this*.",
        "**notes:** Say *this*.",
        "**Notes**: Say *this*.",
        "*NOTES*: Say *this*.",
        "notes :\n\nSay *this*.",
    ],
)
def test_notes_are_the_speaker_s_however_they_are_written(written: str) -> None:
    for before in ("", "\nIt looks.\n\n"):
        scene = read_story(FRONT + SCENE + before + written + "\n", "two").scenes[0]
        assert (scene.text, scene.notes) == (before.strip(), "Say *this*.")


def test_a_scene_is_live_where_it_says_so_and_asks_nothing() -> None:
    for value, live in (("yes", True), ("no", False)):
        story = read_story(FRONT + SCENE + f"live: {value}\n", "two")
        assert story.scenes[0].live is live
        assert ("live: yes" in write_story(story)) is live
    for wrong in ("live: perhaps\n", "live: yes\nask: row cross.0.0.1\n"):
        with pytest.raises(StoryError, match="live: "):
            read_story(FRONT + SCENE + wrong, "two")


def test_words_about_notes_stay_words() -> None:
    text = "These notes: three.\n\nNotes of music, and\n\n\\Notes: one."
    scene = read_story(FRONT + SCENE + "\n" + text + "\n", "two").scenes[0]
    assert scene.notes == "" and scene.text == text.replace("\\", "")


def test_quotes_of_the_front_matter_are_not_part_of_it() -> None:
    text = TEXT.replace("title: Two of them", 'title: "Two of them"')
    story = read_story(text.replace("checkpoint: en-de", "checkpoint: 'en-de'"), "two")
    assert story == STORY
    named = replace(STORY, title='"Two"')
    assert read_story(write_story(named), "two") == named


def test_what_may_be_missing_elsewhere_is_noted_with_its_line() -> None:
    text = TEXT.replace("http://host:8501/", "https://example.org/decode")
    found = [(each.line, each.sort, each.name) for each in read_story(text, "two").names]
    assert found == [
        (4, "checkpoint", "en-de"),
        (27, "host", "example.org"),
        (27, "checkpoint", "copy"),
    ]
    for own in ("./", "http://localhost:8501/", "http://192.168.0.7:8501/", "http://[::1]:8501/"):
        story = read_story(FRONT + f"## One\nscreen: {own}decode?text=x\n", "two")
        assert story.names == () and story.scenes[0].screen.page == "decode"


FRONT = "---\ntitle: x\nkind: talk\n---\n"
SCENE = "## One\n\nscreen: ./?text=x\n"


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("", 1, "begins with a line ---"),
        ("# Title\n", 1, "begins with a line ---"),
        ("---\ntitle: x\n", 1, "that ends the front matter is missing"),
        ("---\nkind: talk\n---\n", 1, "title: is missing"),
        ("---\ntitle: x\n---\n", 1, "kind: is missing"),
        ("---\ntitle: x\nkind: play\n---\n", 3, "kind play is none of talk, lesson, gallery"),
        ("---\ntitle: x\nkind: Talk # it is\n---\n", 3, "kind Talk # it is is none of"),
        ("---\ntitle: ''\nkind: talk\n---\n", 2, "title: says nothing"),
        ("---\ntitle: x\ntitle: y\n---\n", 3, "title is said twice"),
        ("---\ntitle:\n---\n", 2, "title: says nothing"),
        ("---\nauthor: x\n---\n", 2, "no field author, only title, kind, checkpoint"),
        (FRONT, 5, "there is no scene"),
        (FRONT + "##\nscreen: ./\n", 5, "has a heading"),
        (FRONT + "## One\n\n*Text* $a^2$.\n", 5, "the scene has no screen: write screen:"),
        (FRONT + "## One\n\nOne thing: text.\n", 5, "the scene has no screen"),
        (FRONT + "## One\n\nnotes: x\n", 5, "the scene has no screen"),
        (FRONT + SCENE + "Text.\n", 8, "“Text.” is not a field"),
        (FRONT + "## One\n", 5, "the scene has no screen"),
        (
            FRONT + "## One\nsize: 3\n",
            6,
            "no field size, only screen, writes, fact, ask, ask-in-words",
        ),
        (FRONT + SCENE + "screen: ./\n", 8, "screen is said twice"),
        (FRONT + "## One\nscreen: ./?layer=x&lines=5&hue=3\n", 6, "says layer=x, hue=3, which"),
        (FRONT + "## One\nscreen: ./?edits=nonsense\n", 6, "says edits=nonsense"),
        (FRONT + "## One\nscreen: http://[x/\n", 6, "is not an address"),
        (FRONT + "## One\nscreen: ./decod?text=x\n", 6, "the app has no page decod, only compare"),
        (FRONT + "## One\nscreen: http://example.org/foo?text=x\n", 6, "has no page foo"),
        (FRONT + SCENE + "\nOne\n$\\foo$\n", 10, "\\foo is not part of the LaTeX"),
        (FRONT + SCENE + "notes: x\n\n$$\\frac{1}{2$$\n", 10, "a brace is not closed"),
        (FRONT + SCENE + "fact: cross.2.3 a b 0.5\n", 8, "a fact reads"),
        (FRONT + SCENE + "fact: cross.2.3.4.5 a b 1.5\n", 8, "a fact reads"),
        (FRONT + SCENE + "fact: cross.2.3.4.5 a b nan\n", 8, "a fact reads"),
        (FRONT + SCENE + "ask: cross.2.3.4\n", 8, "a question reads"),
        (FRONT + SCENE + "ask-in-words: Which?\n", 8, "needs an ask:"),
        (FRONT + SCENE + "needs: wings\n", 8, "nothing is known of the need wings"),
        (FRONT + SCENE + "own: no\n", 8, "own reads yes"),
        (FRONT + SCENE + "row: third\n", 8, "a row is a position or one of first,"),
        (FRONT + SCENE + "head: L2 H3\n", 8, "a head reads most or least, a metric,"),
        (FRONT + SCENE + "head: most charm in any\n", 8, "there is no metric charm"),
        (FRONT + SCENE + "row: last\nrow: 3\n", 9, "row is said twice"),
        (FRONT + SCENE + "task: juggle\n", 8, "there is no task juggle, only"),
        (FRONT + SCENE + "task: dot 3\n", 8, "the task dot takes nothing behind its name"),
        (
            FRONT + "## One\nscreen: ./?decoding=sample\ntask: strongest\n",
            6,
            "drawn by chance",
        ),
        (FRONT + SCENE + "\nfact: cross.2.3.4.5 a b 0.5\n", 9, "belongs directly below"),
        (
            FRONT + "## One\nscreen: ./?decoding=sample\nask: row cross.0.0.0\n",
            7,
            "drawn by chance",
        ),
        (FRONT + SCENE * (MOST_SCENES + 1), 5 + 3 * MOST_SCENES, f"{MOST_SCENES} scenes at most"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(text: str, line: int, said: str) -> None:
    with pytest.raises(StoryError) as refused:
        read_story(text, "/home/somebody/my.md")
    assert str(refused.value).startswith(f"my.md: line {line}: ")
    assert said in str(refused.value)
    assert len(text) < LARGEST


def test_what_would_be_read_as_something_else_stays_text() -> None:
    text = "## no heading\nnotes:\nfact: nothing\n\\## two\n---\n### deep"
    story = Story("x", "x", "talk", None, text, (Scene("One", text, Screen(), notes=text),))
    assert read_story(write_story(story), "x") == story
