"""Stories made up: words and screens of random numbers."""

import random
from dataclasses import replace
from typing import get_args

from tests.viz.test_screen import some_screen
from transformer.causes.verdict import Kind
from viz.lessons.exercise import NEEDS, NO_EXERCISE, Exercise
from viz.lessons.riddle import Mistake, Riddle
from viz.stories.reading import one_line, trimmed
from viz.stories.story import KINDS, Fact, Question, Scene, Story, bare, page_names

LINES = (
    "",
    "  ",
    "## x",
    "notes:",
    "**Notes**: x",
    "Notes: say $x$",
    "\\fact: y",
    "ask: row",
    "---",
    "A *word*.",
    "    code",
    "ä⏎🙂",
)


def some_text(rng: random.Random) -> str:
    """As a file gives it back: without empty lines around it."""
    return trimmed("\n".join(rng.choice(LINES) for _ in range(rng.randrange(6))))


def some_line(rng: random.Random) -> str:
    return one_line("".join(chr(rng.randrange(33, 0x2FFF)) + rng.choice(" x") for _ in "abc"))


def some_word(rng: random.Random) -> str:
    return rng.choice((" ", "%", "‘t’", "▁x", "\n", "Schule"))


def some_scene(rng: random.Random, checkpoint: str | None) -> Scene:
    kind = rng.choice(("cross", "encoder_self", "a b.c"))
    screen = some_screen(rng)
    page = rng.choice(sorted(page_names()))
    screen = replace(bare(screen), decoding="greedy", page=page)
    if screen.checkpoint is None:
        screen = replace(screen, checkpoint=checkpoint)
    facts = tuple(
        Fact(kind, *(rng.randrange(9) for _ in "lhqk"), some_word(rng), some_word(rng), least)
        for least in rng.sample((0.0, 0.5, 0.98, 1.0), rng.randrange(4))
    )
    asked = Question(kind, 2, 3, rng.randrange(99), rng.choice(("", some_line(rng))))
    question = rng.choice((None, asked))
    return Scene(
        some_line(rng),
        some_text(rng),
        screen,
        facts,
        question,
        some_text(rng),
        rng.choice(("", some_line(rng))),
        rng.choice((NO_EXERCISE, some_exercise(rng))),
        question is None and rng.choice((False, True)),
    )


def some_exercise(rng: random.Random) -> Exercise:
    tasks = ("strongest", "spread", "dot", "weight")
    return Exercise(
        needs=tuple(rng.sample(list(NEEDS), rng.randrange(3))),
        head=rng.choice((NO_EXERCISE.head, "most alignment in cross or least entropy in any")),
        row=rng.choice((NO_EXERCISE.row, "last", "17")),
        shows=rng.choice(("", "map", "some picture")),
        own=rng.choice(("", "yes")),
        tasks=tuple(rng.sample(tasks, rng.randrange(3))),
        riddle=some_riddle(rng),
    )


def some_riddle(rng: random.Random) -> Riddle:
    kind: Kind = rng.choice(get_args(Kind))
    mistake = Mistake(some_word(rng), rng.choice(("", some_word(rng))), kind, some_word(rng))
    left_out = tuple(some_word(rng) for _ in range(rng.randrange(3)))
    solution = rng.choice(("", some_line(rng)))
    return Riddle((mistake,) * rng.randrange(3), left_out, solution)


def some_story(rng: random.Random) -> Story:
    checkpoint = rng.choice((None, "en-de", "/home/a b/c"))
    scenes = tuple(some_scene(rng, checkpoint) for _ in range(rng.randrange(1, 5)))
    quote = rng.choice(("", "", '"', "'"))
    title, kind = f"{quote}{some_line(rng)}{quote}", rng.choice(KINDS)
    learned = rng.choice(("", some_line(rng)))
    return Story("made/up.md", title, kind, checkpoint, some_text(rng), scenes, learned)
