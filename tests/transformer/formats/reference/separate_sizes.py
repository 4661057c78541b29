"""An encoder-decoder with heads of separate sizes and one norm per layer, after each sublayer."""

import math
from typing import Any

import torch
from torch import Tensor, nn

from tests.transformer.formats.reference.parts import Attention, Stack, later, sines


def norm(d_model: int) -> nn.Module:
    return nn.LayerNorm(d_model, eps=1e-6)


class WithNorm(Attention):
    """Attention with a norm of its own, which nothing calls."""

    def __init__(self, d_model: int, n_head: int, d_k: int, d_v: int) -> None:
        super().__init__("w_q w_k w_v FC", d_model, n_head, d_k, d_v)
        self.layerNorm = norm(d_model)


class Layer(nn.Module):
    """Of the encoder, or with MMHA of the decoder."""

    def __init__(
        self, d_model: int, d_hid: int, is_decoder: bool, n_head: int, d_k: int, d_v: int
    ) -> None:
        super().__init__()
        if is_decoder:
            self.MMHA = WithNorm(d_model, n_head, d_k, d_v)
        self.MHA = WithNorm(d_model, n_head, d_k, d_v)
        self.layerNorm = norm(d_model)
        self.FFN: Any = Stack(W_1=nn.Linear(d_model, d_hid), W_2=nn.Linear(d_hid, d_model))

    def fed(self, x: Tensor) -> Tensor:
        output: Tensor = self.FFN.W_2(self.FFN.W_1(x).relu())
        return output

    def encode(self, x: Tensor) -> Tensor:
        x = x + self.layerNorm(self.MHA(x, x))
        return x + self.layerNorm(self.fed(x))

    def decode(self, x: Tensor, memory: Tensor) -> Tensor:
        x = x + self.layerNorm(self.MMHA(x, x, later(x.size(1))))
        x = x + self.layerNorm(self.MHA(x, memory))
        return x + self.fed(x)


class Transformer(nn.Module):
    def __init__(
        self, d_model: int, sources: int, targets: int, d_hid: int, n: int, **sizes: int
    ) -> None:
        """sizes: n_head, d_k and d_v."""
        super().__init__()
        for side, vocab in (("encoder", sources), ("decoder", targets)):
            position = nn.Module()
            position.register_buffer("PE", sines(50, d_model).unsqueeze(0))
            layers = (Layer(d_model, d_hid, side == "decoder", **sizes) for _ in range(n))
            parts: dict[str, nn.Module] = {
                "embedding": Stack(lut=nn.Embedding(vocab, d_model)),
                "position": position,
                "layers": nn.ModuleList(layers),
            }
            self.add_module(side, Stack(**parts))
        self.encoder.add_module("layerNorm", norm(d_model))  # type: ignore[operator]
        self.trg_word_prj = nn.Linear(d_model, targets, bias=False)

    def embedded(self, side: Any, ids: Tensor) -> Tensor:
        x: Tensor = side.embedding.lut(ids)
        return x * math.sqrt(x.size(-1)) + side.position.PE[:, : ids.size(1)]

    def run(self, source: Tensor, target: Tensor) -> tuple[Tensor, list[Tensor]]:
        """Logits, and the weights of each cross-attention."""
        encoder: Any = self.encoder
        decoder: Any = self.decoder
        memory = self.embedded(encoder, source)
        for layer in encoder.layers:
            memory = layer.encode(memory)
        memory, x = encoder.layerNorm(memory), self.embedded(decoder, target)
        for layer in decoder.layers:
            x = layer.decode(x, memory)
        return self.trg_word_prj(x), [layer.MHA.attn for layer in decoder.layers]

    def attentions(self, source: Tensor, target: Tensor) -> list[Tensor]:
        """Of each cross-attention [B, H, Q, K]."""
        with torch.no_grad():
            return self.run(source, target)[1]

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        return self.run(source, target)[0]
