"""Which sequence an attention reads is read from the pass: neither lengths nor names say it."""

from itertools import product

import pytest
import torch

from tests.representatives import cases
from tests.transformer.watch.inline import LAYERS, D, Translator, by_hand, fused
from transformer import record

SIZES = ((6, 4), (5, 4), (4, 4), (4, 5), (4, 6), (1, 4), (4, 1), (1, 1), (2, 1), (5, 1))
LAYER_OF = {layer.__name__: layer for layer in LAYERS}
ATTEND_BY = {"by_hand": by_hand, "fused": fused}
FEW = {
    **{f"{it} {how}, as many": (it, how, (4, 4)) for it, how in product(LAYER_OF, ATTEND_BY)},
    **{f"{n} of each, {how}": ("Layer", how, n) for n, how in product(SIZES, ATTEND_BY)},
}
"""How a layer is written, where lengths tell nothing; and what lengths tell of the plainest."""


@pytest.mark.parametrize(
    ("layer", "attend", "sizes"), cases(product(LAYER_OF, ATTEND_BY, SIZES), FEW), ids=str
)
def test_both_attentions_of_one_forward_are_told_apart(
    layer: str, attend: str, sizes: tuple[int, int]
) -> None:
    generator = torch.Generator().manual_seed(1)
    inputs = tuple(torch.randn(1, size, D, generator=generator) for size in sizes)
    pieces = {
        side: [f"{side[0]}{i}" for i in range(n)]
        for side, n in zip(("source", "target"), sizes, strict=True)
    }
    recording = record(Translator(LAYER_OF[layer], ATTEND_BY[attend]).eval(), inputs, pieces)
    found = {
        (each.role, each.n_layers, each.queries[-1].piece, each.keys[-1].piece)
        for each in recording.attentions.values()
    }
    source, target = (pieces[side][-1] for side in ("source", "target"))
    assert found == {
        ("encoder_self", 2, source, source),
        ("decoder_self", 2, target, target),
        ("cross", 2, target, source),
    }
    assert recording.checked.is_right
