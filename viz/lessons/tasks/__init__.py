"""Kinds of tasks, one per file: each declares TASK."""
