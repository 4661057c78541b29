"""What is missing or unknown in a folder ends in one sentence that says what to do."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.transformer.hugging_face.chat_templates import TEMPLATES
from tests.transformer.hugging_face.saving import save, save_tokenizer, writer
from transformer import CheckpointError, load_checkpoint
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
