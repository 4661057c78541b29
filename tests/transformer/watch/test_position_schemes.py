"""Positions that a pass shows: tables, rotary and biases equal what the model itself holds."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tests.transformer.watch.hugging_face import GROUPED, SMALL, SOURCE, TARGET, build, inputs_of
from tests.transformer.watch.placed import (
    FREQUENCIES,
    HEADS,
    MAX_LEN,
    Alibi,
    Beside,
    BetweenLayers,
    Complex,
    Computed,
    D,
    Indexed,
    InPlace,
    Layer,
    Learned,
    Noise,
    OfOneSide,
    OtherName,
    Plain,
    Scaled,
    Several,
    Sliced,
    Stack,
    Turning,
    TwoTables,
    distances,
)
from transformer import Recording, record
from transformer.positions.relative_bias import paper_slopes
from viz.map_words import schemes, undrawn

TABLES = {
    "BERT": ("bert.embeddings.position_embeddings.weight", 0, "learned", "text"),
    "GPT-2": ("transformer.wpe.weight", 0, "learned", "text"),
    "RoBERTa": ("roberta.embeddings.position_embeddings.weight", 2, "learned", "text"),
    "OPT": ("model.decoder.embed_positions.weight", 2, "learned", "text"),
    "BART": ("model.decoder.embed_positions.weight", 2, "learned", "target"),
    "Marian": ("model.encoder.embed_positions.weight", 0, "sinusoidal", "source"),
    "M2M100": ("model.decoder.embed_positions.weights", 2, "sinusoidal", "target"),
    "Pegasus": ("model.decoder.embed_positions.weight", 0, "sinusoidal", "target"),
}
"""Family -> the path of its table, the row of position 0, what it is, and a side."""


def held(model: nn.Module, path: str) -> Any:
    above, _, name = path.rpartition(".")
    return getattr(model.get_submodule(above), name)


def seen(family: str) -> tuple[Any, Recording]:
    model = build(family)
    return model, record(model, inputs_of(model))


@pytest.mark.parametrize(("family", "wanted"), TABLES.items(), ids=TABLES)
def test_tables_are_the_model_s(family: str, wanted: tuple[str, int, str, str]) -> None:
    path, first, scheme, side = wanted
    model, recording = seen(family)
    assert set(recording.positions) == ({"text"} if side == "text" else {"source", "target"})
    positions = recording.positions[side]
    assert positions.scheme == scheme
    assert torch.equal(positions.table, held(model, path)[first:])
    n = TARGET if side == "target" else SOURCE
    assert torch.equal(positions.encodings, positions.table[:n])
    assert torch.equal(positions.sum, positions.embeddings + positions.encodings)
    assert len(positions.tokens) == n
    assert not recording.rotary and not recording.biases


def test_embeddings_are_what_the_positions_met() -> None:
    model, recording = seen("GPT-2")
    words = held(model, "transformer.wte.weight")[inputs_of(model)["input_ids"][0]]
    assert torch.equal(recording.positions["text"].embeddings, words)


@pytest.mark.parametrize("family", ["Llama", "T5", "Marian", "BERT", "GPT-2", "ModernBERT"])
@pytest.mark.parametrize("n", [1, 6])
def test_tokens_that_count_up_are_no_positions(family: str, n: int) -> None:
    model = build(family)
    ids = torch.arange(5, 5 + n)[None]
    more = {"decoder_input_ids": ids + 20} if model.config.is_encoder_decoder else {}  # type: ignore
    recording = record(model, {"input_ids": ids, **more})
    sides = {"Marian": {"source", "target"}, "BERT": {"text"}, "GPT-2": {"text"}}
    assert set(recording.positions) == sides.get(family, set())
    assert all(len(each.table) == 40 for each in recording.positions.values())


def test_with_a_cache_the_table_still_begins_at_the_first_position() -> None:
    model = build("OPT")
    ids = inputs_of(model)["input_ids"]
    with torch.no_grad():
        past: Any = model(ids[:, :-3], use_cache=True).past_key_values
    recording = record(model, {"input_ids": ids[:, -3:], "past_key_values": past})
    positions = recording.positions["text"]
    assert torch.equal(positions.table, held(model, TABLES["OPT"][0])[2:])
    assert torch.equal(positions.encodings, positions.table[SOURCE - 3 : SOURCE])


ROTARY = {
    "Llama": ("model.rotary_emb.inv_freq", 4),
    "GPT-NeoX": ("gpt_neox.rotary_emb.inv_freq", 4),
    "gpt-oss": ("model.rotary_emb.inv_freq", 4),
    "DeepSeek-V3": ("model.rotary_emb.inv_freq", 8),
}


@pytest.mark.parametrize(("family", "wanted"), ROTARY.items(), ids=ROTARY)
def test_frequencies_are_the_model_s(family: str, wanted: tuple[str, int]) -> None:
    path, d_head = wanted
    model, recording = seen(family)
    ((name, rotary),) = recording.rotary.items()
    assert name == "decoder self" and rotary.layers == (0, 1)
    assert torch.equal(rotary.frequencies, held(model, path))
    assert rotary.d_head == d_head
    scaling = held(model, path.replace("inv_freq", "attention_scaling"))
    assert rotary.factor == scaling and (scaling != 1) == (family == "gpt-oss")
    assert not recording.positions and not recording.biases


@pytest.mark.parametrize("scaling", ["longrope", "dynamic"])
def test_frequencies_are_those_of_their_pass_after_a_longer_one(scaling: str) -> None:
    """Phi's and others' are other ones for a longer text, under the same name."""
    import transformers

    factors = {"short_factor": [1.0, 1.5], "long_factor": [2.0, 4.0]}
    parameters = {"rope_type": scaling, "rope_theta": 1e4, "factor": 2.0}
    parameters |= factors if scaling == "longrope" else {}
    config = transformers.LlamaConfig(
        **{**GROUPED, "max_position_embeddings": 20, "original_max_position_embeddings": 20},
        rope_parameters=parameters | {"original_max_position_embeddings": 20},
    )
    model = transformers.LlamaForCausalLM(config).eval()
    short, long = (record(model, {"input_ids": torch.full((1, n), 5)}) for n in (9, 40))
    (first,), (second,) = short.rotary.values(), long.rotary.values()
    assert torch.equal(second.frequencies, held(model, "model.rotary_emb.inv_freq"))
    assert torch.equal(
        first.frequencies,
        record(model, {"input_ids": torch.full((1, 9), 5)}).rotary["decoder self"].frequencies,
    )
    assert not torch.equal(first.frequencies, second.frequencies)


def test_partly_rotary_is_said() -> None:
    _, recording = seen("GPT-NeoX")
    assert schemes(recording) == [
        "Rotary (decoder self): 2 of 4 dimensions of every query and key turn with the position, "
        "once in 6.3 to 6.3 positions, in all 2 layers."
    ]


@pytest.mark.parametrize("family", ["GPT-J", "CodeGen"])
def test_frequencies_are_measured_where_only_their_sinusoids_are_kept(family: str) -> None:
    _, recording = seen(family)
    (rotary,) = recording.rotary.values()
    torch.testing.assert_close(rotary.frequencies, torch.tensor([1, 0.01], dtype=torch.float64))
    assert rotary.layers == (0, 1) and not recording.positions


def test_layers_of_two_sorts_turn_in_two_ways() -> None:
    model, recording = seen("ModernBERT")
    assert [(name, each.layers) for name, each in recording.rotary.items()] == [
        ("encoder self, full attention", (0,)),
        ("encoder self, sliding attention", (1,)),
    ]
    for name, sort in zip(recording.rotary, ("full", "sliding"), strict=True):
        wanted = held(model, f"model.rotary_emb.{sort}_attention_inv_freq")
        assert torch.equal(recording.rotary[name].frequencies, wanted)


def test_the_relative_bias_of_t5_is_what_it_computes() -> None:
    model, recording = seen("T5")
    sides = (("encoder", SOURCE), ("decoder", TARGET))
    assert list(recording.biases) == [f"{side} self" for side, _ in sides]
    for side, n in sides:
        attention = held(model, f"{side}.block").__getitem__(0).layer[0].SelfAttention
        wanted: Tensor = attention.compute_bias(n, n)[0].detach()
        bias = recording.biases[f"{side} self"]
        assert bias.layers == (0, 1) and bias.is_of_distance and not bias.from_own
        assert bias.slopes is None
        found = bias.by_distance
        assert found.spread == 0
        last = 0 if side == "decoder" else n - 1
        assert found.distances.tolist() == list(range(1 - n, last + 1))
        for place, distance in enumerate(found.distances.tolist()):
            diagonal = wanted.diagonal(distance, -2, -1)  # [H, cells]
            torch.testing.assert_close(found.mean[:, place, None].expand_as(diagonal), diagonal)


def small(model: str, config: str, **values: Any) -> Any:
    import transformers

    torch.manual_seed(0)
    return getattr(transformers, model)(getattr(transformers, config)(**values)).eval()


@pytest.mark.parametrize("n_heads", [4, 6])
@pytest.mark.parametrize("padded", [False, True])
def test_the_slopes_of_bloom_are_the_library_s(n_heads: int, padded: bool) -> None:
    from transformers.models.bloom.modeling_bloom import build_alibi_tensor

    sizes = {"vocab_size": 50, "hidden_size": 4 * n_heads, "n_layer": 2, "n_head": n_heads}
    model = small("BloomForCausalLM", "BloomConfig", **sizes)
    recording = record(model, inputs_of(model, padded))
    (bias,) = recording.biases.values()
    wanted = build_alibi_tensor(torch.ones(1, SOURCE), n_heads, torch.float32)  # [H, 1, K]
    assert bias.is_of_distance and bias.from_own and bias.layers == (0, 1)
    torch.testing.assert_close(bias.slopes, wanted[:, 0, 1])
    torch.testing.assert_close(bias.slopes, paper_slopes(n_heads))
    assert schemes(recording)[0].startswith("ALiBi (decoder self)")
    assert "the paper's" in schemes(recording)[0]


@pytest.mark.parametrize("n_heads", [4, 6])
def test_the_slopes_of_mpt_are_the_library_s(n_heads: int) -> None:
    from transformers.models.mpt.modeling_mpt import build_mpt_alibi_tensor

    sizes = {"vocab_size": 50, "d_model": 4 * n_heads, "n_layers": 2, "n_heads": n_heads}
    model = small("MptForCausalLM", "MptConfig", **sizes, max_seq_len=40)
    (bias,) = record(model, inputs_of(model)).biases.values()
    wanted = build_mpt_alibi_tensor(n_heads, 40).float()  # [H, 1, 40]
    torch.testing.assert_close(bias.slopes, (wanted[:, 0, -1] - wanted[:, 0, -2]))


def test_falcon_s_alibi_is_scaled_with_the_product() -> None:
    sizes = {"vocab_size": 50, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4}
    model = small("FalconForCausalLM", "FalconConfig", **sizes, alibi=True)
    recording = record(model, inputs_of(model))
    (bias,) = recording.biases.values()
    torch.testing.assert_close(bias.slopes, paper_slopes(4) / 2)  # sqrt(d_head) is 2
    assert "0.5 times the paper's" in schemes(recording)[0]


def test_the_added_bias_and_the_product_make_the_weights() -> None:
    model, recording = seen("MPNet")
    queries = held(model, "mpnet.encoder.layer.1.attention.attn.q")
    keys = held(model, "mpnet.encoder.layer.1.attention.attn.k")
    inputs: list[Tensor] = []
    queries.register_forward_hook(lambda module, given, output: inputs.append(given[0][0]))
    with torch.no_grad():
        model(**inputs_of(model))
        q, k = (each(inputs[0]).unflatten(-1, (4, -1)).transpose(0, 1) for each in (queries, keys))
    call = recording.attentions["encoder_self"].calls[1]
    assert call.bias is not None
    scores = q @ k.mT / 2 + call.bias
    torch.testing.assert_close(scores.softmax(-1), call.weights(), rtol=0, atol=1e-5)


@pytest.mark.parametrize("family", ["GPT-J", "GPT-Neo", "Gemma-2", "gpt-oss", "DeBERTa-v2"])
def test_masks_and_content_are_no_bias(family: str) -> None:
    model = build(family)
    assert not record(model, inputs_of(model, padded=True)).biases


IDS = torch.tensor([[7, 3, 3, 9, 11, 2, 30]])
N = IDS.size(1)


def invented(model: nn.Module) -> Recording:
    return record(model.eval(), IDS)


@pytest.mark.parametrize(("model", "name"), [(Sliced, "pe"), (InPlace, "places")])
def test_slices_of_what_a_module_holds_are_found(model: type[Stack], name: str) -> None:
    made = model()
    positions = invented(made).positions["text"]
    assert torch.equal(positions.table, getattr(made, name).detach().reshape(MAX_LEN, D))
    assert positions.scheme == ("sinusoidal" if model is Sliced else "learned")
    assert torch.equal(positions.embeddings, made.words(IDS[0]).detach() * 4)
    assert torch.equal(positions.sum, made.embedded(IDS)[0].detach())


def test_an_invented_bias_is_shown_by_layer() -> None:
    layers = Learned(), Learned()
    recording = invented(Stack(*layers))
    assert list(recording.biases) == ["encoder self, from L0", "encoder self, from L1"]
    for layer, bias in zip(layers, recording.biases.values(), strict=True):
        wanted = layer.numbers.detach()[MAX_LEN - N + 1 : MAX_LEN + N].T
        assert torch.equal(bias.by_distance.mean, wanted)
    assert "in L0." in schemes(recording)[0]


def test_symmetric_alibi_has_its_slopes() -> None:
    (bias,) = invented(Stack(Alibi(), Alibi())).biases.values()
    assert bias.layers == (0, 1)
    torch.testing.assert_close(bias.slopes, paper_slopes(HEADS))


def test_a_bias_that_is_none_of_distance_is_said_to_be_so() -> None:
    recording = invented(Stack(Noise()))
    (bias,) = recording.biases.values()
    values = distances(N) * torch.arange(N)
    assert not bias.is_of_distance and bias.slopes is None
    spreads = [float(values.diagonal(d).max() - values.diagonal(d).min()) for d in range(1 - N, N)]
    assert bias.by_distance.spread == max(spreads)
    assert "differ by up to" in schemes(recording)[0]


def test_layers_without_positions_turn_nothing() -> None:
    recording = invented(Stack(Turning(), Layer(), Turning()))
    (rotary,) = recording.rotary.values()
    assert rotary.layers == (0, 2) and (rotary.n_turning, rotary.d_head) == (2, 4)
    assert "in L0, L2." in schemes(recording)[0]


def test_frequencies_that_turn_nothing_are_not_shown() -> None:
    still = Turning()
    still.turned = lambda x: x + 0 * still.inv_freq.cos()  # type: ignore
    assert not invented(Stack(still)).rotary


def test_a_model_without_any_shows_none() -> None:
    recording = invented(Stack(Layer()))
    assert schemes(recording) == []
    assert not recording.positions and not recording.rotary and not recording.biases


ADDED = {Plain: "sinusoidal", Indexed: "sinusoidal", Scaled: "learned", Computed: "sinusoidal"}


@pytest.mark.parametrize(
    ("model", "scheme"), ADDED.items(), ids=lambda it: getattr(it, "__name__", it)
)
def test_what_was_added_is_found_however_it_is_kept(model: type[Stack], scheme: str) -> None:
    torch.manual_seed(1)
    stack = model().eval()
    ids = torch.tensor([[7, 3, 9, 9, 20, 11]])
    found = record(stack, ids).positions["text"]
    words = Stack.embedded(stack, ids)[0]
    torch.testing.assert_close(found.embeddings, words)
    torch.testing.assert_close(found.sum, stack.embedded(ids)[0])
    assert found.scheme == scheme
    assert len(found.table) == (6 if model is Computed else MAX_LEN)
    torch.testing.assert_close(found.table[:6], found.encodings)


def test_what_is_put_beside_the_tokens_is_not_found() -> None:
    recording = record(Beside().eval(), torch.tensor([[7, 3, 9]]))
    assert not recording.positions and not recording.rotary


@pytest.mark.parametrize("layer", [OtherName, Complex, TwoTables], ids=lambda it: it.__name__)
def test_frequencies_are_found_by_what_turned(layer: type[Layer]) -> None:
    torch.manual_seed(1)
    recording = record(Stack(layer(), layer()).eval(), torch.tensor([[7, 3, 9, 9, 20, 11]]))
    (rotary,) = recording.rotary.values()
    assert rotary.layers == (0, 1)
    torch.testing.assert_close(rotary.frequencies, FREQUENCIES)


SUMS = [
    *("once", "twice", "learned and fixed", "both first", "words last", "segments last"),
    "half as large",
]


@pytest.mark.parametrize("how", SUMS)
def test_all_that_was_added_is_shown(how: str) -> None:
    torch.manual_seed(1)
    model = Several(how).eval()
    ids = torch.tensor([[7, 3, 9, 9, 20, 11]])
    positions = record(model, ids).positions["text"]
    with torch.no_grad():
        torch.testing.assert_close(positions.sum, model.embedded(ids)[0])
        torch.testing.assert_close(positions.encodings, model.encodings(6))
        torch.testing.assert_close(positions.table[:6], model.encodings(6))


def test_positions_that_are_added_nowhere_or_between_layers_are_not_the_words_own() -> None:
    for model in (Several("never"), BetweenLayers("never")):
        assert not record(model.eval(), torch.tensor([[7, 3, 9, 9, 20, 11]])).positions


@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("sides", ["source target", "source", "target", ""])
@pytest.mark.parametrize("n", [6, 4])
def test_positions_are_of_the_side_that_read_them(sides: str, norm_first: bool, n: int) -> None:
    model = OfOneSide(sides, norm_first=norm_first).eval()
    positions = record(model, (torch.arange(6)[None], torch.arange(3, 3 + n)[None])).positions
    assert sorted(positions) == sides.split()
    for side, each in positions.items():
        assert torch.equal(each.table, held(model, f"places.{side}.weight"))


def test_zeroed_positions_are_none_however_often_they_were_added() -> None:
    ids = torch.tensor([[7, 3, 9, 9, 20, 11]])
    torch.manual_seed(1)
    model = Several("twice").eval()
    weights = (
        record(model, ids, edits=["positions-zero:text"]).attentions["encoder_self"].weights(0)
    )
    model.how = "never"
    wanted = record(model, ids).attentions["encoder_self"].weights(0)
    torch.testing.assert_close(weights, wanted)


def test_a_bias_that_is_held_and_not_added_is_not_shown() -> None:
    """ALiBi's slopes, T5's numbers by bucket: scores tell, and no name."""
    idle = Learned()
    idle.register_buffer("slopes", paper_slopes(HEADS))
    idle.bias = lambda n: None  # type: ignore
    assert not invented(Stack(idle)).biases


@pytest.mark.parametrize(
    ("of", "values"),
    [
        ("Deberta", {"relative_attention": True, "pos_att_type": ["c2p", "p2c"]}),
        ("DebertaV2", {"relative_attention": True, "pos_att_type": ["p2c"]}),
    ],
)
def test_scores_of_deberta_that_hold_positions_are_said_to(of: str, values: Any) -> None:
    sizes = {**SMALL, "position_biased_input": False, **values}
    recording = record(small(f"{of}Model", f"{of}Config", **sizes), IDS)
    assert not schemes(recording)
    assert "added to the scores" in undrawn(recording)[0]
