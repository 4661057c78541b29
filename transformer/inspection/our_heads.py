"""The heads of checkpoints whose tensors have our names, for circuits."""

from collections.abc import Sequence

import torch
from torch import Tensor

from transformer.config import ModelConfig
from transformer.files.tensors import TensorSource
from transformer.inspection.circuits import CircuitError, Ends, Head, Table
from transformer.models.family import Family


class OurHeads:
    """A model that a ModelConfig describes."""

    def __init__(self, tensors: TensorSource, config: ModelConfig, family: Family) -> None:
        self._tensors, self._config, self._family = tensors, config, family

    def n_layers(self, kind: str) -> int:
        config = self._config
        if kind not in self._family.attentions:  # a decoder by itself has no memory to look at
            return 0
        return config.n_encoder_layers if kind == "encoder_self" else config.n_decoder_layers

    def layer(self, kind: str, layer: int) -> Sequence[Head]:
        config = self._config
        scale = config.score_scale
        if not config.projections:  # the heads split the input itself
            own = torch.eye(config.d_model, dtype=torch.float64)
            matrices = [own, own, own, own]
        else:
            pattern = self._family.attentions[kind] or ""
            place = pattern.replace("*", str(layer)).removesuffix(".dot_product")
            names = (f"{place}.{name}.weight" for name in ("query", "key", "value", "output"))
            matrices = self._read(*names)  # a linear layer's weight is [out, in]
        q, k, v, o = (matrix.double() for matrix in matrices)
        sizes = (config.d_head, config.d_head, config.d_head_value)
        q, k, v = (
            each.unflatten(0, (config.n_heads, size))  # [H, d, D]
            for each, size in zip((q, k, v), sizes, strict=True)
        )
        o = o.unflatten(1, (config.n_heads, config.d_head_value))  # [D, H, d]
        return [Head(q[h].mT, k[h].mT, v[h].mT, o[:, h].mT, scale) for h in range(config.n_heads)]

    def ends(self, kind: str) -> Ends:
        (own,) = self._read("embedding.weight")
        source = own
        if "source_embedding.weight" in self._tensors.stored:
            (source,) = self._read("source_embedding.weight")
        if kind == "encoder_self":
            read = self._embedded(source)
            return Ends(read, read, Table(source), reads_itself=True)
        output = own
        if "output.weight" in self._tensors.stored:
            (output,) = self._read("output.weight")
        is_cross = kind == "cross"
        keys = self._embedded(source if is_cross else own)
        return Ends(None if is_cross else keys, keys, Table(output), reads_itself=False)

    def _embedded(self, table: Tensor) -> Table:
        """Token embeddings as they enter the first layer, positions left out."""
        config = self._config
        scale = config.d_model**0.5 if config.scaled_embeddings else 1.0
        if config.positions != "concatenated":
            return Table(table, scale)
        (project,) = self._read("join.project.weight")  # of [embedding; position]
        return Table(table, scale, project[:, : config.d_model].double().mT)

    def _read(self, *names: str) -> list[Tensor]:
        for name in names:
            if name not in self._tensors.stored:
                raise CircuitError(f"{name} is missing, so circuits cannot be computed.")
        return list(self._tensors.read(*names))
