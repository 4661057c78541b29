"""A folder's beams, lengths and ways of drawing: decoding starts with them, as `generate` does."""

import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.representatives import cases
from tests.transformer.hugging_face.saving import WRITERS, generated, save, writer
from transformer import Checkpoint, decode, load_checkpoint, record
from transformer.decoding.greedy import distribution
from transformer.formats.format import checked_defaults
from transformer.hugging_face.writing.method_defaults import LENGTHS, OF_METHODS

TEXT, IDS = "the cat sat", [4, 5, 6]
NO_END = [[[2], -100.0]]
"""A bias that keeps a text from ending by itself."""
BEAMS: list[dict[str, Any]] = [
    {"num_beams": 5, "length_penalty": 2.0},
    {"num_beams": 3},
    {"num_beams": 2, "length_penalty": -1.0, "early_stopping": True},
    {"num_beams": 4, "length_penalty": 0.5, "early_stopping": "never"},
    {"num_beams": 16, "length_penalty": 1, "no_repeat_ngram_size": 2, "min_new_tokens": 3},
    {"num_beams": 3, "suppress_tokens": [4, 5, 6], "renormalize_logits": True},
]
DRAWN: list[dict[str, Any]] = [
    {"do_sample": True},
    {"do_sample": True, "temperature": 0.6, "top_p": 0.9},
    {"do_sample": True, "top_k": 5, "temperature": 1.5},
    {"do_sample": True, "top_k": 0, "min_p": 0.05},
    {"temperature": 0.7, "do_sample": True, "top_k": 20, "top_p": 0.8, "min_p": 0.1},
]
LENGTHS_SAID: list[dict[str, Any]] = [
    {"max_new_tokens": 5},
    {"max_length": 9},
    {"max_new_tokens": 4, "max_length": 9},
    {"max_length": 12, "forced_eos_token_id": 7},
    {"max_new_tokens": 24, "min_new_tokens": 20, "forced_eos_token_id": 2},
    {"max_length": 30, "min_length": 25},
]
FOR_BEAMS = {
    **{f"{said}": ("Marian", said) for said in BEAMS},
    **{f"beams of {family}": (family, BEAMS[3]) for family in WRITERS},
}
FOR_DRAWING = {f"{said}": ("GPT-2", said) for said in DRAWN} | {"a source": ("Marian", DRAWN[4])}
FOR_LENGTHS = {
    **{f"{said}": ("Marian", said) for said in LENGTHS_SAID},
    **{f"{said} behind a prompt": ("GPT-2", said) for said in LENGTHS_SAID[1:4]},
    **{f"a length of {family}": (family, LENGTHS_SAID[3]) for family in WRITERS},
}
"""Each setting in one family (lengths count a prompt: in two), and one of each other family."""

TWO = {"a source": "Marian", "a prompt": "GPT-2"}


def opened(family: str, said: dict[str, Any], folder: Path) -> tuple[Any, Checkpoint]:
    """The library's model and ours, of one folder whose settings for writing are these."""
    model = writer(family, 1)
    for name, value in {"eos_token_id": 2, **said}.items():
        setattr(model.generation_config, name, value)
    if not model.config.is_encoder_decoder:  # so that some texts end by themselves
        model.lm_head.weight.data[2] *= 2
    save(model, folder)
    return type(model).from_pretrained(folder).eval(), load_checkpoint(folder, "cpu")


def theirs(model: Any, **options: Any) -> tuple[list[int], Any]:
    """Return what `generate` writes by the settings of the folder, and all that it says."""
    with torch.no_grad():
        result = model.generate(
            torch.tensor([IDS]), return_dict_in_generate=True, output_scores=True, **options
        )
    row = result.sequences[0].tolist()
    row = row[1 if model.config.is_encoder_decoder else len(IDS) :]
    return (row[: row.index(2) + 1] if 2 in row else row), result


@pytest.mark.parametrize(("family", "said"), cases(product(WRITERS, BEAMS), FOR_BEAMS), ids=str)
def test_beam_search_starts_with_the_beams_of_the_folder(
    family: str, said: dict[str, Any], tmp_path: Path
) -> None:
    model, checkpoint = opened(family, said, tmp_path)
    own = checkpoint.about.decoding
    assert checked_defaults(own) == own
    assert not [note for note in checkpoint.about.notes if "generation_config" in note]
    decoding = decode(checkpoint, TEXT, "beam", max_len=9)
    ids, result = theirs(model, max_new_tokens=9)
    assert [token.id for token in decoding.target] == ids
    score = decoding.hypotheses[0].score
    assert score == pytest.approx(float(result.sequences_scores[0]), abs=1e-4)
    plain = decode(checkpoint, TEXT, "beam", max_len=9, beam_size=1, plain_length=0)
    assert len(plain.hypotheses) == 1  # and a person may choose otherwise


@pytest.mark.parametrize(
    ("family", "said"), cases(product(("Marian", "GPT-2", "Llama"), DRAWN), FOR_DRAWING), ids=str
)
def test_sampling_starts_with_the_distribution_of_the_folder(
    family: str, said: dict[str, Any], tmp_path: Path
) -> None:
    model, checkpoint = opened(family, said, tmp_path)
    own = checkpoint.about.decoding
    assert checked_defaults(own) == own
    assert not [note for note in checkpoint.about.notes if "generation_config" in note]
    decoding = decode(checkpoint, TEXT, "sample", max_len=1)
    _, result = theirs(model, max_new_tokens=1)
    probs = distribution(decoding.hypotheses[0].log_probs[0], **own["sample"])
    torch.testing.assert_close(probs, result.scores[0][0].softmax(-1), rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("family", "said"), cases(product(WRITERS, LENGTHS_SAID), FOR_LENGTHS), ids=str
)
def test_a_text_is_as_long_as_the_folder_lets_it_be(
    family: str, said: dict[str, Any], tmp_path: Path
) -> None:
    model, checkpoint = opened(family, {"sequence_bias": NO_END, **said}, tmp_path)
    ids, _ = theirs(model)
    decoding = decode(checkpoint, TEXT)
    assert [token.id for token in decoding.target] == ids
    assert [token.id for token in decode(checkpoint, TEXT, max_len=3).target][:2] == ids[:2]
    assert not [note for note in checkpoint.about.notes if "generation_config" in note]


@pytest.mark.parametrize("family", cases(WRITERS, TWO))
def test_no_end_is_forced_where_nobody_ends_the_text(family: str, tmp_path: Path) -> None:
    said = {"sequence_bias": NO_END, "forced_eos_token_id": 2, "max_length": 300}
    _, checkpoint = opened(family, said, tmp_path)
    decoding = decode(checkpoint, TEXT)
    assert not decoding.is_ended and len(decoding.target) > 9
    short = decode(checkpoint, TEXT, max_len=4)
    assert short.is_ended and len(short.target) == 4


def test_a_prompt_that_leaves_no_length_is_written_on(tmp_path: Path) -> None:
    _, checkpoint = opened("GPT-2", {"max_length": 2, "sequence_bias": NO_END}, tmp_path)
    assert len(decode(checkpoint, TEXT).target) > 2


def test_sampling_is_as_long_as_the_folder_says(tmp_path: Path) -> None:
    _, checkpoint = opened("GPT-2", {"max_new_tokens": 6}, tmp_path)
    assert checkpoint.about.decoding == {"sample": {"max_len": 6}}


def test_every_setting_of_a_method_is_tried_above() -> None:
    tried = {name for said in (*BEAMS, *DRAWN, *LENGTHS_SAID) for name in said}
    assert not {*OF_METHODS, *LENGTHS} - tried


def test_a_folder_without_the_file_has_them_in_its_configuration(tmp_path: Path) -> None:
    opened("Marian", {}, tmp_path)
    (tmp_path / "generation_config.json").unlink()
    file = tmp_path / "config.json"
    more = {"num_beams": 5, "length_penalty": 2.0, "max_length": 7, "top_k": 3}
    file.write_text(json.dumps(json.loads(file.read_text()) | more))
    checkpoint = load_checkpoint(tmp_path, "cpu")
    beam = checkpoint.about.decoding["beam"]
    assert (beam["beam_size"], beam["length_penalty"]) == (5, 2.0)
    assert checkpoint.about.decoding["sample"]["top_k"] == 3
    assert len(decode(checkpoint, TEXT).target) <= 6


@pytest.mark.parametrize("family", cases(WRITERS, TWO))
def test_settings_that_the_file_for_writing_overrules_are_named(
    family: str, tmp_path: Path
) -> None:
    opened(family, {"no_repeat_ngram_size": 2}, tmp_path)
    file = tmp_path / "config.json"
    more = {"num_beams": 5, "min_length": 9, "no_repeat_ngram_size": 2, "top_p": None}
    file.write_text(json.dumps(json.loads(file.read_text()) | more))
    model = getattr(__import__("transformers"), WRITERS[family][0]).from_pretrained(tmp_path)
    checkpoint = load_checkpoint(tmp_path, "cpu")
    ids, _ = theirs(model, max_new_tokens=9)
    assert [token.id for token in decode(checkpoint, TEXT, max_len=9).target] == ids
    notes = " ".join(checkpoint.about.notes)
    assert "min_length 9, num_beams 5, which" in notes
    assert "ngram" not in notes and "top_p" not in notes
    assert not checkpoint.about.decoding


ADDED = {
    "an end": ("$A </s>", "</s>"),
    "both ends": ("<s> $A </s>", "</s>"),
    "two of them": ("$A </s> </s>", "</s> </s>"),
    "a word before it": ("$A dog </s>", "</s>"),
}
"""What a tokenizer adds to a text, and what a prompt is read without."""


def save_adding(folder: Path, template: str, family: str = "Llama") -> Any:
    from tokenizers import Tokenizer, processors

    model = writer(family)
    save(model, folder)
    file = str(folder / "tokenizer.json")
    inner = Tokenizer.from_file(file)
    ids = [(piece, inner.token_to_id(piece)) for piece in ("<s>", "</s>", "dog")]
    inner.post_processor = processors.TemplateProcessing(template, f"{template} $B", ids)
    inner.save(file)
    return model


@pytest.mark.parametrize("kind", ADDED)
def test_an_end_that_a_tokenizer_adds_behind_a_prompt_is_named(kind: str, tmp_path: Path) -> None:
    template, behind = ADDED[kind]
    model = save_adding(tmp_path, template)
    checkpoint = load_checkpoint(tmp_path, "cpu")
    (note,) = checkpoint.about.notes
    assert f" {behind} " in note and "generate" in note
    text = template.replace("$A", "the cat").removesuffix(behind).split()
    ids = [checkpoint.tokenizer.token(id).piece for id in checkpoint.tokenizer.encode("the cat")]
    assert ids == template.replace("$A", "the cat").split()
    read = record(checkpoint, "the cat").attentions["decoder_self"].queries
    assert [token.piece for token in read] == text
    n = [token.id for token in read]
    written = [token.id for token in decode(checkpoint, "the cat", max_len=5).target]
    assert written == generated(model, n, 5)


@pytest.mark.parametrize("template", ["$A", "$A </s>"])
def test_an_end_that_is_typed_stays(template: str, tmp_path: Path) -> None:
    model = save_adding(tmp_path, template)
    checkpoint = load_checkpoint(tmp_path, "cpu")
    written = [token.id for token in decode(checkpoint, "the cat </s>", max_len=5).target]
    assert written == generated(model, [4, 5, 2], 5)


@pytest.mark.parametrize(("family", "adds"), [("GPT-2", True), ("Llama", False)])
def test_segments_that_a_decoder_would_add_are_named(
    family: str, adds: bool, tmp_path: Path
) -> None:
    """`generate` over all that a tokenizer gives writes something else, then."""
    model = save(writer(family), tmp_path) and writer(family)
    file = tmp_path / "tokenizer_config.json"
    names = ["input_ids", "token_type_ids", "attention_mask"]
    file.write_text(json.dumps(json.loads(file.read_text()) | {"model_input_names": names}))
    checkpoint = load_checkpoint(tmp_path, "cpu")
    assert any("token_type_ids" in note for note in checkpoint.about.notes) == adds
    written = [token.id for token in decode(checkpoint, "the cat", max_len=5).target]
    assert written == generated(model, [4, 5], 5)


@pytest.mark.parametrize(
    ("family", "settings", "is_named"),
    [
        ("T5", {"task_specific_params": {"a": {"prefix": "translate: "}, "b": {"n": 1}}}, True),
        ("T5", {"prefix": "translate: "}, True),
        ("GPT-2", {"prefix": "translate: "}, True),
        ("T5", {"prefix": " ", "task_specific_params": {"a": {"max_length": 5}}}, False),
    ],
)
def test_words_that_a_pipeline_puts_before_a_text_are_named(
    family: str, settings: dict[str, Any], is_named: bool, tmp_path: Path
) -> None:
    folder = save(writer(family), tmp_path)
    values = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(values | settings))
    notes = load_checkpoint(folder, "cpu").about.notes
    assert any("translate:" in note for note in notes) == is_named
