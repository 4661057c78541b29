"""The stories that lie beside this file, by their names."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from viz.stories.reading import read_story
from viz.stories.story import Kind, Story

FOLDER = Path(__file__).parent


@cache
def shipped_stories() -> Mapping[str, Story]:
    """Name -> story, in the order of their names."""
    files = sorted(FOLDER.glob("*.md"))
    return {file.stem: read_story(file.read_text(encoding="utf-8"), file.stem) for file in files}


def stories_of(kind: Kind) -> list[Story]:
    """The shipped stories of one kind."""
    return [each for each in shipped_stories().values() if each.kind == kind]
