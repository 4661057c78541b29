"""Why attention: table 1 of "Attention Is All You Need"."""

from viz.pages.why_attention.page import PAGE

__all__ = ["PAGE"]
