"""Files made to do harm, and files that broke on the way: one sentence, and nothing runs."""

import argparse
import io
import os
import pickle
import random
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from tests.transformer.formats import codebases
from transformer import Checkpoint, CheckpointError, load_checkpoint
from transformer.files.weights import Misfit
from transformer.files.weights_file import read_weights


class Payload:
    """A pickle that makes a folder where it is loaded."""

    def __init__(self, made: Path) -> None:
        self.made = made

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.made),)


def refused(file: Path, sentence: str) -> None:
    with pytest.raises(CheckpointError, match=sentence) as caught:
        load_checkpoint(file, "cpu")
    said = str(caught.value)
    folder = file if file.is_dir() else file.parent
    assert said.startswith(f"{folder.name}: ") and said.endswith(".") and "\n" not in said


def test_the_payload_is_a_real_one(tmp_path: Path) -> None:
    pickle.loads(pickle.dumps(Payload(tmp_path / "made")))
    assert (tmp_path / "made").exists()


@pytest.mark.parametrize("is_zip", [True, False])
def test_a_pickle_is_never_executed(is_zip: bool, tmp_path: Path) -> None:
    made = tmp_path / "made"
    saved = {"model": {"transformer.wte.weight": torch.zeros(2, 2)}, "config": Payload(made)}
    torch.save(saved, tmp_path / "ckpt.pt", _use_new_zipfile_serialization=is_zip)
    refused(tmp_path / "ckpt.pt", r"ckpt\.pt holds Python objects \(posix\.mkdir\), which are not")
    assert not made.exists()


def test_a_torch_that_does_not_read_it_safely_reads_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("transformer.files.torch_file.IS_SAFE", False)
    torch.save({"a": torch.zeros(2)}, tmp_path / "ckpt.pt")
    with pytest.raises(Misfit, match=r"torch 2\.10 or newer"):
        read_weights(tmp_path / "ckpt.pt")


@pytest.mark.parametrize("suffix", [".pt", ".bin", ".ckpt", ".npz", ".safetensors"])
def test_a_bare_pickle_is_never_executed(suffix: str, tmp_path: Path) -> None:
    file = tmp_path / f"model{suffix}"
    file.write_bytes(pickle.dumps(Payload(tmp_path / "made")))
    refused(file, rf"model\{suffix} (is not a whole file|holds Python objects)")
    assert not (tmp_path / "made").exists()


def test_an_array_of_objects_is_never_executed(tmp_path: Path) -> None:
    array = np.array([Payload(tmp_path / "made")], dtype=object)
    np.savez(tmp_path / "model.npz", encoder_l1_self_Wq=array)
    refused(tmp_path / "model.npz", "holds Python objects, which are not loaded: save only arrays")
    assert not (tmp_path / "made").exists()


def test_a_vocabulary_is_never_executed(tmp_path: Path) -> None:
    codebases.nano_gpt(tmp_path)
    for saved in ({"stoi": Payload(tmp_path / "made")}, Payload(tmp_path / "made")):
        (tmp_path / "meta.pkl").write_bytes(pickle.dumps(saved))
        refused(tmp_path, r"meta\.pkl is not a plain dictionary: it holds more than plain values")
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize(
    "data",
    [
        b"\x80\x04r\xff\xff\xff\xff.",  # LONG_BINPUT: room for four thousand million objects
        b"\x80\x05\x96\xff\xff\xff\xff\x10\x00\x00\x00.",  # BYTEARRAY8: 70 gigabytes of it
        b"",
        b"\x80\x04",
        pickle.dumps([1]),
        pickle.dumps({"stoi": {"a": 0, "b": 5}}),
    ],
)
def test_a_damaged_vocabulary(data: bytes, tmp_path: Path) -> None:
    codebases.nano_gpt(tmp_path)
    (tmp_path / "meta.pkl").write_bytes(data)
    refused(tmp_path, r"meta\.pkl (is not a plain dictionary|has no stoi|must give each piece)")


def test_a_whole_module_is_not_loaded(tmp_path: Path) -> None:
    torch.save(torch.nn.Linear(2, 2), tmp_path / "model.pt")
    refused(tmp_path / "model.pt", r"\(torch\.nn\.modules\.linear\.Linear\).*model\.state_dict\(\)")


def test_open_nmt_before_version_3_says_what_to_do(tmp_path: Path) -> None:
    """Its vocabulary was a torchtext Field: a class that is not even installed here."""
    stream = io.BytesIO()
    torch.save({"model": {"a": torch.zeros(1)}, "vocab": argparse.Namespace()}, stream)
    with zipfile.ZipFile(stream) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(tmp_path / "old_step_9.pt", "w") as archive:
        for name, content in entries.items():
            named = content.replace(b"argparse", b"torchtext.data.field")
            archive.writestr(name, named.replace(b"Namespace", b"Field"))
    refused(
        tmp_path / "old_step_9.pt",
        r"vocabulary as Python objects \(torchtext\.data\.field\.Field\).*"
        r"replace its 'vocab' by {'src': \[pieces\], 'tgt': \[pieces\]}.*save it again",
    )


def truncated(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-200])


def halved(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def emptied(file: Path) -> None:
    file.write_bytes(b"")


def as_text(file: Path) -> None:
    file.write_text("These are no weights. " * 40)


@pytest.mark.parametrize("damage", [truncated, halved, emptied, as_text])
@pytest.mark.parametrize("suffix", [".pt", ".npz", ".safetensors"])
def test_a_damaged_file(suffix: str, damage: Callable[[Path], None], tmp_path: Path) -> None:
    file = tmp_path / f"model{suffix}"
    tensors = {f"a{i}": torch.randn(40, 40) for i in range(3)}
    if suffix == ".npz":
        np.savez(file, **{name: tensor.numpy() for name, tensor in tensors.items()})
    elif suffix == ".pt":
        torch.save(tensors, file)
    else:
        save_file(tensors, file)
    damage(file)
    states = "cut off|empty|damaged|text"
    refused(file, rf"model\{suffix} is not a whole file of weights: it is ({states})")


def test_an_old_file_that_is_cut(tmp_path: Path) -> None:
    file = tmp_path / "old.pth"
    torch.save({"a": torch.zeros(99)}, file, _use_new_zipfile_serialization=False)
    content = file.read_bytes()
    for n in (*range(0, len(content), 7), len(content) - 1):
        file.write_bytes(content[:n])
        refused(file, rf"is not a whole file of weights: it is ({'cut off' if n else 'empty'})\.$")


def test_an_old_file_opens(tmp_path: Path) -> None:
    case = codebases.annotated(tmp_path)
    state = torch.load(case.file, weights_only=True)
    torch.save(state, case.file, _use_new_zipfile_serialization=False)
    assert load_checkpoint(case.file, "cpu").about.recipe == "annotated"


def test_any_byte_may_be_wrong(tmp_path: Path) -> None:
    case = codebases.former(tmp_path, wide=True)
    whole, chance = case.file.read_bytes(), random.Random(2)
    opened, said = 0, []
    for _ in range(60):
        damaged = bytearray(whole)
        for place in chance.sample(range(len(whole)), 20):
            damaged[place] = chance.randrange(256)
        case.file.write_bytes(damaged)
        try:
            opened += isinstance(load_checkpoint(case.file, "cpu"), Checkpoint)
        except CheckpointError as error:
            said.append(str(error))
    assert opened + len(said) == 60 and len(said) > 30
    assert all(each.endswith(".") and "\n" not in each for each in said)


def test_a_zip_bomb_is_not_unpacked(tmp_path: Path) -> None:
    with (
        zipfile.ZipFile(tmp_path / "model.npz", "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("encoder_l1_self_Wq.npy", "w") as entry,
    ):
        np.lib.format.write_array_header_1_0(
            entry, {"descr": "<f4", "fortran_order": False, "shape": (4096, 4096)}
        )
        for _ in range(64):
            entry.write(bytes(1 << 20))
    assert (tmp_path / "model.npz").stat().st_size < 100_000
    refused(tmp_path / "model.npz", r"would unpack to 67,\d+,\d+ bytes, from \d\d,\d+")


def test_a_packed_torch_file(tmp_path: Path) -> None:
    stream = io.BytesIO()
    torch.save({"a": torch.zeros(30)}, stream)
    with (
        zipfile.ZipFile(stream) as whole,
        zipfile.ZipFile(tmp_path / "a.pt", "w", zipfile.ZIP_DEFLATED) as packed,
    ):
        for name in whole.namelist():
            packed.writestr(name, whole.read(name))
    refused(tmp_path / "a.pt", "is packed, which torch.save does not do")


def test_a_tensor_that_claims_more_than_there_is(tmp_path: Path) -> None:
    huge = torch.zeros(1).expand(10**6, 10**6)
    torch.save({"transformer.wte.weight": huge}, tmp_path / "ckpt.pt")
    assert (tmp_path / "ckpt.pt").stat().st_size < 10_000
    refused(tmp_path / "ckpt.pt", "holds transformer.wte.weight, which claims more values than")


def test_one_tensor_under_very_many_names(tmp_path: Path) -> None:
    tensor = torch.zeros(1000, 100)
    torch.save({f"h.{i}": tensor for i in range(3000)}, tmp_path / "ckpt.pt")
    refused(tmp_path / "ckpt.pt", r"claims 1,200,000,000 bytes of values, in \d+,\d+: not opened")


def test_very_many_tensors_are_not_read_one_by_one(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "ckpt.pt", "w") as archive:
        for i in range(10_000):
            archive.writestr(f"archive/data/{i}", b"")
    refused(tmp_path / "ckpt.pt", r"holds 10,000 parts, .* at most 8,192: save only the weights")


def test_an_array_header_of_absurd_size(tmp_path: Path) -> None:
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": "<f4", "fortran_order": False, "shape": (1 << 40, 1 << 20)}
    )
    with zipfile.ZipFile(tmp_path / "model.npz", "w") as archive:
        archive.writestr("encoder_l1_self_Wq.npy", header.getvalue())
    refused(tmp_path / "model.npz", "model.npz (does not fit into memory|is not a whole file)")


def test_a_safetensors_header_of_absurd_size(tmp_path: Path) -> None:
    header = b'{"a":{"dtype":"F32","shape":[1099511627776],"data_offsets":[0,4398046511104]}}'
    for size in (len(header), 1 << 62):
        (tmp_path / "a.safetensors").write_bytes(struct.pack("<Q", size) + header)
        refused(tmp_path / "a.safetensors", "a.safetensors is not a whole file of weights")


def test_a_sparse_tensor(tmp_path: Path) -> None:
    torch.save({"a": torch.eye(3).to_sparse()}, tmp_path / "a.pt")
    refused(tmp_path / "a.pt", r"a\.pt holds a, which is sparse, .* save it as value\.to_dense\(\)")
    heads = (torch.eye(3) > 0).to_sparse()  # openai/whisper's code saves such a buffer
    torch.save({"a": torch.ones(3), "alignment_heads": heads}, tmp_path / "a.pt")
    assert set(read_weights(tmp_path / "a.pt").tensors) == {"a"}


@pytest.mark.filterwarnings("ignore:.torch.jit")
def test_a_scripted_module_and_a_program_are_named(tmp_path: Path) -> None:
    model, given = torch.nn.Linear(2, 2), torch.zeros(1, 2)
    torch.jit.trace(model, given).save(tmp_path / "scripted.pt")
    refused(tmp_path / "scripted.pt", r"is a scripted or traced module \(torch\.jit\), which holds")
    with zipfile.ZipFile(tmp_path / "program.pt", "w") as archive:  # as torch.export.save
        archive.writestr("program/archive_format", "pt2")
    refused(tmp_path / "program.pt", r"is a program of torch\.export, which holds code: save only")


@pytest.mark.parametrize("content", [[1, 2], {}, {"a": 1}, torch.zeros(2), "text"])
def test_no_state_dict(content: Any, tmp_path: Path) -> None:
    torch.save(content, tmp_path / "a.pt")
    refused(tmp_path / "a.pt", r"a\.pt holds no (state dict|tensors).*model\.state_dict\(\)")


@pytest.mark.parametrize("key", ["model", "state_dict", "model_state_dict"])
@pytest.mark.parametrize("prefix", ["", "module.", "_orig_mod."])
def test_where_training_code_keeps_the_state_dict(key: str, prefix: str, tmp_path: Path) -> None:
    state = {f"{prefix}a.weight": torch.ones(2), f"{prefix}b": torch.ones(2)}
    options = {"heads": 3, "data": [1], "cuda": True}
    saved = {key: state, "epoch": 3, "args": argparse.Namespace(**options), "config": {"heads": 9}}
    torch.save(saved, tmp_path / "a.pt")
    found = read_weights(tmp_path / "a.pt")
    assert set(found.tensors) == {"a.weight", "b"}
    assert found.options == {"heads": 3, "cuda": True}


def test_a_directory_by_a_file_s_name(tmp_path: Path) -> None:
    (tmp_path / "a.pt").mkdir()
    with pytest.raises(CheckpointError, match=r"^a\.pt is not a checkpoint"):
        load_checkpoint(tmp_path / "a.pt")
    with pytest.raises(Misfit, match=r"^is a folder, where a file belongs$"):
        read_weights(tmp_path / "a.pt")
