"""The causes of a word: what a model looked at and needed when it wrote it, and its repairs."""

from transformer.causes.contrast import Contrast, contrast
from transformer.causes.evidence import Evidence, evidence
from transformer.causes.repairs import Repairs, repairs

__all__ = ["Contrast", "Evidence", "Repairs", "contrast", "evidence", "repairs"]
