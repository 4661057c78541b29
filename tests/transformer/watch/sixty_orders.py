"""Of the sixty: recurrent decoders, several texts, stacks of other shapes, and other orders."""

import copy

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tests.transformer.watch.sixty import HEADS, IDS, SIZE, STATES, D, case
from tests.transformer.watch.sixty_heads import TEXT, Embedded, heads, joined

PAIR = (torch.tensor([[3, 1, 4, 7, 5, 9]]), torch.tensor([[2, 8, 6, 11, 13]]))
SIDES = {"source": list("abcdef"), "target": list("uvwxy")}


@case("uvwxy|abcdef", inputs=PAIR, tokens=SIDES, moves=False)
class BahdanauByStep(Embedded):
    """The tutorial's decoder, with the target forced."""

    def __init__(self) -> None:
        super().__init__()
        self.gru, self.cell = nn.GRU(D, D, batch_first=True), nn.GRU(2 * D, D, batch_first=True)
        self.Wa, self.Ua, self.Va = nn.Linear(D, D), nn.Linear(D, D), nn.Linear(D, 1)

    def forward(self, ids: Tensor, target: Tensor) -> Tensor:
        keys, hidden = self.gru(self.wte(ids))
        outputs = []
        for t in range(target.size(1)):
            query = hidden.permute(1, 0, 2)
            scores = self.Va(torch.tanh(self.Wa(query) + self.Ua(keys)))
            weights = F.softmax(scores.squeeze(2).unsqueeze(1), dim=-1)
            context = torch.bmm(weights, keys)
            x = torch.cat((self.wte(target[:, t : t + 1]), context), dim=2)
            output, hidden = self.cell(x, hidden)
            outputs.append(output)
        return torch.cat(outputs, dim=1)


@case("uvwxy|abcdef", inputs=PAIR, tokens=SIDES, moves=False)
class LuongByStep(Embedded):
    def __init__(self) -> None:
        super().__init__()
        self.lstm, self.cell = nn.LSTM(D, D, batch_first=True), nn.LSTMCell(D, D)

    def forward(self, ids: Tensor, target: Tensor) -> Tensor:
        enc, (h, c) = self.lstm(self.wte(ids))
        h, c, outputs = h[0], c[0], []
        for t in range(target.size(1)):
            h, c = self.cell(self.wte(target[:, t]), (h, c))
            score = torch.bmm(enc, self.to_q(h).unsqueeze(2)).squeeze(2)
            align = F.softmax(score, dim=1)
            context = torch.bmm(align.unsqueeze(1), enc).squeeze(1)
            outputs.append(torch.tanh(self.to_out(context) + h))
        return torch.stack(outputs, 1)


@case("uvwxy|abcdef", inputs=PAIR, tokens=SIDES)
class LuongAtOnce(Embedded):
    def forward(self, ids: Tensor, target: Tensor) -> Tensor:
        enc, dec = self.wte(ids), self.wte(target)
        attn_weights = torch.softmax(torch.bmm(self.to_q(dec), enc.transpose(1, 2)), dim=2)
        return torch.tanh(self.to_out(attn_weights @ enc))


@case("......|abcdef", "refused")
class PointerNetwork(Embedded):
    """What is pointed at meets no value: weights are what it writes."""

    def attend(self, x: Tensor) -> Tensor:
        return F.log_softmax(
            self.to_out(torch.tanh(self.to_q(x) @ self.to_k(x).mT @ x)).mean(-1), -1
        )


@case("...|abcdef", "refused")
class StructuredSelfAttention(Embedded):
    """Lin 2017: three hops, each a learned question, over what an LSTM gave from both ends."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(D, D // 2, bidirectional=True, batch_first=True)
        self.ws1, self.ws2 = nn.Linear(D, 10, bias=False), nn.Linear(10, 3, bias=False)

    def attend(self, x: Tensor) -> Tensor:
        H = self.lstm(x)[0]
        A = F.softmax(self.ws2(torch.tanh(self.ws1(H))), dim=1).transpose(1, 2)
        return torch.bmm(A, H).flatten(1)


@case(".|abcdef", "refused")
class WordAttention(Embedded):
    """Hierarchical attention: a context vector over the words of a sentence."""

    def __init__(self) -> None:
        super().__init__()
        self.gru = nn.GRU(D, D // 2, bidirectional=True, batch_first=True)
        self.context_vector = nn.Linear(D, 1, bias=False)

    def attend(self, x: Tensor) -> Tensor:
        out = self.gru(x)[0]
        att = torch.exp(self.context_vector(torch.tanh(self.to_q(out))).squeeze(2))
        att = att / att.sum(dim=1, keepdim=True)
        return (out * att.unsqueeze(2)).sum(dim=1)


@case("abcdef|abcdef", "refused", inputs=(STATES[0][0],))
class DenseGraphAttention(nn.Module):
    """pyGAT: a sum of what both ends of an edge give, and a closed cell where there is none."""

    def __init__(self) -> None:
        super().__init__()
        self.W, self.a = nn.Parameter(torch.randn(D, 8)), nn.Parameter(torch.randn(16, 1))
        self.register_buffer("adj", (torch.ones(6, 6).tril(2).triu(-3) > 0).float())

    def forward(self, h: Tensor) -> Tensor:
        Wh = torch.mm(h, self.W)
        e = F.leaky_relu(Wh @ self.a[:8] + (Wh @ self.a[8:]).T)
        attention = torch.where(self.adj > 0, e, -9e15 * torch.ones_like(e))
        return F.elu(torch.matmul(F.softmax(attention, dim=1), Wh))


@case("abcdef|abcdef uvwxy|uvwxy uvwxy|abcdef", inputs=PAIR, tokens=SIDES)
class WholeTransformer(Embedded):
    def __init__(self) -> None:
        super().__init__()
        self.transformer = nn.Transformer(D, HEADS, 1, 1, 32, dropout=0.0, batch_first=True)

    def forward(self, src: Tensor, tgt: Tensor) -> Tensor:
        mask = nn.Transformer.generate_square_subsequent_mask(tgt.size(1))
        return self.transformer(self.wte(src), self.wte(tgt), tgt_mask=mask)


@case("abcdef|abcdef uvwxy|uvwxy uvwxy|abcdef", inputs=PAIR, tokens=SIDES)
class InOneForward(Embedded):
    """An encoder without a mask and a decoder, all in one function."""

    def forward(self, src: Tensor, tgt: Tensor) -> Tensor:
        x, y = self.wte(src), self.wte(tgt)

        def read(a: Tensor, b: Tensor, is_causal: bool = False) -> Tensor:
            q, k, v = heads(self.to_q(a)), heads(self.to_k(b)), heads(self.to_v(b))
            return a + self.to_out(
                joined(F.scaled_dot_product_attention(q, k, v, is_causal=is_causal))
            )

        x = read(x, x)
        return read(read(y, y, True), x)


@case("abcdef|abcdef uvwxy|uvwxy", "numbered", inputs=PAIR)
class Siamese(Embedded):
    """One encoder reads two texts; tokens are given for the first."""

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        return F.cosine_similarity(super().forward(a).mean(1), super().forward(b).mean(1))

    def attend(self, x: Tensor) -> Tensor:
        q, k, v = (heads(f(x)) for f in (self.to_q, self.to_k, self.to_v))
        return self.to_out(joined(F.scaled_dot_product_attention(q, k, v)))


@case("abcdef|abcdef uvwxy|uvwxy", "numbered", inputs=PAIR)
class TwoTowers(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(30, D)
        self.query, self.doc = (
            nn.TransformerEncoderLayer(D, HEADS, 32, 0.0, batch_first=True) for _ in "qd"
        )

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        return self.query(self.words(a))[:, 0] @ self.doc(self.words(b))[:, 0].T


@case(TEXT)
class SharedLayers(Embedded):
    """ALBERT: one layer runs three times."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(D, HEADS, 32, 0.0, batch_first=True)

    def attend(self, x: Tensor) -> Tensor:
        for _ in range(3):
            x = self.layer(x)
        return x


@case(TEXT)
class AdaptiveTime(Embedded):
    """Universal Transformer: each position stops by itself."""

    def __init__(self) -> None:
        super().__init__()
        self.p, self.fn = nn.Linear(D, 1), nn.MultiheadAttention(D, HEADS, batch_first=True)

    def attend(self, state: Tensor) -> Tensor:
        halting, previous = torch.zeros(state.shape[:2]), torch.zeros_like(state)
        for _ in range(3):
            p = torch.sigmoid(self.p(state)).squeeze(-1)
            running = (halting < 1.0).float()
            new_halted = (halting + p * running > 0.9).float() * running
            halting = halting + p * running
            update = (p * running * (1 - new_halted) + new_halted * (1 - halting)).unsqueeze(-1)
            state = state + self.fn(state, state, state)[0]
            previous = state * update + previous * (1 - update)
        return previous


@case(TEXT)
class Reversible(Embedded):
    def __init__(self) -> None:
        super().__init__()
        self.f = nn.MultiheadAttention(SIZE, HEADS, batch_first=True)
        self.g = nn.Linear(SIZE, SIZE)

    def attend(self, x: Tensor) -> Tensor:
        x1, x2 = torch.chunk(x, 2, dim=2)
        y1 = x1 + self.f(x2, x2, x2)[0]
        return torch.cat([y1, x2 + self.g(y1)], dim=2)


class Sorted(Embedded):
    """Rows are sorted by a number of each, attend, and are put back."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("at", torch.tensor([[4, 0, 5, 2, 1, 3]]))

    def read(self, x: Tensor) -> Tensor:
        q, k, v = (heads(f(x)) for f in (self.to_q, self.to_k, self.to_v))
        return self.to_out(joined(F.scaled_dot_product_attention(q, k, v)))


@case("bedfac|bedfac")
class SortThenBack(Sorted):
    def attend(self, x: Tensor) -> Tensor:
        order = self.at.argsort(dim=-1)
        x = x.gather(1, order[..., None].expand_as(x))
        return self.read(x).gather(1, order.argsort(dim=-1)[..., None].expand_as(x))


@case("bedfac|bedfac")
class SortByMatrix(Sorted):
    """A matrix of noughts and ones, to which Sinkhorn's steps lead."""

    def attend(self, x: Tensor) -> Tensor:
        P = F.one_hot(self.at.argsort(dim=-1), 6).float()
        return P.transpose(1, 2) @ self.read(P @ x)


@case("......|......", "numbered", moves=False)
class SinkhornSort(Sorted):
    """A soft permutation: each row is of all positions."""

    def attend(self, x: Tensor) -> Tensor:
        r = self.to_q(x) @ self.to_k(x).mT
        for _ in range(8):
            r = r - r.logsumexp(dim=2, keepdim=True)
            r = r - r.logsumexp(dim=1, keepdim=True)
        y = r.exp() @ x
        return self.read(y)


@case("acdf|acdf")
class PackedByMask(Sorted):
    """Padding leaves by masked_select, and what is left is put back by masked_scatter."""

    def attend(self, x: Tensor) -> Tensor:
        mask = torch.tensor([[1, 0, 1, 1, 0, 1]]).bool()[..., None]
        packed = x.masked_select(mask).view(1, -1, D)
        return torch.zeros_like(x).masked_scatter(mask, self.read(packed))


@case("acdf|acdf")
class PackedByIndex(Sorted):
    """flash-attn's unpad_input: rows of a flattened batch by the places of what is no padding."""

    def attend(self, x: Tensor) -> Tensor:
        mask = torch.tensor([[1, 0, 1, 1, 0, 1]])
        indices = torch.nonzero(mask.flatten(), as_tuple=False).flatten()
        packed = torch.index_select(x.reshape(-1, D), 0, indices)[None]
        out = torch.zeros(6, D)
        out[indices] = self.read(packed)[0]
        return out.view(1, 6, D)


@case("...abcdef|...abcdef")
class SoftPrompt(Sorted):
    """Rows of a learned prompt are tokens of nobody."""

    def __init__(self) -> None:
        super().__init__()
        self.prompt = nn.Parameter(torch.randn(1, 3, D))

    def attend(self, x: Tensor) -> Tensor:
        return self.read(torch.cat([self.prompt, x], 1))


@case("abcdefuvwxy|abcdefuvwxy", inputs=PAIR, tokens="abcdefuvwxy")
class TwoTextsInARow(Sorted):
    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        segments = torch.cat([torch.zeros(6), torch.ones(5)]).long()
        x = torch.cat([self.wte(a), self.wte(b)], 1) + self.wpe(segments)
        return self.read(x)


@case("bdf|bdf")
class MixtureOfDepths(Sorted):
    """A router lets the three rows with the most points through; they go back where they were."""

    def attend(self, x: Tensor) -> Tensor:
        router = torch.tensor([[0.1, 0.9, 0.2, 0.8, 0.3, 0.7]])
        at = router.topk(3, dim=1).indices.sort(dim=1).values
        index = at[..., None].expand(-1, -1, D)
        out = self.read(torch.gather(x, 1, index))
        return x.scatter_add(1, index, out * router.gather(1, at)[..., None])


@case("abcdef|abcdef .b.d.|.b.d.", "numbered", moves=False)
class TokenMerging(Sorted):
    """ToMe: after a layer the row of `a` is merged into that of `b`; here by a mean at its end."""

    def attend(self, x: Tensor) -> Tensor:
        x = x + self.read(x)
        src, dst = x[:, ::2], x[:, 1::2]
        dst = dst.scatter_reduce(1, torch.zeros(1, 1, D).long(), src[:, :1], "mean")
        return self.read(torch.cat([src[:, 1:], dst], 1))


@case("......|......", "refused")
class LshSort(Sorted):
    """Reformer: buckets of a text that is sorted by its hashes, so that rows are no positions."""

    def attend(self, x: Tensor) -> Tensor:
        qk, v = heads(self.to_q(x)), heads(self.to_v(x))
        buckets = (qk @ torch.ones(SIZE, 1)).squeeze(-1)
        order = buckets.argsort(dim=-1)[..., None].expand_as(qk)
        q, k, v = (
            z.gather(2, order).view(1, HEADS, 3, 2, SIZE) for z in (qk, F.normalize(qk, dim=-1), v)
        )
        out = ((q @ k.mT).softmax(-1) @ v).view(1, HEADS, 6, SIZE)
        return self.to_out(joined(out.gather(2, order.argsort(dim=2))))


@case("fedcba|fedcba abcdef|abcdef")
class BothDirections(Sorted):
    """A text from its end, then from its start, through layers of their own."""

    def attend(self, x: Tensor) -> Tensor:
        back = self.read(x.flip(1))
        return back.flip(1) + self.read(x)


@case(
    "a|.....a",
    inputs=(torch.tensor([[3]]), *(torch.randn(1, HEADS, 5, SIZE) for _ in "kv")),
    tokens="a",
)
class CacheAsInput(Sorted):
    def forward(self, ids: Tensor, past_k: Tensor, past_v: Tensor) -> Tensor:
        x = self.wte(ids)
        k = torch.cat([past_k, heads(self.to_k(x))], dim=2)
        v = torch.cat([past_v, heads(self.to_v(x))], dim=2)
        return self.to_out(joined(F.scaled_dot_product_attention(heads(self.to_q(x)), k, v)))


@case(TEXT)
class Ensemble(Embedded):
    def __init__(self) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(D, HEADS, 32, 0.0, batch_first=True)
        self.models = nn.ModuleList(copy.deepcopy(layer) for _ in range(3))

    def attend(self, x: Tensor) -> Tensor:
        return torch.stack([model(x) for model in self.models]).mean(0)


@case("abcdef|abcdef")
class BeamReorder(Sorted):
    """Beams of one are put in order by index_select, as caches are."""

    def attend(self, x: Tensor) -> Tensor:
        q, k, v = (heads(f(x)) for f in (self.to_q, self.to_k, self.to_v))
        k, v = (z.index_select(0, torch.tensor([0])) for z in (k, v))
        return self.to_out(joined(F.scaled_dot_product_attention(q, k, v)))


SQUARE = (IDS[0], torch.tensor([[2, 8, 6, 11, 13, 14]]))
SQUARE_SIDES = {"source": list("abcdef"), "target": list("uvwxyz")}


@case("uvwxyz|abcdef", inputs=SQUARE, tokens=SQUARE_SIDES)
class KeysFirstCross(Embedded):
    """Scores are made of keys times queries and turned, with as many of both."""

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        k, v = heads(self.to_k(self.wte(source))), heads(self.to_v(self.wte(source)))
        q = heads(self.to_q(self.wte(target)))
        scores = torch.matmul(k, q.transpose(-2, -1)).transpose(-2, -1)
        return self.to_out(joined(scores.softmax(-1) @ v))


@case("uvwxyz|abcdef", inputs=SQUARE, tokens=SQUARE_SIDES)
class SoftmaxOverFirstAxis(Embedded):
    """The same, with a softmax over the keys before the turn."""

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        memory, x = self.wte(source), self.wte(target)
        scores = torch.bmm(self.to_k(memory), self.to_q(x).transpose(1, 2))
        align = F.softmax(scores, dim=1).transpose(1, 2)
        return torch.tanh(self.to_out(torch.bmm(align, memory)) + x)


@case("uvwxyz|abcdef", inputs=SQUARE, tokens=SQUARE_SIDES)
class KeysFirstEinsumCross(Embedded):
    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        memory, x = self.wte(source), self.wte(target)
        energy = torch.einsum("bkd,bqd->bkq", self.to_k(memory), self.to_q(x))
        context = torch.einsum("bkq,bkd->bqd", energy.softmax(1), memory)
        return torch.tanh(self.to_out(context) + x)


@case("uvwxyz|abcdef", "refused", inputs=SQUARE, tokens=SQUARE_SIDES)
class ValuesFirstCross(Embedded):
    """Columns are sequences, as in code that was ported from MATLAB: values times weights."""

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        memory, x = self.wte(source).mT, self.wte(target).mT
        k, q = self.to_k.weight @ memory, self.to_q.weight @ x
        align = torch.softmax(k.mT @ q, dim=1)
        return memory @ align
