"""A sink, which the softmax counts and no value is given for, is a key with a column of its own."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from tests.representatives import cases
from tests.transformer.watch.sinks import FEW, HEADS, NO_SINKS, SINKS, TOKENS, D, Sink
from transformer import Recording, record
from transformer.analysis.lenses.lenses import FLOW_LENS, ROLLOUT_LENS
from transformer.analysis.metrics.metrics import measure
from transformer.refusal import Refusal

WORDS = list("abcdefg")


def recorded(style: type[Sink], **options: object) -> tuple[list[Sink], Recording]:
    torch.manual_seed(5)
    model = nn.Sequential(style(), style()).eval()
    x = torch.randn(1, TOKENS, D)
    return [*model], record(model, x, WORDS, **options)


@pytest.mark.parametrize("style", cases(SINKS, FEW), ids=lambda style: style.__name__)
def test_a_sink_is_the_last_key_with_its_share(style: type[Sink]) -> None:
    layers, recording = recorded(style)
    (attention,) = recording.attentions.values()
    assert attention.kind == "decoder_self" and attention.is_same
    assert [key.piece for key in attention.keys] == [*WORDS, "sink"]
    for layer, module in enumerate(layers):
        torch.testing.assert_close(attention.weights(layer), module.whole())
        assert attention.allowed(layer).equal(module.whole() > 0)
    assert recording.checked.is_right and not recording.unseen


@pytest.mark.parametrize("style", NO_SINKS, ids=lambda style: style.__name__)
def test_what_no_softmax_counts_is_no_sink(style: type[Sink]) -> None:
    with pytest.raises(Refusal, match="sum to 1"):
        recorded(style)


def heads_given(module: Sink, x: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
    """What its heads give where these are its scores [1, H, Q, K + 1]."""
    v = module.qkv(x).unflatten(-1, (3, HEADS, -1)).permute(2, 0, 3, 1, 4)[2]
    return scores.softmax(-1)[..., :-1] @ v


@pytest.mark.parametrize("key", [2, TOKENS], ids=["word", "sink"])
@pytest.mark.parametrize("style", cases(SINKS, FEW), ids=lambda style: style.__name__)
def test_an_arrow_cut_leaves_the_rest_to_the_softmax_with_its_sink(
    style: type[Sink], key: int
) -> None:
    torch.manual_seed(5)
    module = style().eval()
    x = torch.randn(1, TOKENS, D)
    recording = record(nn.Sequential(module), x, WORDS, edits=[f"cut:decoder_self.0.1.5.{key}"])
    module(x)
    scores = torch.cat([module.scores, module.column(module.scores)], -1)
    scores[0, 1, 5, key] = -torch.inf
    expected = module.out(heads_given(module, x, scores).transpose(1, 2).flatten(-2))[0]
    torch.testing.assert_close(recording.logits, expected)
    torch.testing.assert_close(
        recording.attentions["decoder_self"].weights(0), scores.softmax(-1)[0]
    )
    assert recording.checked.is_right


@pytest.mark.parametrize("edit", ["head-off:decoder_self.0.1", "head-uniform:decoder_self.0.1"])
def test_other_edits_of_a_head_take_the_sink_for_a_key(edit: str) -> None:
    module = Sink().eval()
    x = torch.randn(1, TOKENS, D)
    recording = record(nn.Sequential(module), x, WORDS, edits=[edit])
    module(x)
    scores = torch.cat([module.scores, module.column(module.scores)], -1)
    scores[0, 1] = torch.where(scores[0, 1].isfinite(), 0.0, -torch.inf)
    heads = heads_given(module, x, scores)
    if edit.startswith("head-off"):
        heads[0, 1] = 0
    expected = module.out(heads.transpose(1, 2).flatten(-2))[0]
    torch.testing.assert_close(recording.logits, expected)


def test_numbers_of_heads_count_the_sink_and_what_has_a_place_leaves_it_out() -> None:
    (module, *_), recording = recorded(Sink)
    attention, whole = recording.attentions["decoder_self"], module.whole()
    numbers = measure(attention, 0)
    torch.testing.assert_close(numbers["sink"], whole[..., -1].mean(-1))
    bits = -(whole * whole.clamp_min(1e-30).log2()).sum(-1).mean(-1)
    torch.testing.assert_close(numbers["entropy"], bits)
    torch.testing.assert_close(numbers["confidence"], whole.amax(-1).mean(-1))
    words = whole[..., :-1]
    apart = (torch.arange(TOKENS)[:, None] - torch.arange(TOKENS)).abs()
    distance = (words * apart).sum((-1, -2)) / words.sum((-1, -2))
    torch.testing.assert_close(numbers["distance"], distance)
    torch.testing.assert_close(numbers["previous"], words.diagonal(-1, 1, 2).mean(-1))
    assert numbers["next"].eq(0).all()  # the sink is no word after the last


@pytest.mark.parametrize("options", [{"add_zero_attn": True}, {"add_bias_kv": True}])
def test_keys_that_multi_head_attention_adds_have_their_share(options: dict[str, bool]) -> None:
    class Layer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.attention = nn.MultiheadAttention(D, HEADS, batch_first=True, **options)
            self.wanted = torch.empty(0)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            given, weights = self.attention(x, x, x, average_attn_weights=False)
            self.wanted = weights[0, ..., TOKENS:].sum(-1).mean(-1)
            return given

    module = Layer().eval()
    recording = record(module, torch.randn(1, TOKENS, D), WORDS)
    (attention,) = recording.attentions.values()
    assert attention.is_same and attention.n_added == 1
    torch.testing.assert_close(measure(attention, 0)["sink"], module.wanted)


def test_rollout_and_flow_give_the_sink_a_column_of_what_stays_there() -> None:
    (first, second), recording = recorded(Sink)
    both = [
        F.pad(each.whole().mean(0), (0, 0, 0, 1)) + torch.eye(TOKENS + 1)
        for each in (first, second)
    ]
    lower, upper = (each / each.sum(-1, keepdim=True) for each in both)
    rolled = ROLLOUT_LENS.compute(recording, "decoder_self", 1)[0]
    torch.testing.assert_close(rolled, (upper @ lower)[:TOKENS])
    flow = FLOW_LENS.compute(recording, "decoder_self", 1)[0]
    torch.testing.assert_close(flow.sum(-1), torch.ones(TOKENS))
