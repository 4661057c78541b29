"""Hugging Face folders open, run, decode and are recorded; what is wrong with one is a sentence."""

import json
import os
import shutil
import zipfile
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from tests.representatives import cases, part
from tests.transformer.watch.hugging_face import FAMILIES, FEW, build
from transformer import Checkpoint, CheckpointError, InputError, decode, load_checkpoint, record

IDS = "5 9 12 33 7 7 41"
OPENS = [
    name
    for name in FAMILIES
    if name not in ("LongT5", "Longformer", "FNet", "Mamba")  # no attention to see
]


@pytest.fixture(scope="module")
def folder_of(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Where a family's small model is saved; each once."""
    saved: dict[str, Path] = {}

    def folder(family: str) -> Path:
        if family not in saved:
            saved[family] = tmp_path_factory.mktemp("hub") / family
            model: Any = build(family)
            model.save_pretrained(saved[family])
        return saved[family]

    return folder


def eager_weights(checkpoint: Checkpoint, recording: Any) -> dict[str, list[torch.Tensor]]:
    """What the library itself says of the same pass, with eager attention."""
    named = {"input_ids": torch.tensor([[token.id for token in recording.source]])}
    inner: Any = checkpoint.model
    if "cross" in recording.attentions:
        rows = recording.attentions["cross"].queries
        named["decoder_input_ids"] = torch.tensor([[token.id for token in rows]])
    else:
        (attention,) = recording.attentions.values()
        named["input_ids"] = torch.tensor([[token.id for token in attention.queries]])
    model = type(inner.inner).from_pretrained(checkpoint.path, attn_implementation="eager").eval()
    with torch.no_grad():
        out = model(**named, output_attentions=True)
    names = {"encoder_self": "encoder_attentions", "decoder_self": "decoder_attentions"}
    return {
        kind: [
            each[0]
            for each in out.get({**names, "cross": "cross_attentions"}[kind]) or out.attentions
        ]
        for kind in recording.attentions
    }


@pytest.mark.parametrize("family", part(OPENS, FEW))
def test_it_opens_and_is_recorded_as_the_library_says(folder_of: Any, family: str) -> None:
    checkpoint = load_checkpoint(folder_of(family), "cpu")
    target = None
    if checkpoint.family.decodes:
        decoding = decode(checkpoint, IDS, "greedy", max_len=6)
        target = decoding.target
    recording = record(checkpoint, IDS, target)
    assert set(recording.attentions) == set(checkpoint.family.attentions)
    wanted = eager_weights(checkpoint, recording)
    for kind, layers in wanted.items():
        attention = recording.attentions[kind]
        assert attention.n_layers == len(layers)
        for layer, weights in enumerate(layers):
            is_read = attention.allowed(layer).any(-1)
            difference = (attention.weights(layer) - weights)[is_read].abs().max()
            assert float(difference) < 1e-5


WRITE = ("Marian", "T5", "M2M100", "GPT-2", "Llama", "Gemma-2", "BLOOM")
STEPS = {
    **{f"{family}, one by one": (family, "greedy") for family in WRITE},
    **{f"{it} of a source": ("Marian", it) for it in ("beam", "sample")},
    **{f"{it} behind a text": ("Llama", it) for it in ("beam", "sample")},
}


@pytest.mark.parametrize(
    ("family", "method"), cases(product(WRITE, ("greedy", "beam", "sample")), STEPS)
)
def test_steps_are_those_of_the_forced_pass(folder_of: Any, family: str, method: str) -> None:
    checkpoint = load_checkpoint(folder_of(family), "cpu")
    decoding = decode(checkpoint, IDS, method, max_len=6)
    forced = decode(checkpoint, IDS, "forced", target=decoding.target)
    assert torch.allclose(
        decoding.hypotheses[0].log_probs, forced.hypotheses[0].log_probs, atol=1e-4
    )
    logits = record(checkpoint, IDS, decoding.target).logits
    assert torch.allclose(logits.log_softmax(-1), forced.hypotheses[0].log_probs, atol=1e-4)


def test_each_row_is_named_after_the_token_that_it_produced(folder_of: Any) -> None:
    checkpoint = load_checkpoint(folder_of("Marian"), "cpu")
    decoding = decode(checkpoint, IDS, max_len=5)
    cross = record(checkpoint, IDS, decoding.target).attentions["cross"]
    assert cross.queries[0].id == 2 and cross.queries[1:] == decoding.target[:-1]
    assert cross.produced == decoding.target


@pytest.fixture
def bert(folder_of: Any, tmp_path: Path) -> Path:
    """A masked model with a WordPiece vocabulary."""
    from transformers import BertTokenizer

    words = "[PAD] [UNK] [CLS] [SEP] [MASK] the cat sat on mat un ##happ ##y ."
    folder = tmp_path / "bert"
    model: Any = build("BERT")
    model.save_pretrained(folder)
    BertTokenizer(vocab={word: i for i, word in enumerate(words.split())}).save_pretrained(folder)
    return folder


def test_a_masked_model_says_what_it_would_put_there(bert: Path) -> None:
    checkpoint = load_checkpoint(bert, "cpu")
    recording = record(checkpoint, "The unhappy cat sat on the [MASK].")
    pieces = [token.piece for token in recording.source]
    assert pieces[:5] == ["[CLS]", "the", "un", "##happ", "##y"]
    assert [token.special for token in recording.source][:2] == [True, False]
    (masked,) = recording.masked
    assert pieces[masked.position] == "[MASK]"
    probs = recording.logits[masked.position].softmax(-1)
    assert masked.candidates[0].prob == pytest.approx(float(probs.max()), abs=1e-6)
    total = sum(candidate.prob for candidate in masked.candidates) + masked.rest
    assert total == pytest.approx(1)
    assert "[MASK]" in checkpoint.about.examples[0]


def test_words_follow_the_marks_of_the_tokenizer(bert: Path) -> None:
    from transformer.words import word_groups, word_piece

    source = record(load_checkpoint(bert, "cpu"), "The unhappy cat.").source
    groups = word_groups(source)
    assert [word_piece([source[i] for i in group]) for group in groups] == [
        *("[CLS]", "the", "unhappy", "cat", ".", "[SEP]")
    ]


def test_pieces_of_bytes_are_written_as_text(folder_of: Any, tmp_path: Path) -> None:
    from tokenizers import ByteLevelBPETokenizer
    from transformers import PreTrainedTokenizerFast

    from transformer.words import word_groups

    inner = ByteLevelBPETokenizer()
    texts = ["the cat sat on the mat", "## a title"] * 3
    inner.train_from_iterator(texts, vocab_size=300, show_progress=False)
    assert "##" in inner.get_vocab()  # as in GPT-2's, where it is no mark of WordPiece
    folder = tmp_path / "gpt"
    import transformers

    config = transformers.GPT2Config(vocab_size=300, n_embd=16, n_layer=1, n_head=2, n_positions=40)
    transformers.GPT2LMHeadModel(config).save_pretrained(folder)
    PreTrainedTokenizerFast(tokenizer_object=inner._tokenizer).save_pretrained(folder)
    checkpoint = load_checkpoint(folder, "cpu")
    pieces = [token.piece for token in record(checkpoint, "the cat €\n").source]
    assert pieces[:2] == ["the", "▁cat"] and pieces[-1] == "\n"
    assert {"<0xE2>", "<0x82>", "<0xAC>"} <= set(pieces)
    words = word_groups(record(checkpoint, "## the cat").source)
    assert [len(group) for group in words] == [1, 1, 1]
    assert decode(checkpoint, "the cat", "greedy", max_len=3).text


def test_without_a_tokenizer_ids_are_typed(folder_of: Any) -> None:
    checkpoint = load_checkpoint(folder_of("BERT"), "cpu")
    assert [token.piece for token in record(checkpoint, "5 6 7").source] == ["5", "6", "7"]
    with pytest.raises(InputError, match="no vocabulary, so it reads token ids, from 0 to 49"):
        record(checkpoint, "hello")


def test_a_model_without_attention_says_so(folder_of: Any) -> None:
    checkpoint = load_checkpoint(folder_of("FNet"), "cpu")
    with pytest.raises(InputError, match="No attention was seen in FNet"):
        record(checkpoint, IDS)


CLASSIFIERS = {
    "BERT": "BertForSequenceClassification",
    "DistilBERT": "DistilBertForSequenceClassification",
    "RoBERTa": "RobertaForSequenceClassification",
    "ELECTRA": "ElectraForSequenceClassification",
    "ModernBERT": "ModernBertForSequenceClassification",
    "GPT-2": "GPT2ForSequenceClassification",
    "BART": "BartForSequenceClassification",
    "mBART": "MBartForSequenceClassification",
    "T5": "T5ForSequenceClassification",
}
LABELS = ("<b>bad</b>", "fair \ud800", "good")
READ = [5, 9, 12, 33, 7, 41, 2]


def save_classifier(folder: Path, family: str, labels: tuple[str, ...], **values: Any) -> Any:
    """A small classifier with random weights, saved; the library's own model."""
    import transformers

    torch.manual_seed(0)
    _, of_config, sizes = FAMILIES[family]
    sizes = sizes | {"eos_token_id": 2, "id2label": dict(enumerate(labels))} | values
    config = getattr(transformers, of_config)(**sizes)
    model = getattr(transformers, CLASSIFIERS[family])._from_config(config).eval()
    for parameter in model.parameters():
        parameter.data.mul_(3)
    model.save_pretrained(folder)
    return model


@pytest.mark.parametrize("family", CLASSIFIERS)
def test_a_classifier_decides_as_the_library_does(family: str, tmp_path: Path) -> None:
    model = save_classifier(tmp_path / family, family, LABELS)
    checkpoint = load_checkpoint(tmp_path / family, "cpu")
    recording = record(checkpoint, " ".join(map(str, READ)))
    found = recording.classification
    assert found is not None and found.classes == ("<b>bad</b>", "fair ?", "good")
    with torch.no_grad():
        out = model(torch.tensor([READ]), output_hidden_states=True)
    torch.testing.assert_close(found.logits, out.logits[0], rtol=0, atol=1e-5)
    torch.testing.assert_close(found.probs, out.logits[0].softmax(-1), rtol=0, atol=1e-5)
    assert not checkpoint.family.decodes
    assert set(recording.attentions) == set(checkpoint.family.attentions)
    assert record(checkpoint, checkpoint.about.examples[0]).classification is not None


@pytest.mark.parametrize("family", ["BART", "mBART", "T5"])
def test_what_the_decoder_of_a_classifier_reads(
    family: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_classifier(tmp_path / family, family, LABELS)
    checkpoint = load_checkpoint(tmp_path / family, "cpu")
    inner: Any = checkpoint.model.get_submodule("inner")
    decoder = inner.transformer.decoder if family == "T5" else inner.model.decoder
    given: list[Any] = []
    decoder.register_forward_pre_hook(
        lambda _, args, named: given.append(named["input_ids"]), with_kwargs=True
    )
    rows = record(checkpoint, " ".join(map(str, READ))).attentions["decoder_self"].queries
    assert [token.id for token in rows] == given[0][0].tolist()


def test_classes_that_do_not_exclude_each_other(tmp_path: Path) -> None:
    values = {"problem_type": "multi_label_classification"}
    save_classifier(tmp_path / "many", "BERT", LABELS, **values)
    recording = record(load_checkpoint(tmp_path / "many", "cpu"), IDS)
    assert recording.classification is not None
    assert torch.equal(recording.classification.probs, recording.logits.sigmoid())


@pytest.mark.parametrize(
    ("labels", "values"), [(("score",), {}), (LABELS, {"problem_type": "regression"})]
)
def test_a_model_that_puts_a_number_on_a_text_has_no_classes(
    labels: tuple[str, ...], values: dict[str, Any], tmp_path: Path
) -> None:
    save_classifier(tmp_path / "score", "BERT", labels, **values)
    assert record(load_checkpoint(tmp_path / "score", "cpu"), IDS).classification is None


@pytest.fixture
def broken(folder_of: Any, tmp_path: Path) -> Path:
    """A copy that a test may damage."""
    folder = tmp_path / "broken"
    model: Any = build("GPT-2")
    model.save_pretrained(folder)
    return folder


def refused(folder: Path, sentence: str) -> None:
    with pytest.raises(CheckpointError, match=sentence) as caught:
        load_checkpoint(folder, "cpu")
    assert str(caught.value).encode("utf-8")
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 500


def change(folder: Path, **values: Any) -> None:
    file = folder / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | values))


def test_weights_that_are_missing_or_not_numbers(broken: Path) -> None:
    file = broken / "model.safetensors"
    weights = load_file(file)
    fewer = {name: tensor for name, tensor in weights.items() if "h.1.ln_1" not in name}
    save_file(fewer, file, {"format": "pt"})
    refused(broken, r"^broken: the weights lack transformer\.h\.1\.ln_1\.bias")
    next(iter(weights.values())).fill_(torch.nan)
    save_file(weights, file, {"format": "pt"})
    refused(broken, "holds NaN or infinite values")
    file.unlink()
    refused(broken, "the weights are missing")


def test_a_file_that_was_cut_short(broken: Path) -> None:
    file = broken / "model.safetensors"
    file.write_bytes(file.read_bytes()[:-400])
    refused(broken, "^broken: model.safetensors is not a whole")


def test_a_header_of_absurd_size(broken: Path) -> None:
    (broken / "model.safetensors").write_bytes((2**62).to_bytes(8, "little") + b"{}" * 1000)
    refused(broken, "^broken: model.safetensors is not a whole")


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"n_layer": 10**9}, "n_layer is 1,000,000,000"),
        ({"n_embd": 2**40}, "hidden_size is "),
        ({"vocab_size": 10**12}, "vocab_size is "),
        ({"n_embd": 2**14, "n_head": 4, "n_layer": 90}, "describes a model of 2.* parameters"),
        (
            {"n_embd": 32},
            r"^broken: transformer\.\S+ is \[\d.*\] in the weights, and config.json asks",
        ),
        ({"num_labels": 10**9}, "num_labels is 1,000,000,000"),
        ({"n_head": -4, "num_attention_heads": -4}, "num_attention_heads is -4, and must be at"),
        ({"n_layer": -1}, r"^broken: config\.json: n_layer is -1, and must be at least 1\."),
        ({"n_embd": 0}, r"^broken: config\.json: n_embd is 0, and must be at least 1\."),
        ({"vocab_size": -1}, r"^broken: config\.json: vocab_size is -1, and must be at least 1\."),
        (
            {"n_layer": 1000},
            r"^broken: config\.json: n_layer is 1,000, and the weights hold 28 tensors, too few",
        ),
        (
            {"activation_function": "nope"},
            r"^broken: config\.json: activation_function is 'nope', which the library does not",
        ),
        ({"activation_function": "\ud800"}, r"activation_function is '\?', which the library"),
        ({"model_type": "\ud800"}, r"^broken: config\.json cannot be read: .* `\?` "),
        ({"model_type": "qwen2", "num_hidden_layers": 10**12}, "num_hidden_layers is "),
        ({"model_type": "strange"}, "^broken: config.json cannot be read: "),
        ({"n_layer": "two"}, "^broken: config.json .*'n_layer'.* expected int, got str"),
    ],
)
def test_a_configuration_that_does_not_belong(
    broken: Path, values: dict[str, Any], sentence: str
) -> None:
    change(broken, **values)
    refused(broken, sentence)


def test_code_in_a_folder_is_not_run(broken: Path, tmp_path: Path) -> None:
    made = tmp_path / "made"
    (broken / "evil.py").write_text(f"open({str(made)!r}, 'w')\nclass Evil: pass\n")
    change(broken, auto_map={"AutoConfig": "evil.Evil", "AutoModelForCausalLM": "evil.Evil"})
    load_checkpoint(broken, "cpu")  # the library's own class
    change(broken, model_type="evil")
    refused(broken, "^broken: config.json cannot be read: ")
    assert not made.exists()


class Payload:
    """What a hostile pickle holds: code that would make a file."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self) -> Any:
        return Path.touch, (self.file,)


def test_a_pickle_that_would_run_code_does_not(broken: Path, tmp_path: Path) -> None:
    made = tmp_path / "made"
    (broken / "model.safetensors").unlink()
    torch.save({"transformer.wte.weight": Payload(made)}, broken / "pytorch_model.bin")
    refused(
        broken,
        r"^broken: pytorch_model\.bin holds Python objects \(\S+\), which are not loaded: save "
        r"only the weights, with torch\.save\(model\.state_dict\(\), path\)\.$",
    )
    assert not made.exists()


def test_a_pickle_that_is_none(broken: Path) -> None:
    (broken / "model.safetensors").unlink()
    (broken / "pytorch_model.bin").write_bytes(b"no pickle " * 40)
    refused(
        broken,
        r"^broken: pytorch_model\.bin is not a whole file of weights: it is text that begins",
    )


def test_only_a_model_of_the_library_is_built(broken: Path) -> None:
    """A configuration may name anything that the library has, and a kernel that it would fetch."""
    change(broken, architectures=["pipeline"], attn_implementation="evil/kernel")
    assert record(load_checkpoint(broken, "cpu"), IDS).attentions
    change(broken, architectures=5)
    load_checkpoint(broken, "cpu")


def test_half_a_character_in_a_configuration_reaches_no_screen(broken: Path) -> None:
    change(broken, architectures=["\ud800"], task_specific_params={"\udfff": "\ud800"})
    checkpoint = load_checkpoint(broken, "cpu")
    assert checkpoint.about.title == "GPT2LMHeadModel, Hugging Face"
    assert checkpoint.about.notes[0].startswith("config.json names ?, which the library does not")
    assert checkpoint.config.to_dict()["task_specific_params"] == {"?": "?"}


def test_parts_that_lie_outside_the_folder_are_not_read(broken: Path) -> None:
    file = broken / "model.safetensors"
    names = list(load_file(file))
    file.rename(broken.parent / "outside.safetensors")
    index = {"metadata": {}, "weight_map": dict.fromkeys(names, "../outside.safetensors")}
    (broken / "model.safetensors.index.json").write_text(json.dumps(index))
    refused(broken, "no file of this folder")


def test_a_pickle_that_swells_is_not_unpacked(broken: Path) -> None:
    (broken / "model.safetensors").unlink()
    with zipfile.ZipFile(broken / "pytorch_model.bin", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("archive/version", "3")
        archive.writestr("archive/data.pkl", b"\0" * 2**24)
    refused(broken, "is packed, which torch.save does not do; save it again")


POINTER = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'a' * 64}\nsize 20480\n"
DAMAGES = {
    "missing": (lambda file: file.unlink(), "is missing"),
    "pointer": (lambda file: file.write_text(POINTER), "is a Git LFS pointer"),
    "cut": (lambda file: os.truncate(file, file.stat().st_size // 2), "is not a whole"),
    "empty": (lambda file: os.truncate(file, 0), "is not a whole"),
}


DAMAGED = {
    **{f"the first, {it}": (it, "safetensors", 0) for it in DAMAGES},
    **{f"the last of pickles, {it}": (it, "bin", -1) for it in DAMAGES},
    "one between": ("cut", "safetensors", 1),
}


@pytest.mark.parametrize(
    ("damage", "kind", "which"),
    cases(product(DAMAGES, ("safetensors", "bin"), (0, 1, -1)), DAMAGED),
)
def test_a_part_that_is_damaged_is_named_and_where_it_lies_is_not(
    tmp_path: Path, damage: str, kind: str, which: int
) -> None:
    model: Any = build("GPT-2")
    folder = tmp_path / "parts"
    model.save_pretrained(folder, max_shard_size="8KB")
    files = sorted(folder.glob("model-*.safetensors"))
    if kind == "bin":
        weights = {file: load_file(file) for file in files}
        index = {"metadata": {}, "weight_map": {}}
        for file, tensors in weights.items():
            name = file.with_suffix(".bin").name.replace("model", "pytorch_model")
            torch.save(tensors, folder / name)
            index["weight_map"] |= dict.fromkeys(tensors, name)
            file.unlink()
        (folder / "model.safetensors.index.json").unlink()
        (folder / "pytorch_model.bin.index.json").write_text(json.dumps(index))
        files = sorted(folder.glob("pytorch_model-*.bin"))
    harm, said = DAMAGES[damage]
    harm(files[which])
    with pytest.raises(CheckpointError, match=f"^parts: {files[which].name} {said}") as caught:
        load_checkpoint(folder, "cpu")
    assert str(tmp_path) not in str(caught.value)


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model.safetensors"])
def test_any_file_may_be_a_pointer(broken: Path, name: str) -> None:
    (broken / name).write_text(POINTER)
    refused(broken, f"{name} is a Git LFS pointer")


def test_weights_of_another_library_are_named(broken: Path) -> None:
    (broken / "model.safetensors").rename(broken / "model.Q4_K_M.gguf")
    refused(broken, r"model\.Q4_K_M\.gguf is a model of llama\.cpp: open")


@pytest.mark.parametrize("name", ["generation_config.json", "tokenizer.json"])
def test_files_without_an_end(broken: Path, name: str) -> None:
    (broken / name).unlink(missing_ok=True)
    os.mkfifo(broken / name)
    refused(broken, f"^broken: {name} is a pipe")
    (broken / name).unlink()
    (broken / name).touch()
    os.truncate(broken / name, 2**40)
    refused(broken, f"^broken: {name} has 1,099,511,627,776 bytes")


def test_a_length_that_is_no_number_is_any_length(bert: Path) -> None:
    file = bert / "tokenizer_config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"model_max_length": "x"}))
    assert load_checkpoint(bert, "cpu").config.max_len > 1


def test_what_fails_only_when_it_runs_is_a_sentence(folder_of: Any, tmp_path: Path) -> None:
    shutil.copytree(folder_of("BERT"), tmp_path / "chunks")
    change(tmp_path / "chunks", chunk_size_feed_forward=3)
    checkpoint = load_checkpoint(tmp_path / "chunks", "cpu")
    with pytest.raises(InputError, match=r"^The model cannot run over this text: "):
        record(checkpoint, IDS)


def test_a_model_of_images_says_what_it_reads(tmp_path: Path) -> None:
    import transformers

    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = transformers.ViTConfig(**sizes, intermediate_size=20, image_size=8, patch_size=4)
    transformers.ViTModel._from_config(config).save_pretrained(tmp_path)
    with pytest.raises(CheckpointError, match="names no vocab_size: vit reads something else than"):
        load_checkpoint(tmp_path, "cpu")


def test_a_model_that_also_reads_sounds_says_so(tmp_path: Path) -> None:
    import transformers

    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    more = {"conv_dim": (8,), "conv_stride": (5,), "conv_kernel": (10,), "intermediate_size": 16}
    positions = {"num_conv_pos_embeddings": 4, "num_conv_pos_embedding_groups": 2}
    config = transformers.Wav2Vec2Config(**sizes, **more, **positions)
    transformers.Wav2Vec2Model._from_config(config).save_pretrained(tmp_path)
    said = r"cannot run over a text only: it also reads input_values\. It is recorded from Python"
    with pytest.raises(InputError, match=said):
        record(load_checkpoint(tmp_path, "cpu"), "3 4 5")
