"""A classifier of plain self-attention: no queries, keys and values but the vectors themselves."""

import torch
from torch import Tensor, nn

from headscope import from_module

GOOD, BAD = ["good", "fine", "lovely"], ["bad", "dull", "awful"]
WORDS = ["<unk>", "the", "a", "film", "story", "was", "is", "not", "very", "and", *GOOD, *BAD]
EXAMPLES = ["the film was very good", "a dull and awful story"]


class SelfAttention(nn.Module):
    """Each vector becomes a mixture of all, by their products."""

    def forward(self, x: Tensor) -> Tensor:
        """[B, T, D] -> [B, T, D]."""
        weights = (x @ x.mT / x.size(-1) ** 0.5).softmax(-1)
        return weights @ x


class Moods(nn.Module):
    """Words [B, T] -> the logits of "bad" and "good" [B, 2]."""

    def __init__(self, d_model: int = 16) -> None:
        super().__init__()
        self.words = nn.Embedding(len(WORDS), d_model)
        self.attention = SelfAttention()
        self.output = nn.Linear(d_model, 2)

    def forward(self, ids: Tensor) -> Tensor:
        """The largest value of each dimension decides."""
        return self.output(self.attention(self.words(ids)).amax(1))


def train(model: Moods, steps: int) -> None:
    """Random words; those of a mood that are more decide, and "not" turns the next one round."""
    torch.manual_seed(0)
    optimizer = torch.optim.Adam(model.parameters(), 1e-2)
    moods = torch.tensor([(word in GOOD) - (word in BAD) for word in WORDS])
    for _ in range(steps):
        ids = torch.randint(len(WORDS), (64, 7))
        signs = 1 - 2 * ids.eq(WORDS.index("not")).roll(1, 1).int()
        loss = nn.functional.cross_entropy(model(ids), ((moods[ids] * signs).sum(1) > 0).long())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def build(steps: int = 200):
    """A second of training, then what `explore` opens."""
    torch.manual_seed(0)
    model = Moods()
    train(model, steps)

    def tokenize(text: str) -> list[int]:
        return [WORDS.index(word) if word in WORDS else 0 for word in text.lower().split()]

    return from_module(model, tokenize, WORDS, EXAMPLES, classes=("bad", "good"))
