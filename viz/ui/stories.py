"""Which story an address names: a shipped one."""

from viz.stories.shipped import shipped_stories
from viz.stories.story import Story


def story_of(name: str | None) -> Story | None:
    """The story of this name; None where there is none."""
    return shipped_stories().get(name or "")
