"""Figures of the page Training: curves over the steps, and label smoothing."""
