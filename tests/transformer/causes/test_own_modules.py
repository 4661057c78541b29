"""Words are hidden in a module of one's own too, a run for each, or it is said why not."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tests.transformer.own_module.test_from_module import PIECES, BothWays, Copier, tokenize
from tests.transformer.watch.sinks import D as SINKING
from tests.transformer.watch.sinks import Sink
from transformer import EditError, decode, evidence, from_module, record
from transformer.analysis.scored import log_probabilities
from transformer.words import word_groups

WORDS = ("<s>", "</s>", "▁a", "▁b", "▁c", "▁d")


def ids_of(text: str) -> list[int]:
    return [WORDS.index(f"▁{word}") for word in text.split()]


def test_a_word_hidden_is_what_the_module_s_own_masks_close() -> None:
    ends: Any = {"writes": "target", "start": "<s>", "end": 1, "max_len": 6}
    checkpoint = from_module(Copier().eval(), ids_of, WORDS, "a b c", **ends)
    target = [checkpoint.tokenizer.token(id) for id in (3, 2, 5)]
    result = evidence(checkpoint, "a b c", target)
    plain = record(checkpoint, "a b c", target)
    assert len(result.source_words) == len(word_groups(plain.source)) == 3
    inner: Any = checkpoint.model.get_submodule("inner")
    read = torch.tensor([[0, *(token.id for token in target[:-1])]])
    ids = torch.tensor([token.id for token in target])[:, None]
    for word in range(3):
        closed = torch.zeros(1, 3, dtype=torch.bool)
        closed[0, word] = True
        with torch.no_grad():
            x = inner.inner(
                inner.embedding(torch.tensor([ids_of("a b c")])),
                inner.embedding(read),
                tgt_mask=nn.Transformer.generate_square_subsequent_mask(read.size(1)),
                src_mask=closed.expand(3, -1),
                memory_mask=closed.expand(len(target), -1),
            )
            hidden: Tensor = inner.output(x)[0].double().log_softmax(-1)
        before = plain.logits.double().log_softmax(-1).gather(-1, ids)[:, 0]
        cost = before - hidden.gather(-1, ids)[:, 0]
        groups = word_groups(target)
        wanted = torch.stack([cost[list(group)].sum() for group in groups])
        torch.testing.assert_close(result.hidden[:, word], wanted, rtol=0.0, atol=1e-5)
    assert result.prefix is not None and result.prefix.isfinite().all()


def test_attention_that_nothing_names_keeps_a_word_from_being_hidden() -> None:
    checkpoint = from_module(BothWays().eval(), tokenize, PIECES, "abc")
    with pytest.raises(EditError, match="is not known, so it cannot be hidden"):
        record(checkpoint, "abc", edits=["hide:text.0"])


class Prefixed(nn.Module):
    """Attention with a key of its own before those of the text, and causal among these."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.embedding = nn.Embedding(len(PIECES), 8)
        self.prefix = nn.Parameter(torch.randn(1, 1, 8))
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)

    def forward(self, ids: Tensor) -> Tensor:
        x = self.embedding(ids)
        keys = torch.cat([self.prefix, x], 1)
        n = ids.size(1)
        mask = torch.ones(n, n + 1, dtype=torch.bool).triu(2)
        x, _ = self.attention(x, keys, keys, attn_mask=mask, need_weights=False)
        return x @ self.embedding.weight.mT


def test_keys_that_are_not_the_words_keep_one_from_being_hidden() -> None:
    checkpoint = from_module(Prefixed().eval(), tokenize, PIECES, "abc", writes="continuation")
    with pytest.raises(EditError, match=r"^hide:text\.0: .*\.$"):
        record(checkpoint, "abc", edits=["hide:text.0"])
    with pytest.raises(EditError, match=r"^hide:text\.0: .*\.$"):
        decode(checkpoint, "abc", edits=["hide:text.0"], max_len=2)


class Sinking(nn.Module):
    """One layer with a sink that takes most of every row."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.embedding = nn.Embedding(len(PIECES), SINKING)
        self.layer = Sink()
        self.layer.logit.data.fill_(5.0)

    def forward(self, ids: Tensor) -> Tensor:
        x = self.embedding(ids)
        return (x + self.layer(x)) @ self.embedding.weight.mT


def test_a_sink_stays_where_a_word_is_hidden_and_is_beside_all_words() -> None:
    checkpoint = from_module(Sinking().eval(), tokenize, PIECES, "abc", writes="continuation")
    target = [checkpoint.tokenizer.token(id) for id in tokenize("cab")]
    result = evidence(checkpoint, "abca", target)
    assert set(result.beside) == {"sink"}
    plain = record(checkpoint, "abca", target)
    for word in range(len(result.source_words)):
        hidden = record(checkpoint, "abca", target, [f"hide:text.{word}"])
        weights = hidden.attentions["decoder_self"].weights(0)
        rest = plain.attentions["decoder_self"].weights(0).clone()
        rest[..., list(word_groups(plain.source)[word])] = 0
        torch.testing.assert_close(weights, rest / rest.sum(-1, keepdim=True))
        costs = log_probabilities(plain) - log_probabilities(hidden)
        torch.testing.assert_close(result.hidden[:, word].sum(), costs.sum(), rtol=0, atol=1e-5)
