"""Models whose paths do not say what ran after what: side by side, in one forward, in any order."""

import copy
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from tests.transformer.watch.inline import D, Layer, by_hand, fused


class Model(nn.Module):
    """Parts, and a function that runs them."""

    def __init__(self, run: Callable[..., Tensor], **parts: Any) -> None:
        super().__init__()
        self.words, self.run = nn.Embedding(9, D), run
        for name, part in parts.items():
            setattr(self, name, part)

    def forward(self, *inputs: Tensor) -> Tensor:
        return self.run(self, *inputs)


def stack(n: int, attend: Callable[..., Tensor] = fused) -> nn.ModuleList:
    return nn.ModuleList(Layer(attend) for _ in range(n))


def through(layers: Any, x: Tensor) -> Tensor:
    for layer in layers:
        x = layer(x)
    return x


def encoder(n: int = 2) -> Model:
    return Model(lambda m, ids: through(m.layers, m.words(ids)), layers=stack(n))


# Several models, towers or branches.


def ensemble(*models: nn.Module) -> Model:
    return Model(lambda m, ids: sum(each(ids) for each in m.models), models=nn.ModuleList(models))


def plain_list() -> Model:
    """The models are no modules of the model."""
    first = encoder()
    return Model(lambda m, ids: sum(f(ids) for f in m.models), models=[first, copy.deepcopy(first)])


def branches(n: int) -> Model:
    lists = nn.ModuleList(nn.Sequential(nn.Linear(D, D), *stack(n)) for _ in range(2))
    return Model(
        lambda m, ids: torch.cat([each(m.words(ids)) for each in m.branches], -1), branches=lists
    )


def tasks() -> Model:
    """One trunk, and an attention for each of two tasks."""

    def run(m: Any, ids: Tensor) -> Tensor:
        x = through(m.trunk, m.words(ids))
        return torch.cat([through(each, x) for each in m.tasks], -1)

    return Model(run, trunk=stack(2), tasks=nn.ModuleList(stack(1) for _ in range(2)))


def pairs() -> Model:
    """Two layers at a time, side by side."""

    def run(m: Any, ids: Tensor) -> Tensor:
        x = m.words(ids)
        for a, b in zip(m.layers[::2], m.layers[1::2], strict=True):
            x = a(x).tanh() + b(x)
        return x

    return Model(run, layers=stack(4))


def experts() -> Model:
    def run(m: Any, ids: Tensor) -> Tensor:
        x = m.words(ids)
        for gate, layer in zip(m.gates, m.layers, strict=True):
            shares = gate(x).softmax(-1)
            x = x + sum(shares[..., i, None] * each(x) for i, each in enumerate(layer))
        return x

    gates = nn.ModuleList(nn.Linear(D, 2) for _ in range(2))
    return Model(run, gates=gates, layers=nn.ModuleList(stack(2) for _ in range(2)))


def towers(n: int = 2) -> Model:
    return Model(
        lambda m, *ids: sum(
            through(layers, m.words(each)).mean(1)
            for layers, each in zip(m.towers, ids, strict=True)
        ),
        towers=nn.ModuleList(stack(n) for _ in range(2)),
    )


def named_towers() -> Model:
    return Model(
        lambda m, a, b: through(m.query, m.words(a)) + through(m.document, m.words(b)),
        query=stack(2),
        document=stack(2),
    )


def both_ways() -> Model:
    """One stack over the states of a text, from its start and from its end."""

    def run(m: Any, ids: Tensor) -> Tensor:
        x = m.words(ids)
        return through(m.layers, x) + through(m.layers, x.flip(1)).flip(1)

    return Model(run, layers=stack(2))


def read_each_other() -> Model:
    def run(m: Any, a: Tensor, b: Tensor) -> Tensor:
        x, y = m.words(a), m.words(b)
        for own, other in zip(m.own, m.other, strict=True):
            x, y = own(x), other(y)
            x, y = (
                x + own.attended(x, y, 4, False),
                y + other.attended(y, x, 4, False),
            )
        return x + y

    return Model(run, own=stack(2), other=stack(2))


# Encoder and decoder in one forward, or in one list.


def translator(
    n: int, attend: Callable[..., Tensor] = by_hand, *, is_causal: bool, is_aligned: bool = False
) -> Model:
    """Written out. is_aligned: each layer of the decoder reads the encoder's of that number."""
    weights = nn.ParameterDict(
        {f"{side}{i}": nn.Parameter(torch.randn(4, D, D) / 4) for side in "edc" for i in range(n)}
    )

    def attended(w: Tensor, x: Tensor, y: Tensor, is_causal: bool = False) -> Tensor:
        heads = attend(*((z @ w[i])[:, None] for i, z in enumerate((x, y, y))), is_causal)
        return x + heads[:, 0] @ w[3]

    def run(m: Any, source: Tensor, target: Tensor) -> Tensor:
        x, y = m.words(source), m.words(target)
        for i in range(0 if is_aligned else n):
            x = attended(m.w[f"e{i}"], x, x)
        for i in range(n):
            x = attended(m.w[f"e{i}"], x, x) if is_aligned else x
            y = attended(m.w[f"d{i}"], y, y, is_causal)
            y = attended(m.w[f"c{i}"], y, x)
        return y

    return Model(run, w=weights)


def halves(n: int) -> Model:
    """The first layers of a list are the encoder's, and no mask closes the decoder's."""

    def run(m: Any, source: Tensor, target: Tensor) -> Tensor:
        x, y = through(m.layers[:n], m.words(source)), m.words(target)
        for layer, cross in zip(m.layers[n:], m.cross, strict=True):
            y = layer(y)
            y = y + cross.attended(y, x, 4, False)
        return y

    return Model(run, layers=stack(2 * n), cross=stack(n))


# Layers in another order than their numbers.


def in_order(*order: int) -> Model:
    return Model(
        lambda m, ids: through([m.layers[i] for i in order], m.words(ids)),
        layers=stack(max(order) + 1),
    )


def alternating() -> Model:
    """Two sorts of layers, whose calls the watcher lists sort by sort."""
    names = ["near", "far"] * 2
    return Model(
        lambda m, ids: through([it for each in m.layers for it in each.values()], m.words(ids)),
        layers=nn.ModuleList(nn.ModuleDict({name: Layer(fused)}) for name in names),
    )


def stages(*order: int) -> Model:
    return Model(
        lambda m, ids: through([it for i in order for it in m.stages[i].blocks], m.words(ids)),
        stages=nn.ModuleList(Model(lambda m: m, blocks=stack(2)) for _ in range(2)),
    )


def skipping() -> Model:
    """A U-Net's halves; what the first gives is added to what the second reads."""

    def run(m: Any, ids: Tensor) -> Tensor:
        x, kept = m.words(ids), []
        for layer in m.down:
            x = layer(x)
            kept.append(x)
        for layer in m.up:
            x = layer(x + kept.pop())
        return x

    return Model(run, down=stack(2), up=stack(2))


def not_followed() -> Model:
    """What a layer gives leaves torch before the next one reads it."""

    def run(m: Any, ids: Tensor) -> Tensor:
        x = m.words(ids)
        for _ in range(2):
            for layer in m.layers:
                x = torch.tensor(layer(x).tolist())
        return x

    return Model(run, layers=stack(2))
