"""The same edits in modules of anybody's: hand-written, torch's own, of Hugging Face's library."""

from itertools import product
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tests.representatives import cases
from tests.transformer.watch import layers
from tests.transformer.watch.hugging_face import build, inputs_of
from tests.transformer.watch.invented import STYLES, TOKENS, D, Stack
from tests.transformer.watch.test_any_module import sequence, torch_transformer
from transformer import Checkpoint, EditError, Recording, decode, load_checkpoint, record
from transformer.recording import AttentionCall

close = {"rtol": 0.0, "atol": 1e-6}
MADE = [*STYLES, *(style for style in layers.WHOLE if style is not layers.TwoValues)]
IDS = "7 9 11 13"


def module_of(style: Any) -> tuple[nn.Module, Tensor]:
    torch.manual_seed(3)
    if style in STYLES:
        return Stack(style).eval(), sequence()
    return layers.Layers([style(), style()]).eval(), sequence(length=layers.TOKENS)


def has_edits(recording: Recording, plain: Recording, kind: str, last: int, n: int) -> None:
    """What `edited` asked for: arrow 0 of the last query cut, in that head; nothing else before."""
    now, before = recording.attentions[kind], plain.attentions[kind]
    row, old = now.weights(1, last)[n - 1], before.weights(1, last)[n - 1].clone()
    old[0] = 0
    assert float(row[0]) == 0
    torch.testing.assert_close(row, old / old.sum(), **close)
    assert torch.equal(now.weights(0), before.weights(0))
    assert torch.equal(now.weights(1, last)[: n - 1], before.weights(1, last)[: n - 1])


@pytest.mark.parametrize("style", MADE, ids=lambda style: style.__name__)
def test_heads_and_arrows_of_modules_that_nobody_registered(style: Any) -> None:
    model, given = module_of(style)
    hooks = sum(len(each._forward_hooks) for each in model.modules())
    plain = record(model, given)
    (kind,) = plain.attentions
    attention = plain.attentions[kind]
    head, n = attention.n_heads - 1, len(attention.queries)
    cut = record(model, given, edits=[f"cut:{kind}.1.{head}.{n - 1}.0"])
    has_edits(cut, plain, kind, head, n)
    assert cut.checked.is_right
    off = record(model, given, edits=[f"head-off:{kind}.1.{head}"])
    assert off.checked.is_right and not torch.equal(off.logits, plain.logits)
    uniform = record(model, given, edits=[f"head-uniform:{kind}.0.{head}"]).attentions[kind]
    allowed = attention.allowed(0, head).float()
    torch.testing.assert_close(
        uniform.weights(0, head), allowed / allowed.sum(-1, keepdim=True), **close
    )
    ones = [f"head-scale:{kind}.1.{head}=1", f"arrow-scale:{kind}.1.{head}.{n - 1}.0=1"]
    assert torch.equal(record(model, given, edits=ones).logits, plain.logits)
    assert torch.equal(record(model, given).logits, plain.logits)  # nothing is left behind
    assert sum(len(each._forward_hooks) for each in model.modules()) == hooks


WITH_MATRIX = [style for style in MADE if hasattr(style(), "out")]


@pytest.mark.parametrize("style", WITH_MATRIX, ids=lambda style: style.__name__)
def test_a_head_off_is_its_columns_of_the_output_matrix_set_to_zero(style: Any) -> None:
    model, given = module_of(style)
    (kind,) = record(model, given).attentions
    edited = record(model, given, edits=[f"head-off:{kind}.0.1"]).logits
    by_hand, _ = module_of(style)
    layer: Any = next(each for each in by_hand.modules() if isinstance(each, style))
    with torch.no_grad():
        if hasattr(layer, "outs"):  # each head has a matrix of its own
            layer.outs[1].weight[:] = 0
        else:
            n_heads = record(model, given).attentions[kind].n_heads
            d = layer.out.weight.size(1) // n_heads
            layer.out.weight[:, d : 2 * d] = 0
    torch.testing.assert_close(record(by_hand, given).logits, edited, **close)


def test_torch_own_transformer() -> None:
    model = torch_transformer()
    given = {"src": torch.randn(1, 6, D), "tgt": torch.randn(1, 4, D)}
    plain = record(model, given)
    for kind in plain.attentions:
        edited = record(model, given, edits=[f"head-off:{kind}.0.1"])
        assert edited.checked.is_right and not torch.equal(edited.logits, plain.logits)


def test_what_a_model_hides_is_refused_in_a_sentence() -> None:
    model, given = module_of(layers.TwoValues)
    with pytest.raises(EditError, match="does not show the heads of encoder_self before it uses"):
        record(model, given, edits=["head-off:encoder_self.1.0"])
    model, given = module_of(STYLES[0])
    (kind,) = record(model, given).attentions
    with pytest.raises(EditError, match=r"no head 3 here; .* has 3, counted from 0"):
        record(model, given, edits=[f"head-off:{kind}.0.3"])
    with pytest.raises(EditError, match=f"there is no key {TOKENS} here"):
        record(model, given, edits=[f"cut:{kind}.0.0.6.{TOKENS}"])
    gpt2 = build("GPT-2")
    with pytest.raises(EditError, match="does not show the biases"):
        record(gpt2, inputs_of(gpt2), edits=["bias-off:decoder_self"])
    with pytest.raises(EditError, match="a module by itself is given tensors"):
        record(gpt2, inputs_of(gpt2), edits=["words-swap:text=0,1"])
    with pytest.raises(EditError, match="turns nothing by the angles"):
        record(gpt2, inputs_of(gpt2), edits=["rotary-base:text=7"])


FAMILIES = ("Marian", "T5", "GPT-2", "Llama", "BLOOM", "BERT")


EDITED = {
    "a fused call": ("Marian", None),
    "a bias": ("T5", None),
    "grouped keys": ("Llama", None),
    "slopes": ("BLOOM", None),
    "weights by hand": ("BERT", "eager"),
    "grouped keys by hand": ("Llama", "eager"),
}
"""What an edit acts on -> family, and how its attention is computed."""


@pytest.mark.parametrize(("family", "attention"), cases(product(FAMILIES, (None, "eager")), EDITED))
def test_models_of_the_library(family: str, attention: str | None) -> None:
    """Grouped keys in Llama, a bias in T5 and BLOOM, weights by hand in "eager" ones."""
    model = build(family, attention)
    inputs = inputs_of(model)
    plain = record(model, inputs)
    for kind, before in plain.attentions.items():
        head, n = before.n_heads - 1, len(before.queries)
        cut = record(model, inputs, edits=[f"cut:{kind}.1.{head}.{n - 1}.0"])
        has_edits(cut, plain, kind, head, n)
        off = record(model, inputs, edits=[f"head-off:{kind}.0.{head}"])
        assert cut.checked.is_right and off.checked.is_right
        assert not torch.equal(off.logits, plain.logits)
        one = record(model, inputs, edits=[f"head-scale:{kind}.0.{head}=1"])
        assert torch.equal(one.logits, plain.logits)


def far(model: nn.Module, edit: str, kind: str = "") -> float:
    """How far the weights of the first kind are from what they are without an edit."""
    plain, edited = (record(model, inputs_of(model), edits=each) for each in ([], [edit]))
    kind = kind or next(iter(plain.attentions))
    pairs = zip(plain.attentions[kind].calls, edited.attentions[kind].calls, strict=True)
    return max(float((a.weights() - b.weights()).abs().max()) for a, b in pairs)


@pytest.mark.parametrize("family", ["Llama", "GPT-NeoX", "ModernBERT", "Gemma-2"])
def test_rotary_positions_know_distances_only(family: str) -> None:
    model = build(family)
    assert far(model, "positions-shift:text=3") < 1e-5
    assert far(model, "positions-scale:text=1") == 0
    for edit in ("positions-swap:text=1,3", "positions-zero:text", "positions-scale:text=0.5"):
        assert far(model, edit) > 1e-3
    assert far(build("Llama"), "rotary-base:text=100") > 1e-3


def test_rotary_base_is_that_of_a_model_with_that_base() -> None:
    model: Any = build("Llama")
    inputs = inputs_of(model)
    base = 500.0
    edited = record(model, inputs, edits=[f"rotary-base:text={base}"]).logits
    rotary = model.model.rotary_emb
    n = rotary.inv_freq.numel()
    rotary.inv_freq.copy_(base ** (-torch.arange(n) / n))
    torch.testing.assert_close(record(model, inputs).logits, edited, **close)


@pytest.mark.parametrize(
    ("family", "side"), [("GPT-2", "text"), ("BERT", "text"), ("Marian", "source"), ("OPT", "text")]
)
def test_tables_of_positions_know_where_words_stand(family: str, side: str) -> None:
    model = build(family)
    assert far(model, f"positions-scale:{side}=1") == 0
    for edit in (f"positions-shift:{side}=1", f"positions-zero:{side}"):
        assert far(model, edit) > 1e-3


def test_words_of_bert_without_positions_may_stand_in_any_order() -> None:
    model, order = build("BERT"), [2, 0, 3, 1]
    inputs = inputs_of(model)
    moved = {**inputs, "input_ids": inputs["input_ids"].clone()}
    moved["input_ids"][0, :4] = inputs["input_ids"][0, order]
    for edits, is_same in ((["positions-zero:text"], True), ([], False)):
        one, other = (record(model, each, edits=edits).logits for each in (inputs, moved))
        assert (float((one[order] - other[:4]).abs().max()) < 1e-5) is is_same


@pytest.mark.parametrize("family", ["T5", "BLOOM", "MPT"])
def test_a_bias_of_distance_is_left_out(family: str) -> None:
    model = build(family)
    kind = next(iter(record(model, inputs_of(model)).attentions))
    assert far(model, f"bias-off:{kind}") > 1e-3


def test_alibi_off_is_attention_without_its_slopes() -> None:
    model = build("MPT")
    plain = record(model, inputs_of(model)).attentions["decoder_self"]
    edited = record(model, inputs_of(model), edits=["bias-off:decoder_self"])
    call: AttentionCall = plain.calls[0]
    assert call.bias is not None or not call.knows_scores
    if call.knows_scores:
        scores = call.scores() - call.bias
        wanted = scores.masked_fill(~call.allowed(), -torch.inf).softmax(-1)
        torch.testing.assert_close(
            edited.attentions["decoder_self"].weights(0), wanted, rtol=0.0, atol=1e-5
        )


def test_alibi_knows_distances_only() -> None:
    """Words that stand three positions later, behind padding, attend as they did."""
    model = build("MPT")
    inputs = inputs_of(model)
    later = {
        "input_ids": torch.nn.functional.pad(inputs["input_ids"], (3, 0)),
        "attention_mask": torch.nn.functional.pad(torch.ones_like(inputs["input_ids"]), (3, 0)),
    }
    plain, shifted = (record(model, each).attentions["decoder_self"] for each in (inputs, later))
    assert plain.calls[0].bias is not None and shifted.calls[0].bias is not None
    for layer in range(plain.n_layers):
        apart = shifted.weights(layer)[:, 3:, 3:] - plain.weights(layer)
        assert float(apart.abs().max()) < 1e-5


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Checkpoint]:
    found = {}
    for family in ("Marian", "GPT-2", "BLOOM"):
        folder: Path = tmp_path_factory.mktemp("hub") / family
        model: Any = build(family)
        model.save_pretrained(folder)
        found[family] = load_checkpoint(folder, "cpu")
    return found


@pytest.mark.parametrize("method", ["greedy", "beam"])
@pytest.mark.parametrize(
    ("family", "edits"),
    [
        ("Marian", ("head-off:cross.1.0", "cut:encoder_self.0.1.2.3", "positions-shift:target=1")),
        ("GPT-2", ("cut:decoder_self.0.1.5.2", "positions-zero:text")),
        ("BLOOM", ("cut:decoder_self.1.0.4.1", "bias-off:decoder_self")),
        ("BLOOM", ("words-swap:text=0,3",)),
        ("Marian", ("words-swap:source=1,2",)),
    ],
)
def test_steps_of_an_opened_model_are_those_of_the_forced_pass(
    opened: dict[str, Checkpoint], family: str, edits: tuple[str, ...], method: str
) -> None:
    checkpoint = opened[family]
    decoding = decode(checkpoint, IDS, method, max_len=5, edits=edits)
    logits = record(checkpoint, IDS, decoding.target, edits=edits).logits
    steps = decoding.hypotheses[0].log_probs
    torch.testing.assert_close(logits.log_softmax(-1), steps, rtol=0.0, atol=1e-4)
    plain = record(checkpoint, IDS, decoding.target).logits
    assert not torch.allclose(plain.log_softmax(-1), steps, rtol=0.0, atol=1e-4)
    with pytest.raises(EditError, match="there is no head 99"):
        decode(checkpoint, IDS, edits=["head-off:decoder_self.0.99"])
