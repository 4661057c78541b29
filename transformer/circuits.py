"""A head's QK and OV circuits on the tokens themselves (Elhage et al. 2021).

With row vectors, W_QK = W_Q W_K^T says how a query meets a key and W_OV = W_V W_O what an attended
token adds. Between token embeddings W_E and the output W_U both become tables of tokens:
W_E W_QK W_E^T and W_E W_OV W_U. That is the direct path alone: positions, biases, norms and all
other layers are left out.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from transformer.config import ModelConfig
from transformer.inspection import Inspection
from transformer.tensors import open_tensors


@dataclass(frozen=True, eq=False)
class Head:
    """The four matrices of one head, without biases."""

    q: Tensor
    """[D, d_key]"""
    k: Tensor
    """[D, d_key]"""
    v: Tensor
    """[D, d_value]"""
    o: Tensor
    """[d_value, D]"""


@dataclass(frozen=True, eq=False)
class Ends:
    """What a kind of attention reads and what its output is read by."""

    queries: Tensor | None
    """W_E of the queries [V, D]; None where they meet keys that are no embeddings (cross)."""
    keys: Tensor
    """W_E of the keys and values [V, D]."""
    output: Tensor
    """W_U [D, V]."""
    reads_itself: bool
    """Whether W_U is W_E transposed, because an encoder writes no tokens."""


def open_head(found: Inspection, kind: str, layer: int, head: int) -> Head:
    """One head's weights from the file. Raises KeyError where the file lacks one."""
    config = found.config
    pattern = found.family.attentions[kind] or ""
    place = pattern.replace("*", str(layer)).removesuffix(".dot_product")
    keys = slice(head * config.d_head, (head + 1) * config.d_head)
    values = slice(head * config.d_head_value, (head + 1) * config.d_head_value)
    if not config.projections:  # the heads split the input itself
        own = torch.eye(config.d_model, dtype=torch.float64)
        return Head(own[:, keys], own[:, keys], own[:, values], own[values])
    q, k, v, o = _read(found, *(f"{place}.{n}.weight" for n in ("query", "key", "value", "output")))
    # A linear layer's weight is [out, in].
    return Head(q[keys].mT, k[keys].mT, v[values].mT, o[:, values].mT)


def open_ends(found: Inspection, kind: str) -> Ends:
    """The embeddings as the model reads them, scale included, and the output's matrix."""
    (own,) = _read(found, "embedding.weight")
    source = own
    if "source_embedding.weight" in found.expected:
        (source,) = _read(found, "source_embedding.weight")
    if kind == "encoder_self":
        read = _embedded(found, source)
        return Ends(read, read, source.mT, reads_itself=True)
    output = own.mT
    if "output.weight" in found.expected:
        output = _read(found, "output.weight")[0].mT
    is_cross = kind == "cross"
    keys = _embedded(found, source if is_cross else own)
    queries = None if is_cross else keys
    return Ends(queries, keys, output, reads_itself=False)


def qk(head: Head, ends: Ends, ids: Sequence[int], config: ModelConfig) -> Tensor:
    """Scores of tokens with each other [N, N], queries in rows. Raises ValueError for cross."""
    if ends.queries is None:
        raise ValueError("a cross head's queries and keys are of two stacks: no token form.")
    chosen = list(ids)
    scores: Tensor = (
        (ends.queries[chosen] @ head.q) @ (ends.keys[chosen] @ head.k).mT * config.score_scale
    )
    return scores


def ov(head: Head, ends: Ends, ids: Sequence[int]) -> Tensor:
    """What attending to a token (row) adds to the logit of another (column): [N, N]."""
    chosen = list(ids)
    return (ends.keys[chosen] @ head.v) @ (head.o @ ends.output[:, chosen])


def ov_eigenvalues(head: Head, ends: Ends) -> Tensor:
    """The d_value eigenvalues of W_E W_OV W_U [V, V] that need not be 0: complex [d_value].

    A product's order does not change its eigenvalues but for zeros, so the small
    W_O W_U W_E W_V [d_value, d_value] has them.
    """
    return torch.linalg.eigvals((head.o @ ends.output) @ (ends.keys @ head.v))


def copying_score(eigenvalues: Tensor) -> float:
    """sum Re(lambda) / sum |lambda|: 1 where attending to a token raises just that token.

    From -1 to 1 (Elhage et al. 2021, "Detecting copying behavior"); 0 where there is nothing.
    """
    size = float(eigenvalues.abs().sum())
    return float(eigenvalues.real.sum()) / size if size else 0.0


def copying_scores(found: Inspection, kind: str) -> Tensor:
    """The score of every head of a kind: [L, H]."""
    config, ends = found.config, open_ends(found, kind)
    n_layers = layers_of(config, kind)
    # The vocabulary is summed over once: W_U W_E is [D, D].
    through = ends.output @ ends.keys
    scores = torch.zeros(n_layers, config.n_heads, dtype=torch.float64)
    for layer in range(n_layers):
        for number in range(config.n_heads):
            head = open_head(found, kind, layer, number)
            eigenvalues = torch.linalg.eigvals(head.o @ through @ head.v)
            scores[layer, number] = copying_score(eigenvalues)
    return scores


def layers_of(config: ModelConfig, kind: str) -> int:
    """How many layers have this kind of attention."""
    return config.n_encoder_layers if kind == "encoder_self" else config.n_decoder_layers


def _embedded(found: Inspection, table: Tensor) -> Tensor:
    """Token embeddings as they enter the first layer, positions left out."""
    config = found.config
    if config.scaled_embeddings:
        table = table * config.d_model**0.5
    if config.positions == "concatenated":  # [embedding; position] times a matrix
        (project,) = _read(found, "join.project.weight")
        table = table @ project[:, : config.d_model].mT
    return table


def _read(found: Inspection, *names: str) -> list[Tensor]:
    """Tensors in double precision. Raises KeyError for one that the file lacks."""
    there = {each.name for each in found.tensors}
    for name in names:
        if name not in there:
            raise KeyError(name)
    with open_tensors(found.file) as file:
        return [file.get_tensor(name).double() for name in names]
