"""Rotary positions are what queries and keys were turned by, whatever the model holds."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tests.representatives import cases
from tests.transformer.watch.turning import (
    D_HEAD,
    THETA,
    Reader,
    Turning,
    by,
    halves,
    moved,
    neighbours,
    part,
)
from transformer import Recording, record
from viz.map_words import schemes, undrawn

IDS = torch.tensor([[7, 3, 9, 9, 20, 11, 5, 7, 30, 2]])
SOME = THETA[:2]
STRETCHED = THETA / torch.tensor([1.0, 1, 2, 4])
OTHER_BASE = 700.0 ** -(torch.arange(0, D_HEAD, 2) / D_HEAD)


def recorded(*layers: nn.Module, ids: Tensor = IDS) -> Recording:
    torch.manual_seed(0)
    return record(Reader(*layers).eval(), ids)


def norm(kind: type[Any]) -> Any:
    """One that has learned something."""
    made = kind(D_HEAD)
    made.weight.data.uniform_(0.5, 2)
    if kind is nn.LayerNorm:
        made.bias.data.normal_()
    return made


TURNED: dict[str, tuple[Callable[[Tensor], Tensor], Tensor]] = {
    "halves": (by(), THETA),
    "neighbours": (by(neighbours), THETA),
    "neighbours become halves": (by(moved), THETA),
    "half of the dimensions": (part(by(theta=SOME), 4), SOME),
    "three quarters": (part(by(theta=THETA[:3]), 6), THETA[:3]),
    "neighbours, half of them": (part(by(neighbours, SOME), 4), SOME),
    "the last half": (part(by(theta=SOME), 4, is_last=True), SOME),
    "the last half, moved": (part(by(moved, SOME), 4, is_last=True), SOME),
    "positions / 4": (by(positions=lambda n: torch.arange(n) / 4), THETA / 4),
    "positions · 4": (by(positions=lambda n: torch.arange(n) * 4), THETA * 4),
    "another base": (by(theta=OTHER_BASE), OTHER_BASE),
    "slow pairs slower (YaRN)": (by(theta=STRETCHED, factor=1.07), STRETCHED),
    "from 7": (by(positions=lambda n: torch.arange(n) + 7), THETA),
    "reversed": (by(positions=lambda n: torch.arange(n).flip(0)), THETA),
    "twice": (lambda x: by()(by()(x)), THETA * 2),
    "the other way": (by(theta=-THETA), THETA),
}


FEW = {
    **{"pairs of halves": "halves", "pairs of neighbours": "neighbours, half of them"},
    **{"a block that moves": "the last half, moved", "scaled positions": "positions / 4"},
    **{"more than half a turn a step": "positions · 4", "nothing held agrees": "another base"},
}


@pytest.mark.parametrize("how", cases(TURNED, FEW))
@pytest.mark.parametrize("fused", [True, False], ids=["fused", "by hand"])
def test_frequencies_are_those_of_the_turn(how: str, fused: bool) -> None:
    turned, wanted = TURNED[how]
    recording = recorded(Turning(turned, fused=fused))
    (rotary,) = recording.rotary.values()
    torch.testing.assert_close(rotary.frequencies, wanted, rtol=1e-5, atol=1e-6)
    assert rotary.d_head == D_HEAD and not rotary.positions and not recording.unmeasured


NORMS = {
    "RMSNorm": lambda: Turning(by(), normed=norm(nn.RMSNorm)),
    "LayerNorm": lambda: Turning(by(neighbours), normed=norm(nn.LayerNorm)),
    "shared keys": lambda: Turning(by(), n_shared=2),
    "one key for all heads, by hand": lambda: Turning(by(), n_shared=4, fused=False),
}


@pytest.mark.parametrize("how", NORMS)
def test_what_stands_before_the_turn_does_not_matter(how: str) -> None:
    (rotary,) = recorded(NORMS[how]()).rotary.values()
    assert torch.equal(rotary.frequencies, THETA)


def test_what_the_model_holds_is_shown_to_the_last_digit_where_it_is_used() -> None:
    (rotary,) = recorded(Turning(by()), ids=IDS[:, :2]).rotary.values()
    assert torch.equal(rotary.frequencies, THETA)


def test_frequencies_that_are_held_and_not_used_are_not_shown() -> None:
    recording = recorded(Turning(), Turning(fused=False))
    assert not recording.rotary and not recording.unmeasured


@pytest.mark.parametrize("factor", [1.0, 1.1386])
def test_the_factor_of_a_part_is_measured(factor: float) -> None:
    recording = recorded(Turning(part(by(theta=SOME, factor=factor), 4)))
    (rotary,) = recording.rotary.values()
    assert rotary.factor == pytest.approx(factor, abs=1e-5)


def test_layers_that_turn_in_other_ways_are_told_apart() -> None:
    """Every fourth layer of SmolLM3 turns nothing; ModernBERT's have two bases."""
    layers = [by(), by(theta=OTHER_BASE), lambda x: x, by()]
    recording = recorded(*map(Turning, layers))
    assert [(name, each.layers) for name, each in recording.rotary.items()] == [
        ("decoder self, from L0", (0, 3)),
        ("decoder self, from L1", (1,)),
    ]
    assert ["in L0, L3." in schemes(recording)[0], "in L1." in schemes(recording)[1]] == [True] * 2


POSITIONS = {
    "two texts in one": (lambda n: torch.arange(n) % 6, (0, 1, 2, 3, 4, 5, 0, 1, 2, 3)),
    "padding on the left": (
        lambda n: torch.where(torch.arange(n) < 2, 1, torch.arange(n) - 2),
        (1, 1, 0, 1, 2, 3, 4, 5, 6, 7),
    ),
    "two words swapped": (
        lambda n: torch.tensor([0, 7, 2, 3, 4, 5, 6, 1, 8, 9]),
        (0, 7, 2, 3, 4, 5, 6, 1, 8, 9),
    ),
}


@pytest.mark.parametrize("how", POSITIONS)
def test_positions_that_do_not_follow_each_other_are_named(how: str) -> None:
    positions, wanted = POSITIONS[how]
    recording = recorded(Turning(by(positions=positions)))
    (rotary,) = recording.rotary.values()
    assert rotary.positions == wanted and torch.equal(rotary.frequencies, THETA)
    assert "do not follow each other" in schemes(recording)[0]


def learned(x: Tensor) -> Tensor:
    angles = torch.randn(x.size(-2), D_HEAD // 2, generator=torch.Generator().manual_seed(3))
    return halves(x, angles)


def of_a_picture(x: Tensor) -> Tensor:
    rows, columns = torch.arange(x.size(-2)) // 5, torch.arange(x.size(-2)) % 5
    return halves(x, torch.cat([rows[:, None] * SOME, columns[:, None] * SOME], -1))


def decaying(sign: int) -> Callable[[Tensor], Tensor]:
    """xPos: queries grow with the position, keys shrink."""

    def turned(x: Tensor) -> Tensor:
        share = (torch.arange(0, D_HEAD, 2) / D_HEAD + 0.4) / 1.4
        scale = share ** (sign * torch.arange(x.size(-2))[:, None] / 512)
        return by()(x) * torch.cat([scale, scale], -1)

    return turned


def still(x: Tensor) -> Tensor:
    return x


def of_each_head(x: Tensor) -> Tensor:
    heads = torch.arange(1, x.size(1) + 1)[:, None, None]
    return halves(x, torch.arange(x.size(-2))[:, None] * THETA * heads)


UNDRAWN = {
    "keys alone": (still, by()),
    "queries alone": (by(), still),
    "in opposite directions": (by(), by(theta=-THETA)),
    "keys three positions on": (by(), by(positions=lambda n: torch.arange(n) + 3)),
    "learned angles": (learned, learned),
    "two axes of a picture": (of_a_picture, of_a_picture),
    "xPos": (decaying(1), decaying(-1)),
    "each head by its own": (of_each_head, of_each_head),
    "bent first": (lambda x: by()(x.tanh()), lambda x: by()(x.tanh())),
}


FEW_UNDRAWN = {
    **{"one of both": "keys alone", "both, in two ways": "in opposite directions"},
    **{"angles of no position": "learned angles", "lengths, too": "xPos"},
    **{"nothing that is traced": "bent first"},
}


@pytest.mark.parametrize("how", cases(UNDRAWN, FEW_UNDRAWN))
@pytest.mark.parametrize("fused", [True, False], ids=["fused", "by hand"])
def test_what_is_no_position_of_a_row_is_said(how: str, fused: bool) -> None:
    queries, keys = UNDRAWN[how]
    recording = recorded(Turning(queries, keys, fused=fused))
    assert not recording.rotary
    (sentence,) = undrawn(recording)
    assert sentence.startswith("Not drawn (decoder self): ")


def test_of_one_token_nothing_is_known() -> None:
    recording = recorded(Turning(by()), ids=IDS[:, :1])
    assert not recording.rotary and "single token" in undrawn(recording)[0]


def test_a_long_text_is_measured_by_some_of_its_rows() -> None:
    ids = torch.arange(300)[None] % 50
    (rotary,) = recorded(Turning(by(theta=OTHER_BASE)), ids=ids).rotary.values()
    torch.testing.assert_close(rotary.frequencies, OTHER_BASE, rtol=1e-5, atol=0)
    (packed,) = recorded(
        Turning(by(positions=lambda n: torch.arange(n) % 200)), ids=ids
    ).rotary.values()
    assert packed.positions and torch.equal(packed.frequencies, THETA)
