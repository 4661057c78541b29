"""Positions: how the model tells its tokens apart by place, and what happens without."""

from viz.pages.positions.page import PAGE

__all__ = ["PAGE"]
