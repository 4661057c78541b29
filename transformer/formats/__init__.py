"""Formats of checkpoints, one a file; each declares itself with a constant FORMAT."""
