"""A story -> Markdown, as `viz/stories/reading.py` reads it."""

import re
from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import quote

from viz.lessons.exercise import exercise_lines
from viz.screen import link
from viz.stories.reading import MARKED, NOTES, QUOTED, one_line, plain, trimmed
from viz.stories.story import Fact, Scene, Story, bare


def write_story(story: Story) -> str:
    """The file that reads back as this story: texts without empty lines around them."""
    front = [f"title: {_front(one_line(story.title))}", f"kind: {story.kind}"]
    if story.checkpoint is not None:
        front.append(f"checkpoint: {_front(story.checkpoint)}")
    parts = ["\n".join(("---", *front, "---"))]
    if story.introduction.strip():
        parts.append(_text(story.introduction))
    for scene in story.scenes:
        parts += _parts(scene, story.checkpoint)
    return "\n\n".join(parts) + "\n"


def _parts(scene: Scene, checkpoint: str | None) -> Iterator[str]:
    yield f"## {one_line(scene.heading)}"
    yield "\n".join(_fields(scene, checkpoint))
    if scene.text.strip():
        yield _text(scene.text)
    if scene.notes.strip():
        yield f"{NOTES}\n{_text(scene.notes)}"


def _fields(scene: Scene, checkpoint: str | None) -> Iterator[str]:
    screen = bare(scene.screen)
    if screen.checkpoint == checkpoint:
        screen = replace(screen, checkpoint=None)
    path, _, asked_for = link(screen).partition("?")
    # As people read it: a plus of the text itself is %2B.
    readable = asked_for.replace("%20", "+").replace("%27", "'")
    yield f"screen: {path}?{readable}"
    if scene.writes:
        yield f"writes: {one_line(scene.writes)}"
    for fact in scene.facts:
        yield f"fact: {fact_line(fact)}"
    question = scene.question
    if question is not None:
        yield f"ask: row {question.kind}.{question.layer}.{question.head}.{question.query}"
        if question.words:
            yield f"ask-in-words: {one_line(question.words)}"
    yield from exercise_lines(scene.exercise)


def fact_line(fact: Fact) -> str:
    """Return the text behind "fact: "."""
    place = f"{fact.kind}.{fact.layer}.{fact.head}.{fact.query}.{fact.key}"
    return f"{place} {_word(fact.row)} {_word(fact.column)} {fact.least:g}"


def _front(value: str) -> str:
    """In quotes, where its own would be taken for such."""
    return f'"{value}"' if QUOTED.fullmatch(value) else value


def _word(word: str) -> str:
    """Without what would end it."""
    return re.sub(r"[\s%]", lambda match: quote(match[0], errors="replace"), word)


def _text(text: str) -> str:
    """Lines of Markdown, those marked with a backslash that would be read as something else."""
    lines = trimmed(plain(text)).split("\n")
    return "\n".join("\\" + line if MARKED.match(line) else line for line in lines)
