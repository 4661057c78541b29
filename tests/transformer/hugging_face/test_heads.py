"""Heads found in Hugging Face's tensors by name, against the library's attention and weights."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from tests.transformer.watch.hugging_face import FAMILIES as PLAIN
from tests.transformer.watch.hugging_face import GROUPED, SMALL, build
from tests.transformer.watch.more_families import MORE
from transformer.inspection.circuits import (
    CircuitError,
    Head,
    copying_score,
    copying_scores,
    ov,
    qk,
)
from transformer.inspection.survey import Inspection, survey

IDS = [5, 9, 12, 9]
FAMILIES = (
    *("Marian", "BART", "M2M100", "T5", "GPT-2", "GPT-J", "GPT-NeoX", "BLOOM", "OPT", "Llama"),
    *("Qwen2", "Phi-3", "Gemma", "BERT", "DistilBERT", "MPNet", "ModernBERT", "Falcon", "MPT"),
    *("GPT-Neo", "OpenAI GPT"),
)


def saved(family: str, folder: Path, attention: str | None = None) -> tuple[Any, Inspection]:
    """A small model without biases, and what is found of it in a folder."""
    model: Any = build(family, attention)
    for name, parameter in model.named_parameters():
        if "bias" in name:
            parameter.data.zero_()
    model.save_pretrained(folder)
    return model, survey(folder)


class Softmaxes(TorchFunctionMode):
    """The scores [H] that each attention hands to its softmax, in a pass over one token."""

    def __init__(self, model: Any, places: dict[str, str]) -> None:
        """places: an attention's path -> that of its output projection within."""
        super().__init__()
        self.scores: dict[str, Tensor] = {}
        self.inputs: dict[str, Tensor] = {}
        self.added: dict[str, Tensor] = {}
        self._place = ""
        for place, output in places.items():
            module = model.get_submodule(place)
            module.register_forward_pre_hook(self._enter(place), with_kwargs=True)
            model.get_submodule(f"{place}.{output}").register_forward_hook(self._leave(place))

    def _enter(self, place: str) -> Callable[..., None]:
        def enter(_: Any, args: Any, named: Any) -> None:
            self._place = place
            self.inputs[place] = (args[0] if args else named["hidden_states"])[0, 0].double()

        return enter

    def _leave(self, place: str) -> Callable[..., None]:
        def leave(_: Any, args: Any, output: Tensor) -> None:
            self.added[place] = output.flatten().double()

        return leave

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if getattr(func, "__name__", "") == "softmax" and self._place not in self.scores:
            self.scores[self._place] = args[0].flatten().double()
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize("family", FAMILIES)
def test_one_token_is_scored_and_written_as_the_library_does(family: str, tmp_path: Path) -> None:
    """At one position rotary encodings turn nothing and every weight is 1."""
    model, found = saved(family, tmp_path, "eager")
    heads: Any = found.heads
    places = {place: style.output for kind in heads._places.values() for place, style in kind}
    one = torch.tensor([[7]])
    inputs = {"decoder_input_ids": one} if model.config.is_encoder_decoder else {}
    with torch.no_grad(), Softmaxes(model, places) as seen:
        model(input_ids=one, **inputs)
    for kind in ("encoder_self", "decoder_self"):
        for layer, (place, _) in enumerate(heads._places.get(kind, ())):
            x = seen.inputs[place]
            own = heads.layer(kind, layer)
            scores = [(x @ head.q) @ (x @ head.k) * head.scale for head in own]
            torch.testing.assert_close(torch.stack(scores), seen.scores[place], **CLOSE)
            added = sum((x @ head.v @ head.o for head in own), torch.zeros(()))
            torch.testing.assert_close(added, seen.added[place], **CLOSE)
    assert set(heads._places) == set(found.family.attentions)
    assert all(heads.n_layers(kind) == 2 for kind in found.family.attentions)


CLOSE: Any = {"rtol": 1e-4, "atol": 1e-5}


def bert(state: dict[str, Tensor], h: int) -> tuple[Tensor, ...]:
    part, rows = "bert.encoder.layer.1.attention", slice(4 * h, 4 * h + 4)
    q, k, v = (state[f"{part}.self.{name}.weight"][rows].mT for name in ("query", "key", "value"))
    return q, k, v, state[f"{part}.output.dense.weight"][:, rows].mT


def gpt2(state: dict[str, Tensor], h: int) -> tuple[Tensor, ...]:
    part, rows = "transformer.h.1.attn", slice(4 * h, 4 * h + 4)
    q, k, v = (part[:, rows] for part in state[f"{part}.c_attn.weight"].split(16, dim=1))
    return q, k, v, state[f"{part}.c_proj.weight"][rows]


def llama(state: dict[str, Tensor], h: int) -> tuple[Tensor, ...]:
    part, own, shared = "model.layers.1.self_attn", 4 * h, 4 * (h // 2)
    q = state[f"{part}.q_proj.weight"][own : own + 4].mT
    k, v = (state[f"{part}.{name}_proj.weight"][shared : shared + 4].mT for name in "kv")
    return q, k, v, state[f"{part}.o_proj.weight"][:, own : own + 4].mT


def marian(state: dict[str, Tensor], h: int) -> tuple[Tensor, ...]:
    part, rows = "model.decoder.layers.1.self_attn", slice(4 * h, 4 * h + 4)
    q, k, v = (state[f"{part}.{name}_proj.weight"][rows].mT for name in "qkv")
    return q, k, v, state[f"{part}.out_proj.weight"][:, rows].mT


def neox(state: dict[str, Tensor], h: int) -> tuple[Tensor, ...]:
    part = "gpt_neox.layers.1.attention"
    q, k, v = state[f"{part}.query_key_value.weight"][12 * h : 12 * h + 12].split(4)
    return q.mT, k.mT, v.mT, state[f"{part}.dense.weight"][:, 4 * h : 4 * h + 4].mT


DIRECT = {"BERT": bert, "GPT-2": gpt2, "Llama": llama, "Marian": marian, "GPT-NeoX": neox}


@pytest.mark.parametrize("family", DIRECT)
def test_circuits_are_products_of_the_models_weights(family: str, tmp_path: Path) -> None:
    model, found = saved(family, tmp_path)
    state = {name: tensor.double() for name, tensor in model.state_dict().items()}
    kind = list(found.family.attentions)[0 if family == "BERT" else -1]
    kind = "decoder_self" if family == "Marian" else kind
    heads, ends = found.heads.layer(kind, 1), found.heads.ends(kind)
    read = model.get_input_embeddings().weight.detach().double()
    written = read if family == "BERT" else model.get_output_embeddings().weight.detach().double()
    scores = copying_scores(found.heads, kind)
    for h in range(4):
        q, k, v, o = DIRECT[family](state, h)
        x = read[IDS]
        torch.testing.assert_close(qk(heads[h], ends, IDS), x @ q @ (x @ k).mT / 2)
        torch.testing.assert_close(ov(heads[h], ends, IDS), x @ v @ o @ written[IDS].mT)
        full = torch.linalg.eigvals(read @ v @ o @ written.mT)
        assert float(scores[1, h]) == pytest.approx(copying_score(full), abs=1e-6)


@pytest.mark.parametrize("family", ["Gemma", "M2M100"])
def test_embeddings_are_scaled_as_the_model_does(family: str, tmp_path: Path) -> None:
    model, found = saved(family, tmp_path)
    rows = found.heads.ends("decoder_self").keys.rows(IDS)
    embed = model.get_input_embeddings()
    torch.testing.assert_close(rows, embed(torch.tensor(IDS)).detach().double())
    assert not torch.equal(rows, embed.weight[IDS].detach().double())


@pytest.mark.parametrize("family", ["DeepSeek-V3", "Mamba", "XLNet", "FNet"])
def test_where_heads_are_not_found_one_sentence_says_so(family: str, tmp_path: Path) -> None:
    _, found = saved(family, tmp_path)
    (kind,) = found.family.attentions
    with pytest.raises(CircuitError, match=r"^No circuits: .* is not known here\.$"):
        found.heads.layer(kind, 0)


def test_sizes_that_are_no_heads_end_in_a_sentence() -> None:
    from transformer.hugging_face.heads import STYLES, split

    matrices = [torch.ones(16, 8), torch.ones(6, 8), torch.ones(6, 8), torch.ones(8, 16)]
    with pytest.raises(CircuitError, match=r"split into 4 heads: \[16, 8\], \[6, 8\]"):
        split(matrices, STYLES[0], 4, None)


def test_a_head_may_be_asked_for_twice(tmp_path: Path) -> None:
    _, found = saved("Llama", tmp_path)
    first, again = (found.heads.layer("decoder_self", 0)[3] for _ in range(2))
    assert isinstance(first, Head) and torch.equal(first.q, again.q)


OWN_NORMS = {
    **{"Qwen3": {"q_norm", "k_norm"}, "Gemma-3": {"q_norm", "k_norm"}},
    **{"Persimmon": {"q_layernorm", "k_layernorm"}, "Llama": set(), "T5": set(), "BERT": set()},
}


@pytest.mark.parametrize("family", OWN_NORMS)
def test_norms_within_an_attention_are_named(family: str, tmp_path: Path) -> None:
    _, found = saved(family, tmp_path)
    kind = next(iter(found.family.attentions))
    assert {*found.heads.layer(kind, 0)[0].left_out} == OWN_NORMS[family]


@pytest.mark.parametrize("family", ["T5Gemma", "NLLB-MoE", "Marian", "T5"])
def test_a_decoder_has_its_own_attention_and_another(family: str, tmp_path: Path) -> None:
    """By the matrices: a place that is taken for another kind shows that one's circuits."""
    _, found = saved(family, tmp_path)
    places = {kind: [place for place, _ in each] for kind, each in found.heads._places.items()}
    assert list(map(len, places.values())) == [2, 2, 2]
    assert len({each for kind in places.values() for each in kind}) == 6
    assert all("self" in place.lower() for place in places["decoder_self"])


UNKNOWN = {
    "DiffLlama": ("DiffLlama", {}, "lambda_q1"),
    "AFMoE": ("AFMoE", {}, "gate_proj"),
    "OLMo that clips": ("OLMo", {"clip_qkv": 0.05}, "clip_qkv 0.05"),
    "MPT that clips": ("MPT", {"attn_config": {"clip_qkv": 0.05}}, "clip_qkv 0.05"),
}


@pytest.mark.parametrize("case", UNKNOWN)
def test_heads_that_are_no_products_have_no_circuits(case: str, tmp_path: Path) -> None:
    family, more, word = UNKNOWN[case]
    if family in PLAIN:
        name, of_config, sizes = PLAIN[family]
    else:
        row = MORE[family]
        name, of_config, sizes = row.model, row.config, dict(row.values)
    import transformers

    config = getattr(transformers, of_config)(**{**sizes, **more})
    getattr(transformers, name)._from_config(config).save_pretrained(tmp_path)
    found = survey(tmp_path)
    with pytest.raises(CircuitError, match=f"^No circuits: .*{word}"):
        found.heads.layer("decoder_self", 0)


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("Electra", {"embedding_size": 8}),
        ("MobileBert", {"embedding_size": 8, "true_hidden_size": 8}),
        ("RemBert", {"input_embedding_size": 8, "output_embedding_size": 8}),
    ],
)
def test_embeddings_of_another_width_end_in_a_sentence(
    name: str, more: dict[str, Any], tmp_path: Path
) -> None:
    import transformers

    config = getattr(transformers, f"{name}Config")(**{**SMALL, **more})
    getattr(transformers, f"{name}ForMaskedLM")._from_config(config).save_pretrained(tmp_path)
    heads = survey(tmp_path).heads
    head, ends = heads.layer("encoder_self", 0)[0], heads.ends("encoder_self")
    for compute in (
        lambda: qk(head, ends, IDS),
        lambda: ov(head, ends, IDS),
        lambda: copying_scores(heads, "encoder_self"),
    ):
        with pytest.raises(CircuitError, match="8 numbers per token"):
            compute()


def test_factors_of_embeddings_and_logits_count(tmp_path: Path) -> None:
    """Granite multiplies what it reads, what layers add, and divides its logits."""
    import transformers

    more = {"embedding_multiplier": 12.0, "residual_multiplier": 0.5, "logits_scaling": 8.0}
    config: Any = transformers.GraniteConfig(**{**GROUPED, **more})
    model: Any = transformers.GraniteForCausalLM._from_config(config)
    model.save_pretrained(tmp_path)
    ends = survey(tmp_path).heads.ends("decoder_self")
    read, written = (model.get_input_embeddings(), model.get_output_embeddings())
    for rows, matrix, factor in ((ends.keys, read, 12.0), (ends.output, written, 0.5 / 8)):
        expected = factor * matrix.weight[IDS].detach().double()
        torch.testing.assert_close(rows.rows(IDS), expected)
