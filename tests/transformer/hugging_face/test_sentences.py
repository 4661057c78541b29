"""What is missing or unknown in a folder ends in one sentence that says what to do."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.transformer.hugging_face.chat_templates import TEMPLATES
from tests.transformer.hugging_face.pairs import save_pair_reader
from tests.transformer.hugging_face.saving import save, save_tokenizer, writer
from transformer import CheckpointError, InputError, load_checkpoint, record
from transformer.hugging_face.chat.chatting import chatting
from transformer.inputs import source_ids


def refused(folder: Path) -> str:
    with pytest.raises(CheckpointError) as caught:
        load_checkpoint(folder, "cpu")
    text = str(caught.value)
    assert text.endswith(".") and "\n" not in text and str(folder.parent) not in text
    return text


def change(folder: Path, **values: Any) -> None:
    file = folder / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | values))


@pytest.mark.parametrize("name", ["rope_parameters", "rope_scaling"])
@pytest.mark.parametrize("key", ["rope_type", "type"])
@pytest.mark.parametrize("kind", ["mystery", 7])
def test_an_unknown_kind_of_rotary_positions(
    name: str, key: str, kind: object, tmp_path: Path
) -> None:
    folder = save(writer("Llama"), tmp_path)
    change(folder, **{"rope_parameters": None, name: {key: kind, "factor": 2.0}})
    text = refused(folder)
    assert f"{key} is '{kind}'" in text and "config.json" in text


@pytest.mark.parametrize("value", [{"rope_type": "yarn"}, "linear", ["linear"], 3])
def test_rotary_positions_of_no_form(value: object, tmp_path: Path) -> None:
    folder = save(writer("Llama"), tmp_path)
    change(folder, rope_parameters=value)
    text = refused(folder)
    assert "rope" in text and "class" not in text and "it has no" not in text


def notes_of(folder: Path) -> str:
    return " ".join(load_checkpoint(folder, "cpu").about.notes)


@pytest.mark.parametrize(
    ("values", "is_named"),
    [
        ({"factor": 4.0}, True),
        ({"rope_type": "default", "factor": 4.0, "rope_theta": 1e4}, True),
        ({"rope_type": "linear", "factor": 4.0, "rope_theta": 1e4}, False),
        ({"rope_type": "default", "rope_theta": 1e4}, False),
    ],
)
def test_numbers_of_rotary_positions_that_nothing_reads(
    values: dict[str, Any], is_named: bool, tmp_path: Path
) -> None:
    folder = save(writer("Llama"), tmp_path)
    change(folder, rope_parameters=values)
    assert ("says factor of its rotary positions" in notes_of(folder)) == is_named


@pytest.mark.parametrize("content", ["{nope", "[1]", "7", ""])
def test_settings_for_writing_that_cannot_be_read(content: str, tmp_path: Path) -> None:
    folder = save(writer("GPT-2"), tmp_path)
    (folder / "generation_config.json").write_text(content)
    assert "generation_config.json holds no settings" in notes_of(folder)


def test_a_start_that_is_not_in_the_vocabulary(tmp_path: Path) -> None:
    folder = save(writer("Marian"), tmp_path)
    assert "decoder_start_token_id" not in notes_of(folder)
    (folder / "generation_config.json").unlink()
    change(folder, decoder_start_token_id=999)
    assert "decoder_start_token_id 999" in notes_of(folder)


def test_a_tokenizer_without_its_vocabulary(tmp_path: Path) -> None:
    folder = save(writer("GPT-2"), tmp_path)
    assert "texts are ids" not in notes_of(folder)
    (folder / "tokenizer.json").unlink()
    assert "texts are ids" in notes_of(folder)
    for file in folder.glob("tokenizer*"):
        file.unlink()
    assert "texts are ids" not in notes_of(folder)  # nobody said that there is one


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("tokenizer_config.json", "[]"),
        ("tokenizer_config.json", '{"tokenizer_class": ["a"]}'),
        ("config.json", '{"model_type": "gpt2", "layer_norm_epsilon": "1e-5", "vocab_size": 64}'),
    ],
)
def test_a_file_of_another_form(name: str, content: str, tmp_path: Path) -> None:
    folder = save(writer("GPT-2"), tmp_path)
    (folder / name).write_text(content)
    text = refused(folder)
    assert "another form" in text or "expected float" in text


@pytest.mark.parametrize("vocabulary", ["", "the\ncat\n"])
def test_a_vocabulary_without_what_stands_for_the_others(vocabulary: str, tmp_path: Path) -> None:
    save_pair_reader("BERT", tmp_path)
    (tmp_path / "tokenizer.json").unlink()
    (tmp_path / "vocab.txt").write_text(vocabulary)
    with pytest.raises((CheckpointError, InputError), match=r"[^\n]*tokenizer[^\n]*\.$"):
        record(load_checkpoint(tmp_path, "cpu"), "the dog")


def test_a_model_that_reads_two_texts_as_one(tmp_path: Path) -> None:
    """XLNet's, as it was trained: one half of a batch is read from behind."""
    save_pair_reader("XLNet", tmp_path, bi_data=True)
    with pytest.raises(InputError, match="several texts as one"):
        record(load_checkpoint(tmp_path, "cpu"), "the cat")


@pytest.mark.parametrize("beside", [(), ("tokenizer_config.json",)])
@pytest.mark.parametrize("absent", ["vocab.json", "source.spm", "target.spm"])
def test_marian_without_a_file_of_its_vocabulary(
    absent: str, beside: tuple[str, ...], tmp_path: Path
) -> None:
    folder = save(writer("Marian"), tmp_path)
    for file in [*folder.glob("token*"), *folder.glob("special*")]:
        file.unlink()
    for name in {"vocab.json", "source.spm", "target.spm", *beside} - {absent}:
        (folder / name).write_text('{"<unk>": 0}' if name == "vocab.json" else "{}")
    assert f"{absent} is missing" in refused(folder)


DISTRIBUTED = [".metadata", "__0_0.distcp", "__1_0.distcp"]
DEEPSPEED = ["mp_rank_00_model_states.pt"]


def in_parts(folder: Path, names: list[str], inside: str) -> None:
    """A folder whose weights a training left in parts, in a folder within it or beside the rest."""
    (save(writer("GPT-2"), folder) / "model.safetensors").unlink()
    (folder / inside).mkdir(exist_ok=True)
    for name in names:
        (folder / inside / name).write_bytes(b"weights")


@pytest.mark.parametrize("inside", ["", "pytorch_model_fsdp_0"])
@pytest.mark.parametrize("has_config", [True, False])
def test_weights_in_parts_of_torch(inside: str, has_config: bool, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    in_parts(folder, DISTRIBUTED, inside)
    if not has_config:
        (folder / "config.json").unlink()
    for place in (folder, folder / inside, folder / inside / DISTRIBUTED[-1]):
        text = refused(place)
        assert "accelerate merge-weights" in text and ".distcp" in text


@pytest.mark.parametrize("inside", ["", "global_step10"])
def test_weights_in_parts_of_deepspeed(inside: str, tmp_path: Path) -> None:
    in_parts(tmp_path / "model", DEEPSPEED, inside)
    text = refused(tmp_path / "model")
    assert "zero_to_fp32.py" in text and DEEPSPEED[0] in text


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16"])
@pytest.mark.parametrize("is_alone", [True, False])
def test_a_template_that_is_no_utf_8_is_left_out_and_named(
    encoding: str, is_alone: bool, tmp_path: Path
) -> None:
    folder = save(writer("GPT-2"), tmp_path)
    save_tokenizer(folder)
    own = folder / "chat_template.jinja"
    own.write_bytes("the {{ 'é' }}".encode(encoding))
    if not is_alone:
        (folder / "additional_chat_templates").mkdir()
        (folder / "additional_chat_templates" / "rag.jinja").write_text(TEMPLATES["ChatML"])
    checkpoint = load_checkpoint(folder, "cpu")
    templates = () if is_alone else ("rag",)
    assert checkpoint.config.templates == templates  # type: ignore[attr-defined]
    (note,) = (note for note in checkpoint.about.notes if "template" in note)
    assert "default" in note and "UTF-8" in note
    own.write_text("the {{ messages[0].content }}")
    whole = load_checkpoint(folder, "cpu")
    assert source_ids(checkpoint, "cat") == source_ids(whole, "cat")
    assert chatting(whole, "default").config.vocab_size == checkpoint.config.vocab_size
