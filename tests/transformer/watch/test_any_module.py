"""record() on modules that nobody registered: their weights, outputs and refusals."""

from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tests.representatives import cases
from tests.transformer.watch.invented import (
    HEADS,
    STYLES,
    TOKENS,
    Classifier,
    D,
    Fused,
    HeadsInBatch,
    Stack,
)
from transformer import InputError, Recording, record
from transformer.analysis.reading import Reading, lenses, read
from transformer.token import Token

close = {"rtol": 0.0, "atol": 1e-6}
styles = pytest.mark.parametrize("style", STYLES, ids=lambda style: style.__name__)
APART = {"operators by hand": HeadsInBatch, "a fused call": Fused}
"""What a thread is watched at: two kinds of calls."""


def sequence(seed: int = 0, length: int = TOKENS) -> Tensor:
    return torch.randn(1, length, D, generator=torch.Generator().manual_seed(seed))


def stack_of(style) -> nn.Module:
    torch.manual_seed(3)
    return Stack(style).eval()


@styles
def test_weights_are_those_that_the_module_computed(style) -> None:
    model = stack_of(style)
    recording = record(model, sequence(), list("abcdefg"))
    (attention,) = recording.attentions.values()
    assert attention.n_layers == 2
    for layer, thing in enumerate(model.things):
        weights = attention.weights(layer)
        torch.testing.assert_close(weights, thing.wanted, **close)
        n_heads = {"Bare": 1, "Groups": 4}.get(style.__name__, HEADS)
        assert weights.size(0) == attention.n_heads == n_heads
        torch.testing.assert_close(attention.weights(layer, 0), weights[0], **close)
        assert torch.equal(weights == 0, ~attention.allowed(layer))
    assert [token.piece for token in attention.queries] == list("abcdefg")
    assert attention.queries == attention.keys == recording.source


@styles
def test_a_module_alone_is_seen_as_well(style) -> None:
    torch.manual_seed(3)
    module = style().eval()
    (attention,) = record(module, {"x": sequence()}).attentions.values()
    torch.testing.assert_close(attention.weights(0), module.wanted, **close)
    assert [token.piece for token in attention.keys] == [str(i) for i in range(TOKENS)]


@styles
def test_the_recorded_pass_changes_nothing(style) -> None:
    model, outputs = stack_of(style), []
    model.register_forward_hook(lambda module, inputs, output: outputs.append(output))
    hooks = sum(len(each._forward_hooks) + len(each._forward_pre_hooks) for each in model.modules())
    plain = model(sequence()).detach()
    recording = record(model, sequence())
    assert torch.equal(outputs[1], plain)
    assert torch.equal(recording.logits, plain[0])
    assert hooks == sum(
        len(each._forward_hooks) + len(each._forward_pre_hooks) for each in model.modules()
    )
    assert all("forward" not in vars(each) for each in model.modules())


@pytest.mark.parametrize("style", cases(STYLES, APART), ids=lambda style: style.__name__)
def test_threads_on_one_model_do_not_mix(style) -> None:
    model = stack_of(style)

    lengths = (7, 7) if style.__name__ == "Letters" else (5, 6, 7)  # its mask has one length

    def weights(seed: int) -> Tensor:
        length = lengths[seed % len(lengths)]
        (attention,) = record(model, sequence(seed, length)).attentions.values()
        return torch.stack([attention.weights(layer) for layer in range(attention.n_layers)])

    alone = [weights(seed) for seed in range(8)]
    with ThreadPoolExecutor(4) as threads:
        together = list(threads.map(weights, list(range(8)) * 5))

    def is_same(one: Tensor, other: Tensor) -> bool:
        """But for the last bit: on some machines a new thread splits products otherwise."""
        return one.shape == other.shape and torch.allclose(one, other, atol=1e-6)

    found = [{j for j, each in enumerate(alone) if is_same(each, one)} for one in together]
    assert found == [{i % 8} for i in range(len(together))]


@styles
def test_every_lens_gives_a_map_or_says_why_not(style) -> None:
    recording = record(stack_of(style), sequence())
    (kind,) = recording.attentions
    shown = set()
    for name, lens in lenses().items():
        if lens.why_not(recording, kind):
            assert str(lens.why_not(recording, kind)).endswith(".")
            continue
        shown.add(name)
        values = read(recording, kind, Reading(lens=name, words=True)).values(1)
        assert values.shape[1:] == (TOKENS, TOKENS) and bool(values.isfinite().all())
    projected = {"value_norm", "sum_norm"} if style.__name__ != "Bare" else set()
    scored = {"score"} if style.__name__ in ("Fused", "TorchLayer") else set()
    shipped = {"weight", "rollout", "flow", "value_norm", "sum_norm", "score"}
    assert shown & shipped == {"weight", "rollout", "flow"} | projected | scored


@styles
def test_what_heads_add_is_what_the_layer_gives(style) -> None:
    """The projection that was found is the right one, the right way round."""
    torch.manual_seed(3)
    module = style().eval()
    for parameter in module.parameters():
        if parameter.dim() == 1:  # the bias of W_O belongs to no head
            parameter.data.zero_()
    (attention,) = record(module, sequence()).attentions.values()
    call = attention.calls[0].heads(slice(None))
    if style.__name__ == "Bare":
        assert call.output is None and not call.has_output
        return
    added = (call.weights() @ call.v @ call.output).sum(0)
    residual = sequence()[0] if style.__name__ == "HeadsAsAxis" else 0.0
    with torch.no_grad():
        torch.testing.assert_close(added + residual, module(sequence())[0], rtol=0, atol=1e-5)


def test_softmaxes_that_are_not_attention_are_left_alone() -> None:
    with pytest.raises(InputError, match="No attention was seen in Classifier: "):
        record(Classifier(), sequence())


def test_a_model_without_attention_says_so() -> None:
    with pytest.raises(InputError, match="No attention was seen in Linear: "):
        record(nn.Linear(D, D), sequence())


@styles
def test_more_than_one_sequence_is_refused(style) -> None:
    folded = style.__name__ in ("Bare", "HeadsInBatch")  # then only the inputs tell
    match = "inputs seem to hold 2 sequences" if folded else "reads 2 sequences at once"
    with pytest.raises(InputError, match=match):
        record(stack_of(style), sequence().expand(2, -1, -1))


def test_text_is_not_what_a_module_reads() -> None:
    with pytest.raises(InputError, match="reads tensors, not text: give its inputs as a tensor"):
        record(stack_of(Fused), "It rains.")


def test_tokens_of_another_number_are_refused() -> None:
    with pytest.raises(InputError, match="There are 3 tokens for the source, but the model read 7"):
        record(stack_of(Fused), sequence(), list("abc"))
    with pytest.raises(InputError, match="tokens for 'target', but what this model reads is 'sour"):
        record(stack_of(Fused), sequence(), {"target": list("abc")})


def test_tokens_may_be_given_as_tokens_and_equal_pieces_are_equal() -> None:
    given = [Token(8, "x"), "a", "<s>", "a", "[CLS]", "<0x0A>", "7"]
    (attention,) = record(stack_of(Fused), sequence(), given).attentions.values()
    assert [token.id for token in attention.keys] == [8, 1, 2, 1, 4, 5, 6]
    assert [token.special for token in attention.keys] == [0, 0, 1, 0, 1, 0, 0]


def torch_transformer() -> nn.Transformer:
    torch.manual_seed(3)
    return nn.Transformer(D, 2, 2, 2, 20, batch_first=True).eval()


def recorded_transformer(model: nn.Transformer) -> tuple[Recording, Tensor, dict[str, Tensor]]:
    source, target = sequence(), sequence(1, 5)
    inputs = {
        "src": source,
        "tgt": target,
        "tgt_mask": nn.Transformer.generate_square_subsequent_mask(5),
        "src_key_padding_mask": torch.tensor([[False] * 5 + [True] * 2]),
        "memory_key_padding_mask": torch.tensor([[False] * 5 + [True] * 2]),
    }
    return (
        record(model, inputs, {"source": list("abcdefg"), "target": list("tuvwx")}),
        source,
        inputs,
    )


def test_torch_own_transformer_with_its_masks() -> None:
    model = torch_transformer()
    recording, source, _ = recorded_transformer(model)
    assert list(recording.attentions) == ["encoder_self", "decoder_self", "cross"]
    encoder, decoder, cross = recording.attentions.values()
    assert [each.n_layers for each in (encoder, decoder, cross)] == [2, 2, 2]
    assert "".join(token.piece for token in cross.queries + cross.keys) == "tuvwxabcdefg"
    own = model.encoder.layers[0].self_attn
    padding = torch.tensor([[False] * 5 + [True] * 2])
    with torch.no_grad():
        _, wanted = own(source, source, source, padding, average_attn_weights=False)
    torch.testing.assert_close(encoder.weights(0), wanted[0], **close)
    assert torch.equal(decoder.allowed(1)[0], torch.ones(5, 5, dtype=torch.bool).tril())
    assert not bool(cross.allowed(1)[..., 5:].any())
    assert float(cross.weights(1)[..., :5].sum(-1).min()) == pytest.approx(1)


def test_torch_fast_paths_are_off_in_the_pass_and_on_again_after_it() -> None:
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(12, 2, 20, batch_first=True), 2)
    with torch.no_grad():
        encoder.eval()(sequence())
        before = torch.backends.mha.get_fastpath_enabled()
        recording = record(encoder, sequence())
    assert recording.attentions["encoder_self"].n_layers == 2
    assert torch.backends.mha.get_fastpath_enabled() == before


@pytest.mark.parametrize("extra", [{"add_bias_kv": True}, {"add_zero_attn": True}, {"kdim": 9}])
def test_every_form_of_multihead_attention(extra: dict[str, object]) -> None:
    torch.manual_seed(3)
    layer = nn.MultiheadAttention(D, HEADS, vdim=9 if "kdim" in extra else None, **extra).eval()
    x = sequence().transpose(0, 1)  # [T, 1, D]
    memory = torch.randn(6, 1, 9) if "kdim" in extra else x
    with torch.no_grad():
        _, wanted = layer(x, memory, memory, average_attn_weights=False)
    (attention,) = record(layer, (x, memory, memory)).attentions.values()
    torch.testing.assert_close(attention.weights(0), wanted[0], **close)
    assert attention.kind == ("cross" if "kdim" in extra else attention.kind)


class CrossByName(nn.Module):
    """A decoder block of one's own: same lengths on both sides, fused calls, odd names."""

    def __init__(self) -> None:
        super().__init__()
        self.one, self.two = Reader(), Reader()

    def forward(self, x: Tensor, memory: Tensor) -> Tensor:
        return self.two(self.one(x, x), memory)


class Reader(nn.Module):
    """Keys come from its second argument."""

    def __init__(self) -> None:
        super().__init__()
        self.q, self.kv = nn.Linear(D, D), nn.Linear(D, 2 * D)

    def forward(self, x: Tensor, context: Tensor) -> Tensor:
        q, k, v = (
            y.unflatten(-1, (HEADS, -1)).transpose(1, 2)
            for y in (self.q(x), *self.kv(context).chunk(2, -1))
        )
        return F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(-2)


def test_kinds_are_told_apart_by_what_a_module_is_given() -> None:
    recording = record(CrossByName(), (sequence(0), sequence(1)))
    assert {kind: each.n_layers for kind, each in recording.attentions.items()} == {
        "encoder_self": 1,
        "cross": 1,
    }


class Shrinking(nn.Module):
    """Half of the tokens are left after each layer."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(Fused() for _ in range(3))

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x)[:, ::2]
        return x


def test_layers_of_other_sizes_are_kinds_of_their_own() -> None:
    recording = record(Shrinking(), sequence(0, 8), list("abcdefgh"))
    assert list(recording.attentions) == [
        "encoder_self",
        "Fused 4×4",
        "Fused 2×2",
    ]
    assert [len(each.keys) for each in recording.attentions.values()] == [8, 4, 2]
