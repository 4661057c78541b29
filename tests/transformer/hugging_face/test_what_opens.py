"""A folder opens as what it is, in every family: by its tensors, and what is left over is named."""

import json
import re
import shutil
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from tests.representatives import cases
from tests.transformer.hugging_face.saving import generated, saver
from tests.transformer.watch import more_families
from tests.transformer.watch.family import decoder
from tests.transformer.watch.hugging_face import FAMILIES, FEW, SMALL, build
from tests.transformer.watch.models_table import cells, open_and_run
from transformer import CheckpointError, InputError, decode, load_checkpoint, record
from transformer.files.tensors import MODULE, WRAPPERS
from transformer.formats.opening import describe_checkpoint
from transformer.hugging_face import choice
from transformer.hugging_face.kinds import READS_BOTH_WAYS
from transformer.hugging_face.skeleton import Skeleton

WHOLE, CONFIG = "model.safetensors", "config.json"
IDS = "5 9 12 33 7"
ROWS = cells()
VARIED = ("BART", "GPT-2", "Llama", "BERT", "T5", "Mixtral")
"""Families whose folders are damaged or written in every way."""
FOLDERS = {
    "an encoder and a decoder that share embeddings": "BART",
    "parts of another name, and a head of the embeddings": "GPT-2",
    "a head of its own": "Llama",
    "reads both ways": "BERT",
    "a bias within a layer": "T5",
    "experts, several in a tensor": "Mixtral",
    "a configuration for each side": "T5Gemma",
    "no attention": "FNet",
}
"""What differs in a folder's tensors and settings -> the family that shows it."""
ONE_OR_ALL = [*((it, "one way") for it in FAMILIES), *((it, "all ways") for it in VARIED)]
FEW_OF_BOTH = {it: (it, "one way") for it in FOLDERS.values()} | {"ways": ("GPT-2", "all ways")}


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Where a family's small model is saved; each once."""
    return saver(build, tmp_path_factory)


@pytest.fixture
def copied(saved: Callable[[str], Path], tmp_path: Path) -> Callable[[str], Path]:
    """A copy that a test may change."""
    return lambda family: Path(shutil.copytree(saved(family), tmp_path / "model"))


def change(folder: Path, file: str = CONFIG, **values: Any) -> None:
    """Of None, the setting is taken away."""
    path = folder / file
    known = json.loads(path.read_text()) if path.is_file() else {}
    known |= values
    path.write_text(json.dumps({name: value for name, value in known.items() if value is not None}))


def change_tensors(folder: Path, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    save_file(change(load_file(folder / WHOLE)), folder / WHOLE, {"format": "pt"})


@pytest.fixture
def built_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a test that changes nothing but names of classes: what each of them asks for stays."""
    build = choice.build_skeleton
    built: dict[Any, Skeleton] = {}

    def once(path: Path, cls: Any, config: Any, stored: Any) -> Skeleton:
        if cls not in built:
            built[cls] = build(path, cls, config, stored)
        return built[cls]

    monkeypatch.setattr(choice, "build_skeleton", once)


@pytest.mark.usefixtures("built_once")
@pytest.mark.parametrize("family", cases(FAMILIES, FOLDERS))
def test_the_class_that_was_saved_opens_whatever_the_folder_calls_it(
    family: str, copied: Callable[[str], Path]
) -> None:
    name = FAMILIES[family][0]
    folder = copied(family)
    usual = describe_checkpoint(folder)
    # Sizes that all families of the table are given, and some have other names for; and a usual end
    # token of theirs, beyond these small vocabularies.
    expected = ("has no such setting", "of a vocabulary larger than this")
    assert all(any(each in note for each in expected) for note in usual.about.notes)
    for said in ([f"My{name}"], ["Foo", f"Our{name}"], None, [], 5):
        change(folder, architectures=said)
        known = describe_checkpoint(folder)
        assert known.config.architecture == name and known.family is usual.family  # type: ignore[attr-defined]
        assert name in known.about.notes[0]
    change(folder, architectures=["Foo", name])
    assert describe_checkpoint(folder).about == usual.about


@pytest.mark.parametrize("family", cases(FAMILIES, FOLDERS))
def test_a_class_without_a_head_is_opened_with_the_one_that_is_there(
    family: str, copied: Callable[[str], Path]
) -> None:
    import transformers

    name, of_config, _ = FAMILIES[family]
    base = transformers.models.auto.modeling_auto.MODEL_MAPPING[getattr(transformers, of_config)]
    folder = copied(family)
    change(folder, architectures=[base.__name__])
    known = describe_checkpoint(folder)
    assert known.config.architecture == name and base.__name__ in known.about.notes[0]  # type: ignore[attr-defined]


@pytest.mark.parametrize("family", cases(FAMILIES, FOLDERS))
def test_it_writes_as_the_library_says_and_no_hidden_states(
    family: str, saved: Callable[[str], Path]
) -> None:
    """Without its head, a decoder reads; with it, it writes over the vocabulary."""
    import transformers

    name, of_config, _ = FAMILIES[family]
    config = getattr(transformers, of_config)
    mapping = transformers.models.auto.modeling_auto
    written = (mapping.MODEL_FOR_CAUSAL_LM_MAPPING, mapping.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING)
    is_writer = any(getattr(transformers, name) is each.get(config, None) for each in written)
    known = describe_checkpoint(saved(family))
    both_ways = config.model_type in READS_BOTH_WAYS
    assert known.family.decodes == (is_writer and not both_ways)


@pytest.mark.parametrize("family", ["BART", "T5", "Marian", "GPT-2", "Llama", "BERT"])
def test_a_model_that_was_saved_without_a_head(family: str, tmp_path: Path) -> None:
    import transformers

    _, of_config, values = FAMILIES[family]
    config = getattr(transformers, of_config)(**values)
    base = transformers.models.auto.modeling_auto.MODEL_MAPPING[type(config)]
    base._from_config(config).save_pretrained(tmp_path)
    opened = load_checkpoint(tmp_path, "cpu")
    if config.is_encoder_decoder:  # its output is the matrix of its embeddings: BART's on the hub
        head = FAMILIES[family][0]
        whole = getattr(transformers, head).from_pretrained(tmp_path).eval()
        ids = torch.tensor([[int(id) for id in IDS.split()]])
        logits = record(opened, IDS, decode(opened, IDS, max_len=3).target).logits
        assert head in opened.about.notes[0] and logits.size(1) == 50
        start = torch.tensor([list(opened.config.start_ids)])  # type: ignore[attr-defined]
        expected = whole(input_ids=ids, decoder_input_ids=start).logits[0, 0]
        torch.testing.assert_close(logits[0], expected, rtol=0, atol=1e-5)
    else:
        assert not opened.family.decodes and record(opened, IDS).attentions


@pytest.mark.parametrize("family", ["BART", "T5"])
def test_an_encoder_decoder_that_writes_nothing_is_recorded(family: str, tmp_path: Path) -> None:
    import transformers

    _, of_config, values = FAMILIES[family]
    config = getattr(transformers, of_config)(**values)
    for kind in (f"{of_config.removesuffix('Config')}ForQuestionAnswering", "untied"):
        folder = tmp_path / kind
        if kind == "untied":
            config.tie_word_embeddings = False
            cls = transformers.models.auto.modeling_auto.MODEL_MAPPING[type(config)]
        else:
            cls = getattr(transformers, kind)
        cls._from_config(config).save_pretrained(folder)
        opened = load_checkpoint(folder, "cpu")
        if not opened.family.decodes:
            assert set(record(opened, IDS).attentions) == {"encoder_self", "decoder_self", "cross"}
            with pytest.raises(InputError, match="writes nothing"):
                decode(opened, IDS)


def test_numbers_of_another_width_are_no_logits(saved: Callable[[str], Path]) -> None:
    opened = load_checkpoint(saved("GPT-2"), "cpu")
    inner: Any = opened.model.get_submodule("inner")
    inner.lm_head = torch.nn.Identity()
    with pytest.raises(InputError, match="16 numbers for each token"):
        decode(opened, IDS)


@pytest.mark.parametrize("family", cases(FAMILIES, FOLDERS))
def test_what_no_part_takes_is_named(family: str, copied: Callable[[str], Path]) -> None:
    folder = copied(family)
    extra = {"score_head.weight": torch.ones(3, 16), "steering": torch.ones(16)}
    change_tensors(folder, lambda tensors: tensors | extra)
    change(folder, final_softcapping_of_mine=3.0)
    (folder / "modules.json").write_text("[]")
    (folder / "adapter_config.json").write_text("{}")
    save_file(extra, folder / "value_head.safetensors")
    said = " ".join(describe_checkpoint(folder).about.notes)
    for name in (*extra, "final_softcapping_of_mine", "modules.json", "adapter_config.json"):
        assert name in said
    assert "value_head.safetensors" in said


TWO_NAMES = {
    **{
        "GPT-2": ("n_head", "num_attention_heads", 2),
        "BLOOM": ("n_head", "num_attention_heads", 2),
    },
    **{
        "GPT-Neo": ("num_heads", "num_attention_heads", 2),
        "MPT": ("n_heads", "num_attention_heads", 2),
    },
}


@pytest.mark.parametrize("family", TWO_NAMES)
def test_a_setting_with_two_values_is_named(family: str, copied: Callable[[str], Path]) -> None:
    """No shape tells how many heads there are: the maps would be others in silence."""
    own, other, value = TWO_NAMES[family]
    folder = copied(family)
    usual = json.loads((folder / CONFIG).read_text())[own]
    change(folder, **{other: usual})
    assert own not in " ".join(describe_checkpoint(folder).about.notes)
    change(folder, **{other: value})
    opened = load_checkpoint(folder, "cpu")
    used = getattr(opened.model.get_submodule("inner").config, own)
    said = f"{own} {usual} and {other} {value}, which are one setting: {used} is used"
    assert said in " ".join(opened.about.notes)


SCALES = ("weight_scale", "weight_scale_inv", "input_scale", "SCB", "weight.absmax", "qzeros")


@pytest.mark.parametrize(("family", "ways"), cases(ONE_OR_ALL, FEW_OF_BOTH))
def test_weights_in_few_bits_are_refused_by_name(
    family: str, ways: str, copied: Callable[[str], Path]
) -> None:
    folder = copied(family)
    tensors = load_file(folder / WHOLE)
    name = next(name for name in tensors if name.endswith(".weight") and tensors[name].dim() == 2)
    dtypes = (torch.float8_e4m3fn, torch.int8, torch.uint8, torch.float8_e5m2, torch.int32)
    for dtype in dtypes if ways == "all ways" else dtypes[:1]:
        change_tensors(folder, lambda _, dtype=dtype: tensors | {name: tensors[name].to(dtype)})
        refused(folder, f"quantised, and nothing says how: {name}")
    change(folder, quantization_config={"quant_method": "modelopt"})
    refused(folder, f"quantised by modelopt: {name}")
    change(folder, quantization_config=None)
    for scale in SCALES if ways == "all ways" else SCALES[:1]:
        beside = name.removesuffix("weight") + scale
        change_tensors(folder, lambda _, beside=beside: tensors | {beside: torch.ones(1)})
        refused(folder, beside)
    change(folder, quantization_config={"load_in_8bit": True})
    change_tensors(folder, lambda _: tensors)
    assert "bitsandbytes" in " ".join(load_checkpoint(folder, "cpu").about.notes)


OF_ADAPTERS = ("lora_A", "lora_A.default.weight", "lora_embedding_A", "ia3_l")
ADAPTED = {it: ("GPT-2", it) for it in OF_ADAPTERS} | {it: (it, "lora_A") for it in VARIED}


@pytest.mark.parametrize(("family", "part"), cases(product(VARIED, OF_ADAPTERS), ADAPTED))
def test_what_belongs_to_an_adapter_is_refused_by_name(
    family: str, part: str, copied: Callable[[str], Path]
) -> None:
    folder = copied(family)
    place = next(name for name in load_file(folder / WHOLE) if "weight" in name).rpartition(".")[0]
    change_tensors(folder, lambda tensors: tensors | {f"{place}.{part}": torch.ones(2, 16)})
    refused(folder, f"{place}.{part} is of an adapter")
    change_tensors(
        folder, lambda tensors: {f"base_model.model.{name}": t for name, t in tensors.items()}
    )
    refused(folder, "of an adapter")


@pytest.mark.parametrize("family", VARIED)
def test_a_bias_that_a_matrix_has_not_is_refused_unless_it_is_0(
    family: str, copied: Callable[[str], Path]
) -> None:
    folder = copied(family)
    model: Any = build(family)
    place = next(
        name
        for name, module in model.named_modules()
        if isinstance(module, torch.nn.Embedding) and "shared" not in name
    )
    change_tensors(folder, lambda tensors: tensors | {f"{place}.bias": torch.zeros(16)})
    assert f"{place}.bias" in describe_checkpoint(folder).about.notes[0]
    change_tensors(folder, lambda tensors: tensors | {f"{place}.bias": torch.ones(16)})
    refused(folder, f"{place}.bias belongs to a part")


@pytest.mark.parametrize("family", cases(FAMILIES, FOLDERS))
def test_a_part_of_a_layer_that_its_class_has_not_is_refused(
    family: str, copied: Callable[[str], Path]
) -> None:
    """Qwen's norms of queries in a folder that says Llama, T5's bias in one that says BERT."""
    folder = copied(family)
    names = [re.match(r"(.*?\.\d+)\.", name) for name in load_file(folder / WHOLE)]
    layer = next(match[1] for match in names if match)
    masks = {f"{layer}.rotary_emb.inv_freq": torch.ones(4), f"{layer}.bias": torch.ones(1, 1, 8, 8)}
    change_tensors(folder, lambda tensors: tensors | masks)
    assert len(describe_checkpoint(folder).about.notes) < 3
    change_tensors(folder, lambda tensors: tensors | {f"{layer}.q_norm.weight": torch.ones(4)})
    refused(folder, f"{layer}.q_norm.weight belongs to a part")


@pytest.mark.parametrize(
    ("family", "named"),
    [
        ("Llama", "MistralForCausalLM"),
        ("Llama", "GPT2LMHeadModel"),
        ("Mistral", "LlamaForCausalLM"),
    ],
)
def test_a_class_of_another_type_yields_to_one_that_fits(
    family: str, named: str, copied: Callable[[str], Path]
) -> None:
    folder = copied(family)
    usual = record(load_checkpoint(folder, "cpu"), IDS).attentions["decoder_self"]
    change(folder, architectures=[named])
    opened = load_checkpoint(folder, "cpu")
    assert named in opened.about.notes[0] and FAMILIES[family][0] in opened.about.title
    same = record(opened, IDS).attentions["decoder_self"]
    assert all(torch.equal(usual.weights(layer), same.weights(layer)) for layer in range(2))


NAMES = ("Roberta", "Camembert", "XLMRoberta", "XLMRobertaXL", "Data2VecText", "Xmod")
LOOKS_BACK = {**SMALL, "is_decoder": True, "eos_token_id": None}
LOOKS_BACK |= {"languages": ["en"], "default_language": "en"}  # X-MOD's
OF_ROBERTA = {name: decoder(name, LOOKS_BACK) for name in (*NAMES, "RobertaPreLayerNorm")}
"""By themselves they count positions from padding_idx + 1; `generate` has them from 0."""


@pytest.mark.parametrize("family", OF_ROBERTA)
def test_decoders_of_roberta_s_kind_write_and_record_what_generate_writes(
    family: str, tmp_path: Path
) -> None:
    model = OF_ROBERTA[family].build()
    model.save_pretrained(tmp_path)
    opened = load_checkpoint(tmp_path, "cpu")
    decoding = decode(opened, IDS, "greedy", max_len=6)
    ids = [int(id) for id in IDS.split()]
    assert [token.id for token in decoding.target] == generated(model, ids, 6)
    recorded = record(opened, IDS, decoding.target).logits.log_softmax(-1)[-6:]
    torch.testing.assert_close(recorded, decoding.hypotheses[0].log_probs, rtol=0, atol=1e-4)


DOCUMENTED = {
    **FEW,
    **{f"{what} (of more)": family for what, family in more_families.FEW.items()},
    **{"matrices in groups": "CodeGen", "one matrix in groups of heads": "Falcon"},
}


@pytest.mark.parametrize("family", cases(ROWS, DOCUMENTED))
def test_the_document_says_what_comes_of_its_folder(family: str, tmp_path: Path) -> None:
    """A model that sees later tokens, or keeps other keys than it computes, has two answers."""
    came = open_and_run(family, tmp_path)
    assert came.cell == ROWS[family][0]
    if came.recording is None or came.decoding is None:
        return
    steps = came.decoding.hypotheses[0].log_probs
    same = torch.allclose(came.recording.logits.log_softmax(-1)[-len(steps) :], steps, atol=1e-4)
    assert same != (family == "ProphetNet")  # of the library: its rows depend on how many there are


PREFIXES = [*WRAPPERS, MODULE, "net", "model._orig_mod", "module.module"]


@pytest.mark.parametrize(("family", "ways"), cases(ONE_OR_ALL, FEW_OF_BOTH))
def test_wrapped_weights_are_the_same(
    family: str, ways: str, copied: Callable[[str], Path]
) -> None:
    folder = copied(family)
    usual = describe_checkpoint(folder)
    tensors = load_file(folder / WHOLE)
    for prefix in PREFIXES if ways == "all ways" else PREFIXES[-3:]:
        wrapped = {f"{prefix}.{name}": tensor for name, tensor in tensors.items()}
        save_file(wrapped, folder / WHOLE)
        assert describe_checkpoint(folder) == usual


def test_wrapped_weights_run_as_the_others(copied: Callable[[str], Path]) -> None:
    folder = copied("GPT-2")
    usual = decode(load_checkpoint(folder, "cpu"), IDS, max_len=4).hypotheses[0].log_probs
    change_tensors(
        folder,
        lambda tensors: {
            f"module.{name.replace('h.1.', 'h.1._orig_mod.')}": t for name, t in tensors.items()
        },
    )
    same = decode(load_checkpoint(folder, "cpu"), IDS, max_len=4).hypotheses[0].log_probs
    assert torch.equal(usual, same)


def test_an_adapter_beside_a_base_is_not_applied_whoever_is_installed(
    copied: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The library looks for one in a folder that it is given: it is given none."""
    import transformers

    folder = copied("GPT-2")
    (folder / "adapter_config.json").write_text(json.dumps({"peft_type": "LORA", "r": 400_000}))
    given: list[Any] = []
    cls = transformers.GPT2LMHeadModel
    usual = cls.from_pretrained.__func__
    monkeypatch.setattr(
        cls,
        "from_pretrained",
        classmethod(lambda cls, path, **named: given.append(path) or usual(cls, path, **named)),
    )
    assert "not applied" in load_checkpoint(folder, "cpu").about.notes[0] and given == [None]


def test_heads_that_were_pruned_are_named(copied: Callable[[str], Path]) -> None:
    folder = copied("BERT")
    change(folder, pruned_heads={"0": [1]})
    place = "bert.encoder.layer.0.attention.self.query.weight"
    change_tensors(folder, lambda tensors: tensors | {place: tensors[place][:12].clone()})
    refused(folder, "pruned_heads")


def refused(folder: Path, sentence: str) -> None:
    for act in (describe_checkpoint, lambda folder: load_checkpoint(folder, "cpu")):
        with pytest.raises(CheckpointError) as caught:
            act(folder)
        assert sentence in str(caught.value) and len(str(caught.value)) < 500
