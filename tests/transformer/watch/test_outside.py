"""Where no attention is seen, a refusal gives the true reason; one query is no batch."""

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.pool import ThreadPool
from threading import Thread
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention as fused

from transformer import InputError, from_module, record

D, HEADS, TOKENS = 16, 4, 6


def attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return (q @ k.mT / 2).softmax(-1) @ v


class Attending(nn.Module):
    """An attention whose heads [1, H, T, d] are made of queries, keys and values by a function."""

    def __init__(self, heads: Callable[..., Tensor], n_added: int = 0) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.q, self.k, self.v, self.o = (nn.Linear(D, D) for _ in range(4))
        self.added, self.heads = nn.Parameter(torch.randn(1, n_added, D)), heads

    def forward(self, x: Tensor) -> Tensor:
        x = torch.cat([self.added, x], 1)
        of = (f(x).unflatten(-1, (HEADS, -1)).transpose(1, 2) for f in (self.q, self.k, self.v))
        return self.o(self.heads(*of).transpose(1, 2).flatten(2))


def each_head(*of: Tensor) -> Iterator[tuple[Tensor, ...]]:
    return zip(*(each.split(1, 1) for each in of), strict=True)


def in_thread(*of: Tensor) -> Tensor:
    result: list[Tensor] = []
    thread = Thread(target=lambda: result.append(attend(*of)))
    thread.start()
    thread.join()
    return result[0]


def in_pool(*of: Tensor) -> Tensor:
    with ThreadPoolExecutor(1) as pool:
        return torch.cat(list(pool.map(lambda head: attend(*head), each_head(*of))), 1)


def in_other_pool(*of: Tensor) -> Tensor:
    with ThreadPool(1) as pool:
        return torch.cat(pool.starmap(attend, each_head(*of)), 1)


def in_numpy(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    weights = np.exp(q.numpy() @ k.mT.numpy())
    return torch.from_numpy(weights / weights.sum(-1, keepdims=True) @ v.numpy())


@torch.library.custom_op("own::weigh", mutates_args=())
def by_operator(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return in_numpy(q, k, v)


def in_chunks(of: Callable[..., Tensor], n: int) -> Callable[..., Tensor]:
    return lambda q, k, v: torch.cat([of(some, k, v) for some in q.split(n, 2)], 2)


OUTSIDE = {
    "a thread": (in_thread, "thread"),
    "a pool": (in_pool, "thread"),
    "another pool": (in_other_pool, "thread"),
    "asyncio": (lambda *of: asyncio.run(asyncio.to_thread(attend, *of)), "thread"),
    "vmap": (torch.vmap(attend), "vmap"),
    "an operator": (by_operator, "own::weigh"),
    "numpy": (in_numpy, "numpy"),
    "chunks": (in_chunks(attend, 3), "chunks"),
    "uneven chunks": (in_chunks(attend, 4), "chunks"),
    "fused chunks": (in_chunks(fused, 2), "chunks"),
}


@pytest.mark.parametrize(("heads", "word"), OUTSIDE.values(), ids=OUTSIDE)
def test_a_refusal_gives_the_true_reason(heads: Any, word: str) -> None:
    with pytest.raises(InputError, match=word):
        record(Attending(heads).eval(), torch.randn(1, TOKENS, D), list("abcdef"))


def test_a_checkpoint_of_it_gives_the_same_reason() -> None:
    embed, inner = nn.Embedding(6, D), Attending(in_pool)
    model = nn.Sequential(embed, inner)
    with pytest.raises(InputError, match="thread"):
        record(from_module(model, lambda text: [*range(len(text))], list("abcdef"), "abc"), "abc")


@pytest.mark.parametrize("heads", [lambda *of: asyncio.run(_later(*of)), attend])
def test_no_reason_is_given_where_all_is_seen(heads: Any) -> None:
    recording = record(Attending(heads).eval(), torch.randn(1, TOKENS, D), list("abcdef"))
    assert recording.checked.is_right and not recording.unseen


async def _later(*of: Tensor) -> Tensor:
    return attend(*of)


def test_heads_under_vmap_are_heads() -> None:
    plain, mapped = (
        Attending(heads).eval() for heads in (fused, torch.func.vmap(fused, in_dims=1, out_dims=1))
    )
    x = torch.randn(1, TOKENS, D)
    one, other = (
        record(it, x, list("abcdef")).attentions["encoder_self"] for it in (plain, mapped)
    )
    torch.testing.assert_close(one.weights(0), other.weights(0))


@pytest.mark.parametrize(
    ("module", "is_first"),
    [
        (nn.MultiheadAttention(D, HEADS), False),
        (nn.TransformerEncoderLayer(D, HEADS, D), False),
        (nn.Sequential(*(nn.TransformerEncoderLayer(D, HEADS, D) for _ in range(2))), False),
        (nn.MultiheadAttention(D, HEADS, batch_first=True), True),
    ],
)
def test_a_batch_in_the_place_of_positions_is_named(module: nn.Module, is_first: bool) -> None:
    x = torch.randn(1, TOKENS, D)
    x = x.transpose(0, 1) if is_first else x
    inputs = (x, x, x) if isinstance(module, nn.MultiheadAttention) else x
    with pytest.raises(InputError, match=f"batch_first={not is_first}"):
        record(module.eval(), inputs)


@pytest.mark.parametrize("n_added", [1, 4])
def test_positions_that_a_module_adds_have_no_name(n_added: int) -> None:
    module = Attending(attend, n_added).eval()
    (attention,) = record(module, torch.randn(1, TOKENS, D), list("abcdef")).attentions.values()
    pieces = ["unnamed"] * n_added + list("abcdef")
    assert [each.piece for each in attention.keys] == pieces
    with pytest.raises(InputError, match=f"{TOKENS}"):
        record(module, torch.randn(1, TOKENS, D), list("abc"))


class Folded(nn.Module):
    """Heads folded into the batch [B * H, T, d], as in fairseq; some queries over a text."""

    def __init__(self, asking: Callable[[Tensor], Tensor], is_fused: bool, n_heads: int) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.q, self.k, self.v, self.o = (nn.Linear(D, D) for _ in range(4))
        self.asking, self.is_fused, self.n_heads = asking, is_fused, n_heads

    def forward(self, x: Tensor) -> Tensor:
        def fold(states: Tensor) -> Tensor:
            return states.unflatten(-1, (self.n_heads, -1)).transpose(1, 2).flatten(0, 1)

        q, k, v = fold(self.q(self.asking(x))), fold(self.k(x)), fold(self.v(x))
        heads = fused(q, k, v) if self.is_fused else torch.bmm((q @ k.mT).softmax(-1), v)
        return self.o(heads.unflatten(0, (len(x), -1)).transpose(1, 2).flatten(2))


ASKING = {
    "the last": lambda x: x[:, -1:],
    "the first": lambda x: x[:, :1],
    "the mean": lambda x: x.mean(1, keepdim=True),
    "latents": lambda x: torch.linspace(-1, 1, 3 * D).view(1, 3, D).expand(len(x), -1, -1),
    "each": lambda x: x,
}


@pytest.mark.parametrize("n_heads", [2, 4, 8])
@pytest.mark.parametrize("is_fused", [False, True])
@pytest.mark.parametrize("asking", ASKING.values(), ids=ASKING)
def test_folded_heads_are_no_batch(asking: Any, is_fused: bool, n_heads: int) -> None:
    module = Folded(asking, is_fused, n_heads).eval()
    for n_tokens in (3, n_heads, 6):
        (attention,) = record(module, torch.randn(1, n_tokens, D)).attentions.values()
        assert attention.n_heads == n_heads and attention.weights(0).size(-1) == n_tokens
    for shape in ((2, 6, D), (6, 1, D), (2, 3, D)):
        with pytest.raises(InputError, match=f"hold {shape[0]} sequences"):
            record(module, torch.randn(*shape))
