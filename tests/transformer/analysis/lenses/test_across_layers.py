"""Rollout and flow, against the numbers of Abnar's own code and against plain loops."""

import gc

import networkx  # which torch needs too
import pytest
import torch
from torch import Tensor

from tests.transformer.analysis.lenses.given import (
    CONFIGS,
    call_of,
    padded,
    random_layers,
    recorded,
    recording_of,
    self_attention,
)
from transformer.analysis.lenses.lenses import (
    _FLOWS,
    _LATEST,
    FLOW_LENS,
    MOST_TOKENS,
    ROLLOUT_LENS,
    largest_flows,
    raw_flow,
)
from transformer.recording import Attention
from transformer.token import Token

# Two layers of one head, and what attention_graph_util.py of samiraabnar/attention_flow gives.
LAYERS = [
    torch.tensor([[[0.5, 0.3, 0.2], [0.1, 0.6, 0.3], [0.2, 0.2, 0.6]]]),
    torch.tensor([[[0.7, 0.2, 0.1], [0.3, 0.4, 0.3], [0.25, 0.25, 0.5]]]),
]
ROLLOUT = [[0.6475, 0.2125, 0.14], [0.1625, 0.5975, 0.24], [0.175, 0.19375, 0.63125]]
RAW_FLOW = [[0.85, 0.3, 0.25], [0.3, 0.95, 0.4], [0.275, 0.35, 0.975]]
FLOW = [
    [0.607143, 0.214286, 0.178571],
    [0.181818, 0.575758, 0.242424],
    [0.171875, 0.21875, 0.609375],
]
exact = {"rtol": 0.0, "atol": 1e-6}


def plain_mixing(layers: list[Tensor]) -> list[list[list[float]]]:
    """rownorm(mean_h A + I), cell by cell in float64."""
    mixed = []
    for weights in layers:
        n_heads, n_tokens = weights.shape[:2]
        heads = weights.double().tolist()
        rows = [
            [sum(head[i][j] for head in heads) / n_heads + (i == j) for j in range(n_tokens)]
            for i in range(n_tokens)
        ]
        mixed.append([[cell / sum(row) for cell in row] for row in rows])
    return mixed


def plain_rollout(layers: list[Tensor]) -> Tensor:
    product, *rest = plain_mixing(layers)
    for mixed in rest:
        n = range(len(mixed))
        product = [[sum(mixed[i][k] * product[k][j] for k in n) for j in n] for i in n]
    return torch.tensor(product)


def reference_flow(layers: list[Tensor]) -> Tensor:
    """networkx' largest flow of every pair: [T, T]."""
    graph = networkx.DiGraph()
    for layer, rows in enumerate(plain_mixing(layers)):
        for i, row in enumerate(rows):
            for j, capacity in enumerate(row):
                graph.add_edge((layer + 1, i), (layer, j), capacity=capacity)
    n_tokens, top = layers[0].size(-1), len(layers)
    return torch.tensor(
        [
            [networkx.maximum_flow_value(graph, (top, i), (0, j)) for j in range(n_tokens)]
            for i in range(n_tokens)
        ]
    )


def test_the_numbers_of_the_authors_code() -> None:
    recording = recording_of(encoder_self=self_attention(LAYERS))
    rolled = ROLLOUT_LENS.compute(recording, "encoder_self", 1)[0]
    torch.testing.assert_close(rolled, torch.tensor(ROLLOUT), **exact)
    raw = raw_flow(recording.attentions["encoder_self"], 1).float()
    torch.testing.assert_close(raw, torch.tensor(RAW_FLOW), **exact)
    flows = FLOW_LENS.compute(recording, "encoder_self", 1)[0]
    torch.testing.assert_close(flows, torch.tensor(FLOW), **exact)


def test_rollout_is_a_plain_product() -> None:
    layers = random_layers(4, 3, 7)
    recording = recording_of(encoder_self=self_attention(layers))
    for layer in (2, 0, 3, 1, 1):
        rolled = ROLLOUT_LENS.compute(recording, "encoder_self", layer)[0]
        torch.testing.assert_close(rolled, plain_rollout(layers[: layer + 1]), **exact)


@pytest.mark.parametrize(("n_layers", "n_tokens", "sharp"), [(3, 6, 1.0), (5, 6, 4.0), (6, 4, 9.0)])
def test_flow_is_the_largest_flow_of_every_pair(n_layers: int, n_tokens: int, sharp: float) -> None:
    layers = random_layers(n_layers, 2, n_tokens, sharp)
    raw = raw_flow(self_attention(layers), n_layers - 1).float()
    torch.testing.assert_close(raw, reference_flow(layers), **exact)


def test_flow_takes_back_what_stands_in_its_way() -> None:
    """Two ways that share a narrow place: a flow that never turns back would find 1 of 2."""
    capacities = torch.zeros(4, 3, 3, dtype=torch.float64)
    capacities[3, 0] = torch.tensor([1.0, 1.0, 0.0])
    capacities[2, 0, 0] = capacities[2, 0, 1] = capacities[2, 1, 0] = 1.0
    capacities[1, 0, 0] = capacities[1, 1, 1] = 1.0
    capacities[0, 0, 2] = capacities[0, 1, 2] = 1.0
    assert largest_flows(capacities, 0).tolist() == [0.0, 0.0, 2.0]


@pytest.mark.parametrize("lens", [ROLLOUT_LENS, FLOW_LENS])
def test_causal_stays_causal(lens) -> None:
    recording = recorded(CONFIGS["decoder-only"])
    for layer in range(2):
        values = lens.compute(recording, "decoder_self", layer)
        assert torch.equal(values, values.tril())
        assert (values.diagonal(dim1=-2, dim2=-1) > 0).all()


@pytest.mark.parametrize("lens", [ROLLOUT_LENS, FLOW_LENS])
def test_padding_changes_nothing_for_real_tokens(lens) -> None:
    long = padded(self_attention(random_layers(3, 2, 6)), 4)
    short = self_attention([long.weights(layer)[:, :4, :4] for layer in range(3)])
    values, expected = (
        lens.compute(recording_of(encoder_self=attention), "encoder_self", 2)
        for attention in (long, short)
    )
    torch.testing.assert_close(values[:, :4, :4], expected, **exact)


def test_cross_rollout_is_the_mean_of_heads_times_the_rollout_of_the_whole_encoder() -> None:
    layers = random_layers(3, 2, 5)
    read = random_layers(2, 4, 5)[1][:, :3]  # three queries
    queries = tuple(Token(i, "q") for i in range(3))
    encoder = self_attention(layers)
    cross = Attention("cross", queries, encoder.keys, (call_of(read),), queries)
    recording = recording_of(encoder_self=encoder, cross=cross)
    expected = read.mean(0) @ plain_rollout(layers)
    torch.testing.assert_close(ROLLOUT_LENS.compute(recording, "cross", 0)[0], expected, **exact)
    assert "not recorded" in ROLLOUT_LENS.why_not(recording_of(cross=cross), "cross")
    assert "only defined for self-attention" in FLOW_LENS.why_not(recording, "cross")


def test_flow_says_how_long_a_text_may_be() -> None:
    for n_tokens, refuses in ((MOST_TOKENS, False), (MOST_TOKENS + 1, True)):
        recording = recording_of(encoder_self=self_attention(random_layers(1, 1, n_tokens)))
        why = FLOW_LENS.why_not(recording, "encoder_self")
        assert (why is not None) == refuses
    assert f"up to {MOST_TOKENS} tokens; this text has {MOST_TOKENS + 1}" in why


def test_what_is_remembered_goes_with_the_attention() -> None:
    attention = self_attention(LAYERS)
    recording = recording_of(encoder_self=attention)
    for lens in (ROLLOUT_LENS, FLOW_LENS):
        lens.compute(recording, "encoder_self", 1)
    assert attention in _LATEST and attention in _FLOWS
    before = len(_LATEST), len(_FLOWS)
    del attention, recording
    gc.collect()
    assert len(_LATEST) < before[0] and len(_FLOWS) < before[1]
