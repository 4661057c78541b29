"""Lessons: all of them as cards, or the one that the address names, over the sentence on screen."""

from viz.pages.lessons.lesson import show_lesson
from viz.pages.lessons.listing import list_lessons
from viz.state.page import Page, Pane
from viz.stories.reading import shipped_stories


def draw(pane: Pane) -> None:
    """One lesson, or the list where none is named."""
    lesson = shipped_stories().get(pane.screen.story or "")
    if lesson is None or lesson.kind != "lesson":
        list_lessons()
    else:
        show_lesson(lesson, pane)


PAGE = Page(
    "lessons",
    "Lessons",
    "Learn",
    10,
    draw,
    tells=True,
    subject="Lessons on attention, with a trained Transformer that answers",
)
