"""Stories: those that are shipped, and one of one's own."""

from viz.pages.stories.page import PAGE

__all__ = ["PAGE"]
