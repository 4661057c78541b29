"""The causes of a word: what a model looked at when it wrote it, and what it needed."""

from transformer.causes.evidence import Evidence, evidence

__all__ = ["Evidence", "evidence"]
