"""Layers whose softmax is written out, runs over another axis than the last, or is torch's flex."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

from tests.transformer.watch.layers import HEADS, D, Projected, split

SIZE = D // HEADS


class Written(Projected):
    """Reads itself, causally or not, or another sequence."""

    def __init__(self, is_causal: bool = False) -> None:
        super().__init__()
        self.is_causal = is_causal

    def forward(self, x: Tensor, other: Tensor | None = None) -> Tensor:
        read = x if other is None else other
        q, k, v = split(self.q(x)), split(self.k(read)), split(self.v(read))
        scores = (q @ k.mT / math.sqrt(SIZE)).masked_fill(~self.is_open(q, k), -torch.inf)
        self.wanted = self.reference(scores.detach())[0]
        heads = self.heads(q, k, v)
        return self.out(heads.transpose(1, 2).flatten(-2))  # type: ignore[no-any-return]

    def is_open(self, q: Tensor, k: Tensor) -> Tensor:
        everything = torch.ones(q.size(-2), k.size(-2), dtype=torch.bool)
        return everything.tril() if self.is_causal else everything

    def reference(self, scores: Tensor) -> Tensor:
        """The weights [1, H, Q, K], by numpy, so that torch's softmax is not called."""
        numbers = scores.double().exp().numpy()
        return torch.from_numpy(numbers / numbers.sum(-1, keepdims=True)).to(scores.dtype)

    def heads(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        scores = (q @ k.mT / math.sqrt(SIZE)).masked_fill(~self.is_open(q, k), -torch.inf)
        return self.weights(scores) @ v

    def weights(self, scores: Tensor) -> Tensor:
        raise NotImplementedError


class ExpOverSum(Written):
    def weights(self, scores: Tensor) -> Tensor:
        shares = (scores - scores.amax(-1, keepdim=True)).exp()
        return shares / shares.sum(-1, keepdim=True)


class ExpOfLog(Written):
    def weights(self, scores: Tensor) -> Tensor:
        return scores.log_softmax(-1).exp()


class LessLogSum(Written):
    def weights(self, scores: Tensor) -> Tensor:
        return (scores - scores.logsumexp(-1, keepdim=True)).exp()


class Softmin(Written):
    def weights(self, scores: Tensor) -> Tensor:
        return F.softmin(-scores, -1)


class MaskedAfter(Written):
    """No score shows what is masked."""

    def heads(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        shares = (q @ k.mT / math.sqrt(SIZE)).exp() * self.is_open(q, k)
        return shares / shares.sum(-1, keepdim=True) @ v


class Sparse(Written):
    """Sparsemax (Martins and Astudillo 2016, algorithm 1): many weights are 0, by no mask."""

    def reference(self, scores: Tensor) -> Tensor:
        return self.weights(scores)

    def weights(self, scores: Tensor) -> Tensor:
        scores = scores.clamp(min=-1e4)
        in_order = scores.sort(-1, descending=True).values
        sums, ranks = in_order.cumsum(-1), torch.arange(1, scores.size(-1) + 1)
        n = (1 + ranks * in_order > sums).sum(-1, keepdim=True)
        return (scores - (sums.gather(-1, n - 1) - 1) / n).clamp(min=0)


class KeysFirst(Written):
    """Scores are [K, Q]: the softmax runs over the last axis but one."""

    def heads(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        scores = (k @ q.mT / math.sqrt(SIZE)).masked_fill(~self.is_open(q, k).mT, -torch.inf)
        return scores.softmax(-2).mT @ v


class KeysFirstByLetters(Written):
    """The same by einsum, which needs nothing turned round."""

    def heads(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        scores = torch.einsum("bhqd,bhkd->bkhq", q, k) / math.sqrt(SIZE)
        closed = ~self.is_open(q, k).mT[:, None]
        return torch.einsum("bkhq,bhkd->bhqd", scores.masked_fill(closed, -torch.inf).softmax(1), v)


class Flex(Written):
    def heads(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        n_queries, n_keys = q.size(-2), k.size(-2)
        mask = create_block_mask(_no_later, None, None, n_queries, n_keys, "cpu")
        return self.attend(q, k, v, block_mask=mask if self.is_causal else None)

    def attend(self, q: Tensor, k: Tensor, v: Tensor, **options: object) -> Tensor:
        return flex_attention(q, k, v, **options)  # type: ignore[arg-type,return-value]


class CompiledFlex(Flex):
    def __init__(self, is_causal: bool = False) -> None:
        super().__init__(is_causal)
        self.attend = torch.compile(flex_attention, backend="eager")  # type: ignore[assignment]


class FlexByDistance(Flex):
    """ALiBi by `score_mod`."""

    def reference(self, scores: Tensor) -> Tensor:
        away = torch.arange(scores.size(-2))[:, None] - torch.arange(scores.size(-1))
        return super().reference(scores - 0.3 * away.abs())

    def attend(self, q: Tensor, k: Tensor, v: Tensor, **options: object) -> Tensor:
        return super().attend(q, k, v, score_mod=_less_by_distance, **options)


class FlexOfGroups(Flex):
    """All heads share the keys and values of the first."""

    def forward(self, x: Tensor, other: Tensor | None = None) -> Tensor:
        result = super().forward(x, other)
        read = x if other is None else other
        q, k = split(self.q(x)), split(self.k(read))[:, :1]
        scores = (q @ k.mT / math.sqrt(SIZE)).masked_fill(~self.is_open(q, k), -torch.inf)
        self.wanted = self.reference(scores.detach())[0]
        return result

    def attend(self, q: Tensor, k: Tensor, v: Tensor, **options: object) -> Tensor:
        return super().attend(q, k[:, :1], v[:, :1], enable_gqa=True, **options)


def _no_later(_: Tensor, __: Tensor, query: Tensor, key: Tensor) -> Tensor:
    return query >= key


def _less_by_distance(score: Tensor, _: Tensor, __: Tensor, query: Tensor, key: Tensor) -> Tensor:
    return score - 0.3 * (query - key).abs()


BY_HAND = (ExpOverSum, ExpOfLog, LessLogSum, Softmin, MaskedAfter, Sparse, KeysFirst)
BY_HAND += (KeysFirstByLetters,)  # type: ignore[assignment]
FLEX = (Flex, CompiledFlex, FlexByDistance, FlexOfGroups)


class Reader(nn.Module):
    """A layer that reads itself and one that reads another sequence."""

    def __init__(self, style: type[Written]) -> None:
        super().__init__()
        self.first, self.second = style(is_causal=True), style()

    def forward(self, target: Tensor, source: Tensor) -> Tensor:
        x = target + self.first(target)
        return x + self.second(x, source)  # type: ignore[no-any-return]


class Overlooking(Written):
    """The softmax runs over the queries, which is a mistake."""

    def weights(self, scores: Tensor) -> Tensor:
        return scores.softmax(-2)


class Sigmoid(Written):
    """Sigmoid attention: each weight by itself."""

    def weights(self, scores: Tensor) -> Tensor:
        return scores.sigmoid()


class Squares(Written):
    """Primer's: the squares of what is above 0."""

    def weights(self, scores: Tensor) -> Tensor:
        return scores.relu().square()


UNUSUAL_SUMS = (Sigmoid, Squares)


class Additive(nn.Module):
    """Scores are a sum's tanh, as in Bahdanau et al. 2015; one head."""

    def __init__(self) -> None:
        super().__init__()
        self.q, self.k = nn.Linear(D, 8, bias=False), nn.Linear(D, 8, bias=False)
        self.score = nn.Linear(8, 1, bias=False)
        self.dropout, self.wanted = nn.Dropout(0.1), torch.empty(0)

    def forward(self, queries: Tensor, keys: Tensor) -> Tensor:
        sums = torch.tanh(self.q(queries)[:, :, None] + self.k(keys)[:, None])
        weights = self.score(sums).squeeze(-1).softmax(-1)
        self.wanted = weights
        return torch.bmm(self.dropout(weights), keys)


class Recurrent(nn.Module):
    """An encoder and a decoder that are recurrent, with additive attention between them."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.GRU(D, D, batch_first=True)
        self.decoder = nn.GRU(D, D, batch_first=True)
        self.attention, self.out = Additive(), nn.Linear(2 * D, 5)

    def forward(self, target: Tensor, source: Tensor) -> Tensor:
        memory, last = self.encoder(source)
        states, _ = self.decoder(target, last)
        return self.out(torch.cat([states, self.attention(states, memory)], -1))  # type: ignore[no-any-return]


class Steps(Recurrent):
    """As PyTorch's tutorial on translation: a query is made of what the step before has read."""

    def __init__(self) -> None:
        super().__init__()
        self.decoder = nn.GRU(2 * D, D, batch_first=True)
        self.attention, self.out = Additive(), nn.Linear(D, 5)
        self.wanted = torch.empty(0)

    def forward(self, target: Tensor, source: Tensor) -> Tensor:
        memory, last = self.encoder(source)
        logits, weights = [], []
        for word in target.split(1, 1):
            context = self.attention(last.transpose(0, 1), memory)
            weights.append(self.attention.wanted)
            state, last = self.decoder(torch.cat([word, context], -1), last)
            logits.append(self.out(state))
        self.wanted = torch.cat(weights, 1)
        return torch.cat(logits, 1)


class Pooling(nn.Module):
    """A classifier that weighs states by a learned score."""

    def __init__(self) -> None:
        super().__init__()
        self.read, self.score = nn.GRU(D, D, batch_first=True), nn.Linear(D, 1)
        self.out, self.wanted = nn.Linear(D, 2), torch.empty(0)

    def forward(self, x: Tensor) -> Tensor:
        states, _ = self.read(x)
        weights = self.score(states).mT.softmax(-1)
        self.wanted = weights
        return self.out((weights @ states)[:, 0])  # type: ignore[no-any-return]


class Experts(nn.Module):
    """Three matrices that a softmax weighs, for each token: no attention."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = nn.Linear(D, 3)
        self.experts = nn.ModuleList(nn.Linear(D, D) for _ in range(3))
        self.table = nn.Parameter(torch.randn(3, D))

    def forward(self, x: Tensor) -> Tensor:
        gates = self.gate(x).softmax(-1)
        given = torch.stack([each(x) for each in self.experts], 2)
        one = torch.einsum("bte,bted->btd", gates, given)
        other = (gates[:, :, None] @ given)[:, :, 0]
        return one + other + gates @ self.table
