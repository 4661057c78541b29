"""Recordings: of our models made by hooks, of any other module by watching it run."""

from transformer.recording.calls import AttentionCall, Sample, WeightsCall, sampled
from transformer.recording.check import Checked
from transformer.recording.data import Attention, PositionalEncoding, Recording, Unseen

__all__ = [
    "Attention",
    "AttentionCall",
    "Checked",
    "PositionalEncoding",
    "Recording",
    "Sample",
    "Unseen",
    "WeightsCall",
    "sampled",
]
