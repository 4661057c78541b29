"""A hand-written encoder-decoder: it reads digits and writes their names, the last one first."""

import math

import torch
from torch import Tensor, nn

from headscope import from_module

DIGITS, EXAMPLES = "0123456789", ["3729", "1 2 3 4 5"]
NAMES = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
NAMES += ["<s>", "</s>"]


class Attention(nn.Module):
    """Multi-head attention (AIAYN, section 3.2.2)."""

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.query, self.key, self.value, self.output = (
            nn.Linear(d_model, d_model) for _ in range(4)
        )

    def forward(self, x: Tensor, memory: Tensor, mask: Tensor | None = None) -> Tensor:
        """x: [B, T, D] attends to memory [B, S, D]; mask: True = may attend."""
        q, k, v = self.split(self.query(x)), self.split(self.key(memory)), self.value(memory)
        scores = q @ k.mT / math.sqrt(q.size(-1))  # [B, H, T, S]
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)
        heads = scores.softmax(-1) @ self.split(v)  # [B, H, T, d_head]
        return self.output(heads.transpose(1, 2).flatten(2))

    def split(self, x: Tensor) -> Tensor:
        """[B, T, D] -> [B, H, T, d_head]."""
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)


class Layer(nn.Module):
    """One layer of the encoder, or of the decoder, which attends to the memory as well."""

    def __init__(self, d_model: int, n_heads: int, is_decoder: bool) -> None:
        super().__init__()
        self.self_attention = Attention(d_model, n_heads)
        self.cross_attention = Attention(d_model, n_heads) if is_decoder else None
        self.feed_forward = nn.Sequential(
            nn.Linear(d_model, 4 * d_model), nn.ReLU(), nn.Linear(4 * d_model, d_model)
        )
        self.norms = nn.ModuleList(nn.LayerNorm(d_model) for _ in range(2 + is_decoder))

    def forward(
        self, x: Tensor, memory: Tensor | None = None, mask: Tensor | None = None
    ) -> Tensor:
        """[B, T, D] -> [B, T, D]."""
        x = self.norms[0](x + self.self_attention(x, x, mask))
        if self.cross_attention is not None:
            x = self.norms[1](x + self.cross_attention(x, memory))
        return self.norms[-1](x + self.feed_forward(x))


class DigitNames(nn.Module):
    """Digits [B, S] and what was written so far [B, T] -> logits [B, T, 12]."""

    def __init__(self, d_model: int = 32, n_heads: int = 4, n_layers: int = 2) -> None:
        super().__init__()
        self.digits, self.names = nn.Embedding(10, d_model), nn.Embedding(12, d_model)
        self.positions = nn.Parameter(0.1 * torch.randn(256, d_model))
        self.encoder = nn.ModuleList(Layer(d_model, n_heads, False) for _ in range(n_layers))
        self.decoder = nn.ModuleList(Layer(d_model, n_heads, True) for _ in range(n_layers))
        self.output = nn.Linear(d_model, 12)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """The forced pass."""
        memory = self.digits(source) + self.positions[: source.size(1)]
        for layer in self.encoder:
            memory = layer(memory)
        x = self.names(target) + self.positions[: target.size(1)]
        mask = torch.ones(target.size(1), target.size(1), dtype=torch.bool).tril()
        for layer in self.decoder:
            x = layer(x, memory, mask)
        return self.output(x)


def train(model: DigitNames, steps: int) -> None:
    """Random digits, up to eight of them."""
    torch.manual_seed(0)
    optimizer = torch.optim.Adam(model.parameters(), 2e-3)
    for _ in range(steps):
        source = torch.randint(10, (64, int(torch.randint(1, 9, ()))))
        begin, end = torch.full((64, 1), 10), torch.full((64, 1), 11)
        target = torch.cat([begin, source.flip(1), end], dim=1)
        logits = model(source, target[:, :-1])
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), target[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def build(steps: int = 400):
    """Some seconds of training, then what `explore` opens."""
    torch.manual_seed(0)
    model = DigitNames()
    train(model, steps)

    def tokenize(text: str) -> list[int]:
        return [int(digit) for digit in text if digit != " "]

    def target_tokenize(text: str) -> list[int]:
        return [NAMES.index(name) for name in text.split()]

    target = {"writes": "target", "target_pieces": NAMES, "start": "<s>", "end": "</s>"}
    return from_module(model, tokenize, DIGITS, EXAMPLES, target_tokenize=target_tokenize, **target)
