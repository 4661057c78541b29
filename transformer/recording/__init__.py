"""How a Recording comes about: our models' by hooks, any other module's by watching it run."""

from transformer.recording.data import (
    Attention,
    AttentionCall,
    PositionalEncoding,
    Recording,
    Unseen,
    WeightsCall,
)

__all__ = ["Attention", "AttentionCall", "PositionalEncoding", "Recording", "Unseen", "WeightsCall"]
