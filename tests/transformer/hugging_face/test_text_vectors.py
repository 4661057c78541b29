"""Encoders are answered: their pooled vectors, masks and classes, and how edits change these."""

import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from tests.representatives import cases
from tests.transformer.hugging_face.saving import save_tokenizer
from tests.transformer.watch.hugging_face import build
from transformer import CheckpointError, InputError, load_checkpoint, record
from transformer.analysis.ablation import ablating, sweep
from transformer.fingerprint import fingerprint
from transformer.formats.opening import describe_checkpoint
from transformer.recording.vector import MODES, Pooling, angle, cosine
from viz.views.vectors import cosines

IDS = "5 9 12 33 7"
HEAD_OFF = "head-off:encoder_self.1.2"
TYPES = "sentence_transformers.models."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An encoder without a head."""
    model: Any = build("BERT")
    model.base_model.save_pretrained(tmp_path / "model")
    return tmp_path / "model"


def name_pooling(folder: Path, settings: dict[str, Any], *further: str) -> None:
    """Write what Sentence Transformers writes beside a model."""
    named = [("", "Transformer"), ("1_Pooling", "Pooling")]
    named += [(f"{i}_{each}", each) for i, each in enumerate(further, 2)]
    modules = [
        {"idx": i, "name": str(i), "path": path, "type": TYPES + name}
        for i, (path, name) in enumerate(named)
    ]
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling/config.json").write_text(json.dumps(settings))


def by_hand(states: Tensor, mode: str) -> Tensor:
    """Each mode as its formula says, token by token."""
    n, rows = len(states), list(states)
    weights = [i / sum(range(1, n + 1)) for i in range(1, n + 1)]
    return {
        "cls": rows[0],
        "max": torch.stack([states[:, d].max() for d in range(states.size(1))]),
        "mean": torch.stack(rows).sum(0) / n,
        "mean_sqrt_len": torch.stack(rows).sum(0) / torch.tensor(float(n)).sqrt(),
        "weightedmean": sum((w * row for w, row in zip(weights, rows, strict=True)), rows[0] * 0),
        "lasttoken": rows[-1],
    }[mode]


@pytest.mark.parametrize("is_normalized", [False, True])
@pytest.mark.parametrize("mode", MODES)
def test_each_way_of_pooling_is_read_off_the_folder(
    mode: str, is_normalized: bool, folder: Path
) -> None:
    switch = f"pooling_mode_{mode}" if mode == "lasttoken" else f"pooling_mode_{mode}_tokens"
    switch = switch.replace("cls_tokens", "cls_token")
    settings = {"word_embedding_dimension": 32, "pooling_mode_mean_tokens": False, switch: True}
    name_pooling(folder, settings, *(["Normalize"] if is_normalized else []))
    checkpoint = load_checkpoint(folder)
    vector = record(checkpoint, IDS).vector
    assert vector is not None and vector.is_named
    assert not [note for note in checkpoint.about.notes if "modules.json" in note]
    expected = by_hand(vector.states, mode)
    expected = expected / expected.norm() if is_normalized else expected
    torch.testing.assert_close(vector.values, expected)


HIDDEN = ({0}, {4}, {1, 2})
LEFT_OUT = {it: (it, {1, 2}) for it in MODES} | {"first": ("cls", {0}), "last": ("lasttoken", {4})}


@pytest.mark.parametrize(("mode", "hidden"), cases(product(MODES, HIDDEN), LEFT_OUT))
def test_a_hidden_word_is_left_out_as_padding_is(mode: str, hidden: set[int], folder: Path) -> None:
    name_pooling(folder, {"pooling_mode": mode})
    recording = record(load_checkpoint(folder), IDS, edits=[f"hide:text.{i}" for i in hidden])
    vector = recording.vector
    assert vector is not None and set(vector.hidden) == hidden
    n = len(vector.states)
    left = [i for i in range(n) if i not in hidden]
    expected = by_hand(vector.states[[0] if mode == "cls" else left], mode)
    if mode == "weightedmean":  # by their places in the text
        weights = torch.tensor([i + 1.0 for i in left])
        expected = weights @ vector.states[left] / weights.sum()
    torch.testing.assert_close(vector.values, expected)
    compared = [cosine(expected, state) for state in vector.states]
    assert cosines(recording) == pytest.approx(compared)


def test_several_modes_stand_behind_each_other(folder: Path) -> None:
    name_pooling(folder, {"pooling_mode": ["mean", "cls"]})
    vector = record(load_checkpoint(folder), IDS).vector
    assert vector is not None
    both = torch.cat([by_hand(vector.states, "cls"), by_hand(vector.states, "mean")])
    torch.testing.assert_close(vector.values, both)


@pytest.mark.parametrize(
    ("settings", "further"),
    [
        ({"pooling_mode_mean_tokens": True}, ("Dense",)),
        ({"pooling_mode_attention_tokens": True}, ()),
        ({"pooling_mode": "unheard of"}, ()),
        ({}, ()),
        ({"pooling_mode_mean_tokens": True, "include_prompt": False}, ()),
    ],
)
def test_a_pooling_that_is_not_computed_is_named(
    settings: dict[str, Any], further: tuple[str, ...], folder: Path
) -> None:
    name_pooling(folder, settings, *further)
    checkpoint = load_checkpoint(folder)
    assert [note for note in checkpoint.about.notes if "modules.json" in note]
    vector = record(checkpoint, IDS).vector
    assert vector is not None and not vector.is_named
    torch.testing.assert_close(vector.values, vector.states.mean(0))


@pytest.mark.parametrize("text", ["{", "[1]", "{}", '[{"type": "a.Pooling", "path": "../.."}]'])
def test_a_damaged_pooling_is_named_and_the_folder_opens(text: str, folder: Path) -> None:
    (folder / "modules.json").write_text(text)
    vector = record(load_checkpoint(folder), IDS).vector
    assert vector is not None and not vector.is_named


def test_what_a_pipeline_does_to_a_text_is_followed_or_named(folder: Path) -> None:
    name_pooling(folder, {"pooling_mode_mean_tokens": True})
    settings = {"max_seq_length": 4, "do_lower_case": True}
    (folder / "sentence_bert_config.json").write_text(json.dumps(settings))
    prompts = {"prompts": {"query": "query: "}, "default_prompt_name": "query"}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(prompts))
    checkpoint = load_checkpoint(folder)
    notes = " ".join(checkpoint.about.notes)
    assert "do_lower_case" in notes and "'query: '" in notes
    with pytest.raises(InputError):  # the pipeline would read a part of it only
        record(checkpoint, IDS)
    assert record(checkpoint, IDS.rsplit(" ", 1)[0]).vector is not None


def pipeline_around(folder: Path, settings: dict[str, Any], name: str = "0_Transformer") -> Path:
    """Write the pipeline of a model as older folders have it, around it. Returns its folder."""
    name_pooling(folder, settings)
    outer = folder.parent / "my-pipeline"
    outer.mkdir()
    for part in ("modules.json", "1_Pooling"):
        (folder / part).rename(outer / part)
    modules = (outer / "modules.json").read_text().replace('"path": ""', f'"path": "{name}"')
    (outer / "modules.json").write_text(modules)
    (outer / "config.json").write_text('{"__version__": "0.4.1"}')
    folder.rename(outer / "0_Transformer")
    return outer


@pytest.mark.parametrize("inner", ["", "0_Transformer"])
def test_a_model_within_its_pipeline_is_pooled_as_that_says(inner: str, folder: Path) -> None:
    outer = pipeline_around(folder, {"pooling_mode_cls_token": True})
    settings = {"max_seq_length": 99, "do_lower_case": True}
    (outer / "0_Transformer/sentence_bert_config.json").write_text(json.dumps(settings))
    checkpoint = load_checkpoint(outer / inner)
    assert checkpoint.path == outer / inner and describe_checkpoint(outer / inner).about.notes
    assert any("do_lower_case" in note for note in checkpoint.about.notes)
    assert checkpoint.about.title.startswith("my-pipeline (" if inner else "Bert")
    vector = record(checkpoint, IDS).vector
    assert vector is not None and vector.is_named
    torch.testing.assert_close(vector.values, vector.states[0])


def test_a_pipelines_mark_changes_with_each_of_its_files(folder: Path) -> None:
    outer = pipeline_around(folder, {"pooling_mode_cls_token": True})
    marks = {fingerprint(outer)}
    for name in ("modules.json", "1_Pooling/config.json", "0_Transformer/config.json"):
        file = outer / name
        file.write_text(file.read_text() + " ")
        marks.add(fingerprint(outer))
    assert len(marks) == 4


@pytest.mark.parametrize("name", ["..", ".", "../other", "1_Transformer", "/etc", "0_Transformer/"])
def test_a_pipeline_whose_model_is_elsewhere_is_no_checkpoint(name: str, folder: Path) -> None:
    outer = pipeline_around(folder, {"pooling_mode_cls_token": True}, name)
    with pytest.raises(CheckpointError):
        load_checkpoint(outer)


def test_an_edit_turns_the_vector_and_a_sweep_says_how_far(folder: Path) -> None:
    checkpoint = load_checkpoint(folder)
    plain, edited = record(checkpoint, IDS).vector, record(checkpoint, IDS, edits=[HEAD_OFF]).vector
    assert plain is not None and edited is not None
    turned = angle(plain.values, edited.values)
    assert turned > 0
    swept = sweep(checkpoint, IDS, None, [HEAD_OFF])
    assert swept.totals.tolist() == pytest.approx([-turned], rel=1e-5)
    *_, ablation = ablating(checkpoint, IDS)
    assert ablation.is_measured and len(ablation.written) == len(ablation.sweep.edits)


ENCODERS = ("BERT", "RoBERTa", "DistilBERT", "MPNet", "ALBERT")


@pytest.mark.parametrize("family", cases(ENCODERS, {"a fused call": "BERT", "a bias": "MPNet"}))
def test_every_head_of_an_encoder_can_be_switched_off_with_an_answer(
    family: str, tmp_path: Path
) -> None:
    model: Any = build(family)
    for folder, part in (("masked", model), ("plain", model.base_model)):
        part.save_pretrained(tmp_path / folder)
        swept = sweep(load_checkpoint(tmp_path / folder), IDS)
        assert swept.edits and not swept.refused
        assert (swept.output.unit == "degrees") == (folder == "plain")
        assert bool(swept.totals.isfinite().all())


@pytest.mark.parametrize("text", ["the cat sat .", "the [MASK] sat ."])
def test_a_masked_model_is_judged_at_its_masks_or_by_the_tokens_it_reads(
    text: str, tmp_path: Path
) -> None:
    from transformers import BertConfig, BertForMaskedLM

    sizes = {"vocab_size": 65, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}
    torch.manual_seed(0)
    model = BertForMaskedLM(BertConfig(**sizes, intermediate_size=32, initializer_range=0.5))
    model.save_pretrained(tmp_path)
    save_tokenizer(tmp_path, mask_token="[MASK]")
    checkpoint = load_checkpoint(tmp_path)
    plain, edited = record(checkpoint, text), record(checkpoint, text, edits=[HEAD_OFF])
    swept = sweep(checkpoint, text, None, [HEAD_OFF])
    masks = [each.position for each in plain.masked]
    places = masks or [i for i, token in enumerate(plain.source) if not token.special]
    ids = [int(plain.logits[i].argmax()) if masks else plain.source[i].id for i in places]
    before, after = (each.logits.double().log_softmax(-1) for each in (plain, edited))
    expected = [float(after[i, id] - before[i, id]) for i, id in zip(places, ids, strict=True)]
    assert swept.changes[0].tolist() == pytest.approx(expected, abs=1e-5)
    assert swept.output.places == tuple(places)


def test_cosine_and_angle_are_exact_near_their_ends() -> None:
    a = torch.tensor([1.0, 0.0])
    assert cosine(a, torch.tensor([0.0, 2.0])) == 0
    assert angle(a, torch.tensor([-3.0, 0.0])) == pytest.approx(180)
    assert angle(a, torch.tensor([1.0, 1e-6])) == pytest.approx(5.7296e-5, rel=1e-4)
    assert Pooling(("mean",), True)(torch.eye(2)).norm() == pytest.approx(1)


@pytest.mark.parametrize(
    ("folder_name", "card", "config_name", "title"),
    [
        ("model", "---\na: b\n---\n\n# my-encoder\ntext", "org/base", "my-encoder"),
        ("model", "```\n# code\n```\n# [org/other](x)\n", None, "other"),
        ("checkpoint-500", "no heading", "org/base-model", "base-model"),
        ("0123456789abcdef", "# Model Card for Model ID", "org/base-model", "base-model"),
        ("my-encoder", "# Something else", "org/base", ""),
        ("model", None, "/home/me/output", ""),
    ],
)
def test_a_folder_whose_name_says_nothing_is_called_by_its_own_name(
    folder_name: str, card: str | None, config_name: str | None, title: str, folder: Path
) -> None:
    path = folder.rename(folder.parent / folder_name)
    if card is not None:
        (path / "README.md").write_text(card)
    settings = json.loads((path / "config.json").read_text())
    (path / "config.json").write_text(json.dumps({**settings, "_name_or_path": config_name}))
    assert (
        describe_checkpoint(path).about.title.partition(" (")[0].endswith(title or "Hugging Face")
    )


def test_a_folder_of_the_hubs_cache_is_called_by_its_repository(folder: Path) -> None:
    path = folder.parent / "models--sentence-transformers--all-mini" / "snapshots" / "8b3219a9"
    path.parent.mkdir(parents=True)
    assert describe_checkpoint(folder.rename(path)).about.title.startswith("all-mini (")
