"""Decode: what the model wrote, step by step; or what it decided, where it writes nothing."""

from viz.pages.decode.page import PAGE

__all__ = ["PAGE"]
