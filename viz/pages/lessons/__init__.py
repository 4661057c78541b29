"""Lessons: a list of them, and each as one page that scrolls."""

from viz.pages.lessons.page import PAGE

__all__ = ["PAGE"]
