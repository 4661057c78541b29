"""Gallery: effects that are really there."""

from viz.pages.gallery.page import PAGE

__all__ = ["PAGE"]
