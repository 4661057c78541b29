"""Of the sixty: latents, patches, windows, pooling: whatever has other rows than a text has."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tests.transformer.watch.sixty import HEADS, IDS, SIZE, STATES, D, case
from tests.transformer.watch.sixty_heads import TEXT, Embedded, heads, joined

PICTURE = (torch.randn(1, 3, 4, 4, generator=torch.Generator().manual_seed(5)),)
TWO = (*IDS, torch.randn(1, 5, D, generator=torch.Generator().manual_seed(6)))
SIDES = {"source": list("uvwxy"), "target": list("abcdef")}


class Mab(nn.Module):
    """Set Transformer's block."""

    def __init__(self) -> None:
        super().__init__()
        self.fc_q, self.fc_k, self.fc_v, self.fc_o = (nn.Linear(D, D) for _ in range(4))

    def forward(self, Q: Tensor, K: Tensor) -> Tensor:
        Q, K, V = self.fc_q(Q), self.fc_k(K), self.fc_v(K)
        Q_, K_, V_ = (torch.cat(it.split(SIZE, 2), 0) for it in (Q, K, V))
        A = torch.softmax(Q_.bmm(K_.transpose(1, 2)) / math.sqrt(D), 2)
        O = torch.cat((Q_ + A.bmm(V_)).split(Q.size(0), 0), 2)
        return O + F.relu(self.fc_o(O))


@case("...|abcdef abcdef|...", inputs=STATES)
class InducedSetAttention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.I, self.mab0, self.mab1 = nn.Parameter(torch.randn(1, 3, D)), Mab(), Mab()

    def forward(self, X: Tensor) -> Tensor:
        return self.mab1(X, self.mab0(self.I.repeat(X.size(0), 1, 1), X))


@case(".|abcdef", inputs=STATES)
class PoolingByAttention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.S, self.mab = nn.Parameter(torch.randn(1, 1, D)), Mab()

    def forward(self, X: Tensor) -> Tensor:
        return self.mab(self.S.repeat(X.size(0), 1, 1), X)


@case("....|abcdef ....|....")
class Perceiver(Embedded):
    def __init__(self) -> None:
        super().__init__()
        self.latents = nn.Parameter(torch.randn(4, D))
        self.layers = nn.ModuleList(nn.MultiheadAttention(D, HEADS, batch_first=True) for _ in "ab")
        self.cross = nn.MultiheadAttention(D, HEADS, batch_first=True)

    def attend(self, x: Tensor) -> Tensor:
        z = self.latents[None].expand(x.size(0), -1, -1)
        z = z + self.cross(z, x, x)[0]
        for layer in self.layers:
            z = z + layer(z, z, z)[0]
        return z.mean(1)


@case("...abcdef|...abcdef ...|uvwxy", inputs=TWO, tokens=SIDES)
class QFormer(Embedded):
    """Queries read each other and the text in one attention; they alone read the picture."""

    def __init__(self) -> None:
        super().__init__()
        self.query_tokens = nn.Parameter(torch.randn(1, 3, D))
        self.cross = nn.MultiheadAttention(D, HEADS, batch_first=True)

    def forward(self, ids: Tensor, image: Tensor) -> Tensor:
        x = torch.cat([self.query_tokens, self.wte(ids)], dim=1)
        q, k, v = (heads(f(x)) for f in (self.to_q, self.to_k, self.to_v))
        x = x + joined(F.scaled_dot_product_attention(q, k, v))
        query = x[:, :3] + self.cross(x[:, :3], image, image)[0]
        return torch.cat([query, x[:, 3:]], 1)


@case("...|... ....|.... ...|....", "numbered", inputs=PICTURE, tokens=None, moves=False)
class Detr(nn.Module):
    """The demo of the paper: a backbone of one convolution, object queries, nn.Transformer."""

    def __init__(self) -> None:
        super().__init__()
        self.backbone, self.conv = nn.Conv2d(3, 8, 2, 2), nn.Conv2d(8, D, 1)
        self.transformer = nn.Transformer(D, HEADS, 1, 1, 32, 0.0, batch_first=True)
        self.query_pos = nn.Parameter(torch.rand(3, D))
        self.row_embed, self.col_embed = (nn.Parameter(torch.rand(9, D // 2)) for _ in "rc")

    def forward(self, inputs: Tensor) -> Tensor:
        h = self.conv(self.backbone(inputs))
        H, W = h.shape[-2:]
        rows = self.row_embed[:H].unsqueeze(1).repeat(1, W, 1)
        cols = self.col_embed[:W].unsqueeze(0).repeat(H, 1, 1)
        pos = torch.cat([cols, rows], -1).flatten(0, 1).unsqueeze(0)
        return self.transformer(pos + h.flatten(2).permute(0, 2, 1), self.query_pos.unsqueeze(0))


class Vit(nn.Module):
    """A class token before patches."""

    def __init__(self) -> None:
        super().__init__()
        self.cls_token, self.pos = (
            nn.Parameter(torch.randn(1, 1, D)),
            nn.Parameter(torch.randn(5, D)),
        )
        self.to_patch, self.conv = nn.Linear(12, D), nn.Conv2d(3, D, 2, 2)
        self.to_qkv, self.to_out = nn.Linear(D, 3 * D, bias=False), nn.Linear(D, D)

    def patches(self, img: Tensor) -> Tensor:
        raise NotImplementedError

    def forward(self, img: Tensor) -> Tensor:
        x = torch.cat((self.cls_token, self.patches(img)), dim=1) + self.pos
        q, k, v = map(heads, self.to_qkv(x).chunk(3, dim=-1))
        dots = torch.matmul(q, k.transpose(-1, -2)) * SIZE**-0.5
        return self.to_out(joined(torch.matmul(dots.softmax(-1), v)))[:, 0]


PATCHES = {"inputs": PICTURE, "tokens": ["c", "p", "q", "r", "s"], "moves": False}


@case("cpqrs|cpqrs", **PATCHES)
class VitByRearrange(Vit):
    def patches(self, img: Tensor) -> Tensor:
        x = img.reshape(1, 3, 2, 2, 2, 2).permute(0, 2, 4, 3, 5, 1)
        return self.to_patch(x.reshape(1, 4, 12))


@case("cpqrs|cpqrs", **PATCHES)
class VitByUnfold(Vit):
    def patches(self, img: Tensor) -> Tensor:
        return self.to_patch(F.unfold(img, kernel_size=2, stride=2).transpose(1, 2))


@case("cpqrs|cpqrs", **PATCHES)
class VitByConvolution(Vit):
    def patches(self, img: Tensor) -> Tensor:
        return self.conv(img).flatten(2).transpose(1, 2)


@case("ebd|ebd .b.de.|.b.de.", inputs=STATES)
class MaskedAutoencoder(Embedded):
    """What is kept is gathered; the decoder's rows are put back in order, with masks between."""

    def __init__(self) -> None:
        super().__init__()
        self.mask_token = nn.Parameter(torch.randn(1, 1, D))
        self.register_buffer("noise", torch.tensor([[0.9, 0.2, 0.8, 0.3, 0.1, 0.7]]))
        self.encoder, self.decoder = (
            nn.MultiheadAttention(D, HEADS, batch_first=True) for _ in "ed"
        )

    def forward(self, x: Tensor) -> Tensor:
        ids_shuffle = torch.argsort(self.noise, dim=1)
        ids_restore = torch.argsort(ids_shuffle, dim=1)
        kept = torch.gather(x, 1, ids_shuffle[:, :3].unsqueeze(-1).repeat(1, 1, D))[:, [0, 1, 2]]
        kept = self.encoder(kept, kept, kept)[0]
        y = torch.cat([kept, self.mask_token.repeat(1, 3, 1)], dim=1)
        y = torch.gather(y, 1, ids_restore.unsqueeze(-1).repeat(1, 1, D))
        return self.decoder(y, y, y)[0]


@case("....|....", "refused", inputs=(torch.randn(1, 16, D),), tokens="abcdefghijklmnop")
class ShiftedWindows(Embedded):
    """Swin: four windows of a picture of 4 x 4, rolled by one, each a row of the batch."""

    def forward(self, x: Tensor) -> Tensor:
        x = torch.roll(x.view(1, 4, 4, D), shifts=(-1, -1), dims=(1, 2))
        x = x.view(1, 2, 2, 2, 2, D).permute(0, 1, 3, 2, 4, 5).reshape(-1, 4, D)
        q, k, v = (
            f(x).reshape(4, 4, HEADS, SIZE).permute(0, 2, 1, 3)
            for f in (self.to_q, self.to_k, self.to_v)
        )
        x = ((q @ k.transpose(-2, -1)).softmax(-1) @ v).transpose(1, 2).reshape(4, 4, D)
        x = x.view(1, 2, 2, 2, 2, D).permute(0, 1, 3, 2, 4, 5).reshape(1, 4, 4, D)
        return torch.roll(x, shifts=(1, 1), dims=(1, 2)).view(1, 16, D)


@case("....|.... ...|...", "numbered", inputs=(torch.randn(1, 12, D),), tokens="abcdefghijkl")
class AxialAttention(Embedded):
    def forward(self, x: Tensor) -> Tensor:
        x = x.view(1, 3, 4, D)
        for is_turned in (False, True):
            y = x.transpose(1, 2) if is_turned else x
            rows = y.reshape(-1, y.size(2), D)
            q, k, v = (f(rows) for f in (self.to_q, self.to_k, self.to_v))
            y = ((q @ k.mT).softmax(-1) @ v).view(y.shape)
            x = x + (y.transpose(1, 2) if is_turned else y)
        return x.view(1, 12, D)


@case("abcdef|....", inputs=STATES, moves=False)
class Linformer(Embedded):
    def __init__(self) -> None:
        super().__init__()
        self.proj_k, self.proj_v = (nn.Parameter(torch.randn(6, 4)) for _ in "kv")

    def forward(self, x: Tensor) -> Tensor:
        k, v = (
            torch.einsum("bnd,nk->bkd", f(x), proj)
            for f, proj in ((self.to_k, self.proj_k), (self.to_v, self.proj_v))
        )
        q, k, v = heads(self.to_q(x)), heads(k), heads(v)
        attn = torch.einsum("bhnd,bhkd->bhnk", q, k).softmax(dim=-1)
        return self.to_out(joined(torch.einsum("bhnk,bhkd->bhnd", attn, v)))


@case(TEXT, "refused")
class Performer(Embedded):
    def attend(self, x: Tensor) -> Tensor:
        q, k, v = (heads(f(x)) for f in (self.to_q, self.to_k, self.to_v))
        projection = torch.ones(12, SIZE).tril() / 4
        q, k = (F.relu(torch.einsum("bhnd,md->bhnm", z, projection)) + 1e-3 for z in (q, k))
        context = torch.einsum("bhnm,bhnd->bhmd", k, v)
        d_inv = 1.0 / torch.einsum("bhnm,bhm->bhn", q, k.sum(dim=-2))
        return self.to_out(joined(torch.einsum("bhmd,bhnm,bhn->bhnd", context, q, d_inv)))


@case("...|abcdef")
class Nystromformer(Embedded):
    """Of its three softmaxes, that of landmarks over keys meets the values."""

    def attend(self, x: Tensor) -> Tensor:
        q, k, v = (heads(f(x)) for f in (self.to_q, self.to_k, self.to_v))
        q_l, k_l = (z.reshape(1, HEADS, 3, 2, SIZE).mean(dim=-2) for z in (q, k))
        kernel_1 = F.softmax(q @ k_l.transpose(-1, -2), dim=-1)
        kernel_2 = F.softmax(q_l @ k_l.transpose(-1, -2), dim=-1)
        kernel_3 = F.softmax(q_l @ k.transpose(-1, -2), dim=-1)
        return self.to_out(joined((kernel_1 @ torch.linalg.pinv(kernel_2)) @ (kernel_3 @ v)))


@case("......|......", "refused", inputs=STATES)
class RoutingTransformer(Embedded):
    """A head reads the three positions nearest to each of its means, so heads differ."""

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = (heads(f(x)) for f in (self.to_q, self.to_k, self.to_v))
        means = torch.ones(HEADS, 2, SIZE) * torch.tensor([1.0, -1.0])[:, None]
        dists = torch.einsum("bhnd,hkd->bhkn", q, means)
        at = dists.topk(3, dim=-1).indices.reshape(1, HEADS, -1, 1).expand(-1, -1, -1, SIZE)
        q, k, v = (z.gather(2, at).view(1, HEADS, 2, 3, SIZE) for z in (q, k, v))
        out = (q @ k.mT).softmax(-1) @ v
        so = torch.zeros(1, HEADS, 6, SIZE).scatter_add(2, at, out.view(1, HEADS, 6, SIZE))
        return self.to_out(joined(so))


@case(TEXT)
class TinyAttentionMlp(Embedded):
    """aMLP: a gate of two halves, and one small head beside it."""

    def __init__(self) -> None:
        super().__init__()
        self.proj_in, self.tiny = nn.Linear(D, 2 * D), nn.Linear(D, 3 * 4)
        self.spatial, self.tiny_out = nn.Conv1d(6, 6, 1), nn.Linear(4, D)

    def attend(self, x: Tensor) -> Tensor:
        q, k, v = self.tiny(x).chunk(3, dim=-1)
        w = torch.einsum("bnd,bmd->bnm", q, k) * 4**-0.5
        gate_res = self.tiny_out(torch.einsum("bnm,bmd->bnd", torch.softmax(w, -1), v))
        u, gate = F.gelu(self.proj_in(x)).chunk(2, dim=-1)
        return self.to_out(u * (self.spatial(gate) + gate_res))


@case(TEXT, moves=False)
class MixerBefore(Embedded):
    """MLP-Mixer: positions are mixed beside a path that keeps each in its place."""

    def __init__(self) -> None:
        super().__init__()
        self.mix = nn.Sequential(nn.Linear(6, 12), nn.GELU(), nn.Linear(12, 6))
        self.attn = nn.MultiheadAttention(D, HEADS, batch_first=True)

    def attend(self, x: Tensor) -> Tensor:
        x = x + self.mix(F.layer_norm(x, (D,)).transpose(1, 2)).transpose(1, 2)
        return self.attn(x, x, x)[0]


@case(TEXT, moves=False)
class FourierBefore(Embedded):
    """FNet: the transform is added to what was there."""

    def attend(self, x: Tensor) -> Tensor:
        x = x + torch.fft.fft(torch.fft.fft(x, dim=-1), dim=-2).real
        q, k, v = (heads(f(x)) for f in (self.to_q, self.to_k, self.to_v))
        return self.to_out(joined(F.scaled_dot_product_attention(q, k, v)))


@case("abcdef|abcdef", "numbered", moves=False)
class TokenShift(Embedded):
    """RWKV: each row is a mean of itself and of the one before, so a row is of two."""

    def __init__(self) -> None:
        super().__init__()
        self.time_shift = nn.ZeroPad2d((0, 0, 1, -1))
        self.time_mix = nn.Parameter(torch.rand(1, 1, D))

    def attend(self, x: Tensor) -> Tensor:
        xx = self.time_shift(x)
        x = x * self.time_mix + xx * (1 - self.time_mix)
        q, k, v = (heads(f(x)) for f in (self.to_q, self.to_k, self.to_v))
        return self.to_out(joined(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


@case(TEXT, moves=False)
class ConformerConvolution(Embedded):
    def __init__(self) -> None:
        super().__init__()
        self.pw1, self.dw = nn.Conv1d(D, 2 * D, 1), nn.Conv1d(D, D, 3, padding=1, groups=D)
        self.bn, self.pw2 = nn.BatchNorm1d(D), nn.Conv1d(D, D, 1)
        self.attn = nn.MultiheadAttention(D, HEADS, batch_first=True)

    def attend(self, x: Tensor) -> Tensor:
        y = F.glu(self.pw1(x.transpose(1, 2)), dim=1)
        x = x + self.pw2(F.silu(self.bn(self.dw(y)))).transpose(1, 2)
        return self.attn(x, x, x)[0]


@case(TEXT, moves=False)
class CausalConvolution(Embedded):
    """Padded at the left, without a path beside it: row t is of the window that ends there."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv1d(D, D, 3)

    def attend(self, x: Tensor) -> Tensor:
        x = self.conv(F.pad(x.transpose(1, 2), (2, 0))).transpose(1, 2)
        q, k, v = (heads(f(x)) for f in (self.to_q, self.to_k, self.to_v))
        return self.to_out(joined(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


@case("...|abcdef", moves=False)
class FunnelPooling(Embedded):
    def attend(self, x: Tensor) -> Tensor:
        pooled = F.avg_pool1d(x.transpose(1, 2), 2).transpose(1, 2)
        q, k, v = heads(self.to_q(pooled)), heads(self.to_k(x)), heads(self.to_v(x))
        return self.to_out(joined((q @ k.mT).softmax(-1) @ v))


@case("...|... abcdef|abcdef", moves=False)
class CanineDownsampling(Embedded):
    def __init__(self) -> None:
        super().__init__()
        self.local = nn.MultiheadAttention(D, HEADS, batch_first=True)
        self.deep = nn.MultiheadAttention(D, HEADS, batch_first=True)
        self.down, self.up = nn.Conv1d(D, D, 2, stride=2), nn.Linear(2 * D, D)

    def attend(self, x: Tensor) -> Tensor:
        x = self.local(x, x, x)[0]
        y = self.down(x.transpose(1, 2)).transpose(1, 2)
        y = self.deep(y, y, y)[0].repeat_interleave(2, dim=1)
        return self.up(torch.cat([x, y], dim=-1))


@case("...|... abcdef|abcdef", moves=False)
class Hourglass(Embedded):
    """Pairs of positions are shortened to one by a matrix, and a path goes round them."""

    def __init__(self) -> None:
        super().__init__()
        self.shorten, self.lengthen = nn.Linear(2 * D, D), nn.Linear(D, 2 * D)
        self.mid, self.last = (nn.MultiheadAttention(D, HEADS, batch_first=True) for _ in "ml")

    def attend(self, x: Tensor) -> Tensor:
        y = self.shorten(x.reshape(1, 3, 2 * D))
        y = y + self.mid(y, y, y)[0]
        x = x + self.lengthen(y).reshape(1, 6, D)
        return self.last(x, x, x)[0]


@case(TEXT, "refused")
class CrissCross(Embedded):
    """CCNet: one softmax over a row's keys and a column's, which are two products."""

    def attend(self, x: Tensor) -> Tensor:
        q, k, v = (f(x).view(1, 2, 3, D) for f in (self.to_q, self.to_k, self.to_v))
        energy_h = torch.einsum("bhwd,bgwd->bhwg", q, k)
        energy_w = torch.einsum("bhwd,bhvd->bhwv", q, k)
        a = torch.cat([energy_h, energy_w], -1).softmax(-1)
        out = torch.einsum("bhwg,bgwd->bhwd", a[..., :2], v)
        out = out + torch.einsum("bhwv,bhvd->bhwd", a[..., 2:], v)
        return self.to_out(out.reshape(1, 6, D))


@case(TEXT, "refused")
class DeformableSampling(Embedded):
    """Weights of points that a query chooses: no key is asked."""

    def __init__(self) -> None:
        super().__init__()
        self.offsets, self.weights = nn.Linear(D, 2), nn.Linear(D, 2)

    def attend(self, x: Tensor) -> Tensor:
        at = (torch.arange(6)[:, None] + self.offsets(x).round()).clamp(0, 5).long()
        v = self.to_v(x)[0][at[0]]  # [6, 2, D]
        return self.to_out((self.weights(x)[0].softmax(-1)[..., None] * v).sum(1)[None])


@case("...|...", "refused")
class LongformerChunks(Embedded):
    """Keys of overlapping chunks, an axis of their own."""

    def attend(self, x: Tensor) -> Tensor:
        q, k, v = (heads(f(x)) for f in (self.to_q, self.to_k, self.to_v))
        k, v = (F.pad(z, (0, 0, 1, 1)).unfold(2, 4, 2).transpose(-1, -2) for z in (k, v))
        q = q.view(1, HEADS, 3, 2, SIZE)
        return self.to_out(joined(((q @ k.mT).softmax(-1) @ v).reshape(1, HEADS, 6, SIZE)))
