"""Inspect: what a checkpoint's files hold."""

from viz.pages.inspect.page import PAGE

__all__ = ["PAGE"]
