"""Identity anchors: pieces that a translation copies, such as names, numbers and full stops."""

from pathlib import Path

import torch
from tqdm import tqdm

from transformer.checkpoint import Checkpoint
from transformer.recording import Attention
from transformer.recording.ours import record
from transformer.training.data_folder import need
from transformer.training.task import Scores
from transformer.training.translation import PAIRS, TESTS, read_pairs

N_PAIRS = 400
SET = "Tatoeba test"


def anchors(attention: Attention) -> list[tuple[int, int]]:
    """(row that writes it, column) of every piece that occurs once in each of the two texts.

    Special tokens are none; a piece is the same where its text is.
    """
    pieces = [token.piece for token in attention.produced or () if not token.special]
    read = [token.piece for token in attention.keys if not token.special]
    once = {piece for piece in pieces if pieces.count(piece) == read.count(piece) == 1}
    columns = {token.piece: column for column, token in enumerate(attention.keys)}
    rows = enumerate(attention.produced or ())
    return [(row, columns[token.piece]) for row, token in rows if token.piece in once]


def evaluate_anchors(checkpoint: Checkpoint, data: Path | None) -> Scores:
    """The share of identity anchors at which a head's largest weight is, in percent, best head.

    Read at the row that writes the piece, over the first N_PAIRS pairs of the Tatoeba test with
    their own translation given; the head is chosen on them. Raises MissingData.
    """
    pairs = read_pairs(need(data, PAIRS, TESTS[SET]))[:N_PAIRS]
    n, right = 0, torch.zeros(0)
    for source, target, *_ in tqdm(pairs, desc="Identity anchors", unit="sentence"):
        attention = record(checkpoint, source, target).attentions["cross"]
        result = anchors(attention)
        if not result:
            continue
        hits = _hits(attention, result)
        n, right = n + len(result), hits if not n else right + hits
    scores: Scores = {f"Identity anchors, {SET}, number": n}
    if n:
        layer, head = divmod(int(right.argmax()), right.size(1))
        name = f"Identity anchors, {SET}, best head (L{layer} H{head}), share found"
        scores[name] = 100 * float(right[layer, head]) / n
    return scores


def _hits(attention: Attention, places: list[tuple[int, int]]) -> torch.Tensor:
    """Count the anchors that each head finds: [L, H]."""
    rows, columns = (torch.tensor(side) for side in zip(*places, strict=True))
    layers = range(attention.n_layers)
    largest = torch.stack([attention.weights(layer)[:, rows].argmax(-1) for layer in layers])
    return (largest == columns).sum(-1)
