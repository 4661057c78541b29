"""The strongest cell is one of a row that had a choice."""

import pytest
import torch

from tests.random_maps import random_map
from transformer.analysis.reading import rows_with_choice, strongest_cell, strongest_weight


def test_rows_with_one_key_do_not_count_unless_all_are_such_rows() -> None:
    causal = torch.ones(3, 3, dtype=torch.bool).tril()
    assert rows_with_choice(causal).tolist() == [False, True, True]
    assert rows_with_choice(torch.eye(3, dtype=torch.bool)).tolist() == [True] * 3


def test_the_farthest_from_0_wins_and_a_masked_cell_never_does() -> None:
    values = torch.tensor([[9.0, 1.0], [-3.0, 2.0], [0.0, 8.0]])
    allowed = torch.tensor([[True, False], [True, True], [True, False]])
    assert strongest_cell(values, allowed) == (1, 0)
    assert strongest_cell(values, torch.zeros(3, 2, dtype=torch.bool)) is None
    assert strongest_cell(torch.zeros(1, 2), torch.tensor([[False, True]])) == (0, 1)


@pytest.mark.parametrize("kind", ["encoder_self", "decoder_self"])
def test_a_map_and_its_weights_agree(kind: str) -> None:
    map = random_map(2, 3, 7, 7, kind)
    for layer in range(2):
        for head in range(3):
            cell = map.strongest(layer, head)
            assert cell == strongest_weight(map.attention, layer, head)
            weights = map.values(layer, head)[int(kind == "decoder_self") :]
            assert map.values(layer, head)[cell] == weights.max()


def test_the_strongest_of_some_queries_and_keys() -> None:
    attention = random_map(1, 1, 9, 9, "decoder_self").attention
    weights = attention.weights(0, 0)
    query, key = strongest_weight(attention, 0, 0, (4, 6), (1, 2, 3))
    assert query in (4, 6) and key in (1, 2, 3)
    assert weights[query, key] == weights[[4, 6]][:, 1:4].max()
    assert strongest_weight(attention, 0, 0, (0,), (0, 1)) == (0, 0)
