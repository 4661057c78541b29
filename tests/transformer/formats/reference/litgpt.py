"""Lightning-AI/litgpt's modules by their names and formulas, with Llama's or GPT-NeoX's layers."""

from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tests.transformer.formats.reference.llama2_c import RMSNorm
from tests.transformer.formats.reference.parts import Stack, attend, later


@dataclass
class Config:
    """The options of model_config.yaml that a small model needs."""

    name: str = "small"
    block_size: int = 32
    n_layer: int = 2
    n_embd: int = 16
    n_head: int = 2
    n_query_groups: int = 2
    padded_vocab_size: int = 23
    norm_class_name: str = "LayerNorm"
    norm_eps: float = 1e-5
    mlp_class_name: str = "GptNeoxMLP"
    parallel_residual: bool = True
    rotary_percentage: float = 0.25
    rope_base: int = 10000
    rope_adjustments: None = None
    bias: bool = True
    attn_bias: bool = False
    gelu_approximate: str = "none"

    @property
    def is_llama(self) -> bool:
        return self.mlp_class_name == "LLaMAMLP"

    def norm(self) -> nn.Module:
        return RMSNorm(self.n_embd) if self.is_llama else nn.LayerNorm(self.n_embd)


def turned(x: Tensor, n_turning: int, base: int) -> Tensor:
    """x: [B, T, H, d]; dimensions i and i + n/2 of the first n are a pair that turns."""
    half = n_turning // 2
    first, second, still = x[..., :half], x[..., half:n_turning], x[..., n_turning:]
    angles = torch.arange(x.size(1))[:, None] * base ** -(torch.arange(half) / half)
    cosines, sines = angles.cos()[:, None], angles.sin()[:, None]
    pairs = (first * cosines - second * sines, second * cosines + first * sines)
    return torch.cat([*pairs, still], dim=-1)


class Attention(nn.Module):
    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config, self.d_head = config, config.n_embd // config.n_head
        rows = (config.n_head + 2 * config.n_query_groups) * self.d_head
        self.qkv = nn.Linear(config.n_embd, rows, config.bias or config.attn_bias)
        self.proj = nn.Linear(config.n_embd, config.n_embd, config.bias)
        self.attn = torch.empty(0)

    def forward(self, x: Tensor) -> Tensor:
        config = self.config
        heads, groups = config.n_head, config.n_query_groups
        q, k, v = self.qkv(x).unflatten(-1, (-1, self.d_head)).split([heads, groups, groups], 2)
        n_turning = int(config.rotary_percentage * self.d_head)
        q, k = (turned(each, n_turning, config.rope_base) for each in (q, k))
        k, v = (each.repeat_interleave(heads // groups, dim=2) for each in (k, v))
        q, k, v = (each.flatten(-2) for each in (q, k, v))
        joined, self.attn = attend(q, k, v, heads, later(x.size(1)))
        output: Tensor = self.proj(joined)
        return output


class Block(nn.Module):
    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.norm_1, self.norm_2 = config.norm(), config.norm()
        self.attn = Attention(config)
        d, wide = config.n_embd, 2 * config.n_embd
        names = ("fc_1", "fc_2") if config.is_llama else ("fc",)
        inner = {name: nn.Linear(d, wide, config.bias) for name in names}
        self.mlp: Any = Stack(**inner, proj=nn.Linear(wide, d, config.bias))

    def feed(self, x: Tensor) -> Tensor:
        if self.config.is_llama:
            inner = F.silu(self.mlp.fc_1(x)) * self.mlp.fc_2(x)
        else:
            inner = F.gelu(self.mlp.fc(x), approximate=self.config.gelu_approximate)
        fed: Tensor = self.mlp.proj(inner)
        return fed

    def forward(self, x: Tensor) -> Tensor:
        attended = self.attn(self.norm_1(x))
        if self.config.parallel_residual:
            return x + attended + self.feed(self.norm_2(x))
        x = x + attended
        return x + self.feed(self.norm_2(x))


class GPT(nn.Module):
    def __init__(self, config: Config) -> None:
        super().__init__()
        d, vocab = config.n_embd, config.padded_vocab_size
        self.lm_head = nn.Linear(d, vocab, bias=False)
        blocks = nn.ModuleList(Block(config) for _ in range(config.n_layer))
        self.transformer: Any = Stack(wte=nn.Embedding(vocab, d), h=blocks, ln_f=config.norm())

    def forward(self, text: Tensor) -> Tensor:
        x = self.transformer.wte(text)
        for block in self.transformer.h:
            x = block(x)
        logits: Tensor = self.lm_head(self.transformer.ln_f(x))
        return logits
