"""hyunwoongko/transformer's modules by their names and formulas."""

from typing import Any

import torch
from torch import Tensor, nn

from tests.transformer.formats.reference.parts import Attention, Stack, later, sines

_NAMES = "w_q w_k w_v w_concat"


class LayerNorm(nn.Module):
    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.gamma = nn.Parameter(torch.ones(d_model))
        self.beta = nn.Parameter(torch.zeros(d_model))

    def forward(self, x: Tensor) -> Tensor:
        centred = x - x.mean(-1, keepdim=True)
        variance = centred.square().mean(-1, keepdim=True)
        return self.gamma * centred / (variance + 1e-12).sqrt() + self.beta


class Layer(nn.Module):
    """Of the encoder, or with enc_dec_attention of the decoder."""

    def __init__(self, d_model: int, n_head: int, hidden: int, is_decoder: bool) -> None:
        super().__init__()
        own = "self_attention" if is_decoder else "attention"
        self.add_module(own, Attention(_NAMES, d_model, n_head))
        if is_decoder:
            self.enc_dec_attention = Attention(_NAMES, d_model, n_head)
        self.ffn: Any = Stack(
            linear1=nn.Linear(d_model, hidden), linear2=nn.Linear(hidden, d_model)
        )
        self.norms = [f"norm{i + 1}" for i in range(3 if is_decoder else 2)]
        for name in self.norms:
            self.add_module(name, LayerNorm(d_model))
        self.own = own

    def forward(self, x: Tensor, memory: Tensor | None, mask: Tensor | None) -> Tensor:
        norms: list[Any] = [self._modules[name] for name in self.norms]
        own: Any = self._modules[self.own]
        x = norms[0](x + own(x, x, mask))
        if memory is not None:
            x = norms[1](x + self.enc_dec_attention(x, memory))
        normed: Tensor = norms[-1](x + self.ffn.linear2(self.ffn.linear1(x).relu()))
        return normed


class Coder(nn.Module):
    def __init__(
        self, vocab: int, d_model: int, n_head: int, hidden: int, n: int, is_decoder: bool
    ) -> None:
        super().__init__()
        self.emb: Any = Stack(tok_emb=nn.Embedding(vocab, d_model, padding_idx=1))
        self.layers = nn.ModuleList(Layer(d_model, n_head, hidden, is_decoder) for _ in range(n))
        if is_decoder:
            self.linear = nn.Linear(d_model, vocab)

    def forward(self, ids: Tensor, memory: Tensor | None, mask: Tensor | None) -> Tensor:
        x: Tensor = self.emb.tok_emb(ids)
        x = x + sines(256, x.size(-1))[: ids.size(1)]
        for layer in self.layers:
            x = layer(x, memory, mask)
        return x


class Transformer(nn.Module):
    def __init__(
        self, d_model: int, n_head: int, sources: int, targets: int, hidden: int, n: int
    ) -> None:
        super().__init__()
        self.encoder = Coder(sources, d_model, n_head, hidden, n, is_decoder=False)
        self.decoder = Coder(targets, d_model, n_head, hidden, n, is_decoder=True)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        memory = self.encoder(source, None, None)
        logits: Tensor = self.decoder.linear(self.decoder(target, memory, later(target.size(1))))
        return logits
