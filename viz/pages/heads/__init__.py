"""Heads: what each head does over many sentences, and which head does what."""

from viz.pages.heads.page import PAGE

__all__ = ["PAGE"]
