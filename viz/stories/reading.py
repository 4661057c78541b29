"""Markdown -> a story. What is wrong with it is said in one sentence, with the line.

Front matter between lines of `---`, words of introduction, and scenes: a heading (`## `), its
fields (`name: value`), its text, and behind `notes:` what the speaker reads.
`viz/stories/writing.py` writes the same.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NoReturn, get_args
from urllib.parse import parse_qsl, unquote, urlsplit

from transformer.files.foreign_text import listed, shown
from viz.lessons import exercise as exercises
from viz.lessons.exercise import NO_EXERCISE, Exercise, read_exercise
from viz.screen import FIRST_PAGE, Screen, parse, unread
from viz.stories.story import KINDS, Fact, Kind, Question, Scene, Story, StoryError, bare

LARGEST = 2**20
"""Bytes of a file."""
MOST_SCENES = 200
FRONT = ("title", "kind", "checkpoint")
FIELDS = ("screen", "writes", "fact", "ask", "ask-in-words", *exercises.FIELDS)
"""Of a scene; `fact`, `needs` and `task` may be said any number of times."""
NOTES = "notes:"
SAMPLED = ("sample",)
"""Decoding methods of which nothing is asked: chance decides what they write."""
BY_CHANCE = "nothing is asked where the words are drawn by chance: choose greedy"
MARKED = re.compile(rf"\\*(?:##(?: |$)|(?:{'|'.join((*FIELDS, 'notes'))}):)")
"""A line of text that would be read as something else, unless a backslash is before it."""
_PLACE = r"(?P<kind>.+)\.(?P<layer>\d{1,4})\.(?P<head>\d{1,4})\.(?P<query>\d{1,6})"
_FACT = re.compile(rf"{_PLACE}\.(?P<key>\d{{1,6}}) (?P<row>\S+) (?P<column>\S+) (?P<least>\S+)")
_ASK = re.compile(rf"row {_PLACE}")
assert set(KINDS) == set(get_args(Kind))


def read_story(text: str, name: str) -> Story:
    """The story that a file's text tells. Raises StoryError.

    name: a shipped one's, or a path; errors say its last part.
    """
    lines = _Lines(plain(text.removeprefix("\ufeff")).split("\n"), Path(name).name)
    front = lines.front()
    introduction = lines.text()
    scenes: list[Scene] = []
    while lines.heading is not None:
        if len(scenes) == MOST_SCENES:
            lines.refuse(lines.at + 1, f"a story has {MOST_SCENES} scenes at most")
        scenes.append(_scene(lines, front.get("checkpoint")))
    if not scenes:
        lines.refuse(len(lines.all), "there is no scene: a line that begins with ## starts one")
    kind = next(each for each in KINDS if each == front["kind"])
    checkpoint = front.get("checkpoint")
    return Story(name, one_line(front["title"]), kind, checkpoint, introduction, tuple(scenes))


@dataclass
class _Lines:
    """The lines of a file, and how far they were read."""

    all: list[str]
    name: str
    at: int = 0
    """The next line, counted from 0: the number of those that were read."""

    def refuse(self, line: int, said: str) -> NoReturn:
        """line: counted from 1."""
        raise StoryError(f"{shown(self.name)}: line {min(max(line, 1), len(self.all))}: {said}.")

    @property
    def next(self) -> str | None:
        return self.all[self.at] if self.at < len(self.all) else None

    @property
    def heading(self) -> str | None:
        """What the next line heads, if it is a scene's."""
        line = self.next
        return one_line(line[2:]) if line is not None and _is_heading(line) else None

    def skip_empty(self) -> None:
        while self.next is not None and not self.next.strip():
            self.at += 1

    def front(self) -> Mapping[str, str]:
        """Its fields, of which title and kind are there."""
        self.skip_empty()
        if (self.next or "").rstrip() != "---":
            self.refuse(self.at + 1, "a story begins with a line ---, its title and its kind")
        first, said = self.at + 1, dict[str, str]()
        self.at += 1
        while (line := self.next) is not None and line.rstrip() != "---":
            self.at += 1
            if line.strip():
                name, value = self.field(line, FRONT)
                if name in said:
                    self.refuse(self.at, f"{name} is said twice")
                said[name] = value
        if self.next is None:
            self.refuse(first, "the line --- that ends the front matter is missing")
        self.at += 1
        for name in ("title", "kind"):
            if name not in said:
                self.refuse(first, f"{name}: is missing from the front matter")
        if said["kind"] not in KINDS:
            self.refuse(first, f"the kind {shown(said['kind'])} is none of {', '.join(KINDS)}")
        return said

    def field(self, line: str, names: tuple[str, ...]) -> tuple[str, str]:
        """Name and value of the line that was just read."""
        name, colon, value = line.partition(":")
        if not colon:
            self.refuse(self.at, f"“{shown(line, 40)}” is not a field, which reads name: value")
        if name.strip() not in names:
            known = ", ".join(names)
            self.refuse(self.at, f"there is no field {shown(name.strip(), 40)}, only {known}")
        if not value.strip():
            self.refuse(self.at, f"{name.strip()}: says nothing")
        return name.strip(), value.strip()

    def fields(self) -> Iterator[tuple[str, str]]:
        """Those of a scene, up to an empty line."""
        self.skip_empty()
        while self.next is not None and self.next.strip() and not _is_heading(self.next):
            if self.next.rstrip() == NOTES:
                return
            self.at += 1
            yield self.field(self.all[self.at - 1], FIELDS)

    def text(self, ends_at_notes: bool = False) -> str:
        """What stands before the next scene, without empty lines around it."""
        found = []
        while (line := self.next) is not None and not _is_heading(line):
            if ends_at_notes and line.rstrip() == NOTES:
                break
            self.at += 1
            name = line.partition(":")[0]
            if ends_at_notes and MARKED.match(line) and name in FIELDS:
                self.refuse(self.at, f"{name}: belongs directly below the heading")
            found.append(line[1:] if line[:1] == "\\" and MARKED.match(line) else line)
        return trimmed("\n".join(found))


def _is_heading(line: str) -> bool:
    return line == "##" or line.startswith("## ")


def plain(text: str) -> str:
    """With one way to end a line."""
    return re.sub(r"\r\n?", "\n", text)


def trimmed(text: str) -> str:
    """Without empty lines before and after it."""
    return re.sub(r"\A(?:[^\S\n]*\n)+|(?:\n[^\S\n]*)+\Z", "", text) if text.strip() else ""


def one_line(text: str) -> str:
    """With one space between words."""
    return " ".join(text.split())


def _scene(lines: _Lines, checkpoint: str | None) -> Scene:
    heading = lines.heading or ""
    lines.at += 1
    first = lines.at
    if not heading:
        lines.refuse(first, "a scene has a heading behind ##")
    facts: list[Fact] = []
    once: dict[str, tuple[str, int]] = {}
    of_lesson: list[tuple[str, str]] = []
    exercise = NO_EXERCISE
    for name, value in lines.fields():
        if name in exercises.FIELDS and (name in exercises.REPEATED or name not in once):
            of_lesson.append((name, value))
            exercise = _exercise(lines, of_lesson)
        if name == "fact":
            facts.append(_fact(lines, value))
        elif name in exercises.REPEATED:
            continue
        elif name in once:
            lines.refuse(lines.at, f"{name} is said twice")
        else:
            once[name] = value, lines.at
    if "screen" not in once:
        lines.refuse(first, "the scene has no screen: write screen: and the address it opens")
    screen = _screen(lines, *once["screen"])
    if screen.checkpoint is None:
        screen = replace(screen, checkpoint=checkpoint)
    if exercise.tasks and screen.decoding in SAMPLED:
        lines.refuse(once["screen"][1], BY_CHANCE)
    question = _question(lines, once, screen)
    text = lines.text(ends_at_notes=True)
    notes = ""
    if lines.next is not None and lines.next.rstrip() == NOTES:
        lines.at += 1
        notes = lines.text()
    writes = one_line(once.get("writes", ("", 0))[0])
    return Scene(heading, text, screen, tuple(facts), question, notes, writes, exercise)


def _screen(lines: _Lines, address: str, line: int) -> Screen:
    """What an address opens, whichever server it names; that of another story is left out."""
    try:
        parts = urlsplit(address)
    except ValueError:
        lines.refuse(line, f"{shown(address, 60)} is not an address")
    page = unquote(parts.path.rpartition("/")[2]) or FIRST_PAGE
    said = {"page": page, **dict(parse_qsl(parts.query, keep_blank_values=True))}
    if wrong := unread(said):
        lines.refuse(line, f"the screen says {listed(wrong, 3)}, which cannot be read")
    return bare(parse(said))


def _exercise(lines: _Lines, said: list[tuple[str, str]]) -> Exercise:
    try:
        return read_exercise(said)
    except ValueError as error:
        lines.refuse(lines.at, str(error))


def _fact(lines: _Lines, value: str) -> Fact:
    found = _FACT.fullmatch(value)
    try:
        least = float(found["least"]) if found else 2.0
    except ValueError:
        least = 2.0
    if found is None or not 0 <= least <= 1:
        lines.refuse(lines.at, "a fact reads kind.layer.head.query.key row-word column-word 0.98")
    row, column = unquote(found["row"]), unquote(found["column"])
    layer, head, query, key = (int(found[name]) for name in ("layer", "head", "query", "key"))
    return Fact(found["kind"], layer, head, query, key, row, column, least)


def _question(
    lines: _Lines, once: Mapping[str, tuple[str, int]], screen: Screen
) -> Question | None:
    words, line = once.get("ask-in-words", ("", 0))
    if "ask" not in once:
        if words:
            lines.refuse(line, "ask-in-words: needs an ask: that says which row is meant")
        return None
    asked, line = once["ask"]
    found = _ASK.fullmatch(asked)
    if found is None:
        lines.refuse(line, "a question reads row kind.layer.head.query")
    if screen.decoding in SAMPLED:
        lines.refuse(line, BY_CHANCE)
    layer, head, query = (int(found[name]) for name in ("layer", "head", "query"))
    return Question(found["kind"], layer, head, query, one_line(words))
