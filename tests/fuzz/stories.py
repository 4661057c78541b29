"""Damaged stories: read, or refused in a sentence with the line; what was read is written whole."""

import re
from pathlib import Path
from random import Random

from tests.fuzz.damage import damaged_bytes
from tests.fuzz.kind import Attempt, Kind
from tests.viz.stories.made import some_story
from viz.stories.reading import FOLDER, read_story, write_story
from viz.stories.story import StoryError


def start(_: Path) -> Attempt:
    shipped = [file.read_text("utf-8") for file in sorted(FOLDER.glob("*.md"))]

    def attempt(random: Random) -> None:
        text = random.choice((*shipped, write_story(some_story(random))))
        if random.random() < 0.5:
            lines = text.split("\n")
            random.shuffle(lines)
            text = "\n".join(lines[: random.randrange(len(lines))])
        text = damaged_bytes(random, text.encode()).decode("utf-8", "replace")
        try:
            story = read_story(text, "x.md")
        except StoryError as error:
            _names_a_line(str(error), len(text.splitlines()) + 1)
            raise
        assert read_story(write_story(story), "x.md") == story

    return attempt


def _names_a_line(said: str, n_lines: int) -> None:
    found = re.match(r"x\.md: line (\d+): ", said)
    assert found is not None and 1 <= int(found[1]) <= n_lines, said


KIND = Kind("stories", start, n=4000, n_quick=80)
