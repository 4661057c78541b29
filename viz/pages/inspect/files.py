"""The checkpoint that is inspected: its files' contents, each read once."""

from torch import Tensor

from transformer.checkpoint import shipped_path
from transformer.inspection.circuits import Ends, Head, copying_scores
from transformer.inspection.survey import Inspection, survey
from transformer.inspection.tensor_statistics import Statistics, statistics
from transformer.tokenizer import Tokenizer
from transformer.words import is_byte
from viz.labels import label
from viz.run.keep import keep

Key = tuple[str, int]
"""A checkpoint's name and when its files were written last."""


@keep(8, "Reading the checkpoint")
def inspected(key: Key) -> Inspection:
    """Survey the files of a checkpoint. Raises CheckpointError."""
    return survey(shipped_path(key[0]))


@keep(4)
def tensor_of(key: Key, name: str) -> Tensor:
    """One tensor's values. Raises CheckpointError."""
    return inspected(key).read(name)


@keep(64, "Computing singular values")
def statistics_of(key: Key, name: str) -> Statistics:
    """One tensor in numbers."""
    return statistics(tensor_of(key, name))


@keep(16)
def head_of(key: Key, kind: str, layer: int, head: int) -> Head:
    """One head's matrices. Raises CircuitError."""
    return inspected(key).heads.layer(kind, layer)[head]


@keep(2)
def ends_of(key: Key, kind: str) -> Ends:
    """Return the two ends of a kind of attention. Raises CircuitError."""
    return inspected(key).heads.ends(kind)


@keep(32, "Computing copying scores")
def scores_of(key: Key, kind: str) -> Tensor:
    """The copying scores [L, H] of a kind of attention. Raises CircuitError."""
    return copying_scores(inspected(key).heads, kind)


@keep(8, "Opening the tokenizer")
def tokenizer_of(key: Key) -> Tokenizer:
    """Raises TokenizerError or CheckpointError."""
    return inspected(key).contents.read_tokenizer()


@keep(8, "Reading the vocabulary")
def pieces_of(key: Key) -> tuple[list[str], list[str], list[str]]:
    """Return every id's piece in one case, to search in; its label; "special", "byte" or ""."""
    tokenizer = tokenizer_of(key)
    tokens = [tokenizer.token(id) for id in range(tokenizer.vocab_size)]
    folded = [token.piece.casefold() for token in tokens]
    kinds = ["special" if it.special else "byte" if is_byte(it) else "" for it in tokens]
    return folded, [label(token) for token in tokens], kinds
