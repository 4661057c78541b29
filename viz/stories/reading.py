"""Markdown <-> a story. What is wrong with it is said in one sentence, with the line."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import NoReturn, get_args
from urllib.parse import quote, unquote

from transformer.analysis.reading import read
from transformer.checkpoint import Checkpoint
from transformer.files.foreign_text import clean
from transformer.recording import Recording
from viz.components.question.question import Truth, question_payload
from viz.lessons import exercise as exercises
from viz.lessons.exercise import NO_EXERCISE, Exercise, exercise_lines, read_exercise
from viz.lessons.subject import Place, Subject
from viz.lessons.task import even, log_loss, percent_of, previous
from viz.page_fields import CompareFields
from viz.screen import Screen, link
from viz.stories.markdown import formula_faults
from viz.stories.story import (
    KINDS,
    Fact,
    Kind,
    NameInFile,
    Question,
    Scene,
    Story,
    StoryError,
    bare,
    read_address,
    reading_of,
)

# Markdown -> a story. What is wrong with it is said in one sentence, with the line.
#
# Front matter between lines of `---`, words of introduction, and scenes: a heading (`## `), its
# fields (`name: value`), its text, and behind `notes:` what the speaker reads.
# `viz/stories/reading.py` writes the same.

LARGEST = 2**20
"""Bytes of a file."""
MOST_SCENES = 200
MEASURE = "measure"
FRONT = ("title", "kind", "checkpoint", "learned", MEASURE)
"""The fields of the front matter; `measure` may stand any number of times."""
FIELDS = ("screen", "writes", "fact", "ask", "ask-in-words", "live", *exercises.FIELDS)
"""The fields of a scene; `fact`, `needs` and `task` may stand any number of times."""
NOTES = "notes:"
LIVE = {"yes": True, "no": False}
NO_SCREEN = (
    "the scene has no screen: write screen: and the address it opens directly below its heading"
)
SAMPLED = ("sample",)
"""Decoding methods of which nothing is asked: chance decides what they write."""
BY_CHANCE = "nothing is asked where the words are drawn by chance: choose greedy"
_NOTES = r"(?P<mark>\*\*|__|\*|_|)(?i:notes)(?:(?P=mark) ?:| ?:(?P=mark))"
MARKED = re.compile(rf"\\*(?:##(?: |$)|(?:{'|'.join(FIELDS)}):|{_NOTES})")
"""A line of text that would be read as something else, unless a backslash is before it."""
_LIKE_A_FIELD = re.compile(r"\s*[\w-]+\s*:")
_OPENS_NOTES = re.compile(_NOTES)
QUOTED = re.compile(r"([\"'])(.*)\1")
"""A value of the front matter whose quotes are not part of it."""
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
    if kind != "lesson":  # those are drawn by a page of their own, which knows all of LaTeX
        lines.refuse_formulas()
    measures = tuple(_measure(lines, *each, front.get("checkpoint")) for each in lines.measures)
    checkpoint, named = front.get("checkpoint"), tuple(lines.names)
    title, learned = one_line(front["title"]), one_line(front.get("learned", ""))
    return Story(
        name, title, kind, checkpoint, introduction, tuple(scenes), learned, measures, named
    )


@dataclass
class _Lines:
    """The lines of a file, and how far they were read."""

    all: list[str]
    name: str
    at: int = 0
    """The next line, counted from 0: the number of those that were read."""
    names: list[NameInFile] = field(default_factory=list)
    measures: list[tuple[int, str]] = field(default_factory=list)
    """Lines of the front matter that say `measure`, each with its number."""
    texts: list[tuple[int, str]] = field(default_factory=list)
    """All Markdown, each with the line that it begins at, counted from 0."""

    def refuse(self, line: int, reason: str) -> NoReturn:
        """line: counted from 1."""
        raise StoryError(f"{clean(self.name)}: line {min(max(line, 1), len(self.all))}: {reason}.")

    @property
    def next(self) -> str | None:
        return self.all[self.at] if self.at < len(self.all) else None

    @property
    def heading(self) -> str | None:
        """The heading of the scene that the next line begins, if it begins one."""
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
        first, entries, at = self.at + 1, dict[str, str](), dict[str, int]()
        self.at += 1
        while (line := self.next) is not None and line.rstrip() != "---":
            self.at += 1
            if line.strip():
                name, value = self.field(line, FRONT)
                if name == MEASURE:
                    self.measures.append((self.at, value))
                    continue
                if name in entries:
                    self.refuse(self.at, f"{name} is said twice")
                quoted = QUOTED.fullmatch(value)  # as YAML has it
                entries[name], at[name] = quoted[2] if quoted else value, self.at
                if not entries[name].strip():
                    self.refuse(self.at, f"{name}: says nothing")
        if self.next is None:
            self.refuse(first, "the line --- that ends the front matter is missing")
        self.at += 1
        for name in ("title", "kind"):
            if name not in entries:
                self.refuse(first, f"{name}: is missing from the front matter")
        if entries["kind"] not in KINDS:
            names = ", ".join(KINDS)
            self.refuse(at["kind"], f"the kind {clean(entries['kind'])} is none of {names}")
        if "checkpoint" in entries:
            self.names.append(NameInFile(at["checkpoint"], "checkpoint", entries["checkpoint"]))
        return entries

    def field(self, line: str, names: tuple[str, ...]) -> tuple[str, str]:
        """Name and value of the line that was just read."""
        name, colon, value = line.partition(":")
        if not colon:
            self.refuse(
                self.at,
                f"“{clean(line, 40)}” is not a field, which reads name: value: "
                "words follow behind an empty line",
            )
        if name.strip() not in names:
            fields = ", ".join(names)
            self.refuse(self.at, f"there is no field {clean(name.strip(), 40)}, only {fields}")
        if not value.strip():
            self.refuse(self.at, f"{name.strip()}: says nothing")
        return name.strip(), value.strip()

    def fields(self, heading: int) -> Iterator[tuple[str, str]]:
        """Yield a scene's fields, up to an empty line. heading: its line, counted from 1."""
        self.skip_empty()
        first = self.next or "##"
        if not (_is_heading(first) or _OPENS_NOTES.match(first) or _LIKE_A_FIELD.match(first)):
            self.refuse(heading, NO_SCREEN)  # these are words already
        while self.next is not None and self.next.strip() and not _is_heading(self.next):
            if _OPENS_NOTES.match(self.next):
                return
            self.at += 1
            yield self.field(self.all[self.at - 1], FIELDS)

    def text(self, ends_at_notes: bool = False) -> str:
        """Read the text before the next scene, without empty lines around it."""
        lines, start = list[str](), self.at
        while (line := self.next) is not None and not _is_heading(line):
            if ends_at_notes and _OPENS_NOTES.match(line):
                break
            self.at += 1
            name = line.partition(":")[0]
            if ends_at_notes and MARKED.match(line) and name in FIELDS:
                self.refuse(self.at, f"{name}: belongs directly below the heading")
            lines.append(line[1:] if line[:1] == "\\" and MARKED.match(line) else line)
        self.texts.append((start, "\n".join(lines)))
        return trimmed("\n".join(lines))

    def notes(self) -> str:
        """Read the notes behind `notes:`, on its line and below it; empty where there are none."""
        opens = _OPENS_NOTES.match(self.next or "")
        if opens is None:
            return ""
        words = (self.next or "")[opens.end() :].strip()
        self.at += 1
        return trimmed(f"{words}\n{self.text()}")

    def refuse_formulas(self) -> None:
        """Refuse the first one that is not drawn."""
        for start, text in self.texts:
            for line, why in formula_faults(text):
                self.refuse(start + line + 1, why)


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
    for name, value in lines.fields(first):
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
        lines.refuse(first, NO_SCREEN)
    screen = _screen(lines, *once["screen"])
    if screen.checkpoint is None:
        screen = replace(screen, checkpoint=checkpoint)
    if exercise.tasks and screen.decoding in SAMPLED:
        lines.refuse(once["screen"][1], BY_CHANCE)
    question = _question(lines, once, screen)
    live, line = once.get("live", ("no", 0))
    if live not in LIVE:
        lines.refuse(line, f"live: is yes or no, not {clean(live, 40)}")
    if LIVE[live] and question:
        lines.refuse(line, "a scene that asks is of its own sentence: leave live: out")
    text = lines.text(ends_at_notes=True)
    notes = lines.notes()
    writes = one_line(once.get("writes", ("", 0))[0])
    of_text = (tuple(facts), question, notes, writes, exercise, LIVE[live])
    return Scene(heading, text, screen, *of_text)


def _screen(lines: _Lines, address: str, line: int) -> Screen:
    """Return the screen of an address; note the names in it that may be missing elsewhere."""
    try:
        result = read_address(address)
    except ValueError as error:
        lines.refuse(line, str(error))
    if result.host:
        lines.names.append(NameInFile(line, "host", result.host))
    screen = result.screen
    of = screen.checkpoint, screen.of(CompareFields).checkpoint_b
    lines.names += [NameInFile(line, "checkpoint", name) for name in of if name is not None]
    return result.screen


def _measure(lines: _Lines, line: int, value: str, checkpoint: str | None) -> Scene:
    """ "strongest | ./?text=It+rains. | most alignment in cross | last" -> the task on its screen;
    the head and the row may be left out.
    """
    parts = [one_line(each) for each in value.split("|")]
    if len(parts) not in (2, 4):
        lines.refuse(line, "a measure reads task | screen | head | row, or task | screen")
    try:
        names = ("task", "", "head", "row")
        fields = [(name, part) for name, part in zip(names, parts, strict=False) if name]
        exercise = read_exercise(fields)
    except ValueError as error:
        lines.refuse(line, str(error))
    screen = _screen(lines, parts[1], line)
    if screen.checkpoint is None:
        screen = replace(screen, checkpoint=checkpoint)
    return Scene("", "", screen, exercise=exercise)


def _exercise(lines: _Lines, entries: list[tuple[str, str]]) -> Exercise:
    try:
        return read_exercise(entries)
    except ValueError as error:
        lines.refuse(lines.at, str(error))


def _fact(lines: _Lines, value: str) -> Fact:
    match = _FACT.fullmatch(value)
    try:
        least = float(match["least"]) if match else 2.0
    except ValueError:
        least = 2.0
    if match is None or not 0 <= least <= 1:
        lines.refuse(lines.at, "a fact reads kind.layer.head.query.key row-word column-word 0.98")
    row, column = unquote(match["row"]), unquote(match["column"])
    layer, head, query, key = (int(match[name]) for name in ("layer", "head", "query", "key"))
    return Fact(match["kind"], layer, head, query, key, row, column, least)


def _question(
    lines: _Lines, once: Mapping[str, tuple[str, int]], screen: Screen
) -> Question | None:
    words, line = once.get("ask-in-words", ("", 0))
    if "ask" not in once:
        if words:
            lines.refuse(line, "ask-in-words: needs an ask: that says which row is meant")
        return None
    text, line = once["ask"]
    match = _ASK.fullmatch(text)
    if match is None:
        lines.refuse(line, "a question reads row kind.layer.head.query")
    if screen.decoding in SAMPLED:
        lines.refuse(line, BY_CHANCE)
    layer, head, query = (int(match[name]) for name in ("layer", "head", "query"))
    return Question(match["kind"], layer, head, query, one_line(words))


# A story -> Markdown, as `viz/stories/reading.py` reads it.


def write_story(story: Story) -> str:
    """The file that reads back as this story: texts without empty lines around them."""
    front = [f"title: {_front(one_line(story.title))}", f"kind: {story.kind}"]
    if story.checkpoint is not None:
        front.append(f"checkpoint: {_front(story.checkpoint)}")
    if story.learned.strip():
        front.append(f"learned: {_front(one_line(story.learned))}")
    front += [f"{MEASURE}: {_measure_line(each, story.checkpoint)}" for each in story.measures]
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


def _measure_line(scene: Scene, checkpoint: str | None) -> str:
    """Return the text behind "measure: "."""
    exercise, usual = scene.exercise, NO_EXERCISE
    parts = [*exercise.tasks, _address(scene, checkpoint)]
    if (exercise.head, exercise.row) != (usual.head, usual.row):
        parts += [exercise.head, exercise.row]
    return " | ".join(parts)


def _address(scene: Scene, checkpoint: str | None) -> str:
    screen = bare(scene.screen)
    if screen.checkpoint == checkpoint:
        screen = replace(screen, checkpoint=None)
    path, _, asked_for = link(screen).partition("?")
    # As people read it: a plus of the text itself is %2B.
    readable = asked_for.replace("%20", "+").replace("%27", "'")
    return f"{path}?{readable}"


def _fields(scene: Scene, checkpoint: str | None) -> Iterator[str]:
    yield f"screen: {_address(scene, checkpoint)}"
    if scene.live:
        yield "live: yes"
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


# A scene's question, asked of the sentence on screen: nothing of its truth is stored anywhere.


def asked_of(
    scene: Scene, checkpoint: Checkpoint, recording: Recording, method: str
) -> Subject | None:
    """The row that is asked about; None where nothing is, or there is no such head or word here.

    method: of decoding. A shorter sentence is asked about its last row.
    """
    question = scene.question
    attention = recording.attentions.get(question.kind) if question else None
    if question is None or attention is None or method in SAMPLED:
        return None
    if question.layer >= attention.n_layers or question.head >= attention.n_heads:
        return None
    reading = reading_of(scene, checkpoint.about)
    rows = read(recording, question.kind, reading).row_groups
    query, *_ = rows[min(question.query, len(rows) - 1)]
    place = Place(question.kind, question.layer, question.head, query)
    return Subject(checkpoint, recording, place, in_pieces=not reading.words)


def payload_of(scene: Scene, subject: Subject, text: str, is_answered: bool) -> bytes:
    """Pack the question for the browser: words, and weights only once it is answered.

    text: the sentence on screen; of another one than the scene's it is asked in general words.
    """
    own = scene.question.words if scene.question and text == scene.screen.text else ""
    question = own or f"Which word will the row ‘{subject.row_word}’ look at most?"
    return question_payload(question, subject.words, truth_of(subject) if is_answered else None)


def truth_of(subject: Subject) -> Truth:
    """The row's weights, and what guesses cost that know nothing of it."""
    weights = tuple(subject.weights.tolist())
    most = subject.strongest
    return Truth(
        weights,
        uniform=log_loss(weights, even(len(weights))),
        previous=log_loss(weights, previous(subject)),
        least=log_loss(weights, [max(each, 1e-9) for each in weights]),
        says=f"‘{subject.row_word}’ looks at ‘{subject.words[most]}’: {percent_of(weights[most])}.",
    )


# The stories that lie beside this file, by their names.

FOLDER = Path(__file__).parent


@cache
def shipped_stories() -> Mapping[str, Story]:
    """Name -> story, in the order of their names."""
    files = sorted(FOLDER.glob("*.md"))
    return {file.stem: read_story(file.read_text(encoding="utf-8"), file.stem) for file in files}


def stories_of(kind: Kind) -> list[Story]:
    """The shipped stories of one kind."""
    return [each for each in shipped_stories().values() if each.kind == kind]
