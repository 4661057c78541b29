"""LoRA adapters: applied as peft applies them, and whatever is not followed is refused by name."""

import json
import shutil
import warnings
from argparse import Namespace
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from tests.representatives import cases
from tests.transformer.watch.hugging_face import FAMILIES, build
from transformer import Checkpoint, CheckpointError, load_checkpoint
from transformer.commands.checkpoints import LIST_COMMAND as LIST
from transformer.commands.command import checkpoint as argument
from transformer.fingerprint import fingerprint
from transformer.formats.adapter import Unconfirmed, pair_of
from transformer.formats.opening import describe_checkpoint, format_of
from transformer.inspection.survey import survey

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
FEW = {
    "matrices of nn.Linear": ("Llama", "LoRA"),
    "another scale": ("BERT", "rsLoRA"),
    "the norm of each column, and matrices that are transposed": ("GPT-2", "DoRA"),
    "a part that is made anew": ("Marian", "LoRA"),
}
"""What differs in how an adapter is added -> family and kind."""
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


def assert_inspected(path: Path, model: Any) -> None:
    """Inspect shows the numbers that the opened model has, none of them twice."""
    inspection, state = survey(path), model.state_dict()
    values = [inspection.read(each.name) for each in inspection.tensors]
    computed = model._keys_to_ignore_on_save or ()  # sinusoids
    wanted = {
        state[name].data_ptr(): state[name] for name in state if name not in computed
    }.values()
    assert len(values) == len(wanted)
    for each in wanted:
        assert any(each.shape == v.shape and torch.allclose(each, v, atol=1e-6) for v in values)


@pytest.mark.parametrize(("family", "kind"), cases(product(TARGETS, KINDS), FEW))
def test_logits_are_those_of_peft(family: str, kind: str, tmp_path: Path) -> None:
    wanted = save(build(family), tmp_path, target_modules=TARGETS[family], **KINDS[kind])
    before = logits(inner(load_checkpoint(tmp_path / "base", "cpu")))
    checkpoint = load_checkpoint(tmp_path / "base", "cpu", adapter=tmp_path / "adapter")
    torch.testing.assert_close(logits(inner(checkpoint)), wanted, atol=1e-5, rtol=1e-5)
    assert float((wanted - before).abs().max()) > 1e-2
    alone = load_checkpoint(tmp_path / "adapter", "cpu")  # its base lies beside it
    assert torch.equal(logits(inner(alone)), logits(inner(checkpoint)))
    assert_inspected(tmp_path / "adapter", inner(alone))
    assert kind in checkpoint.about.notes[0] and kind in checkpoint.about.title


@pytest.mark.parametrize(
    "settings",
    [
        {"target_modules": "all-linear"},
        {"target_modules": ["q_proj"], "layers_to_transform": [1]},
        {"target_modules": ["q_proj", "up_proj"], "rank_pattern": {"up_proj": 2}},
        {"target_modules": ["q_proj", "up_proj"], "alpha_pattern": {"layers.0.mlp.up_proj": 20}},
        {"target_modules": ["q_proj"], "modules_to_save": ["lm_head"]},
        {"target_modules": ["q_proj", "embed_tokens"]},
        {"target_modules": "all-linear", "exclude_modules": r".*\.mlp\..*"},
        {"target_modules": ["q_proj"], "exclude_modules": ["layers.0.self_attn.q_proj"]},
        {"target_modules": ["q_proj"], "modules_to_save": ["norm"]},
        {"target_modules": ["up_proj"], "modules_to_save": ["layers.0.self_attn"]},
        {"target_modules": ["q_proj"], "rank_pattern": {"^model.layers.0.self_attn.q_proj": 5}},
        {"target_modules": ["q_proj"], "fan_in_fan_out": True},
        {"target_modules": ["q_proj", "lm_head"], "use_dora": True, "use_rslora": True},
    ],
    ids=lambda settings: "+".join(settings),
)
def test_settings_are_followed_as_peft_does(settings: Settings, tmp_path: Path) -> None:
    wanted = save(build("Llama"), tmp_path, **settings)
    checkpoint = load_checkpoint(tmp_path / "base", "cpu", adapter=tmp_path / "adapter")
    torch.testing.assert_close(logits(inner(checkpoint)), wanted, atol=1e-5, rtol=1e-5)


TIED: dict[str, Settings] = {
    "LoRA of the output": {"target_modules": ["c_attn", "lm_head"]},
    "LoRA of the embedding": {"target_modules": ["c_attn", "wte"]},
    "LoRA of both": {"target_modules": ["lm_head", "wte"]},
    "another output": {"target_modules": ["c_attn"], "modules_to_save": ["lm_head"]},
    "another embedding": {"target_modules": ["c_attn"], "modules_to_save": ["wte"]},
}


TIED_IN = {change: ("GPT-2", change) for change in TIED}
TIED_IN["three that are one"] = ("T5", "LoRA of both")


@pytest.mark.parametrize(("family", "change"), cases(product(("GPT-2", "T5"), TIED), TIED_IN))
def test_matrices_that_are_tied_part_as_in_peft(family: str, change: str, tmp_path: Path) -> None:
    names = {"wte": "shared", "c_attn": "q"} if family == "T5" else {}
    settings = {k: [names.get(each, each) for each in v] for k, v in TIED[change].items()}
    base: Any = build(family)
    base.config.tie_word_embeddings = True
    base.tie_weights()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of peft, that they are tied
        wanted = save(base, tmp_path, **settings)
    checkpoint = load_checkpoint(tmp_path / "adapter", "cpu")
    torch.testing.assert_close(logits(inner(checkpoint)), wanted, atol=1e-5, rtol=1e-5)
    assert_inspected(tmp_path / "adapter", inner(checkpoint))


HEAD = "base_model.model.model.layers.0.self_attn.q_proj"


def write_pair(folder: Path, base: str = "") -> None:
    """Write a base and an adapter of its queries, without peft. base: the name that it says."""
    model: Any = build("Llama")
    model.save_pretrained(folder / "base")
    tensors = {}
    for name, module in model.named_modules():
        if name.endswith("q_proj"):
            tensors[f"base_model.model.{name}.lora_A.weight"] = torch.randn(2, module.in_features)
            tensors[f"base_model.model.{name}.lora_B.weight"] = torch.randn(module.out_features, 2)
    (folder / "adapter").mkdir()
    save_file(tensors, folder / "adapter" / WEIGHTS)
    settings = {"peft_type": "LORA", "r": 2, "lora_alpha": 4, "target_modules": ["q_proj"]}
    settings["base_model_name_or_path"] = base
    (folder / "adapter" / CONFIG).write_text(json.dumps(settings))


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("adapters")
    write_pair(folder)
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


IA3 = {"peft_type": "IA3"}
OTHER_KINDS = (
    *("IA3", "VERA", "ADALORA", "LOHA", "LOKR", "OFT", "BOFT", "HRA", "LN_TUNING", "FOURIERFT"),
    *("PREFIX_TUNING", "PROMPT_TUNING", "P_TUNING", "ADAPTION_PROMPT", "TRAINABLE_TOKENS"),
    *("RANDLORA", "MISS", "XLORA"),
)


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        *cases([({"peft_type": it}, it) for it in OTHER_KINDS], {"another kind": (IA3, "IA3")}),
        ({"r": 0}, "rank"),
        ({"r": 3}, "lora_A"),
        ({"r": True}, "rank"),
        ({"lora_alpha": float("nan")}, "lora_alpha"),
        ({"lora_alpha": "4"}, "lora_alpha"),
        ({"bias": "all"}, "bias"),
        ({"lora_bias": True}, "lora_bias"),
        *((({"init_lora_weights": each}), each) for each in ("pissa", "olora", "loftq", "corda")),
        ({"loftq_config": {"loftq_bits": 4}}, "loftq_config"),
        ({"bias": "lora_only"}, "bias lora_only"),
        ({"trainable_token_indices": {"embed_tokens": [1]}}, "trainable_token_indices"),
        ({"target_parameters": ["mlp.up_proj.weight"]}, "target_parameters"),
        ({"alora_invocation_tokens": [5]}, "alora_invocation_tokens"),
        ({"megatron_config": {"a": 1}}, "megatron_config"),
        ({"use_qalora": True}, "use_qalora"),
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


@pytest.mark.parametrize("start", [True, "gaussian", "orthogonal", "eva"])
def test_how_its_matrices_began_is_no_matter(start: Any, copied: Path) -> None:
    before = load_checkpoint(copied / "base", "cpu", adapter=copied / "adapter")
    file = copied / "adapter" / CONFIG
    settings = {"init_lora_weights": start, "eva_config": {"rho": 2.0}}
    file.write_text(json.dumps(json.loads(file.read_text()) | settings))
    after = load_checkpoint(copied / "base", "cpu", adapter=copied / "adapter")
    assert torch.equal(logits(inner(before)), logits(inner(after)))


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


def test_links_of_the_hubs_cache_are_its_own_files(copied: Path, tmp_path: Path) -> None:
    snapshot = tmp_path / "models--someone--adapter" / "snapshots" / "0123"
    blobs = snapshot.parents[1] / "blobs"
    for folder in (snapshot, blobs):
        folder.mkdir(parents=True)
    for file in (CONFIG, WEIGHTS):
        (copied / "adapter" / file).rename(blobs / file)
        (snapshot / file).symlink_to(Path("../../blobs") / file)
    checkpoint = load_checkpoint(copied / "base", "cpu", adapter=snapshot)
    assert "LoRA" in checkpoint.about.notes[0]
    (snapshot / CONFIG).unlink()
    (snapshot / CONFIG).symlink_to((blobs / CONFIG).rename(copied / CONFIG))
    with pytest.raises(CheckpointError, match=CONFIG):
        load_checkpoint(copied / "base", "cpu", adapter=snapshot)


def test_another_tokenizer_beside_an_adapter_is_named(copied: Path) -> None:
    adapter = name_base(copied, "base")
    for folder in (adapter, copied / "base"):
        (folder / "merges.txt").write_text("the same")
    (adapter / "chat_template.jinja").write_text("another")
    notes = " ".join(n for n in load_checkpoint(adapter, "cpu").about.notes if "base" in n)
    assert [n for n in ("merges.txt", "chat_template.jinja") if n in notes] == [
        "chat_template.jinja"
    ]


def test_a_shell_spells_both_from_where_it_is_and_by_names(
    copied: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = Path(f"{copied / 'base'}::{copied / 'adapter'}")
    monkeypatch.chdir(copied)
    assert load_checkpoint("base::adapter", "cpu").path == both
    assert argument("base::./adapter") == both
    monkeypatch.chdir(copied.parent)
    monkeypatch.setenv("HEADSCOPE_CHECKPOINTS", str(copied))
    assert argument("base::adapter") == both


def test_pickled_weights_are_named_and_not_read(copied: Path) -> None:
    (copied / "adapter" / WEIGHTS).rename(copied / "adapter" / "adapter_model.bin")
    assert "adapter_model.bin" in refused(copied)


def test_only_models_of_the_library_take_one(copied: Path) -> None:
    with pytest.raises(CheckpointError, match="adapter"):
        load_checkpoint("checkpoints/copy", "cpu", adapter=copied / "adapter")


def listed(folder: Path) -> dict[str, str]:
    """The rows of the command `list`."""
    rows: Any = LIST.run(Namespace(folder=folder))
    return dict(rows)


def name_base(folder: Path, name: str) -> Path:
    """Let the adapter name its base. Returns the adapter's folder."""
    file = folder / "adapter" / CONFIG
    settings = json.loads(file.read_text()) | {"base_model_name_or_path": name}
    file.write_text(json.dumps(settings))
    return folder / "adapter"


def test_one_path_spells_base_and_adapter(plain: Path) -> None:
    path = f"{plain / 'base'}::{plain / 'adapter'}"
    checkpoint = load_checkpoint(path, "cpu")
    again = load_checkpoint(checkpoint.path, "cpu")
    other = load_checkpoint(plain / "base", "cpu", adapter=plain / "adapter")
    assert torch.equal(logits(inner(again)), logits(inner(other)))
    assert str(checkpoint.path) == path and checkpoint.path == other.path
    assert describe_checkpoint(checkpoint.path).about == checkpoint.about
    assert pair_of(checkpoint.path) == (plain / "base", checkpoint.path)


def test_an_adapter_in_the_folder_of_its_base_makes_a_pair(copied: Path) -> None:
    for file in (copied / "adapter").iterdir():
        shutil.copy(file, copied / "base")
    base, path = pair_of(copied / "base") or (None, None)
    assert base == copied / "base" and path is not None
    before, after = load_checkpoint(base, "cpu"), load_checkpoint(path, "cpu")
    assert any("base::base" in note for note in before.about.notes)
    assert not torch.allclose(logits(inner(before)), logits(inner(after)))
    assert fingerprint(base) != fingerprint(path)
    assert pair_of(path) == (base, path)


def test_the_fingerprint_is_of_both(copied: Path) -> None:
    adapter = name_base(copied, "someone/base")
    prints = {fingerprint(copied / "base"), fingerprint(adapter)}
    file = adapter / WEIGHTS
    save_file({name: 2 * each for name, each in load_file(file).items()}, file)
    prints.add(fingerprint(adapter))
    save_file(inner(load_checkpoint(copied / "base", "cpu")).state_dict(), copied / "x.safetensors")
    (copied / "x.safetensors").rename(copied / "base" / "model.safetensors")
    assert len(prints | {fingerprint(adapter)}) == 4


@pytest.mark.parametrize("name", ["base", "someone/base", "../base", "/elsewhere/base"])
def test_a_base_of_that_name_beside_it_is_taken(name: str, copied: Path) -> None:
    adapter = name_base(copied, name)
    (adapter / "training_args.bin").write_bytes(b"of the Trainer")
    assert pair_of(adapter) == (copied / "base", adapter)
    assert "base" in load_checkpoint(adapter, "cpu").about.notes[0]


@pytest.mark.parametrize(
    "name", ["", "someone/other", "..", "/", "/elsewhere/other", "../../other"]
)
def test_a_base_that_is_not_here_is_named(name: str, copied: Path) -> None:
    adapter = name_base(copied, name)
    with pytest.raises(CheckpointError) as error:
        load_checkpoint(adapter, "cpu")
    assert name in str(error.value) and "BASE::adapter" in str(error.value)
    assert "LoRA" in str(error.value)
    assert set(format_of(adapter).files(adapter)) == {adapter / CONFIG, adapter / WEIGHTS}


def test_a_base_elsewhere_is_named_and_waits_for_a_word(copied: Path, tmp_path: Path) -> None:
    base = (copied / "base").rename(tmp_path / "elsewhere")
    adapter = name_base(copied, str(base))
    with pytest.raises(Unconfirmed) as error:
        load_checkpoint(adapter, "cpu")
    assert str(error.value.path) in str(error.value)
    assert load_checkpoint(error.value.path, "cpu").path == error.value.path


def test_a_base_outside_the_allowed_folders_is_refused_whether_it_is_there_or_not(
    copied: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADSCOPE_FOLDERS", str(copied))
    base, sentences = (copied / "base").rename(tmp_path / "elsewhere"), []
    for name in (base, tmp_path / "nowhere"):
        with pytest.raises(CheckpointError) as error:
            load_checkpoint(name_base(copied, str(name)), "cpu")
        assert not isinstance(error.value, Unconfirmed)
        sentences.append(str(error.value).replace(str(name), "its base"))
    assert sentences[0] == sentences[1]
    monkeypatch.setenv("HEADSCOPE_FOLDERS", f"{copied}:{base.parent}")
    adapter = name_base(copied, str(base))
    assert pair_of(adapter) == (base, adapter)


def cache(base: Path, home: Path, name: str, ref: str = "main") -> Path:
    """Move a model into the hub's cache of a home. Returns its snapshot."""
    repository = home / "hub" / f"models--{name.replace('/', '--')}"
    (repository / "refs").mkdir(parents=True)
    (repository / "refs" / ref).write_text("0a1b2c")
    snapshot, blobs = repository / "snapshots" / "0a1b2c", repository / "blobs"
    for folder in (snapshot, blobs):
        folder.mkdir(parents=True)
    for i, file in enumerate(sorted(base.iterdir())):
        file.rename(blobs / str(i))
        (snapshot / file.name).symlink_to(Path("../../blobs") / str(i))
    return snapshot


@pytest.mark.parametrize(
    ("name", "ref", "settings"),
    [
        ("someone/llama-x", "main", {}),
        ("gpt2", "main", {"revision": None}),
        ("someone/llama-x", "v2", {"revision": "v2"}),
        ("someone/llama-x", "main", {"revision": "0a1b2c"}),
    ],
)
def test_a_base_in_the_hubs_cache_is_taken_by_its_name(
    name: str,
    ref: str,
    settings: dict[str, Any],
    copied: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    adapter = name_base(copied, name)
    file = adapter / CONFIG
    file.write_text(json.dumps(json.loads(file.read_text()) | settings))
    expected = logits(inner(load_checkpoint(copied / "base", "cpu", adapter=adapter)))
    snapshot = cache(copied / "base", tmp_path, name, ref)
    monkeypatch.delenv("HF_HUB_CACHE", raising=False)
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    assert pair_of(adapter) == (snapshot, adapter)
    assert torch.equal(logits(inner(load_checkpoint(adapter, "cpu"))), expected)
    monkeypatch.setenv("HEADSCOPE_FOLDERS", str(copied))
    with pytest.raises(CheckpointError, match=f"{name} is not here"):
        load_checkpoint(adapter, "cpu")
    monkeypatch.setenv("HEADSCOPE_FOLDERS", f"{copied}:{tmp_path}")
    assert pair_of(adapter) == (snapshot, adapter)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "elsewhere"))
    with pytest.raises(CheckpointError, match=f"{name} is not here"):
        load_checkpoint(adapter, "cpu")


@pytest.mark.parametrize("revision", ["v3", "../main", "../../../base", "/etc/passwd", "a b"])
def test_another_revision_in_the_cache_is_no_base(
    revision: str, copied: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache((copied / "base").rename(copied / "x"), tmp_path, "someone/base")
    monkeypatch.delenv("HF_HUB_CACHE", raising=False)
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    file = name_base(copied, "someone/base") / CONFIG
    assert pair_of(copied / "adapter") is not None
    file.write_text(json.dumps(json.loads(file.read_text()) | {"revision": revision}))
    with pytest.raises(CheckpointError, match="is not here"):
        load_checkpoint(copied / "adapter", "cpu")


def test_a_link_beside_it_is_no_base(copied: Path, tmp_path: Path) -> None:
    (copied / "base").rename(tmp_path / "elsewhere")
    (copied / "base").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(CheckpointError, match="base"):
        load_checkpoint(name_base(copied, "base"), "cpu")


def test_the_list_has_both(copied: Path) -> None:
    name_base(copied, "base")
    for file in (copied / "adapter").iterdir():
        shutil.copy(file, copied / "base")
    titles = listed(copied)
    assert list(titles) == ["adapter", "base", "base::base"]
    assert all("LoRA" in titles[name] for name in ("adapter", "base::base"))


def test_the_table_names_families_that_there_are() -> None:
    assert set(TARGETS) <= set(FAMILIES)
