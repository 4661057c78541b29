"""Keys beside those of the words have names, and the words' columns keep theirs."""

from typing import Any

import pytest
import torch
import torch.nn.functional as F
import transformers as T
from torch import Tensor, nn

from transformer import record

WORDS = list("abcde")
EXTRAS = [
    ({"add_zero_attn": True}, ["zero key"]),
    ({"add_bias_kv": True}, ["bias key"]),
    ({"add_bias_kv": True, "add_zero_attn": True}, ["bias key", "zero key"]),
]
x = torch.randn(1, 5, 8, generator=torch.Generator().manual_seed(1))
LATER = torch.ones(5, 5).triu(1).bool()


class Own(nn.Module):
    def __init__(self, is_causal: bool, needs: bool, **options: Any) -> None:
        super().__init__()
        torch.manual_seed(2)
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True, **options)
        self.mask, self.needs = LATER if is_causal else None, needs

    def forward(self, x: Tensor, y: Tensor | None = None) -> Tensor:
        y = x if y is None else y
        result, self.weights = self.attention(
            x, y, y, attn_mask=self.mask, need_weights=self.needs, average_attn_weights=False
        )
        return result  # type: ignore[no-any-return]


@pytest.mark.parametrize(("options", "names"), EXTRAS)
@pytest.mark.parametrize("is_causal", [True, False])
@pytest.mark.parametrize("n", [5, 1])
def test_keys_that_a_module_adds_have_names(
    options: dict[str, bool], names: list[str], is_causal: bool, n: int
) -> None:
    module = Own(is_causal and n > 1, True, **options).eval()
    recording = record(module, (x[:, :n],), WORDS[:n])
    (attention,) = recording.attentions.values()
    assert attention.role == ("decoder_self" if is_causal and n > 1 else "encoder_self")
    assert [each.piece for each in attention.queries] == WORDS[:n]
    assert [each.piece for each in attention.keys] == [*WORDS[:n], *names]
    assert all(each.special for each in attention.keys[n:])
    torch.testing.assert_close(attention.weights(0), module.weights[0], rtol=0, atol=1e-6)
    assert recording.checked.is_right


@pytest.mark.parametrize(("options", "names"), EXTRAS)
def test_words_are_numbered_without_the_keys_beside_them(
    options: dict[str, bool], names: list[str]
) -> None:
    (attention,) = record(Own(False, False, **options).eval(), (x,)).attentions.values()
    assert [each.piece for each in attention.queries] == list("01234")
    assert [each.piece for each in attention.keys] == [*"01234", *names]


@pytest.mark.parametrize(("options", "names"), EXTRAS)
@pytest.mark.parametrize("n_keys", [3, 5, 6])
def test_another_sequence_keeps_its_words(
    options: dict[str, bool], names: list[str], n_keys: int
) -> None:
    other = torch.randn(1, n_keys, 8, generator=torch.Generator().manual_seed(3))
    source = [f"s{i}" for i in range(n_keys)]
    tokens = {"source": source, "target": WORDS}
    (attention,) = record(
        Own(False, False, **options).eval(), (x, other), tokens
    ).attentions.values()
    assert attention.role == "cross"
    assert [each.piece for each in attention.keys] == [*source, *names]
    assert [each.piece for each in attention.queries] == WORDS


class Prefixed(nn.Module):
    """Learned keys and values before or after those of the words, as prefix tuning has them."""

    def __init__(self, n: int, is_last: bool) -> None:
        super().__init__()
        torch.manual_seed(2)
        self.qkv, self.prefix = nn.Linear(8, 24), nn.Parameter(torch.randn(2, 1, 2, n, 4))
        self.is_last = is_last

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = (
            it.unflatten(-1, (2, 4)).transpose(1, 2) for it in self.qkv(x).chunk(3, -1)
        )  # fmt: skip
        order = -1 if self.is_last else 1
        k, v = (torch.cat([self.prefix[i], z][::order], -2) for i, z in enumerate((k, v)))
        n = k.size(-2) - x.size(1)
        is_open = F.pad(
            torch.ones(x.size(1), x.size(1)).tril(), (0, n) if self.is_last else (n, 0), value=1
        )
        return F.scaled_dot_product_attention(q, k, v, attn_mask=is_open.bool())


@pytest.mark.parametrize("n", [1, 2, 4, 7])
@pytest.mark.parametrize("is_last", [True, False])
def test_a_prefix_leaves_the_words_where_they_are(n: int, is_last: bool) -> None:
    recording = record(Prefixed(n, is_last).eval(), (x,), WORDS)
    (attention,) = recording.attentions.values()
    others = ["unnamed"] * n
    assert attention.role == "decoder_self"
    expected = [*WORDS, *others] if is_last else [*others, *WORDS]
    assert [each.piece for each in attention.keys] == expected
    assert [each.piece for each in attention.queries] == WORDS


def test_the_prefix_of_a_language_model_leaves_the_words_where_they_are() -> None:
    config = T.GPT2Config(vocab_size=64, n_embd=32, n_layer=2, n_head=4)
    prefix = T.DynamicCache(config=config)
    for layer in range(2):
        prefix.update(torch.randn(1, 4, 3, 8), torch.randn(1, 4, 3, 8), layer)
    inputs = {"input_ids": torch.tensor([[4, 5, 6, 7]]), "past_key_values": prefix}
    recording = record(T.GPT2LMHeadModel(config).eval(), inputs, ["the", "cat", "sat", "dog"])
    (attention,) = recording.attentions.values()
    words = [each.piece for each in attention.keys]
    assert words == [*["unnamed"] * 3, "the", "cat", "sat", "dog"]


class Memory(Prefixed):
    """Keys that were learned, beside those of words that read in both directions."""

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = (it.unflatten(-1, (2, 4)).transpose(1, 2) for it in self.qkv(x).chunk(3, -1))
        order = -1 if self.is_last else 1
        k, v = (torch.cat([self.prefix[i], z][::order], -2) for i, z in enumerate((k, v)))
        return (q @ k.mT).softmax(-1) @ v  # type: ignore[no-any-return]


class States(nn.Module):
    """Transformer-XL: keys are made of what was read before, and of the words."""

    def __init__(self, n: int, is_last: bool) -> None:
        super().__init__()
        torch.manual_seed(2)
        self.q, self.k, self.v = (nn.Linear(8, 8) for _ in range(3))
        self.memory = nn.Parameter(torch.randn(1, n, 8))

    def forward(self, x: Tensor) -> Tensor:
        y = torch.cat([self.memory, x], 1)
        q, k, v = (
            f(z).unflatten(-1, (2, 4)).transpose(1, 2)
            for f, z in ((self.q, x), (self.k, y), (self.v, y))
        )
        return F.scaled_dot_product_attention(q, k, v)


@pytest.mark.parametrize("n", [1, 2, 7])
@pytest.mark.parametrize(
    ("style", "is_last"), [(Memory, True), (Memory, False), (States, False)], ids=str
)
@pytest.mark.parametrize("tokens", [WORDS, None])
def test_a_memory_of_both_directions_leaves_the_words_where_they_are(
    style: type[nn.Module], is_last: bool, n: int, tokens: list[str] | None
) -> None:
    (attention,) = record(style(n, is_last).eval(), (x,), tokens).attentions.values()
    others, words = ["unnamed"] * n, tokens or list("01234")
    assert attention.role == "encoder_self"
    assert [each.piece for each in attention.queries] == words
    expected = [*words, *others] if is_last else [*others, *words]
    assert [each.piece for each in attention.keys] == expected
