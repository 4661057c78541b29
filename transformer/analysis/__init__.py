"""Readings, lenses, metrics, one cell and snapshots: they turn a recording into numbers."""
