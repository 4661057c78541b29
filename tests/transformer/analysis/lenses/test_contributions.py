"""Scores and norms, against plain loops in float64; and heads that add up to the output."""

import copy
import math
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from tests.conftest import random_checkpoint
from tests.transformer.analysis.lenses.given import CONFIGS, SOURCE, TARGET, recording_of
from transformer import Recording, record
from transformer.analysis.lenses.lenses import SCORE_LENS, SUM_NORM_LENS, VALUE_NORM_LENS
from transformer.recording import Attention, AttentionCall
from transformer.token import Token

close = {"rtol": 0.0, "atol": 1e-5}


class Watched:
    """A recording, and what each MultiHeadAttention of the same pass gave: kind -> [Q, D]."""

    def __init__(self, name: str) -> None:
        self.checkpoint = random_checkpoint(CONFIGS[name])
        self.modules: dict[str, list] = {}
        self.outputs: dict[int, Tensor] = {}
        for kind, pattern in self.checkpoint.family.attentions.items():
            stack, _, layers = pattern.partition(".layers.*.")
            for layer in self.checkpoint.model.get_submodule(stack).layers:
                module = layer.get_submodule(layers.partition(".")[0])
                module.register_forward_hook(self._keep)
                self.modules.setdefault(kind, []).append(module)
        target = TARGET if self.checkpoint.family.decodes else None
        self.recording: Recording = record(self.checkpoint, SOURCE, target)

    def _keep(self, module, inputs, output) -> None:
        self.outputs[id(module)] = output[0]

    def calls(self):
        for kind, modules in self.modules.items():
            for layer, module in enumerate(modules):
                call = self.recording.attentions[kind].calls[layer]
                yield kind, layer, module, call, self.outputs[id(module)]


@pytest.fixture(scope="module", params=CONFIGS)
def watched(request: pytest.FixtureRequest) -> Watched:
    return Watched(request.param)


def output_of(call: AttentionCall) -> Tensor:
    """[H, d_value, D]: rows of the identity where nothing projects the joined heads."""
    n_heads, _, d_value = call.v.shape
    identity = torch.eye(n_heads * d_value).unflatten(0, (n_heads, d_value))
    return identity if call.output is None else call.output


def added(call: AttentionCall) -> list:
    """A_ij v_j W_O as float64 lists: [head][query][key][D]."""
    values = call.v.double() @ output_of(call).double()  # [H, K, D]
    return (call.weights().double()[..., None] * values[:, None]).tolist()


def length(vector) -> float:
    return math.sqrt(sum(x * x for x in vector))


def test_heads_add_up_to_what_the_module_gave(watched: Watched) -> None:
    for _, _, module, call, output in watched.calls():
        heads = (call.weights() @ call.v) @ output_of(call)  # [H, Q, D]
        bias = getattr(module.output, "bias", None)
        whole = heads.sum(0) + (0 if bias is None else bias)
        torch.testing.assert_close(whole, output, **close)


def test_the_part_of_each_head_is_a_view_of_the_layers_weight(watched: Watched) -> None:
    for _, _, module, call, _ in watched.calls():
        if call.output is None:
            assert not watched.checkpoint.config.projections
        else:
            assert call.output.data_ptr() == module.output.weight.data_ptr()
            assert call.output.shape == (*call.v.shape[::2], module.output.out_features)
            assert not call.output.requires_grad


def test_a_deep_copy_of_a_recorded_model_has_weights_of_its_own() -> None:
    checkpoint = random_checkpoint(CONFIGS["decoder-only"])
    record(checkpoint, SOURCE)
    copied = replace(checkpoint, model=copy.deepcopy(checkpoint.model))
    weights = {parameter.data_ptr() for parameter in copied.model.parameters()}
    for call in record(copied, SOURCE).attentions["decoder_self"].calls:
        assert call.output is not None and call.output.data_ptr() in weights


def test_scores_are_products_times_the_scale(watched: Watched) -> None:
    config = watched.checkpoint.config
    scale = 1.0 if config.attention_scale == "none" else config.d_head**-0.5
    for kind, layer, _, call, _ in watched.calls():
        scores = SCORE_LENS.compute(watched.recording, kind, layer)
        q, k, allowed = call.q.double().tolist(), call.k.double().tolist(), call.allowed()
        for (h, i, j), value in zip(
            torch.ones_like(allowed).nonzero().tolist(), scores.flatten().tolist(), strict=True
        ):
            product = sum(a * b for a, b in zip(q[h][i], k[h][j], strict=True)) * scale
            assert value == pytest.approx(product if allowed[h, i, j] else 0.0, abs=1e-5)
        softmax = scores.masked_fill(~allowed, -torch.inf).softmax(-1)
        torch.testing.assert_close(softmax, call.weights(), **close)


def test_value_norms_equal_a_double_loop(watched: Watched) -> None:
    for kind, layer, _, call, _ in watched.calls():
        expected = [[[length(v) for v in row] for row in rows] for rows in added(call)]
        norms = VALUE_NORM_LENS.compute(watched.recording, kind, layer)
        torch.testing.assert_close(norms, torch.tensor(expected), **close)


def test_the_norm_of_the_sum_equals_a_double_loop(watched: Watched) -> None:
    for kind, layer, _, call, _ in watched.calls():
        heads = added(call)
        expected = [
            [length(map(sum, zip(*(head[i][j] for head in heads), strict=True))) for j in keys]
            for i, keys in enumerate([range(call.k.size(1))] * call.q.size(1))
        ]
        norms = SUM_NORM_LENS.compute(watched.recording, kind, layer)
        torch.testing.assert_close(norms[0], torch.tensor(expected), **close)


def test_heads_that_cancel_leave_nothing() -> None:
    """Two heads that add opposite vectors: the sum of norms is large, the norm of the sum 0."""
    n_tokens = 70  # more keys than are taken at once
    q = torch.zeros(2, n_tokens, 4)
    v = torch.randn(1, n_tokens, 4, generator=torch.Generator().manual_seed(2)).expand(2, -1, -1)
    opposite = torch.cat([torch.eye(4), -torch.eye(4)], dim=1) * 100  # [D, H * d_value]
    tokens = tuple(Token(i, "p") for i in range(n_tokens))
    call = AttentionCall(q, q, v, None, 1.0, False, opposite)
    recording = recording_of(any=Attention("any", tokens, tokens, (call,)))
    assert float(VALUE_NORM_LENS.compute(recording, "any", 0).amin()) > 0.1
    assert float(SUM_NORM_LENS.compute(recording, "any", 0).amax()) < 1e-6
