"""Formats of checkpoints, one per file; each declares itself with a constant FORMAT."""
