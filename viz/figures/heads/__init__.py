"""Figures of all heads of a model, or of two."""
