"""Recordings: of our models made by hooks, of any other module by watching it run.

Each attention of ours ends in a module without weights, `DotProductAttention`, that makes the one
fused call. `ours.py` installs a hook before each of them, once per model, which keeps the call's
arguments for the observer of its thread (a `ContextVar`). So nothing is registered per request, the
fused kernel stays in use, and any number of threads may record one shared model at once.

A recording holds each call's q, k and v by reference, not the weights, and of what the layer gave a
few rows, by which it checks itself. Memory grows with T · d_model, not with L · H · T². As bytes
(`wire.py`) it has what the reader's checkpoint lacks, without logits, which are made anew of the
last layer's states; the reading half believes nothing of it.
"""

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
