"""Heads whose roles are known, and random ones: which labels they get.

python -m tests.planted prints both: each planted head has its label and no other one, but for the
one that looks at all keys alike, as random weights do: it has none. So has each head of a
cross-attention, of which one looks at the token that it has just read wherever the source has it:
it copies, and aligns. A head that copies by its values is known by its weights alone. Of heads with
random weights, of each family and beginning of a training, at most one in twenty has any.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from random import Random
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tests.conftest import random_checkpoint
from transformer import Checkpoint, from_module, survey
from transformer.config import ModelConfig
from transformer.corpus.labels import Label, labels
from transformer.corpus.shipped import Place
from transformer.inspection.circuits import (
    Ends,
    Head,
    Table,
    copying_score,
    ov_eigenvalues,
    through_vocabulary,
)

LETTERS = "abcdefghijkl"
PIECES = ["</s>", *LETTERS]
LONGEST = 24
ROLES = ("previous", "next", "same", "first", "end", "uniform", "duplicate", "induction", "rare")
"""The role of each planted head, in their order."""
SHARP = 60.0
"""The score of a role's keys, where all others have 0: it leaves nothing to them."""


class Planted(nn.Module):
    """A module with one attention, whose heads look where `ROLES` say: nothing is learned.

    Queries and keys are one-hot places beside one-hot tokens.
    """

    def __init__(self) -> None:
        super().__init__()
        self.values = nn.Embedding(len(PIECES), 4)
        self.output = nn.Linear(4 * len(ROLES), 2)

    def forward(self, ids: Tensor) -> Tensor:
        n = ids.size(1)
        places, tokens = torch.eye(LONGEST)[:n], F.one_hot(ids[0], len(PIECES)).float()
        no_place, no_token = torch.zeros_like(places), torch.zeros_like(tokens)
        words = tokens * (ids[0] > 0)[:, None]
        one_before = F.pad(tokens[:-1], (0, 0, 1, 0))
        rarity = torch.linspace(0, 40, len(PIECES)).expand_as(tokens)
        # Role -> what a query asks of a place and of a token, then what a key has of both.
        heads = {
            "previous": (places.roll(-1, -1), no_token, places, no_token),
            "next": (places.roll(1, -1), no_token, places, no_token),
            "same": (places, no_token, places, no_token),
            "first": (places[:1].expand_as(places), no_token, places, no_token),
            "end": (places[-1:].expand_as(places), no_token, places, no_token),
            "uniform": (no_place, no_token, places, tokens),
            "duplicate": (-2 * places, words, places, tokens),
            # The next token follows the query's own place: it is no repetition.
            "induction": (-2 * (places + places.roll(1, -1)), words, places, one_before),
            "rare": (no_place, rarity, places, words),
        }
        q = torch.stack([torch.cat(heads[role][:2], -1) for role in ROLES])
        k = torch.stack([torch.cat(heads[role][2:], -1) for role in ROLES])
        v = self.values(ids[0]).expand(len(ROLES), -1, -1)
        mixed = F.scaled_dot_product_attention(SHARP * q[None], k[None], v[None], scale=1.0)
        return self.output(mixed.transpose(1, 2).flatten(2).mean(1))


CROSS_ROLES = ("aligns_read", "aligns_written", "first", "end", "uniform", "rare")
"""The role of each head of a planted cross-attention, in their order."""
START = len(PIECES)
"""The token that a target begins with."""


class Heads(nn.Module):
    """The attention itself: a part of a module has a name, which says that it is cross."""

    def forward(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        mixed = F.scaled_dot_product_attention(SHARP * q[None], k[None], v[None], scale=1.0)
        return mixed.transpose(1, 2).flatten(2)


class PlantedCross(nn.Module):
    """A decoder's one attention to its source, whose heads look where `CROSS_ROLES` say.

    It writes the letters of its source in the order of the alphabet.
    """

    def __init__(self) -> None:
        super().__init__()
        self.cross_attention = Heads()
        self.values = nn.Embedding(len(PIECES), 4)
        self.output = nn.Linear(4 * len(CROSS_ROLES), len(PIECES) + 1)

    def next_of(self, source: Tensor, target: Tensor) -> Tensor:
        """The letter of the source that each row writes: the next one, or the end."""
        after = source[0] > (target[0] % START)[:, None]
        least = source[0].expand_as(after).masked_fill(~after, START).amin(-1)
        return least % START

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        n = source.size(1)
        places, one_hot = torch.eye(LONGEST)[:n], torch.eye(len(PIECES) + 1)
        tokens, read = one_hot[source[0]], one_hot[target[0]]
        # The source has no start of a target: that looks at the end, which no other token does.
        read = torch.cat([read[:, :1] + read[:, START:], read[:, 1:]], -1)
        at, nothing = torch.eye(LONGEST), torch.zeros(len(read), LONGEST)
        rarity = torch.linspace(0, 40, len(PIECES) + 1).expand_as(read)
        words = tokens * (source[0] > 0)[:, None]
        # Role -> what a query asks of a place and of a token, then what a key has of both.
        heads = {
            "aligns_read": (nothing, read, places, tokens),
            "aligns_written": (nothing, one_hot[self.next_of(source, target)], places, tokens),
            "first": (at[:1].expand_as(nothing), 0 * read, places, tokens),
            "end": (at[n - 1 : n].expand_as(nothing), 0 * read, places, tokens),
            "uniform": (nothing, 0 * read, places, tokens),
            "rare": (nothing, rarity, places, words),
        }
        q = torch.stack([torch.cat(heads[role][:2], -1) for role in CROSS_ROLES])
        k = torch.stack([torch.cat(heads[role][2:], -1) for role in CROSS_ROLES])
        v = self.values(source[0]).expand(len(CROSS_ROLES), -1, -1)
        logits = 1e-6 * self.output(self.cross_attention(q, k, v))
        every = torch.arange(len(PIECES) + 1)
        is_next = torch.isin(every, source[0]) & (every > (target[0] % START)[:, None])
        return logits + torch.where(is_next, -every, -100 - every)


WORDS = ("and", "the", "is", "he", "it", "has", "likes", "a", "old", "new", "man", "phone")
"""As many words as letters, for questions about words; the last ones are rare."""


def planted_on_words() -> Checkpoint:
    """The same heads in a module that reads words."""
    torch.manual_seed(0)

    def tokenize(text: str) -> list[int]:
        return [*(1 + WORDS.index(word) for word in text.split()), 0]

    pieces = ["</s>", *(f"▁{word}" for word in WORDS)]
    return from_module(Planted(), tokenize, pieces, "it is new", end=0, classes=("a", "b"))


def tokenize(text: str) -> list[int]:
    return [*map(PIECES.index, text), 0]


def planted() -> Checkpoint:
    """A classifier of letters with these heads."""
    torch.manual_seed(0)
    return from_module(Planted(), tokenize, PIECES, "abc", end=0, classes=("a", "b"), max_len=20)


def texts(n: int = 200) -> list[str]:
    """Letters at random, each a quarter less frequent than the one before it."""
    random, weights = Random(0), [0.75**rank for rank in range(len(LETTERS))]
    return ["".join(random.choices(LETTERS, weights, k=random.randint(6, 14))) for _ in range(n)]


def of_planted() -> dict[str, tuple[Label, ...]]:
    """Role -> the labels of the head that has it."""
    of = labels(survey(planted(), texts()))
    return {ROLES[head]: some for (_, _, head), some in of.items()}


def of_planted_cross(n: int = 200) -> dict[str, tuple[Label, ...]]:
    """The same of a cross-attention, over letters of which none comes twice."""
    torch.manual_seed(0)
    pieces = [*PIECES, "<s>"]
    look: Any = {"writes": "target", "start": START, "end": 0, "max_len": 20}
    checkpoint = from_module(PlantedCross(), tokenize, pieces, "abc", **look)
    random, sources = Random(0), list[str]()
    for _ in range(n):
        some = [each for rank, each in enumerate(LETTERS) if random.random() < 0.95 * 0.9**rank]
        sources.append("".join(random.sample(some, len(some))) or LETTERS[:6])
    of = labels(survey(checkpoint, sources))
    return {CROSS_ROLES[head]: some for (_, _, head), some in of.items()}


def copying() -> dict[str, float]:
    """Copying scores: of a head that writes the token that it reads, of one that takes it away,
    and of random ones. No sentence tells them apart, as they may look anywhere.
    """
    torch.manual_seed(0)
    n, width = 40, 16
    table = Table(torch.eye(n, dtype=torch.float64))
    through = through_vocabulary(Ends(table, table, table, reads_itself=False))

    def score(v: Tensor, o: Tensor) -> float:
        return copying_score(ov_eigenvalues(Head(v, v, v, o, 1.0), through))

    def random() -> Tensor:
        return torch.randn(n, width, dtype=torch.float64)

    v = random()
    others = [score(random(), random().mT) for _ in range(100)]
    largest = max(others, key=abs)
    return {"copies": score(v, v.mT), "takes away": score(v, -v.mT), "random": abs(largest)}


BASE = ModelConfig(
    vocab_size=20, d_model=32, d_ff=32, n_heads=4, n_encoder_layers=2, n_decoder_layers=2,
    dropout=0.0, max_len=16, eos_id=None,
)  # fmt: skip
FAMILIES: Mapping[str, ModelConfig] = {
    "encoder-decoder": BASE,
    "encoder-decoder, pre-norm": replace(BASE, norm_order="pre", positions="learned"),
    "decoder only": replace(BASE, family="decoder_only", n_encoder_layers=0, norm_order="pre"),
    "classifier": replace(
        BASE, family="encoder_classifier", n_decoder_layers=0, classes=("a", "b")
    ),
}
"""A model of each family of ours, by what it is."""
SEEDS = range(3)


def as_built(model: nn.Module) -> None:
    """Leave the weights as our models begin: Glorot's."""


def normal(model: nn.Module) -> None:
    """Weights as GPT-2 and Llama begin: scores are so small that all keys are alike."""
    for parameter in model.parameters():
        if parameter.dim() == 2:
            nn.init.normal_(parameter, std=0.02)


def sharp(model: nn.Module) -> None:
    """Scores eight times as large: few keys have most of the weight."""
    for name, parameter in model.named_parameters():
        if name.endswith(("query.weight", "key.weight")):
            parameter.mul_(8**0.5)


BEGINNINGS = (as_built, normal, sharp)


def of_random() -> Iterator[tuple[str, dict[Place, tuple[Label, ...]]]]:
    """The labels of models with random weights: what each is, its heads."""
    random = Random(0)
    lines = [
        " ".join(str(random.randint(2, 19)) for _ in range(random.randint(6, 14)))
        for _ in range(60)
    ]
    for name, config in FAMILIES.items():
        for seed in SEEDS:
            for begin in BEGINNINGS:
                checkpoint = random_checkpoint(config, seed)
                begin(checkpoint.model)
                targets = lines[::-1] if checkpoint.family.target == "needed" else None
                yield f"{name}, {begin.__name__}", labels(survey(checkpoint, lines, targets))


def of_short_texts() -> dict[tuple[int, Place], tuple[Label, ...]]:
    """The same of sharp pre-norm models and texts of 3 to 7 tokens, in which chance has much."""
    random, result = Random(0), {}
    lines = [
        " ".join(str(random.randint(2, 19)) for _ in range(random.randint(3, 7))) for _ in range(60)
    ]
    for seed in range(6):
        checkpoint = random_checkpoint(FAMILIES["encoder-decoder, pre-norm"], seed)
        sharp(checkpoint.model)
        of = labels(survey(checkpoint, lines, lines[::-1]))
        result |= {(seed, place): some for place, some in of.items()}
    return result


def main() -> None:
    for where, of in (("", of_planted()), ("cross, ", of_planted_cross())):
        for role, some in of.items():
            name = f"{where}{role}"
            print(f"planted {name:<16}", ", ".join(map(_spelled, some)) or "no label")
    for name, score in copying().items():
        print(f"planted {name:<16} copying score {score:.2f}{' at most' * (name == 'random')}")
    n_labelled, n_heads = Counter[str](), Counter[str]()
    for name, of_heads in of_random():
        there = {place: some for place, some in of_heads.items() if some}
        n_labelled[name] += len(there)
        n_heads[name] += len(of_heads)
        for place, some in there.items():
            print("random ", name, *place, ", ".join(map(_spelled, some)))
    for name, n in n_heads.items():
        print(f"random  {name}: {n_labelled[name]} of {n} heads, {n_labelled[name] / n:.1%}")
    print(f"random  {n_labelled.total()} of {n_heads.total()} heads")
    short = of_short_texts()
    print(f"random  short texts: {sum(map(bool, short.values()))} of {len(short)} heads")


def _spelled(label: Label) -> str:
    return f"{label.role} {label.score:.2f} (chance {label.baseline:.2f}, p {label.p:.1g})"


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
