"""One token's heads that share keys may be packed as queries: they are recorded as heads."""

from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tests.transformer.watch.models_table import built
from transformer import decode, load_checkpoint, record

D, N_HEADS, N_SHARED, N_KEYS = 16, 4, 2, 5


class Reader(nn.Module):
    """One token that reads a memory; heads in twos share keys, and each has a mask of its own."""

    def __init__(self, packs: bool, has_mask: str) -> None:
        super().__init__()
        self.packs, self.has_mask = packs, has_mask
        self.query, self.out = nn.Linear(D, D), nn.Linear(D, D)
        self.key, self.value = nn.Linear(D, D // N_SHARED), nn.Linear(D, D // N_SHARED)

    def forward(self, x: Tensor, memory: Tensor) -> Tensor:
        query = self.query(x).view(1, 1, N_HEADS, -1).transpose(1, 2) * 1.0  # [1, H, 1, d]
        key, value = (
            make(memory).view(1, -1, N_HEADS // N_SHARED, D // N_HEADS).transpose(1, 2)
            for make in (self.key, self.value)
        )
        n_masks = N_HEADS if self.has_mask == "each" else 1
        mask = torch.linspace(-3, 1, n_masks * memory.size(1)).view(1, n_masks, 1, -1)
        if self.packs:
            query = query.reshape(1, -1, N_SHARED, D // N_HEADS)
            mask = mask.reshape(1, -1, N_SHARED, mask.size(-1)) if n_masks > 1 else mask
        else:
            key, value = (each.repeat_interleave(N_SHARED, 1) for each in (key, value))
        heads = F.scaled_dot_product_attention(query, key, value, mask)
        heads = heads.reshape(1, N_HEADS, 1, -1).transpose(1, 2)
        return x + self.out(heads.reshape(1, 1, D))


@pytest.mark.parametrize(
    ("n_keys", "has_mask"),
    [(n, mask) for n in (1, N_SHARED, N_KEYS, N_HEADS) for mask in ("one", "each")],
)
def test_packed_heads_are_heads(n_keys: int, has_mask: str) -> None:
    torch.manual_seed(0)
    packed, plain = Reader(True, has_mask).eval(), Reader(False, has_mask).eval()
    plain.load_state_dict(packed.state_dict())
    given = torch.randn(1, 1, D), torch.randn(1, n_keys, D)
    one, other = record(packed, given), record(plain, given)
    assert one.attentions.keys() == other.attentions.keys() and one.checked.is_right
    (kind,) = one.attentions
    torch.testing.assert_close(one.attentions[kind].weights(0), other.attentions[kind].weights(0))
    assert one.attentions[kind].weights(0).shape == (N_HEADS, 1, n_keys)
    for head in range(N_HEADS):
        off = [f"head-off:{kind}.0.{head}"]
        changed, expected = record(packed, given, edits=off), record(plain, given, edits=off)
        torch.testing.assert_close(changed.logits, expected.logits)
        assert not torch.equal(changed.logits, one.logits)
    cut = [f"cut:{kind}.0.3.0.0"]
    if n_keys > 1:
        changed, expected = record(packed, given, edits=cut), record(plain, given, edits=cut)
        torch.testing.assert_close(changed.logits, expected.logits)


class Beside(nn.Module):
    """As many tokens as heads share a key, after a row of as many numbers: these are queries."""

    def __init__(self) -> None:
        super().__init__()
        self.row = nn.Linear(D, D)
        self.query, self.key, self.value = (nn.Linear(D, D // N_SHARED) for _ in "qkv")
        self.out = nn.Linear(D // N_SHARED, D)

    def forward(self, x: Tensor, memory: Tensor) -> Tensor:
        x = x + self.row(x.mean(1, keepdim=True))
        query, key, value = (
            make(of).view(1, -1, N_HEADS // N_SHARED, D // N_HEADS).transpose(1, 2)
            for make, of in ((self.query, x), (self.key, memory), (self.value, memory))
        )
        mask = torch.linspace(-3, 1, memory.size(1)).view(1, 1, 1, -1)
        heads = F.scaled_dot_product_attention(query * 1.0, key, value, mask)
        return x + self.out(heads.transpose(1, 2).flatten(2))


@pytest.mark.parametrize("n_keys", [1, N_SHARED, N_KEYS])
def test_queries_beside_a_row_of_their_size_stay_queries(n_keys: int) -> None:
    torch.manual_seed(0)
    given = torch.randn(1, N_SHARED, D), torch.randn(1, n_keys, D)
    recording = record(Beside().eval(), given)
    ((_, attention),) = recording.attentions.items()
    assert attention.weights(0).shape == (N_HEADS // N_SHARED, N_SHARED, n_keys)
    assert recording.checked.is_right


@pytest.mark.parametrize("family", ["T5Gemma-2", "Doge", "Llama", "Mistral"])
@pytest.mark.parametrize("text", ["7", "5 9"])
def test_one_token_has_every_head(family: str, text: str, tmp_path: Path) -> None:
    built(family).save_pretrained(tmp_path)
    checkpoint, n = load_checkpoint(tmp_path, "cpu"), len(text.split())
    recording = record(checkpoint, text, decode(checkpoint, text, max_len=n).target)
    assert recording.attentions and recording.checked.is_right
    for attention in recording.attentions.values():
        for layer in range(attention.n_layers):
            n_heads, n_queries, _ = attention.weights(layer).shape
            assert n_heads == 4 and n_queries == len(attention.queries)
