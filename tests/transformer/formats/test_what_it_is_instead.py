"""Paths and files that are not what they are taken for: each says what it is, and what to open."""

import codecs
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.transformer.hugging_face.saving import save_tokenizer, writer
from transformer import CheckpointError, load_checkpoint
from transformer.files.regular_file import read_of_checkpoint, read_regular, require_of_checkpoint
from transformer.files.weights import Misfit
from transformer.training.task import text_in

CONFIG = "config.json"
PAGE = b"<!DOCTYPE html>\n<html><body>Access is restricted</body></html>"


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("saved") / "model"
    writer("Llama").save_pretrained(folder)
    save_tokenizer(folder)
    return folder


@pytest.fixture
def copied(saved: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(saved, tmp_path / "model"))


def refused(path: Path, sentence: str) -> None:
    with pytest.raises(CheckpointError, match=sentence) as caught:
        load_checkpoint(path, "cpu")
    assert "\n" not in str(caught.value) and str(path.parent) not in str(caught.value)


def change(folder: Path, **values: Any) -> None:
    """Of None, the setting is taken away."""
    known = {**json.loads((folder / CONFIG).read_text()), **values}
    kept = {name: value for name, value in known.items() if value is not None}
    (folder / CONFIG).write_text(json.dumps(kept))


def test_a_folder_around_models_names_them(saved: Path, tmp_path: Path) -> None:
    for name in ("run/checkpoint-1000", "run/checkpoint-500", "zip/zip", "zip/__MACOSX/no"):
        shutil.copytree(saved, tmp_path / name)
    shutil.copytree(saved, tmp_path / "deep" / "main" / "model")
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / "out").symlink_to(saved)
    refused(tmp_path / "run", "^run is not .* holds checkpoint-500, checkpoint-1000: open one")
    refused(tmp_path / "zip", "^zip is not .* holds zip: open one")
    refused(tmp_path / "deep", "^deep is not .* holds main/model: open one")
    refused(tmp_path / "linked", "^linked is not a checkpoint. What opens: ")


@pytest.mark.parametrize("name", [CONFIG, "model.safetensors", "tokenizer.json"])
def test_a_file_of_a_folder_names_the_folder(name: str, saved: Path) -> None:
    refused(saved / name, f"{name} is a file of the folder model: open that")


@pytest.mark.parametrize("family", ["BART", "GPT-2", "Llama", "T5"])
def test_weights_whose_names_other_code_has_too_name_their_folder(
    family: str, tmp_path: Path
) -> None:
    writer(family).save_pretrained(tmp_path / "model")
    sentence = "model.safetensors is a file of the folder model: open that"
    refused(tmp_path / "model" / "model.safetensors", sentence)


@pytest.mark.parametrize("name", ["model.zip", "model.tar.gz", "model.gguf", "model.onnx"])
def test_files_of_other_tools(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(b"x")
    refused(tmp_path / name, rf"^{name} is an? [^:]*: .*open")


@pytest.mark.parametrize("name", ["tokenizer_config.json", None])
def test_weights_without_their_configuration(name: str | None, copied: Path) -> None:
    (copied / CONFIG).unlink()
    refused(copied, f"{CONFIG} is missing beside it")
    refused(copied / "model.safetensors", f"{CONFIG} is missing beside it")
    (copied / "model.safetensors").rename(copied / "best.safetensors")
    if name is None:  # nothing else says whose file it is
        for file in copied.glob("*.json"):
            file.unlink()
        refused(copied, f"not known here.* with its {CONFIG} beside")
    else:
        refused(copied, f"{CONFIG} is missing beside it")


def test_parts_without_configuration_and_index(saved: Path, tmp_path: Path) -> None:
    for i in (1, 2):
        shutil.copy(saved / "model.safetensors", tmp_path / f"model-0000{i}-of-00002.safetensors")
    refused(tmp_path, f"{CONFIG} is missing beside it")


@pytest.mark.parametrize("name", ["model.safetensors", CONFIG, "tokenizer.json"])
def test_a_page_in_place_of_a_file(name: str, copied: Path) -> None:
    for page in (PAGE, PAGE.lower(), b"\n<?xml version='1.0'?><Error/>"):
        (copied / name).write_bytes(page)
        refused(copied, f"{name} is a web page")


def test_only_files_of_checkpoints_cannot_be_pages(tmp_path: Path) -> None:
    """A text to train on, or a figure, may be one."""
    file = tmp_path / "corpus.xml"
    file.write_bytes(PAGE)
    assert text_in(file).encode() == PAGE
    assert read_regular(file, len(PAGE)) == PAGE
    with pytest.raises(Misfit):
        read_of_checkpoint(file, len(PAGE))
    with pytest.raises(Misfit):
        require_of_checkpoint(file)


def test_a_piece_of_a_vocabulary_is_no_page(copied: Path) -> None:
    (copied / "vocab.txt").write_text("<htmlish>\n<x>\n")
    assert load_checkpoint(copied, "cpu").family.decodes


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is empty"),
        (b" \n\0\0", "is empty"),
        (codecs.BOM_UTF8 + b"{}", "as UTF-8"),
        ('{"a": 1}'.encode("utf-16"), "as UTF-8"),
        (b"Entry not found", "text that begins 'Entry not found'"),
        (b'{"a": 1,}', "line 1 column"),
    ],
)
def test_what_stands_in_place_of_settings(content: bytes, sentence: str, copied: Path) -> None:
    (copied / CONFIG).write_bytes(content)
    refused(copied, f"{CONFIG} .*{sentence}")


def test_text_in_place_of_weights(copied: Path) -> None:
    (copied / "model.safetensors").write_text("Entry not found")
    refused(copied, "it is text that begins 'Entry not found'")


def test_settings_that_the_library_would_not_name(copied: Path) -> None:
    change(copied, model_type=None)
    refused(copied, '"model_type": write "llama"')
    change(copied, architectures=["Mine"])
    refused(copied, '"model_type": write the model\'s own')
    change(copied, model_type="llama", pad_token_id=64)
    refused(copied, "pad_token_id is 64, and the vocabulary of 64 ends at 63")
    change(copied, pad_token_id=0)
    assert load_checkpoint(copied, "cpu").family.decodes


def test_an_adapter_that_is_not_peft_s(tmp_path: Path) -> None:
    (tmp_path / "adapter_config.json").write_text('{"config": {}, "model_type": "bert"}')
    torch.save({}, tmp_path / "pytorch_adapter.bin")
    refused(tmp_path, "adapter_config.json is not peft's")
