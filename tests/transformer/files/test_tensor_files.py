"""Tensors from files of several kinds, whole, damaged and hostile."""

import zipfile
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import torch
from safetensors.torch import save_file

from transformer.checkpoint import CheckpointError
from transformer.files.tensor_files import LoadedTensors, SafetensorsFiles, open_pickles
from transformer.files.tensors import Stored, Unread


class Payload:
    """What a hostile pickle holds: code that would make a file."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self) -> Any:
        return Path.touch, (self.file,)


def test_tensors_in_memory_are_described_as_safetensors_does() -> None:
    source = LoadedTensors({"a": torch.ones(2, 3).half(), "b": torch.tensor(4)})
    assert source.stored["a"] == Stored("a", "F16", (2, 3))
    assert source.stored["b"] == Stored("b", "I64", ())
    b, a = source.read("b", "a")
    assert a.dtype == torch.float32 and float(b) == 4
    with pytest.raises(KeyError):
        next(source.read("c"))


@pytest.mark.parametrize("is_zip", [True, False])
def test_both_kinds_of_pickles_are_read(is_zip: bool, tmp_path: Path) -> None:
    torch.save(
        {"a": torch.arange(6).view(2, 3)},
        tmp_path / "w.bin",
        _use_new_zipfile_serialization=is_zip,
    )
    (a,) = open_pickles(tmp_path, ["w.bin"]).read("a")
    assert a.tolist() == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.parametrize("ending", ["safetensors", "bin"])
def test_parts_that_contradict_each_other_are_a_fault(ending: str, tmp_path: Path) -> None:
    parts = [f"1.{ending}", f"2.{ending}"]
    save: Any = save_file if ending == "safetensors" else torch.save
    nan, one = torch.tensor([torch.nan, 1]), torch.ones(2)
    for second, is_fault in ((nan, False), (one, True), (nan.half(), True), (torch.zeros(1), True)):
        save({"a": nan, "b": one}, tmp_path / parts[0])
        save({"a": second, "c": torch.zeros(3)}, tmp_path / parts[1])
        source = (SafetensorsFiles if ending == "safetensors" else open_pickles)(tmp_path, parts)
        assert set(source.stored) == {"a", "b", "c"}
        assert source.faults == (
            {parts[1]: f"holds other values of a than {parts[0]}"} if is_fault else {}
        )


def refused(folder: Path, sentence: str) -> None:
    with pytest.raises(CheckpointError, match=sentence) as caught:
        open_pickles(folder, ["w.bin"])
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 400


@pytest.mark.parametrize("is_zip", [True, False])
def test_code_in_a_pickle_does_not_run(is_zip: bool, tmp_path: Path) -> None:
    made = tmp_path / "made"
    values = {"a": Payload(made)}
    torch.save(values, tmp_path / "w.bin", _use_new_zipfile_serialization=is_zip)
    refused(tmp_path, r"w\.bin holds Python objects \(\S+\), which are not loaded: ")
    assert not made.exists()


def test_what_swells_when_read_is_refused(tmp_path: Path) -> None:
    torch.save({"a": torch.zeros(100_000)}, tmp_path / "whole.bin")
    with (
        zipfile.ZipFile(tmp_path / "whole.bin") as whole,
        zipfile.ZipFile(tmp_path / "w.bin", "w", zipfile.ZIP_DEFLATED) as bomb,
    ):
        for part in whole.infolist():
            bomb.writestr(part.filename, whole.read(part))
    refused(tmp_path, r"w\.bin is packed, which torch\.save does not do; save it again\.$")


def test_a_view_that_claims_more_than_there_is_is_a_fault(tmp_path: Path) -> None:
    torch.save({"a": torch.ones(1).expand(2**40), "b": torch.ones(2), "c": 3}, tmp_path / "w.bin")
    source = open_pickles(tmp_path, ["w.bin"])
    assert list(source.stored) == ["b"]
    assert source.faults == {"a": "claims more values than there are", "c": "is not a tensor"}


def test_files_that_hold_something_else(tmp_path: Path) -> None:
    torch.save([torch.ones(2)], tmp_path / "w.bin")
    refused(tmp_path, r"w\.bin holds no tensors by name: save only the weights")
    (tmp_path / "w.bin").write_bytes(b"abc")
    refused(tmp_path, r"w\.bin is not a whole file of weights: it is (cut off|empty|damaged)")
    (tmp_path / "w.bin").unlink()
    refused(tmp_path, r"w\.bin is missing\.$")


def test_values_are_read_from_where_they_lie(tmp_path: Path) -> None:
    a = torch.arange(12.0).view(3, 4)
    values = {"a": a, "turned": a.t(), "part": a[1:, 2:], "one": torch.tensor(7), "none": a[:0]}
    torch.save(values, tmp_path / "w.bin")
    source = open_pickles(tmp_path, ["w.bin"])
    for name, found in zip(values, source.read(*values), strict=True):
        assert torch.equal(found, values[name].float()), name


@pytest.mark.parametrize("order", [b"big", b"no order at all"])
def test_a_file_of_another_order_of_bytes_ends_nothing(order: bytes, tmp_path: Path) -> None:
    torch.save({"a": torch.tensor([1, 2])}, tmp_path / "whole.bin")
    with (
        zipfile.ZipFile(tmp_path / "whole.bin") as whole,
        zipfile.ZipFile(tmp_path / "w.bin", "w") as other,
    ):
        for part in whole.infolist():
            is_order = part.filename.endswith("byteorder")
            other.writestr(part.filename, order if is_order else whole.read(part))
    if order == b"big":
        (found,) = open_pickles(tmp_path, ["w.bin"]).read("a")
        assert found.tolist() == [1 << 56, 2 << 56]
    else:
        refused(tmp_path, r"w\.bin is not a whole file of weights: it is damaged")


def test_a_tensor_that_was_saved_without_values_is_a_fault(tmp_path: Path) -> None:
    torch.save({"a": torch.ones(2), "b": torch.ones(2, device="meta")}, tmp_path / "w.bin")
    assert list(open_pickles(tmp_path, ["w.bin"]).faults) == ["b"]


def test_whoever_leaves_while_others_read_meets_its_own_error(tmp_path: Path) -> None:
    """The library's threads read tensors; a NaN in one ends it, with others being read."""
    save_file({f"t{i}": torch.randn(256, 256) for i in range(8)}, tmp_path / "model.safetensors")
    source = SafetensorsFiles(tmp_path, ["model.safetensors"])
    ended: list[CheckpointError] = []

    def read_on(values: Unread) -> None:
        try:
            while True:
                assert values[...].shape == (256, 256)
        except CheckpointError as error:
            ended.append(error)

    def leave_early(threads: list[Thread]) -> None:
        with source.unread() as tensors:
            for i in range(3):
                threads.append(Thread(target=read_on, args=(tensors[f"t{i}"],)))
                threads[-1].start()
            raise KeyError("mine")

    for _ in range(5):
        threads: list[Thread] = []
        with pytest.raises(KeyError, match="mine"):
            leave_early(threads)
        for thread in threads:
            thread.join()
    assert len(ended) == 15 and all("no longer" in str(error) for error in ended)
