"""nanoGPT's GPT by its names and formulas."""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tests.transformer.formats.reference.parts import Stack, attend, later


class CausalSelfAttention(nn.Module):
    def __init__(self, n_embd: int, n_head: int, bias: bool) -> None:
        super().__init__()
        self.n_head = n_head
        self.c_attn = nn.Linear(n_embd, 3 * n_embd, bias=bias)
        self.c_proj = nn.Linear(n_embd, n_embd, bias=bias)
        self.attn = torch.empty(0)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.c_attn(x).chunk(3, dim=2)
        joined, self.attn = attend(q, k, v, self.n_head, later(x.size(1)))
        projected: Tensor = self.c_proj(joined)
        return projected


class GPT(nn.Module):
    def __init__(
        self, n_layer: int, n_head: int, n_embd: int, block_size: int, bias: bool, vocab_size: int
    ) -> None:
        super().__init__()

        def norm() -> nn.LayerNorm:
            return nn.LayerNorm(n_embd, eps=1e-5, bias=bias)

        def block() -> Stack:
            c_fc = nn.Linear(n_embd, 4 * n_embd, bias=bias)
            c_proj = nn.Linear(4 * n_embd, n_embd, bias=bias)
            attention = CausalSelfAttention(n_embd, n_head, bias)
            return Stack(
                ln_1=norm(), attn=attention, ln_2=norm(), mlp=Stack(c_fc=c_fc, c_proj=c_proj)
            )

        self.transformer: Any = Stack(
            wte=nn.Embedding(vocab_size, n_embd),
            wpe=nn.Embedding(block_size, n_embd),
            h=nn.ModuleList(block() for _ in range(n_layer)),
            ln_f=norm(),
        )
        self.lm_head = nn.Linear(n_embd, vocab_size, bias=False)
        self.transformer.wte.weight = self.lm_head.weight

    def forward(self, ids: Tensor) -> Tensor:
        """ids: [B, T] -> [B, T, V]."""
        x = self.transformer.wte(ids) + self.transformer.wpe(torch.arange(ids.size(1)))
        for block in self.transformer.h:
            x = x + block.attn(block.ln_1(x))
            x = x + block.mlp.c_proj(F.gelu(block.mlp.c_fc(block.ln_2(x))))
        logits: Tensor = self.lm_head(self.transformer.ln_f(x))
        return logits
