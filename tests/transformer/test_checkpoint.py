"""A damaged folder: one sentence that names the file, and nothing of it is ever executed."""

import json
import os
import pickle
import resource
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from tests.conftest import SENTENCES
from transformer import Checkpoint, CheckpointError, decode, load_checkpoint
from transformer.checkpoint import FOLDER, checkpoints_folder, shipped_path
from transformer.commands.command import checkpoint
from transformer.device import DeviceError
from transformer.files.foreign_text import write_whole
from transformer.formats.headscope import save_weights
from transformer.inspection.survey import survey
from transformer.training.history import read_history


@pytest.fixture
def folder(text_folder: Path, tmp_path: Path) -> Path:
    """A copy that a test may damage."""
    return Path(shutil.copytree(text_folder, tmp_path / "mine"))


def test_it_opens_as_it_was_saved(folder: Path, text_checkpoint: Checkpoint) -> None:
    opened = load_checkpoint(folder, "cpu")
    assert opened.name == "mine"
    assert opened.about == text_checkpoint.about
    assert opened.config == text_checkpoint.config
    assert not opened.model.training
    assert not any(parameter.requires_grad for parameter in opened.model.parameters())
    assert decode(opened, SENTENCES[0]).target == decode(text_checkpoint, SENTENCES[0]).target


def test_the_working_folder_has_a_name(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    assert load_checkpoint(".", "cpu").name == "mine"


@pytest.mark.parametrize("said", ["", None])
def test_an_empty_setting_is_none(said: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(FOLDER, raising=False)
    if said is not None:
        monkeypatch.setenv(FOLDER, said)
    assert (checkpoints_folder() / "en-de" / "config.json").exists()


def test_a_shipped_checkpoint_is_found_by_its_name(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(FOLDER, raising=False)
    assert shipped_path("en-de-1") == checkpoints_folder() / "en-de-1"
    assert checkpoint("en-de-1") == shipped_path("en-de-1")  # in a shell
    assert shipped_path(str(folder)) == folder  # a path is what it is


def test_weights_are_stored_in_half_precision(folder: Path) -> None:
    weights = load_file(folder / "model.safetensors")
    assert {tensor.dtype for tensor in weights.values()} == {torch.float16}


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.model"])
def test_a_missing_file(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(CheckpointError, match=rf"^mine: {name} is missing\.$"):
        load_checkpoint(folder)


def test_a_configuration_without_an_end_is_not_read(folder: Path) -> None:
    os.truncate(folder / "config.json", 2**33)
    with pytest.raises(CheckpointError, match=r"config\.json is too large"):
        load_checkpoint(folder)


def test_a_missing_folder_and_a_missing_snapshot(folder: Path) -> None:
    with pytest.raises(CheckpointError, match=rf"^{folder}/nowhere is not there\. What opens: "):
        load_checkpoint(folder / "nowhere")
    (folder / "config.json").unlink()
    with pytest.raises(CheckpointError, match=r"^mine: .*of our own: .*with config\.json beside"):
        load_checkpoint(folder)
    (folder / "model.safetensors").unlink()
    with pytest.raises(CheckpointError, match=r"^mine is not a checkpoint\. What opens: "):
        load_checkpoint(folder)


def test_a_missing_snapshot(folder: Path) -> None:
    with pytest.raises(CheckpointError, match=r"^mine: snapshots/000001\.safetensors is missing"):
        load_checkpoint(folder, weights="snapshots/000001.safetensors")


def truncate(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-100])


def empty(file: Path) -> None:
    file.write_bytes(b"")


def rename(file: Path) -> None:
    weights = load_file(file)
    weights["other"] = weights.pop("embedding.weight")
    save_file(weights, file)


def add(file: Path) -> None:
    save_file(load_file(file) | {"extra": torch.zeros(1)}, file)


def reshape(file: Path) -> None:
    weights = load_file(file)
    save_file(weights | {"embedding.weight": weights["embedding.weight"][:-1].clone()}, file)


def poison(file: Path) -> None:
    weights = load_file(file)
    weights["embedding.weight"][0, 0] = torch.nan
    save_file(weights, file)


def cast(dtype: torch.dtype) -> Callable[[Path], None]:
    def damage(file: Path) -> None:
        weights = load_file(file)
        save_file(weights | {"embedding.weight": weights["embedding.weight"].to(dtype)}, file)

    return damage


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        *(
            (cast(each), "embedding.weight is of type")
            for each in (torch.int8, torch.float8_e4m3fn)
        ),
        (cast(torch.complex64), "embedding.weight is of type complex64"),
        (truncate, "is not a whole safetensors file"),
        (empty, "is not a whole safetensors file"),
        (rename, "has no tensor embedding.weight, which config.json asks for"),
        (add, "has tensors the model lacks: extra"),
        (reshape, r"embedding.weight is \[299, 32\], config.json says \[300, 32\]"),
        (poison, "embedding.weight holds NaN or infinite values"),
    ],
)
def test_damaged_weights(folder: Path, damage: Callable[[Path], None], message: str) -> None:
    damage(folder / "model.safetensors")
    with pytest.raises(CheckpointError, match=rf"^mine: model\.safetensors.*{message}"):
        load_checkpoint(folder)


class Executed:
    def __reduce__(self) -> tuple[Callable[..., object], tuple[str]]:
        return eval, ("print('EXECUTED') or exit(3)",)


def test_a_pickle_is_never_executed(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (folder / "model.safetensors").write_bytes(pickle.dumps(Executed()))
    with pytest.raises(CheckpointError, match=r"model\.safetensors is not a whole safetensors"):
        load_checkpoint(folder)
    assert "EXECUTED" not in capfd.readouterr().out


def test_a_damaged_tokenizer(folder: Path) -> None:
    (folder / "tokenizer.model").write_bytes(b"\xff" * 50)
    with pytest.raises(CheckpointError, match=r"^mine: tokenizer\.model is not a whole"):
        load_checkpoint(folder)


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[1]", b"null", b"\xff\xfe", b"{}", b'"text"', b"[" * 5000]
)
def test_damaged_json(folder: Path, content: bytes) -> None:
    (folder / "config.json").write_bytes(content)
    with pytest.raises(CheckpointError, match=r"^mine: config\.json "):
        load_checkpoint(folder)


@pytest.mark.parametrize(
    ("content", "what"), [("[1, 2]", "a list"), ("null", "null"), ('"a"', "a text"), ("1", "a num")]
)
def test_json_that_is_no_configuration(folder: Path, content: str, what: str) -> None:
    (folder / "config.json").write_text(content)
    with pytest.raises(
        CheckpointError, match=rf"^mine: config\.json holds {what}.*: put the one there that was"
    ):
        load_checkpoint(folder)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model": {"family": "decoder_of_rings"}}, "unknown family 'decoder_of_rings'"),
        ({"model": {"n_heads": 5}}, "must be a multiple of n_heads"),
        ({"model": {"colour": "red"}}, "unknown fields colour"),
        ({"model": [1]}, "fields with their values are needed"),
        ({"examples": None}, "examples must be a list of at most 200 texts, not None"),
        ({"examples": [1]}, "examples must be a text of at most 20,000 characters, not 1"),
        ({"title": "a" * 20_001}, r"title must be a text of at most 20,000 .*, not 'a{39}\.$"),
        ({"opens_at": ["cross"]}, "opens_at must be a kind, a layer and a head, not"),
        ({"opens_at": ["cross", 10**400, -1]}, "opens_at must be a kind, a layer and a head"),
        ({"special": "all"}, "special must be shown, hidden or renormalised, not 'all'"),
        ({"special": None}, "special must be shown, hidden or renormalised, not None"),
        ({"earlier": "0a1b"}, "earlier must be a list of at most 200 texts, not '0a1b'"),
        ({"decoding": []}, r"decoding must have methods by their names, not \[\]"),
        ({"decoding": {"beams": {}}}, "decoding: unknown method 'beams'; known: beam, "),
        ({"decoding": {"beam": 4}}, "decoding.beam must have options by their names, not 4"),
        ({"decoding": {"beam": {"heat": 2}}}, "decoding.beam: no option 'heat' of this method"),
        ({"decoding": {"greedy": {"seed": 2}}}, "decoding.greedy: no option 'seed' .*: none"),
        ({"decoding": {"beam": {"beam_size": 0}}}, "beam_size must be at least 1, not 0"),
        ({"decoding": {"beam": {"beam_size": 2.5}}}, "beam_size must be a whole number, not 2.5"),
        ({"decoding": {"beam": {"length_penalty": None}}}, "length_penalty must be a number, not"),
        ({"decoding": {"beam": {"length_penalty": 1e9}}}, "length_penalty must be at most 100"),
        ({"model": {"family": ["a"]}}, r"family must be a name, not \['a'\]"),
        ({"model": {"norm": ["a" * 5000]}}, r"norm must be one of .*, not \['a{38}\.$"),
        ({"model": {"a" * 5000: 1, "b": 2}}, r"unknown fields a{80}…, b\.$"),
        ({"tokenizer": "runes"}, "unknown tokenizer kind 'runes'"),
        ({"tokenizer": "\ud800"}, r"unknown tokenizer kind '\?'"),
        ({"model": {"\udfff": 1}}, r"unknown fields \?"),
    ],
)
def test_wrong_values(folder: Path, changes: dict[str, object], message: str) -> None:
    file = folder / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))
    with pytest.raises(CheckpointError, match=rf"^mine: .*{message}"):
        load_checkpoint(folder)


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"n_encoder_layers": 10**9}, r"asks for 1,000,000,002 layers, and there are \d+ tensors"),
        ({"d_model": 2**30}, r"config\.json says \[\d+, 1073741824\]"),
        ({"d_model": 2**31 - 2, "d_ff": 2**31 - 1}, "asks for tensors of impossible sizes"),
        ({"max_len": 2**30}, "asks for tables of 34,359,738,368 values that no file holds"),
    ],
)
def test_absurd_sizes_are_refused_before_anything_is_allocated(
    folder: Path, sizes: dict[str, int], message: str
) -> None:
    file = folder / "config.json"
    values = json.loads(file.read_text())
    values["model"] |= {"d_key": 8, "d_value": 8} | sizes
    file.write_text(json.dumps(values))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(CheckpointError, match=rf"^mine: .*{message}"):
        load_checkpoint(folder)
    found = survey(folder)  # which says it of the configuration, and shows what there is
    assert found.findings and found.n_parameters
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 2**18  # KiB


def test_half_a_character_is_escaped_in_a_sentence() -> None:
    assert str(CheckpointError("no \ud800 here")) == "no U+D800 here"


def test_half_a_character_in_a_title(folder: Path) -> None:
    file = folder / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"title": "Half \ud800"}))
    assert load_checkpoint(folder, "cpu").about.title == "Half ?"


def test_a_lacking_field(folder: Path) -> None:
    file = folder / "config.json"
    values = json.loads(file.read_text())
    del values["tokenizer"]
    file.write_text(json.dumps(values))
    with pytest.raises(CheckpointError, match=r"^mine: config\.json lacks the field 'tokenizer'"):
        load_checkpoint(folder)


def test_a_device_that_is_not_there(text_folder: Path) -> None:
    with pytest.raises(DeviceError, match=r"^there is no device 'abacus' here; there is .*cpu"):
        load_checkpoint(text_folder, "abacus")


def test_a_failing_write_leaves_the_old_file_whole(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = folder / "model.safetensors"
    before = file.read_bytes()

    def full(descriptor: int) -> None:
        raise OSError("no space left")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="no space left"):
        save_weights(file, {"a": torch.zeros(3)})
    assert file.read_bytes() == before


def test_a_whole_write_replaces(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"old")
    write_whole(file, b"new")
    assert file.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [file]


def test_the_history_is_what_training_saved(folder: Path) -> None:
    assert read_history(folder) == []
    rows = [{"step": 1, "loss": 2.5}, {"step": 1, "validation_loss": 2.0, "BLEU": 1}]
    (folder / "history.json").write_text(json.dumps(rows))
    assert read_history(folder) == rows


@pytest.mark.parametrize(
    "text",
    [
        *("", "[", "{}", "[1]", '[{"loss": 1}]', '[{"step": 1, "loss": "low"}]', '[{"step": NaN}]'),
        *('[{"step": -1}]', '[{"step": true}]', '[{"step": 1, "loss": [1]}]', "null", "[" * 9000),
        *(f'[{{"step": 1, "loss": 1{"0" * n}}}]' for n in (400, 4000, 5000)),
        *(f'[{{"step": 1{"0" * n}, "loss": 1}}]' for n in (15, 400, 5000)),
        json.dumps([{"step": 1, **{f"score {i}": 1.5 for i in range(100)}}]),
    ],
)
def test_a_damaged_history_is_named(folder: Path, text: str) -> None:
    (folder / "history.json").write_text(text)
    with pytest.raises(CheckpointError, match=r"^mine: history\.json .*\.$"):
        read_history(folder)
