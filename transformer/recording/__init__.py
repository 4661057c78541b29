"""How a Recording comes about: our models' by hooks, any other module's by watching it run."""

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
