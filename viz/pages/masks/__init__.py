"""Masks: those of a batch of two sentences."""

from viz.pages.masks.page import PAGE

__all__ = ["PAGE"]
