"""A run that starts from trained weights, with a vocabulary of its own."""

from pathlib import Path

import torch
from torch import Tensor, nn

from transformer.checkpoint import Checkpoint, CheckpointError
from transformer.formats.opening import load_checkpoint
from transformer.tokenizer import Tokenizer
from transformer.training.growing import deepened
from transformer.training.task import TrainingError

SPACE = "▁"


def start_from(model: nn.Module, tokenizer: Tokenizer, checkpoint: Path) -> None:
    """Copy the weights of a checkpoint; a new piece begins as the mean of its old pieces.

    The layers that a post-norm encoder has more than the old one begin as `deepened` says.
    Raises TrainingError where the checkpoint does not open or is of another shape.
    """
    try:
        old = load_checkpoint(checkpoint, "cpu")
    except CheckpointError as error:
        raise TrainingError(f"--from: {error}") from error
    weights = dict(old.model.state_dict())
    table = model.state_dict().get("embedding.weight")
    if table is None or "embedding.weight" not in weights:
        raise TrainingError(f"--from: {old.name} has no embedding that could be carried over.")
    weights["embedding.weight"] = embeddings(old, tokenizer, weights["embedding.weight"])
    if (config := getattr(model, "config", None)) and config.norm_order == "post":
        weights = deepened(weights, config.n_encoder_layers)
    try:
        model.load_state_dict({name: value.float() for name, value in weights.items()})
    except RuntimeError as error:
        raise TrainingError(
            f"--from: {old.name} has layers of another shape than this recipe's."
        ) from error


def embeddings(old: Checkpoint, tokenizer: Tokenizer, table: Tensor) -> Tensor:
    """The old table [V_old, D] for a new vocabulary: [V_new, D]."""
    old_ids = {old.tokenizer.token(id).piece: id for id in range(old.tokenizer.vocab_size)}
    rows = []
    for id in range(tokenizer.vocab_size):
        token = tokenizer.token(id)
        ids = (
            [old_ids[token.piece]] if token.piece in old_ids else _split(old.tokenizer, token.piece)
        )
        rows.append(table[ids].float().mean(0))
    return torch.stack(rows)


def _split(tokenizer: Tokenizer, piece: str) -> list[int]:
    """The old pieces of a new one, without the space that every text begins with."""
    ids = tokenizer.encode(piece.replace(SPACE, " ").strip(), "text")
    if not piece.startswith(SPACE) and tokenizer.token(ids[0]).piece == SPACE:
        ids = ids[1:] or ids
    return ids
