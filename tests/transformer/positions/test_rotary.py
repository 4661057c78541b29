"""The decay of q·k against queries and keys that are really turned, by the library's own code."""

import math

import pytest
import torch

from transformer.positions.encodings import Rotary, bound, decay


def rotary(d_head: int, n_turning: int, theta: float = 10_000.0) -> Rotary:
    frequencies = theta ** (-torch.arange(0, n_turning, 2).double() / n_turning)
    return Rotary("decoder_self", (0,), frequencies.float(), d_head)


@pytest.mark.parametrize("n_turning", [16, 8, 2])
def test_decay_is_that_of_ones_that_are_turned(n_turning: int) -> None:
    from transformers.models.llama.modeling_llama import apply_rotary_pos_emb

    d_head, n = 16, 12
    found = rotary(d_head, n_turning)
    angles = (torch.arange(n)[:, None] * found.frequencies).repeat(1, 2)[None]  # [1, T, R]
    ones = torch.ones(1, 1, n, n_turning)
    q, k = apply_rotary_pos_emb(ones, ones, angles.cos(), angles.sin())
    still = d_head - n_turning
    for m in range(n):
        for j in range(n):
            score = float(q[0, 0, m] @ k[0, 0, j]) + still
            share = float(decay(found, torch.tensor([m - j])))
            assert share == pytest.approx(score / d_head, abs=1e-6)


def test_all_turning_it_is_the_mean_of_cosines() -> None:
    found, distances = rotary(8, 8), [0, 1, 5, 900]
    for distance, share in zip(distances, decay(found, torch.tensor(distances)), strict=True):
        cosines = [math.cos(distance * float(theta)) for theta in found.frequencies]
        assert float(share) == pytest.approx(sum(cosines) / 4, abs=1e-9)


def test_the_bound_is_the_mean_of_partial_sums() -> None:
    found, distances = rotary(16, 16), [0, 1, 7, 300]
    for distance, share in zip(distances, bound(found, torch.tensor(distances)), strict=True):
        sums = []
        total = 0j
        for theta in found.frequencies.tolist():
            total += complex(math.cos(distance * theta), math.sin(distance * theta))
            sums.append(abs(total))
        assert float(share) == pytest.approx(sum(sums) / 8 / 4.5, abs=1e-9)  # (1 + ... + 8) / 8


def test_wavelengths_are_full_turns() -> None:
    found = rotary(8, 4)
    assert found.n_turning == 4
    torch.testing.assert_close(
        found.wavelengths, torch.tensor([2 * math.pi, 200 * math.pi], dtype=torch.float64)
    )
