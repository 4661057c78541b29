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


def _here(pane: Pane) -> str:
    lesson = shipped_stories().get(pane.screen.story or "")
    return f"A lesson that a model answers: {lesson.title}" if lesson else f"{SUBJECT}."


SUBJECT = "Lessons on attention, with a trained Transformer that answers"
PAGE = Page(
    "lessons",
    "Lessons",
    "Learn",
    10,
    draw,
    tells=True,
    subject=SUBJECT,
    here=_here,
)
