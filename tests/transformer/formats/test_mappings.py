"""Each codebase's checkpoint, opened, computes what its own code computes."""

import json
import os
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import yaml
from torch import Tensor

from tests.transformer.formats import codebases
from tests.transformer.formats.codebases import CASES, TARGETS, Case
from transformer import decode, load_checkpoint, record
from transformer.checkpoint import Checkpoint, CheckpointError
from transformer.formats.opening import describe_checkpoint
from transformer.formats.translate import mappings
from transformer.inspection.circuits import qk
from transformer.inspection.survey import survey
from transformer.vocabulary import source_side

pytestmark = pytest.mark.filterwarnings("ignore:enable_nested_tensor is True:UserWarning")
each = pytest.mark.parametrize("name", CASES)
SOURCE, TARGET = [5, 6, 16, 4, 7], [8, 9, 21, 3]
TEXT = [3, 4, 5, 6, 4, 9, 10]


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Case]:
    """A codebase's model, which is saved once: its folder is read and never written to."""
    return cache(lambda name: CASES[name](tmp_path_factory.mktemp(name)))


@pytest.fixture(autouse=True)
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


def inputs(case: Case, checkpoint: Checkpoint) -> tuple[Tensor, ...]:
    """What a forced pass feeds: [1, T] each."""
    if checkpoint.family.name != "encoder_decoder":
        return (torch.tensor([TEXT]),)
    return torch.tensor([SOURCE]), torch.tensor([[case.bos_id, *TARGET[:-1]]])


def require_equal(case: Case, atol: float = 1e-5) -> Checkpoint:
    """Opened, it gives the reference's logits."""
    checkpoint = load_checkpoint(case.file, "cpu")
    given = inputs(case, checkpoint)
    expected, ours = case.logits(*given), checkpoint.model(*given)
    if checkpoint.about.recipe.startswith(("former", "original")):
        ours = ours.log_softmax(-1)  # it ends in one
    assert float(expected.std()) > 0.1
    torch.testing.assert_close(ours[..., :TARGETS], expected[..., :TARGETS], rtol=0, atol=atol)
    return checkpoint


def test_every_codebase_is_tested() -> None:
    assert set(CASES) <= set(mappings())


@each
def test_it_computes_what_their_code_does(name: str, saved: Callable[[str], Case]) -> None:
    checkpoint = require_equal(saved(name), atol=1e-4 if name == "marian" else 1e-5)
    assert checkpoint.about.title.startswith(mappings()[name].title)
    assert checkpoint.config == describe_checkpoint(checkpoint.path).config
    assert f" of {codebases.HEADS} heads" in checkpoint.about.title


@each
def test_its_attention_is_theirs(name: str, saved: Callable[[str], Case]) -> None:
    case = saved(name)
    checkpoint = load_checkpoint(case.folder, "cpu")  # the folder, this time
    given = inputs(case, checkpoint)
    recording = recorded(checkpoint, given)
    weights = recording.attentions[case.kind].weights(0)
    expected = case.weights(*given)[0]
    torch.testing.assert_close(weights, expected, rtol=0, atol=1e-5)
    torch.testing.assert_close(weights.sum(-1), torch.ones(weights.shape[:2]), rtol=0, atol=1e-5)
    if case.kind == "decoder_self":
        assert not weights.triu(1).any()
    assert weights.std() > 0.01  # far from uniform


def recorded(checkpoint: Checkpoint, given: tuple[Tensor, ...]) -> Any:
    """A recording of just these ids, past the tokenizer."""
    source, target = source_side(checkpoint.tokenizer), checkpoint.tokenizer
    ids = given[0][0].tolist()
    text = source.token(ids[0]).piece  # anything: the ids are put in its place
    replaced = _Given(checkpoint.tokenizer, ids)
    watched = replace(checkpoint, tokenizer=replaced)
    if len(given) == 1:
        return record(watched, text)
    return record(watched, text, [target.token(id) for id in TARGET])


class _Given:
    """A tokenizer that reads one sentence, whatever is typed."""

    def __init__(self, tokenizer: Any, ids: list[int]) -> None:
        self._tokenizer, self._ids = tokenizer, ids

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tokenizer, name)

    def encode(self, text: str, side: str = "source") -> list[int]:
        return self._ids


@each
def test_it_decodes_its_example(name: str, saved: Callable[[str], Case]) -> None:
    checkpoint = load_checkpoint(saved(name).folder, "cpu")
    (example, *_) = checkpoint.about.examples
    if checkpoint.family.decodes:
        decoding = decode(checkpoint, example, method="beam", max_len=5)
        target = decoding.target
        assert 0 < len(target) <= 5
    else:
        target = None
    recording = record(checkpoint, example, target)
    kind, layer, head = checkpoint.about.opens_at
    assert recording.attentions[kind].weights(layer, head).isfinite().all()
    assert recording.positions or recording.rotary
    decoder = recording.attentions.get("decoder_self")
    if decoder is not None and target is not None:
        assert decoder.produced is not None and decoder.produced[-len(target) :] == target


@pytest.mark.parametrize(
    "changes",
    [
        {"scale_emb_or_prj": "emb"},
        {"scale_emb_or_prj": "none"},
        {"embs_share_weight": False, "src_vocab_size": 19},
        {"proj_share_weight": False, "embs_share_weight": False, "src_vocab_size": 19},
    ],
)
def test_jadore_s_scalings_and_ties(changes: dict[str, Any], tmp_path: Path) -> None:
    config = require_equal(codebases.jadore(tmp_path, **changes)).config
    tied = "all" if not {"embs_share_weight", "proj_share_weight"} & set(changes) else "output"
    assert config.tied == ("none" if "proj_share_weight" in changes else tied)
    assert config.source_vocab_size == changes.get("src_vocab_size")


@pytest.mark.parametrize(
    "make",
    [
        lambda folder: codebases.nano_gpt(folder, bias=True),
        lambda folder: codebases.former(folder, wide=True),
        lambda folder: codebases.former(folder, n_classes=3, wide=True),
        lambda folder: codebases.open_nmt(folder, bias=False),
        lambda folder: codebases.open_nmt(folder, shares=True),
        lambda folder: codebases.open_nmt(folder, has_positions=False),
        lambda folder: codebases.tutorial(folder, lengths=(30, 20)),
        lambda folder: codebases.former(folder, wide=True, concatenated=True),
        lambda folder: codebases.former(folder, n_classes=3, wide=True, concatenated=True),
        lambda folder: codebases.joey(folder, norm_order="post"),
        lambda folder: codebases.joey(folder, norm_order="post", has_config=False),
        lambda folder: codebases.joey(folder, has_config=False),
        lambda folder: codebases.scalar(folder, names="others"),
        lambda folder: codebases.llama(folder, n_kv_heads=2),
        lambda folder: codebases.lit_llama(folder, n_query_groups=2, bias=True),
        lambda folder: codebases.lit_llama(folder, attn_bias=True, rope_base=500),  # Qwen 2.5
        lambda folder: codebases.lit(folder, parallel_residual=False, gelu_approximate="tanh"),
    ],
)
def test_variants_of_one_codebase(make: Callable[[Path], Case], tmp_path: Path) -> None:
    require_equal(make(tmp_path))


@pytest.mark.parametrize("n_classes", [0, 3])
@pytest.mark.parametrize("old", [False, True])
def test_former_s_two_scales(n_classes: int, old: bool, tmp_path: Path) -> None:
    """Since May 2024 it divides by the root of a head's size, before by that of all heads."""
    checkpoint = require_equal(codebases.former(tmp_path, n_classes, old=old))
    taken = "scores / √d_model" if old else "scores / √d_head"
    assert checkpoint.about.title.endswith(f"of 2 heads, {taken}")


def test_ties_are_found(tmp_path: Path) -> None:
    codebases.open_nmt(tmp_path, shares=True)
    config = load_checkpoint(tmp_path, "cpu").config
    assert (config.tied, config.output_bias) == ("output", True)
    assert config.source_vocab_size == codebases.SOURCES


def test_each_side_has_positions_of_its_own(tmp_path: Path) -> None:
    """Of two lengths: what lies beyond the shorter one is left out."""
    case = codebases.tutorial(tmp_path, lengths=(30, 20))
    checkpoint = load_checkpoint(tmp_path, "cpu")
    assert checkpoint.config.max_len == 20
    saved = torch.load(case.file, weights_only=True)
    recording = recorded(checkpoint, inputs(case, checkpoint))
    for side, coder in (("source", "encoder"), ("target", "decoder")):
        table = saved[f"{coder}.pos_embedding.weight"][:20]
        assert torch.equal(recording.positions[side].table, table)
        n = len(recording.positions[side].tokens)
        assert torch.equal(recording.positions[side].encodings, table[:n])


def test_marian_never_writes_its_start(tmp_path: Path) -> None:
    codebases.marian_model(tmp_path)
    checkpoint = load_checkpoint(tmp_path, "cpu")
    assert checkpoint.config.bos_id == TARGETS
    logits = checkpoint.model(torch.tensor([[4, 5, 0]]), torch.tensor([[TARGETS, 7]]))
    assert logits.softmax(-1)[..., TARGETS].tolist() == [[0.0, 0.0]]


def test_litgpt_s_older_files_keep_groups_together(tmp_path: Path) -> None:
    case = codebases.lit_llama(tmp_path, n_head=4, n_query_groups=2)
    state = torch.load(case.file, weights_only=True)["model"]
    for layer in range(2):
        joined = state.pop(f"transformer.h.{layer}.attn.qkv.weight").unflatten(0, (8, 4))
        rows = [joined[i] for i in (0, 1, 4, 6, 2, 3, 5, 7)]  # queries, key and value of a group
        state[f"transformer.h.{layer}.attn.attn.weight"] = torch.cat(rows)
    torch.save(state, case.file)
    require_equal(case)


def test_litgpt_beside_the_config_json_that_it_began_with(tmp_path: Path) -> None:
    case = codebases.lit(tmp_path)
    (tmp_path / "config.json").write_text('{"model_type": "gpt_neox"}')
    (tmp_path / "generation_config.json").write_text('{"eos_token_id": 7}')
    assert load_checkpoint(tmp_path, "cpu").config.eos_id == 7
    (tmp_path / "model_config.yaml").unlink()
    with pytest.raises(CheckpointError, match=r"lit_model\.pth needs model_config\.yaml beside it"):
        load_checkpoint(case.file)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"rope_adjustments": {"beta_fast": 8.0}}, "rope_adjustments of beta_fast, which is not"),
        ({"latent_attention": {"q_lora_rank": 8}}, "latent_attention"),
        ({"norm_class_name": "LayerNorm"}, "norm_class_name: LayerNorm .* what opens has RMSNorm"),
        ({"name": "Gemma-2b"}, "is a Gemma"),
        ({"n_query_groups": 5}, "has 2 heads in 5 groups"),
        ({"n_head": 7}, r"attn\.qkv\.weight of \[32, 16\], which is not 7 queries and 1 keys"),
        ({"norm_eps": "small"}, "has norm_eps: 'small', where a number above 0 belongs"),
        ({"rope_base": 0}, "has rope_base: 0, where"),
        ({"n_head": "two"}, "does not say how many heads"),
    ],
)
def test_litgpt_s_models_that_do_not_open(
    options: dict[str, Any], sentence: str, tmp_path: Path
) -> None:
    case = codebases.lit_llama(tmp_path)
    settings = tmp_path / "model_config.yaml"
    settings.write_text(yaml.safe_dump(yaml.safe_load(settings.read_text()) | options))
    with pytest.raises(CheckpointError, match=rf"lit_model\.pth .*{sentence}"):
        load_checkpoint(case.file)


@pytest.mark.parametrize(
    ("side", "change", "sentence"),
    [
        ("encoder", {"num_heads": 4}, "has num_heads 4 in its encoder and 2 in its decoder"),
        ("decoder", {"layer_norm": "post"}, "has layer_norm pre in its encoder and post"),
        ("both", {"alpha": 0.5}, "an alpha other than 1"),
        ("both", {"activation": "relu6"}, "activation must be one of"),
    ],
)
def test_joeynmt_s_models_that_do_not_open(
    side: str, change: dict[str, Any], sentence: str, tmp_path: Path
) -> None:
    case = codebases.joey(tmp_path)
    file = tmp_path / "config.yaml"
    settings = yaml.safe_load(file.read_text())
    for name in ("encoder", "decoder"):
        if side in (name, "both"):
            settings["model"][name] |= change
    file.write_text(yaml.safe_dump(settings))
    with pytest.raises(CheckpointError, match=rf"best\.ckpt .*{sentence}"):
        load_checkpoint(case.file)


def test_joeynmt_without_scaled_embeddings(tmp_path: Path) -> None:
    case = codebases.joey(tmp_path)
    text = (tmp_path / "config.yaml").read_text().replace("scale: true", "scale: false")
    (tmp_path / "config.yaml").write_text(text)
    checkpoint = load_checkpoint(case.file, "cpu")
    assert not checkpoint.config.scaled_embeddings
    assert checkpoint.about.title.endswith("embeddings not scaled")


def test_files_from_before_torch_1_6_have_no_suffix_either(tmp_path: Path) -> None:
    case = codebases.evans(tmp_path)
    state = torch.load(case.file, weights_only=True)
    torch.save(state, case.file, _use_new_zipfile_serialization=False)
    require_equal(case)
    case.file.write_bytes(b"A story")
    with pytest.raises(CheckpointError, match="model_weights is not a checkpoint"):
        load_checkpoint(case.file)


def test_what_the_library_s_classes_lack_is_named_as_its_code_has_it(tmp_path: Path) -> None:
    case = codebases.llama(tmp_path)
    saved = torch.load(case.file, weights_only=True)
    del saved["model"]["layers.1.ffn_norm.weight"]
    saved["model"]["layers.0.bias"] = torch.zeros(3)
    torch.save(saved, case.file)
    sentence = r"unexpected tensors: layers\.0\.bias, and is missing .*layers\.1\.ffn_norm\.weight"
    with pytest.raises(CheckpointError, match=sentence):
        load_checkpoint(case.file)


def test_a_story_of_llama2_c_begins_and_ends_with_its_start(tmp_path: Path) -> None:
    codebases.llama(tmp_path)
    pieces = ["<unk>", "<s>", "</s>", *(f"w{i}" for i in range(TARGETS - 3))]
    (tmp_path / "vocab.txt").write_text("\n".join(pieces))
    checkpoint = load_checkpoint(tmp_path, "cpu")
    assert checkpoint.tokenizer.encode("w4 w5", "prompt") == [1, 7, 8]
    assert checkpoint.config.eos_id == 1


def npz(file: Path, **changes: Any) -> None:
    """Replace arrays of a Marian model, or (None) leave them out."""
    with np.load(file) as arrays:
        kept = {name: arrays[name] for name in arrays.files} | changes
    np.savez(file, **{name: array for name, array in kept.items() if array is not None})


def test_marian_with_embeddings_apart(tmp_path: Path) -> None:
    case = codebases.marian_model(tmp_path)
    with np.load(case.file) as arrays:
        shared = arrays["Wemb"]
    apart = {"encoder_Wemb": shared, "decoder_Wemb": shared, "decoder_ff_logit_out_W": shared.T}
    npz(case.file, Wemb=None, **apart)
    config = require_equal(case, atol=1e-4).config
    assert (config.source_vocab_size, config.vocab_size) == (TARGETS, TARGETS + 1)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"decoder_ff_logit_out_b": None}, "is missing tensors: decoder_ff_logit_out_b."),
        ({"decoder_l2_context_Wq": None}, "is missing tensors: decoder_l2_context_Wq."),
        ({"encoder_l1_self_Wt": np.zeros((2, 2))}, "unexpected tensors: encoder_l1_self_Wt."),
        (
            {"special:model.yml": np.frombuffer(b"transformer-postprocess: da", np.int8)},
            "is a Marian model with transformer-postprocess: da, which is not known here; .* dan",
        ),
        (
            {"special:model.yml": np.frombuffer(b"transformer-heads: 5", np.int8)},
            "describes no model: d_model .16. must be a multiple of n_heads .5.",
        ),
    ],
)
def test_marian_models_that_do_not_open(
    changes: dict[str, Any], sentence: str, tmp_path: Path
) -> None:
    npz(codebases.marian_model(tmp_path).file, **changes)
    with pytest.raises(CheckpointError, match=rf"model\.npz .*{sentence}"):
        load_checkpoint(tmp_path)


def test_the_saved_sinusoids_are_the_ones_used(tmp_path: Path) -> None:
    codebases.torch_transformer(tmp_path)
    saved = torch.load(tmp_path / "transformer.pth", weights_only=True)
    table = load_checkpoint(tmp_path, "cpu").model.get_submodule("positions").table
    assert torch.equal(table, saved["positional_encoding.pos_embedding"][:, 0])


def change(file: Path, **tensors: Tensor | None) -> None:
    """Add, replace or (None) take away tensors of a plain state dict."""
    state = torch.load(file, weights_only=True) | tensors
    torch.save({name: tensor for name, tensor in state.items() if tensor is not None}, file)


NORM = "encoder.layers.1.sublayer.0.norm.a_2"


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"decoder.extra": torch.zeros(2)}, "has unexpected tensors: decoder.extra."),
        ({NORM: None}, f"is missing tensors: {NORM}."),
        ({NORM: torch.zeros(3)}, rf"has {NORM} of \[3\], where the others ask for \[16\]"),
        ({NORM: torch.full((16,), torch.nan)}, f"holds NaN or infinite values in {NORM}."),
        ({NORM: torch.zeros(16, dtype=torch.int64)}, f"has {NORM} of type int64: no weights."),
        ({NORM: torch.zeros(16).to(torch.float8_e4m3fn)}, f"has {NORM} of type float8_e4m3fn: no"),
        ({"src_embed.1.pe": torch.zeros(1, 9, 16)}, "has different tables of positions"),
        ({"generator.proj.weight": None}, "is missing tensors: generator.proj.weight."),
        ({"tgt_embed.0.lut.weight": None}, "has no tensor tgt_embed.0.lut.weight, which says how"),
        ({"encoder.layers.7.x": torch.zeros(2)}, r"encoder\.layers\.7\.x, and is missing tensors"),
    ],
)
def test_what_does_not_map_is_named(
    changes: dict[str, Tensor | None], sentence: str, tmp_path: Path
) -> None:
    case = codebases.annotated(tmp_path)
    change(case.file, **changes)
    with pytest.raises(
        CheckpointError, match=rf"^{tmp_path.name}: multi30k_model_final\.pt .*{sentence}"
    ):
        load_checkpoint(case.file)


@each
def test_heads_are_asked_for_where_nothing_tells(name: str, tmp_path: Path) -> None:
    case = CASES[name](tmp_path)
    if not (tmp_path / "headscope.json").exists():
        return  # the file itself says
    (tmp_path / "headscope.json").unlink()
    with pytest.raises(
        CheckpointError, match=r'write {"n_heads": 8}, .* into a file headscope.json'
    ):
        load_checkpoint(case.file)


def test_a_sidecar_that_is_no_small_file(tmp_path: Path) -> None:
    case = CASES["annotated"](tmp_path)
    sidecar = tmp_path / "headscope.json"
    sidecar.unlink(missing_ok=True)
    os.mkfifo(sidecar)
    with pytest.raises(CheckpointError, match=r'write {"n_heads": 8}'):  # not waited for
        load_checkpoint(case.file)
    sidecar.unlink()
    sidecar.touch()
    os.truncate(sidecar, 2**33)
    with pytest.raises(CheckpointError, match=r"headscope\.json is too large"):
        load_checkpoint(case.file)


def test_a_model_that_is_not_known(tmp_path: Path) -> None:
    torch.save({"conv1.weight": torch.zeros(3, 3)}, tmp_path / "resnet.pth")
    with pytest.raises(
        CheckpointError, match=r"such as conv1\.weight: docs/formats\.md lists .* record\(module, "
    ):
        load_checkpoint(tmp_path / "resnet.pth")


def test_names_that_others_share_do_not_make_it_nano_gpt(tmp_path: Path) -> None:
    """lit-llama's attention is called as nanoGPT's, and litgpt's embedding."""
    names = "wte.weight", "ln_f.scale", "h.0.rms_1.scale", "h.0.attn.c_attn.weight"
    torch.save({f"transformer.{name}": torch.zeros(2, 2) for name in names}, tmp_path / "lit.pth")
    with pytest.raises(CheckpointError, match="of a model that is not known here"):
        load_checkpoint(tmp_path / "lit.pth")


def test_weights_without_an_ending_that_torch_did_not_save(tmp_path: Path) -> None:
    (tmp_path / "weights").write_bytes(b"\x08\0\0\0\0\0\0\0{}      ")
    with pytest.raises(
        CheckpointError, match=r"^weights is not a .* end in \.safetensors or \.npz"
    ):
        load_checkpoint(tmp_path / "weights")


def test_a_folder_with_several(tmp_path: Path) -> None:
    codebases.annotated(tmp_path)
    torch.save({}, tmp_path / "other.pt")
    with pytest.raises(
        CheckpointError, match=r"holds 2 files of weights \(multi30k.*, other\.pt\)"
    ):
        load_checkpoint(tmp_path)


def test_circuits_are_those_of_their_weights(tmp_path: Path) -> None:
    """q.k as pbloem/former scales it, from the file as it is."""
    codebases.former(tmp_path)
    heads = survey(tmp_path).heads
    head, ends = heads.layer("decoder_self", 1)[1], heads.ends("decoder_self")
    theirs = torch.load(tmp_path / "former.pt", weights_only=True)
    query, key = (theirs[f"tblocks.1.attention.{n}.weight"][8:] for n in ("toqueries", "tokeys"))
    embedded = theirs["token_embedding.weight"][[3, 7]]
    expected = (embedded @ query.T) @ (embedded @ key.T).T / 8**0.5
    torch.testing.assert_close(qk(head, ends, [3, 7]).float(), expected)


@each
def test_what_a_file_holds_fits_what_it_is_taken_for(
    name: str, saved: Callable[[str], Case]
) -> None:
    folder = saved(name).folder
    found = survey(folder)
    problems = [each.problem for each in found.findings]
    assert not [said for said in problems if said.startswith(("missing", "unexpected", "is "))]
    opened = load_checkpoint(folder, "cpu")
    assert found.n_parameters == sum(p.numel() for p in opened.model.parameters())


def test_a_configuration_of_its_own_code_says_the_heads(tmp_path: Path) -> None:
    """Beside weights that are not called as ours, where it names no model of the library's."""
    case = codebases.nano_gpt(tmp_path)
    saved = torch.load(case.file, weights_only=True)
    torch.save(saved["model"], case.file)
    with pytest.raises(CheckpointError, match="n_heads"):
        load_checkpoint(tmp_path, "cpu")
    (tmp_path / "config.json").write_text(json.dumps(saved["model_args"]))
    assert load_checkpoint(tmp_path, "cpu").config.n_heads == saved["model_args"]["n_head"]
    (tmp_path / "config.json").write_text('{"model": {}}')
    with pytest.raises(CheckpointError, match=r"config\.json"):
        load_checkpoint(tmp_path, "cpu")
