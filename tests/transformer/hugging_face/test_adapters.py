"""LoRA adapters: applied as peft applies them, and whatever is not followed is refused by name."""

import json
import shutil
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from tests.transformer.watch.hugging_face import FAMILIES, build
from transformer import Checkpoint, CheckpointError, load_checkpoint

CONFIG, WEIGHTS = "adapter_config.json", "adapter_model.safetensors"
TARGETS: dict[str, Any] = {
    "BERT": ["query", "value"],
    "GPT-2": ["c_attn", "c_proj"],  # Conv1D: matrices are transposed
    "Llama": r".*\.(q_proj|down_proj)",
    "BART": ["q_proj", "v_proj", "fc1"],
    "T5": ["q", "v"],
    "Marian": ["q_proj", "out_proj"],
}
KINDS: dict[str, dict[str, Any]] = {
    "LoRA": {},
    "rsLoRA": {"use_rslora": True},
    "DoRA": {"use_dora": True},
}
IDS = torch.tensor([[5, 9, 12, 7, 3]])
Settings = dict[str, Any]


def logits(model: Any) -> torch.Tensor:
    named = {"decoder_input_ids": IDS} if model.config.is_encoder_decoder else {}
    with torch.inference_mode():
        result: torch.Tensor = model(input_ids=IDS, **named).logits
    return result


def inner(checkpoint: Checkpoint) -> Any:
    model: Any = checkpoint.model
    return model.inner


def save(base: Any, folder: Path, **settings: Any) -> torch.Tensor:
    """Save the base, and beside it an adapter of random numbers by peft; return peft's logits."""
    peft = pytest.importorskip("peft")
    base.save_pretrained(folder / "base")
    base = type(base).from_pretrained(folder / "base")  # sinusoids are not saved, but made anew
    torch.manual_seed(1)
    config = peft.LoraConfig(**{"r": 3, "lora_alpha": 7, **settings})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the library, about what peft asks it
        model = peft.get_peft_model(base, config).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "lora_" in name or "modules_to_save" in name:
                parameter.add_(torch.randn_like(parameter) * 0.2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.save_pretrained(folder / "adapter")
    return logits(model)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("family", TARGETS)
def test_logits_are_those_of_peft(family: str, kind: str, tmp_path: Path) -> None:
    wanted = save(build(family), tmp_path, target_modules=TARGETS[family], **KINDS[kind])
    before = logits(inner(load_checkpoint(tmp_path / "base", "cpu")))
    checkpoint = load_checkpoint(tmp_path / "base", "cpu", adapter=tmp_path / "adapter")
    torch.testing.assert_close(logits(inner(checkpoint)), wanted, atol=1e-5, rtol=1e-5)
    assert float((wanted - before).abs().max()) > 1e-2
    assert kind in checkpoint.about.notes[0] and checkpoint.path == tmp_path / "adapter"


@pytest.mark.parametrize(
    "settings",
    [
        {"target_modules": "all-linear"},
        {"target_modules": ["q_proj"], "layers_to_transform": [1]},
        {"target_modules": ["q_proj", "up_proj"], "rank_pattern": {"up_proj": 2}},
        {"target_modules": ["q_proj", "up_proj"], "alpha_pattern": {"layers.0.mlp.up_proj": 20}},
        {"target_modules": ["q_proj"], "modules_to_save": ["lm_head"]},
        {"target_modules": ["q_proj", "embed_tokens"]},
    ],
    ids=lambda settings: "+".join(settings),
)
def test_settings_are_followed_as_peft_does(settings: Settings, tmp_path: Path) -> None:
    wanted = save(build("Llama"), tmp_path, **settings)
    checkpoint = load_checkpoint(tmp_path / "base", "cpu", adapter=tmp_path / "adapter")
    torch.testing.assert_close(logits(inner(checkpoint)), wanted, atol=1e-5, rtol=1e-5)


HEAD = "base_model.model.model.layers.0.self_attn.q_proj"


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A base and an adapter of its queries, written without peft."""
    folder = tmp_path_factory.mktemp("adapters")
    base: Any = build("Llama")
    base.save_pretrained(folder / "base")
    tensors = {}
    for name, module in base.named_modules():
        if name.endswith("q_proj"):
            tensors[f"base_model.model.{name}.lora_A.weight"] = torch.randn(2, module.in_features)
            tensors[f"base_model.model.{name}.lora_B.weight"] = torch.randn(module.out_features, 2)
    (folder / "adapter").mkdir()
    save_file(tensors, folder / "adapter" / WEIGHTS)
    settings = {"peft_type": "LORA", "r": 2, "lora_alpha": 4, "target_modules": ["q_proj"]}
    (folder / "adapter" / CONFIG).write_text(json.dumps(settings))
    return folder


@pytest.fixture
def copied(plain: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(plain, tmp_path / "both"))


def refused(folder: Path) -> str:
    with pytest.raises(CheckpointError) as error:
        load_checkpoint(folder / "base", "cpu", adapter=folder / "adapter")
    assert str(error.value).count("\n") == 0 and str(error.value).endswith(".")
    return str(error.value)


def test_it_is_the_base_and_the_product_of_its_matrices(plain: Path) -> None:
    checkpoint = load_checkpoint(plain / "base", "cpu", adapter=plain / "adapter")
    base = load_checkpoint(plain / "base", "cpu")
    tensors = load_file(plain / "adapter" / WEIGHTS)
    product = tensors[f"{HEAD}.lora_B.weight"] @ tensors[f"{HEAD}.lora_A.weight"]
    name = HEAD.removeprefix("base_model.model.") + ".weight"
    new, old = (inner(each).state_dict() for each in (checkpoint, base))
    torch.testing.assert_close(new[name], old[name] + 2 * product)
    assert {each for each in new if not torch.equal(new[each], old[each])} == {
        name.replace("layers.0", f"layers.{i}") for i in range(len(tensors) // 2)
    }


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"peft_type": "IA3"}, "IA3"),
        ({"r": 0}, "rank"),
        ({"r": 3}, "lora_A"),
        ({"r": True}, "rank"),
        ({"lora_alpha": float("nan")}, "lora_alpha"),
        ({"lora_alpha": "4"}, "lora_alpha"),
        ({"bias": "all"}, "bias"),
        ({"lora_bias": True}, "lora_bias"),
        ({"init_lora_weights": "pissa"}, "init_lora_weights"),
        ({"layer_replication": [[0, 2]]}, "layer_replication"),
        ({"a_setting_to_come": 1}, "a_setting_to_come"),
        ({"use_dora": True}, "lora_magnitude_vector"),
        ({"rank_pattern": {"k_proj": 2}}, "rank_pattern"),
        ({"rank_pattern": {"q_proj": 3}}, "lora_A"),
        ({"alpha_pattern": {"k_proj": 2}}, "alpha_pattern"),
        ({"layers_to_transform": [0, 99]}, "layers_to_transform"),
        ({"target_modules": ["q_proj", "k_proj"]}, "k_proj"),
        ({"target_modules": ["k_proj"]}, "k_proj"),
        ({"target_modules": ".*k_proj"}, "q_proj"),
        ({"target_modules": "(a*)*"}, "target_modules"),
        ({"target_modules": "("}, "target_modules"),
        ({"modules_to_save": ["lm_head"]}, "lm_head"),
    ],
    ids=str,
)
def test_settings_that_are_not_followed_are_named(
    settings: Settings, named: str, copied: Path
) -> None:
    file = copied / "adapter" / CONFIG
    file.write_text(json.dumps(json.loads(file.read_text()) | settings))
    assert named in refused(copied)


Tensors = dict[str, torch.Tensor]
CHANGES: dict[str, tuple[Callable[[Tensors], Tensors], str]] = {
    "NaN": (lambda t: {**t, f"{HEAD}.lora_A.weight": t[f"{HEAD}.lora_A.weight"] * torch.nan}, HEAD),
    "a matrix less": (lambda t: {n: t[n] for n in t if n != f"{HEAD}.lora_B.weight"}, "lora_B"),
    "a layer less": (lambda t: {n: t[n] for n in t if not n.startswith(HEAD)}, "q_proj"),
    "a bias": (lambda t: {**t, f"{HEAD}.bias": torch.zeros(4)}, "bias"),
    "another width": (lambda t: {**t, f"{HEAD}.lora_A.weight": torch.zeros(2, 5)}, "2 × 5"),
    "whole numbers": (
        lambda t: {**t, f"{HEAD}.lora_A.weight": t[f"{HEAD}.lora_A.weight"].to(torch.int8)},
        "lora_A",
    ),
    "no such module": (lambda t: {**t, "base_model.model.x.lora_A.weight": torch.zeros(1)}, "x"),
    "twice": (
        lambda t: {**t, f"{HEAD}.lora_A.default.weight": t[f"{HEAD}.lora_A.weight"] + 1},
        "twice",
    ),
    "nothing": (lambda t: {}, WEIGHTS),
}


@pytest.mark.parametrize("change", CHANGES)
def test_tensors_that_do_not_fit_are_named(change: str, copied: Path) -> None:
    file = copied / "adapter" / WEIGHTS
    made, named = CHANGES[change]
    save_file(made(load_file(file)), file)
    assert named in refused(copied)


@pytest.mark.parametrize("file", [CONFIG, WEIGHTS])
def test_links_are_not_followed(file: str, copied: Path) -> None:
    moved = (copied / "adapter" / file).rename(copied / file)
    (copied / "adapter" / file).symlink_to(moved)
    assert file in refused(copied)


def test_pickled_weights_are_named_and_not_read(copied: Path) -> None:
    (copied / "adapter" / WEIGHTS).rename(copied / "adapter" / "adapter_model.bin")
    assert "adapter_model.bin" in refused(copied)


def test_only_models_of_the_library_take_one(copied: Path) -> None:
    with pytest.raises(CheckpointError, match="adapter"):
        load_checkpoint("checkpoints/copy", "cpu", adapter=copied / "adapter")


def test_the_table_names_families_that_there_are() -> None:
    assert set(TARGETS) <= set(FAMILIES)
