"""Compare: two heads, of one checkpoint or of two."""

from viz.pages.compare.page import PAGE

__all__ = ["PAGE"]
