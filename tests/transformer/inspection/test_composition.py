"""Composition of heads: by hand, by chance, and where nothing can be read."""

from collections.abc import Sequence

import pytest
import torch

from transformer.checkpoint import checkpoints_folder
from transformer.inspection.circuits import Ends, Head, compositions, products_of
from transformer.inspection.survey import survey

D, WIDTH = 64, 8


class Random:
    """Two layers of two heads in each kind; values of encoder L1 H1 read what L0 H0 writes."""

    def __init__(self, seed: int = 0) -> None:
        torch.manual_seed(seed)
        self.heads = {
            (kind, layer): [self._head() for _ in range(2)]
            for kind in ("encoder_self", "decoder_self", "cross")
            for layer in range(2)
        }
        writer, reader = self.heads["encoder_self", 0][0], self.heads["encoder_self", 1]
        reader[1] = Head(reader[1].q, reader[1].k, writer.o.mT.clone(), reader[1].o, 1.0)

    def _head(self) -> Head:
        q, k, v = (torch.randn(D, WIDTH, dtype=torch.float64) for _ in range(3))
        return Head(q, k, v, torch.randn(WIDTH, D, dtype=torch.float64), 1.0)

    def n_layers(self, kind: str) -> int:
        return 2

    def layer(self, kind: str, layer: int) -> Sequence[Head]:
        return self.heads[kind, layer]

    def ends(self, kind: str) -> Ends:
        raise NotImplementedError


def test_it_is_the_norm_of_the_whole_product() -> None:
    heads = Random()
    before, _ = compositions(heads, ("encoder_self", 1, 0))
    a, b = heads.heads["encoder_self", 0][1], heads.heads["encoder_self", 1][0]
    ov, qk = a.v @ a.o, b.q @ b.k.mT
    expected = {"queries": ov @ qk, "keys": ov @ qk.mT, "values": ov @ b.v @ b.o}
    for each in before:
        if each.writer == ("encoder_self", 0, 1):
            product = expected[each.side]
            size = float(ov.norm()) * float((b.v @ b.o if each.side == "values" else qk).norm())
            assert each.strength == pytest.approx(float(product.norm()) / size, rel=1e-9)


def test_what_was_planted_is_the_strongest_and_the_rest_is_chance() -> None:
    before, after = compositions(Random(), ("encoder_self", 1, 1))
    first, *others = before
    assert (first.writer, first.side) == (("encoder_self", 0, 0), "values")
    assert first.strength > 2 * first.chance
    rest = [each.strength for each in (*others, *after)]
    assert sum(rest) / len(rest) == pytest.approx(1 / D**0.5, rel=0.15)


def test_only_what_was_written_before_is_read() -> None:
    before, after = compositions(Random(), ("cross", 0, 0))
    assert {(each.writer[:2], each.side) for each in before} == {
        *((("encoder_self", layer), side) for layer in (0, 1) for side in ("keys", "values")),
        (("decoder_self", 0), "queries"),
    }
    assert {(each.reader[:2], each.side) for each in after} == {
        *((("decoder_self", 1), side) for side in ("queries", "keys", "values")),
        (("cross", 1), "queries"),
    }
    assert compositions(Random(), ("encoder_self", 0, 0))[0] == []


def test_shipped_heads_compose() -> None:
    heads = survey(checkpoints_folder() / "en-de-small").heads
    before, after = compositions(heads, ("cross", 1, 0))
    assert before and after
    assert all(0 < each.strength <= 1 for each in (*before, *after))
    kept = list(products_of(heads))
    for place in (("cross", 1, 0), ("encoder_self", 0, 1)):
        assert compositions(heads, place, kept) == compositions(heads, place)
