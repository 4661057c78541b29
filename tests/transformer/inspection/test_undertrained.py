"""Under-trained tokens are found from the weights: checked against how often each was met."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from tests.conftest import random_checkpoint, tiny
from tests.presets import PRESETS
from transformer import load_checkpoint
from transformer.inspection.undertrained import training, training_of
from transformer.token import Token

SHIPPED = Path(__file__).parents[3] / "checkpoints"
VALUES = (*range(0x38, 0x40), *range(0xA0, 0x100))
BYTES = tuple(Token(i, f"<0x{byte:02X}>") for i, byte in enumerate(VALUES))
NEVER = [VALUES.index(byte) for byte in (0xC0, 0xC1, *range(0xF5, 0x100))]
N_BYTES, N_MET, N_NEVER = len(BYTES), 400, 6


def vocabulary(tokens: Sequence[Token]) -> Any:
    """A tokenizer, as far as it is asked."""
    return SimpleNamespace(vocab_size=len(tokens), token=tokens.__getitem__)


@pytest.fixture(scope="module")
def trained() -> tuple[nn.Embedding, Counter[int], list[Token]]:
    """A tied bigram model, and how often its training met each of its pieces: many never."""
    torch.manual_seed(0)
    words = (Token(N_BYTES + i, f"▁word{i}") for i in range(N_MET + N_NEVER))
    tokens = [*BYTES, *words]
    table = nn.Embedding(len(tokens), 16)
    nn.init.normal_(table.weight, std=0.02)
    chances = torch.zeros(len(tokens))
    chances[N_BYTES : N_BYTES + N_MET] = 1.0
    ids = torch.multinomial(chances, 3000, replacement=True)
    optimiser = torch.optim.Adam(table.parameters(), lr=0.02)
    mix = nn.Linear(16, 16)
    for _ in range(60):
        optimiser.zero_grad()
        logits = F.linear(torch.tanh(mix(table(ids[:-1]))), table.weight)
        F.cross_entropy(logits, ids[1:]).backward()
        optimiser.step()
    return table, Counter(ids.tolist()), tokens


def test_what_was_never_met_is_found_and_nothing_that_was_met_often(
    trained: tuple[nn.Embedding, Counter[int], list[Token]],
) -> None:
    table, counts, tokens = trained
    found = training(table.weight.detach(), vocabulary(tokens))
    assert found is not None
    never = [token for token in tokens if not counts[token.id]]
    often = [token for token in tokens if counts[token.id] >= 3]
    likeness = found.likeness
    assert len(never) == N_BYTES + N_NEVER and len(often) > 0.9 * N_MET
    assert min(likeness[it.id] for it in never) > max(likeness[it.id] for it in often)
    assert sum(found.lacks(token) for token in BYTES) > 0.9 * N_BYTES
    assert not any(found.lacks(token) for token in often)


def test_likeness_is_the_cosine_with_the_mean_of_what_no_text_has(
    trained: tuple[nn.Embedding, Counter[int], list[Token]],
) -> None:
    table, _, tokens = trained
    found = training(table.weight.detach(), vocabulary(tokens))
    assert found is not None
    rows = table.weight.detach().double()
    rows -= rows.mean(0)
    never = F.normalize(rows[NEVER], dim=-1).mean(0)
    expected = F.cosine_similarity(rows, never[None])
    torch.testing.assert_close(found.likeness.double(), expected, atol=1e-5, rtol=1e-4)


def test_special_and_unknown_tokens_are_not_asked(
    trained: tuple[nn.Embedding, Counter[int], list[Token]],
) -> None:
    table, _, tokens = trained
    found = training(table.weight.detach(), vocabulary(tokens))
    assert found is not None
    assert not found.lacks(Token(0, "<s>", special=True))
    assert not found.lacks(Token(0, "<unk>", unknown=True))
    assert not found.lacks(Token(len(tokens) + 5, "beyond"))


def test_a_character_is_named_by_what_its_bytes_spell(
    trained: tuple[nn.Embedding, Counter[int], list[Token]],
) -> None:
    table, _, tokens = trained
    found = training(table.weight.detach(), vocabulary(tokens))
    assert found is not None
    spelled = [BYTES[VALUES.index(byte)] for byte in "é=é".encode()]
    last = max(tokens[N_BYTES:], key=lambda token: found.likeness[token.id])
    assert found.lacking([tokens[N_BYTES], *spelled, last]) == ["é", "=", last.piece[1:]]
    assert found.lacking(spelled[:1]) == ["\N{REPLACEMENT CHARACTER}"]


def test_without_training_nothing_is_known() -> None:
    assert training(torch.randn(400, 64), vocabulary(BYTES)) is None
    assert training(torch.full((400, 64), torch.nan), vocabulary(BYTES)) is None
    assert training(torch.ones(400, 64), vocabulary([Token(i, str(i)) for i in range(400)])) is None
    assert training(torch.empty(400, 64, device="meta"), vocabulary(BYTES)) is None


def test_of_a_large_vocabulary_only_the_first_pieces_are_read() -> None:
    asked = Counter[int]()

    def token(id: int) -> Token:
        asked[id] += 1
        return BYTES[id] if id < N_BYTES else Token(id, f"▁{id}")

    rows = torch.randn(100_000, 4)
    rows[:N_BYTES] = 1.0
    tokenizer: Any = SimpleNamespace(vocab_size=len(rows), token=token)
    assert training(rows, tokenizer) is not None
    assert asked.total() <= 1024


@pytest.mark.parametrize("preset", PRESETS)
def test_models_of_every_family_are_asked(preset: str) -> None:
    checkpoint = random_checkpoint(tiny(PRESETS[preset].config))
    assert training_of(checkpoint.model, checkpoint.tokenizer) is None


def test_another_vocabulary_is_not_judged_by_what_is_written() -> None:
    checkpoint = load_checkpoint(SHIPPED / "en-de-small")
    config = replace(checkpoint.model.config, tied="output", source_vocab_size=8000)
    checkpoint.model.config = config
    assert training_of(checkpoint.model, checkpoint.tokenizer) is None


@pytest.mark.parametrize(
    ("name", "met", "hardly"),
    [
        ("en-de", "▁street ▁Straße <0xC3> <0xA9>", "<0xFF> <0x3D> erhatte schnabel"),
        ("en-de-small", "▁street ▁Straße", "<0xFF> <0x3D>"),
        ("en-de-1", "▁street ▁Straße", "<0xFF> <0x3D> ▁1995"),
    ],
)
def test_shipped_translators(name: str, met: str, hardly: str) -> None:
    """Of 17.5 million tokens of en-de's data, each of its 199 such tokens stood in 23 or fewer."""
    checkpoint = load_checkpoint(SHIPPED / name)
    found = training_of(checkpoint.model, checkpoint.tokenizer)
    assert found is not None
    tokens = list(map(checkpoint.tokenizer.token, range(checkpoint.tokenizer.vocab_size)))
    lacking = {token.piece for token in tokens if found.lacks(token)}
    assert lacking >= set(hardly.split()) and not lacking & set(met.split())
    ordinary = [piece for piece in lacking if not piece.startswith("<0x")]
    assert len(ordinary) <= 0.01 * len(tokens)
