"""Llama's tensors in Meta's names run as the settings beside them say, or what is open is said."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from transformer import CheckpointError, load_checkpoint, record

SIZES = {"dim": 32, "n_layers": 2, "n_heads": 4, "n_kv_heads": 2, "vocab_size": 64}
IDS = [4, 5, 6, 7, 8, 9]
PARTS = {
    "attention.wq": "self_attn.q_proj",
    "attention.wk": "self_attn.k_proj",
    "attention.wv": "self_attn.v_proj",
    "attention.wo": "self_attn.o_proj",
    "feed_forward.w1": "mlp.gate_proj",
    "feed_forward.w2": "mlp.down_proj",
    "feed_forward.w3": "mlp.up_proj",
    "attention_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
}


def model_of(rope: dict[str, Any], **sizes: Any) -> Any:
    """The library's model, which has the answer."""
    import transformers

    torch.manual_seed(0)
    kind = "Mistral" if "sliding_window" in sizes else "Llama"
    config = getattr(transformers, f"{kind}Config")(
        **{"vocab_size": 64, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2},
        **{"num_attention_heads": 4, "num_key_value_heads": 2, "initializer_range": 0.5},
        **{"rope_parameters": rope, "attn_implementation": "eager"},
        **{"max_position_embeddings": 65536, "rms_norm_eps": 1e-5} | sizes,
    )
    return getattr(transformers, f"{kind}ForCausalLM")(config).eval()


def tensors_of(model: Any) -> dict[str, Any]:
    """Its tensors in Meta's names, whose rotation turns neighbouring dimensions."""
    back = {ours: theirs for theirs, ours in PARTS.items()}
    top = {"model.embed_tokens": "tok_embeddings", "model.norm": "norm", "lm_head": "output"}
    d_head, result = model.config.head_dim, {}
    for name, each in model.state_dict().items():
        name = name.removesuffix(".weight")
        if name in top:
            result[f"{top[name]}.weight"] = each
            continue
        _, _, layer, part = name.split(".", 3)
        if part.endswith(("q_proj", "k_proj")):
            each = each.unflatten(0, (-1, 2, d_head // 2)).transpose(1, 2).flatten(0, 2)
        result[f"layers.{layer}.{back[part]}.weight"] = each
    return result


def save(folder: Path, model: Any, params: dict[str, Any] | None, **others: Any) -> Path:
    torch.save(tensors_of(model) | others, folder / "consolidated.00.pth")
    if params is not None:
        (folder / "params.json").write_text(json.dumps(params))
    return folder


def difference(folder: Path, model: Any) -> float:
    """The most by which weights and logits are off from the library's."""
    recording = record(load_checkpoint(folder, "cpu"), " ".join(map(str, IDS)))
    with torch.no_grad():
        expected = model(torch.tensor([IDS]), output_attentions=True)
    ours = recording.attentions["decoder_self"]
    pairs = [(ours.weights(i), each[0]) for i, each in enumerate(expected.attentions)]
    pairs.append((recording.logits, expected.logits[0]))
    return max(float((own - theirs).abs().max()) for own, theirs in pairs)


BASE = {"rope_type": "default", "rope_theta": 500000.0}
SCALED = {
    **{"rope_type": "llama3", "rope_theta": 500000.0, "low_freq_factor": 1.0},
    **{"high_freq_factor": 4.0, "original_max_position_embeddings": 8192},
}
KINDS: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = {
    "Llama 2": (BASE | {"rope_theta": 10000.0}, {}, {"norm_eps": 1e-5, "vocab_size": -1}),
    "Llama 3": (BASE, {}, {"rope_theta": 500000.0, "ffn_dim_multiplier": 1.3, "multiple_of": 256}),
    "CodeLlama": (BASE | {"rope_theta": 1e6}, {}, {"rope_theta": 1000000}),
    "Llama 3.1": (
        SCALED | {"factor": 8.0},
        {},
        {"rope_theta": 500000.0, "use_scaled_rope": True},
    ),
    "Llama 3.2": (
        SCALED | {"factor": 32.0},
        {},
        {"rope_theta": 500000.0, "use_scaled_rope": True, "rope_scaling_factor": 32},
    ),
    "an eps": (BASE, {"rms_norm_eps": 1e-2}, {"rope_theta": 5e5, "norm_eps": 1e-2}),
    "Mistral": (
        BASE | {"rope_theta": 10000.0},
        {"sliding_window": 3},
        {"head_dim": 8, "hidden_dim": 48, "sliding_window": 3},
    ),
    "Mistral Nemo": (
        BASE | {"rope_theta": 1e6},
        {"head_dim": 16},
        {"head_dim": 16, "hidden_dim": 48, "rope_theta": 1e6},
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_it_runs_as_its_settings_say(kind: str, tmp_path: Path) -> None:
    rope, sizes, params = KINDS[kind]
    model = model_of(rope, **sizes)
    save(tmp_path, model, SIZES | params)
    assert difference(tmp_path, model) < 1e-5
    notes = load_checkpoint(tmp_path, "cpu").about.notes
    assert any("rope_theta" in it for it in notes) == ("rope_theta" not in params)
    is_open = "use_scaled_rope" in params and "rope_scaling_factor" not in params
    assert any("rope_scaling_factor" in it for it in notes) == is_open


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("params.json", {"name": "run", "model": SIZES | {"rope_theta": 5e5}}),
        ("config.json", SIZES | {"rope_theta": 5e5}),
        ("params.json", SIZES | {"rope_theta": 5e5, "norm_eps": None, "head_dim": None}),
    ],
    ids=["under model", "of other code", "null is the usual"],
)
def test_other_forms_of_settings(name: str, values: dict[str, Any], tmp_path: Path) -> None:
    """As Meta's Lingua writes them, or as somebody's own code does."""
    model = model_of(BASE)
    save(tmp_path, model, None)
    (tmp_path / name).write_text(json.dumps(values))
    assert difference(tmp_path, model) < 1e-5
    assert not load_checkpoint(tmp_path / "consolidated.00.pth", "cpu").about.notes


def test_settings_in_the_file_are_followed_alike(tmp_path: Path) -> None:
    """As copies of llama2.c that train Llama 3 save them."""
    model = model_of(BASE)
    saved = {"model": tensors_of(model), "model_args": SIZES | {"rope_theta": 500000.0}}
    torch.save(saved | {"config": {"learning_rate": 5e-4}}, tmp_path / "ckpt.pt")
    assert difference(tmp_path, model) < 1e-5
    assert not load_checkpoint(tmp_path, "cpu").about.notes


def test_the_settings_tell_it_from_the_usual(tmp_path: Path) -> None:
    save(tmp_path, model_of(BASE), SIZES)
    assert difference(tmp_path, model_of(BASE)) > 1e-3


def test_what_is_assumed_without_settings_is_said(tmp_path: Path) -> None:
    save(tmp_path, model_of(BASE), None)
    with pytest.raises(CheckpointError, match="n_heads"):
        load_checkpoint(tmp_path, "cpu")
    (tmp_path / "headscope.json").write_text('{"n_heads": 4}')
    (note,) = load_checkpoint(tmp_path, "cpu").about.notes
    assert "params.json" in note and "10,000" in note


def test_frequencies_that_were_saved_are_no_weights(tmp_path: Path) -> None:
    model = model_of(BASE)
    save(tmp_path, model, SIZES | {"rope_theta": 5e5}, **{"rope.freqs": torch.ones(4)})
    assert difference(tmp_path, model) < 1e-5


@pytest.mark.parametrize(
    ("settings", "what"),
    [
        ({"moe": {"num_experts": 8}}, "moe.num_experts"),
        ({"yarn": {"factor": 4.0}}, "yarn.factor"),
        ({"rope_scaling": "linear"}, "rope_scaling"),
    ],
)
def test_settings_that_are_not_followed_are_named(
    settings: dict[str, Any], what: str, tmp_path: Path
) -> None:
    save(tmp_path, model_of(BASE), SIZES | {"rope_theta": 5e5} | settings)
    (note,) = load_checkpoint(tmp_path, "cpu").about.notes
    assert what in note and "not followed" in note


@pytest.mark.parametrize(
    ("settings", "what"),
    [
        ({"n_heads": 8}, "n_kv_heads"),
        ({"dim": 64}, "dim"),
        ({"n_layers": 3}, "n_layers"),
        ({"head_dim": 16}, "head_dim"),
        ({"rope_theta": "big"}, "rope_theta"),
        ({"rope_theta": 0}, "rope_theta"),
        ({"sliding_window": [4096, None]}, "sliding_window"),
    ],
)
def test_settings_of_another_model_are_refused_by_name(
    settings: dict[str, Any], what: str, tmp_path: Path
) -> None:
    save(tmp_path, model_of(BASE), SIZES | {"rope_theta": 5e5} | settings)
    with pytest.raises(CheckpointError, match=what):
        load_checkpoint(tmp_path, "cpu")


@pytest.mark.parametrize("text", ["[1, 2]", "{", '{"dim": ' + '{"a": ' * 500 + "1" + "}" * 501])
def test_settings_that_are_damaged_are_named(text: str, tmp_path: Path) -> None:
    save(tmp_path, model_of(BASE), None)
    (tmp_path / "params.json").write_text(text)
    with pytest.raises(CheckpointError, match=r"params\.json|n_heads"):
        load_checkpoint(tmp_path, "cpu")


@pytest.mark.parametrize("opened", ["", "consolidated.01.pth"])
def test_slices_of_a_larger_model_are_named(opened: str, tmp_path: Path) -> None:
    save(tmp_path, model_of(BASE), SIZES)
    (tmp_path / "consolidated.01.pth").write_bytes((tmp_path / "consolidated.00.pth").read_bytes())
    with pytest.raises(CheckpointError, match="slice"):
        load_checkpoint(tmp_path / opened, "cpu")
