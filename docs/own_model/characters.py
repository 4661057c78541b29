"""A decoder-only character model with a module per head, as courses build it."""

import torch
from torch import Tensor, nn

from headscope import from_module

TEXT = (
    "the cat sat on the mat. the dog sat on the log. the cat saw the dog, and the dog saw the cat. "
)
CHARACTERS, EXAMPLES = sorted(set(TEXT)), ["the cat sat", "the dog saw"]


class Head(nn.Module):
    """One head of causal self-attention."""

    def __init__(self, d_model: int, d_head: int) -> None:
        super().__init__()
        self.query, self.key, self.value = (
            nn.Linear(d_model, d_head, bias=False) for _ in range(3)
        )

    def forward(self, x: Tensor) -> Tensor:
        """[B, T, D] -> [B, T, d_head]."""
        q, k = self.query(x), self.key(x)
        scores = q @ k.mT * k.size(-1) ** -0.5
        later = torch.ones_like(scores[0], dtype=torch.bool).triu(1)
        return scores.masked_fill(later, -torch.inf).softmax(-1) @ self.value(x)


class Block(nn.Module):
    """Heads side by side, then a feed-forward network, each with a residual."""

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        self.heads = nn.ModuleList(Head(d_model, d_model // n_heads) for _ in range(n_heads))
        self.join = nn.Linear(d_model, d_model)
        self.feed_forward = nn.Sequential(
            nn.Linear(d_model, 4 * d_model), nn.GELU(), nn.Linear(4 * d_model, d_model)
        )
        self.norms = nn.ModuleList(nn.LayerNorm(d_model) for _ in range(2))

    def forward(self, x: Tensor) -> Tensor:
        """[B, T, D] -> [B, T, D]."""
        before = self.norms[0](x)
        x = x + self.join(torch.cat([head(before) for head in self.heads], dim=-1))
        return x + self.feed_forward(self.norms[1](x))


class CharacterModel(nn.Module):
    """Characters [B, T] -> the logits of the next ones [B, T, V], and a loss where asked."""

    def __init__(self, d_model: int = 48, n_heads: int = 4, n_layers: int = 2) -> None:
        super().__init__()
        self.tokens = nn.Embedding(len(CHARACTERS), d_model)
        self.positions = nn.Embedding(256, d_model)
        self.blocks = nn.Sequential(*(Block(d_model, n_heads) for _ in range(n_layers)))
        self.output = nn.Linear(d_model, len(CHARACTERS))

    def forward(self, ids: Tensor, targets: Tensor | None = None) -> tuple[Tensor, Tensor | None]:
        """targets: [B, T], what follows each character."""
        x = self.tokens(ids) + self.positions(torch.arange(ids.size(1)))
        logits = self.output(self.blocks(x))
        if targets is None:
            return logits, None
        return logits, nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())


def train(model: CharacterModel, steps: int) -> None:
    """Pieces of the text, 64 characters each."""
    torch.manual_seed(0)
    optimizer = torch.optim.Adam(model.parameters(), 2e-3)
    ids = torch.tensor([CHARACTERS.index(character) for character in TEXT * 3])
    for _ in range(steps):
        starts = torch.randint(len(ids) - 65, (16,)).tolist()
        rows = torch.stack([ids[start : start + 65] for start in starts])
        _, loss = model(rows[:, :-1], rows[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def build(steps: int = 200):
    """Some seconds of training, then what `explore` opens."""
    torch.manual_seed(0)
    model = CharacterModel()
    train(model, steps)

    def tokenize(text: str) -> list[int]:
        return [CHARACTERS.index(character) for character in text]

    return from_module(model, tokenize, CHARACTERS, EXAMPLES, writes="continuation")
