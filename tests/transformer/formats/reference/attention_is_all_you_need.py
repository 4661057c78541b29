"""jadore801120/attention-is-all-you-need-pytorch: its modules by their names and formulas."""

from typing import Any

import torch
from torch import Tensor, nn

from tests.transformer.formats.reference.parts import attend, later, sines


class MultiHeadAttention(nn.Module):
    def __init__(self, n_head: int, d_model: int, d_k: int, d_v: int) -> None:
        super().__init__()
        self.n_head = n_head
        self.w_qs = nn.Linear(d_model, n_head * d_k, bias=False)
        self.w_ks = nn.Linear(d_model, n_head * d_k, bias=False)
        self.w_vs = nn.Linear(d_model, n_head * d_v, bias=False)
        self.fc = nn.Linear(n_head * d_v, d_model, bias=False)
        self.layer_norm = nn.LayerNorm(d_model, eps=1e-6)
        self.attn = torch.empty(0)

    def forward(self, x: Tensor, memory: Tensor, mask: Tensor | None) -> Tensor:
        q, k, v = self.w_qs(x), self.w_ks(memory), self.w_vs(memory)
        joined, self.attn = attend(q, k, v, self.n_head, mask)
        normed: Tensor = self.layer_norm(self.fc(joined) + x)
        return normed


class PositionwiseFeedForward(nn.Module):
    def __init__(self, d_model: int, d_inner: int) -> None:
        super().__init__()
        self.w_1, self.w_2 = nn.Linear(d_model, d_inner), nn.Linear(d_inner, d_model)
        self.layer_norm = nn.LayerNorm(d_model, eps=1e-6)

    def forward(self, x: Tensor) -> Tensor:
        normed: Tensor = self.layer_norm(self.w_2(self.w_1(x).relu()) + x)
        return normed


class Layer(nn.Module):
    def __init__(self, sizes: Any, is_decoder: bool) -> None:
        super().__init__()
        heads = sizes.n_head, sizes.d_model, sizes.d_k, sizes.d_v
        self.slf_attn = MultiHeadAttention(*heads)
        if is_decoder:
            self.enc_attn = MultiHeadAttention(*heads)
        self.pos_ffn = PositionwiseFeedForward(sizes.d_model, sizes.d_inner_hid)


class PositionalEncoding(nn.Module):
    pos_table: Tensor

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.register_buffer("pos_table", sines(200, d_model).unsqueeze(0))


class Coder(nn.Module):
    def __init__(self, sizes: Any, vocab: int, is_decoder: bool) -> None:
        super().__init__()
        embedding = nn.Embedding(vocab, sizes.d_model, padding_idx=1)
        self.add_module("trg_word_emb" if is_decoder else "src_word_emb", embedding)
        self.position_enc = PositionalEncoding(sizes.d_model)
        layers = (Layer(sizes, is_decoder) for _ in range(sizes.n_layers))
        self.layer_stack: Any = nn.ModuleList(layers)
        self.layer_norm = nn.LayerNorm(sizes.d_model, eps=1e-6)

    def forward(self, x: Tensor, memory: Tensor | None, mask: Tensor | None) -> Tensor:
        x = self.layer_norm(x + self.position_enc.pos_table[:, : x.size(1)])
        for layer in self.layer_stack:
            x = layer.slf_attn(x, x, mask)
            if memory is not None:
                x = layer.enc_attn(x, memory, None)
            x = layer.pos_ffn(x)
        return x


class Transformer(nn.Module):
    """sizes: the settings, an argparse.Namespace."""

    def __init__(self, sizes: Any) -> None:
        super().__init__()
        self.sizes = sizes
        self.encoder: Any = Coder(sizes, sizes.src_vocab_size, is_decoder=False)
        self.decoder: Any = Coder(sizes, sizes.trg_vocab_size, is_decoder=True)
        self.trg_word_prj = nn.Linear(sizes.d_model, sizes.trg_vocab_size, bias=False)
        if sizes.proj_share_weight:
            self.trg_word_prj.weight = self.decoder.trg_word_emb.weight
        if sizes.embs_share_weight:
            self.encoder.src_word_emb.weight = self.decoder.trg_word_emb.weight

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        sizes, root = self.sizes, self.sizes.d_model**0.5
        scaled = sizes.scale_emb_or_prj if sizes.proj_share_weight else "none"
        scale = root if scaled == "emb" else 1.0
        memory = self.encoder(self.encoder.src_word_emb(source) * scale, None, None)
        x = self.decoder.trg_word_emb(target) * scale
        logits: Tensor = self.trg_word_prj(self.decoder(x, memory, later(target.size(1))))
        return logits / root if scaled == "prj" else logits
