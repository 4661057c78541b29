"""Transformers and what they leave behind: checkpoints, decodings, recordings.

>>> from transformer import decode, load_checkpoint, record
"""

from transformer.checkpoint import Checkpoint, CheckpointError, load_checkpoint
from transformer.decoding import Decoding, InputError, decode
from transformer.recorder import record
from transformer.recording import Attention, PositionalEncoding, Recording

__all__ = [
    "Attention",
    "Checkpoint",
    "CheckpointError",
    "Decoding",
    "InputError",
    "PositionalEncoding",
    "Recording",
    "decode",
    "load_checkpoint",
    "record",
]
