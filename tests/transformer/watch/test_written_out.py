"""A softmax that is written out, over any axis, or torch's flex: the same weights as by softmax."""

from itertools import product

import pytest
import torch
from torch import nn

from tests.representatives import cases
from tests.transformer.watch.layers import HEADS, TOKENS, D
from tests.transformer.watch.written_out import (
    BY_HAND,
    FLEX,
    UNUSUAL_SUMS,
    Experts,
    FlexByDistance,
    FlexOfGroups,
    Overlooking,
    Pooling,
    Reader,
    Recurrent,
    Sparse,
    Steps,
    Written,
)
from transformer import InputError, record
from transformer.watch.kinds.stacks import AXIS, SUMS

STYLES = pytest.mark.parametrize("style", BY_HAND + FLEX, ids=lambda style: style.__name__)
x = torch.randn(1, TOKENS, D, generator=torch.Generator().manual_seed(1))
memory = torch.randn(1, TOKENS - 3, D, generator=torch.Generator().manual_seed(2))


@STYLES
@pytest.mark.parametrize("is_causal", [True, False])
def test_two_layers_are_what_a_softmax_gives(style: type[Written], is_causal: bool) -> None:
    torch.manual_seed(3)
    model = nn.Sequential(style(is_causal), style(is_causal)).eval()
    recording = record(model, x)
    (attention,) = recording.attentions.values()
    assert attention.kind == ("decoder_self" if is_causal else "encoder_self")
    assert attention.n_layers == 2 and attention.n_heads == HEADS
    for n, layer in enumerate(model):
        torch.testing.assert_close(attention.weights(n), layer.wanted, atol=1e-5, rtol=1e-4)
        closed = ~attention.allowed(n)
        assert not attention.weights(n)[closed.expand(HEADS, -1, -1)].any()
    assert recording.checked.is_right is not False and not recording.unseen
    assert recording.checked.n_projected == 2


@STYLES
def test_one_that_reads_another_sequence_is_cross_attention(style: type[Written]) -> None:
    torch.manual_seed(3)
    model = Reader(style).eval()
    recording = record(model, (x, memory))
    assert list(recording.attentions) == ["decoder_self", "cross"]
    for attention, layer in zip(
        recording.attentions.values(), (model.first, model.second), strict=True
    ):
        torch.testing.assert_close(attention.weights(0), layer.wanted, atol=1e-5, rtol=1e-4)
    assert recording.checked.is_right is not False


def test_additive_attention_is_cross_attention_of_one_head() -> None:
    model = Recurrent().eval()
    tokens = {"target": list("abcdefgh"), "source": list("vwxyz")}
    (attention,) = record(model, (x, memory), tokens).attentions.values()
    assert (attention.role, attention.n_heads) == ("cross", 1)
    assert [each.piece for each in attention.keys] == list("vwxyz")
    torch.testing.assert_close(attention.weights(0), model.attention.wanted)


@pytest.mark.parametrize("n", [TOKENS, 5])
def test_queries_one_after_the_other_are_rows_of_one_attention(n: int) -> None:
    model, target = Steps().eval(), x[:, :n]
    tokens = {"target": list("abcdefgh")[:n], "source": list("vwxyz")}
    (attention,) = record(model, (target, memory), tokens).attentions.values()
    assert (attention.role, attention.n_layers, attention.n_heads) == ("cross", 1, 1)
    assert [each.piece for each in attention.queries] == tokens["target"]
    torch.testing.assert_close(attention.weights(0), model.wanted)


def test_additive_attention_is_cross_attention_where_both_texts_are_as_long() -> None:
    (attention,) = record(Recurrent().eval(), (x, x.flip(1))).attentions.values()
    assert attention.role == "cross"


def test_a_learned_score_that_pools_is_one_query() -> None:
    model = Pooling().eval()
    (attention,) = record(model, x).attentions.values()
    assert len(attention.queries) == 1 and len(attention.keys) == TOKENS
    torch.testing.assert_close(attention.weights(0), model.wanted)


def test_a_mixture_of_experts_is_none() -> None:
    with pytest.raises(InputError):
        record(Experts().eval(), x)
    model = nn.Sequential(BY_HAND[0](), Experts()).eval()
    assert list(record(model, x).attentions) == ["encoder_self"]


def test_a_softmax_over_the_queries_is_named() -> None:
    with pytest.raises(InputError, match=AXIS):
        record(Overlooking().eval(), x)


@pytest.mark.parametrize("style", UNUSUAL_SUMS, ids=lambda style: style.__name__)
def test_weights_that_are_no_shares_are_named(style: type[Written]) -> None:
    with pytest.raises(InputError, match=SUMS):
        record(style().eval(), x)


class Softmaxed(Written):
    """The same by torch's softmax."""

    def weights(self, scores: torch.Tensor) -> torch.Tensor:
        return scores.softmax(-1)


EDITS = ["cut:{}.1.2.5.1", "arrow-scale:{}.0.1.6.2=3", "head-off:{}.1.0", "head-uniform:{}.0.2"]
EDITS += ["row-force:{}.1.1.4=1,2,0,3,1", "emphasise:{}.0.1=0.1,2"]
NOT_ALIKE = Sparse, FlexByDistance, FlexOfGroups
EXACT = [style for style in (*BY_HAND, *FLEX) if style not in NOT_ALIKE]


STYLE_OF = {style.__name__: style for style in EXACT}
EDITED = {
    **{f"weights of {style}": (style, EDITS[3]) for style in STYLE_OF},
    **{f"{edit} where scores are given": ("ExpOverSum", edit) for edit in EDITS},
    **{f"{edit} where torch has a kernel": ("Flex", edit) for edit in EDITS},
}
"""Each way of writing it with one edit, and each edit with two of them."""


@pytest.mark.parametrize(("style", "edit"), cases(product(STYLE_OF, EDITS), EDITED))
def test_edits_do_what_they_do_to_a_softmax(style: str, edit: str) -> None:
    given = []
    for each in (STYLE_OF[style], Softmaxed):
        torch.manual_seed(3)
        model = nn.Sequential(each(True), each(True)).eval()
        recording = record(model, x, edits=[edit.format("decoder_self")])
        assert recording.checked.is_right is not False
        given.append((recording.logits, recording.attentions["decoder_self"].weights(1)))
    torch.testing.assert_close(given[0], given[1], atol=1e-5, rtol=1e-4)
    plain = record(nn.Sequential(*model), x)
    assert not torch.allclose(plain.logits, given[1][0])


class StepsOfHeads(Steps):
    """Two heads, by torch's own attention, and a W_O."""

    def __init__(self) -> None:
        super().__init__()
        self.heads = nn.MultiheadAttention(D, 2, batch_first=True)

    def forward(self, target: torch.Tensor, source: torch.Tensor) -> torch.Tensor:
        kept, (states, last) = [], self.encoder(source)
        for word in target.split(1, 1):
            read, weights = self.heads(
                last.transpose(0, 1), states, states, average_attn_weights=False
            )
            kept.append(weights)
            state, last = self.decoder(torch.cat([word, read], -1), last)
        self.wanted = torch.cat(kept, 2)
        return state


def test_steps_may_have_several_heads() -> None:
    model = StepsOfHeads().eval()
    recording = record(model, (x, memory))
    (attention,) = recording.attentions.values()
    assert (attention.n_layers, attention.n_heads) == (1, 2)
    torch.testing.assert_close(attention.weights(0), model.wanted[0])
    assert recording.checked.error is not None and recording.checked.error < 1e-5


class Hops(nn.Module):
    """A memory network: as many hops as the question has words, and the same matrices in all."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = BY_HAND[0]()

    def forward(self, question: torch.Tensor, source: torch.Tensor) -> torch.Tensor:
        state = question.mean(1, keepdim=True)
        for _ in range(question.size(1)):
            state = state + self.layer(state, source)
        return state


def test_hops_are_layers() -> None:
    (attention,) = record(Hops().eval(), (x[:, :3], memory)).attentions.values()
    assert (attention.n_layers, len(attention.queries)) == (3, 1)


def test_zeros_without_a_mask_make_no_decoder() -> None:
    for seed in range(30):
        torch.manual_seed(seed)
        text = torch.randn(1, 3, D)
        assert [*record(Sparse().eval(), text).attentions] == ["encoder_self"], seed


def test_a_softmax_that_is_the_identity_is_no_decoder_s() -> None:
    class Sharp(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return (1000 * x @ x.mT).softmax(-1) @ x

    assert [*record(Sharp(), x).attentions] == ["encoder_self"]


@pytest.mark.parametrize("style", BY_HAND, ids=lambda style: style.__name__)
def test_one_token_is_recorded(style: type[Written]) -> None:
    (attention,) = record(style().eval(), x[:, :1]).attentions.values()
    assert attention.weights(0).flatten().tolist() == pytest.approx([1.0] * HEADS)


class Clusters(nn.Module):
    """NetVLAD: each token is shared out to as many clusters as there are tokens."""

    def __init__(self) -> None:
        super().__init__()
        self.assign = nn.Linear(D, TOKENS)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.assign(x).softmax(-1).mT @ x


def test_clusters_that_tokens_are_shared_out_to_are_no_queries() -> None:
    with pytest.raises(InputError):
        record(Clusters().eval(), x)
