"""Figures of a search: its hypotheses, their scores, and texts beside each other."""
