"""What goes wrong on a device ends in one sentence, and holds no memory."""

import weakref
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from tests.conftest import RECORDED, SENTENCES
from transformer import InputError, decode, load_checkpoint, record
from transformer.__main__ import main
from transformer.checkpoint import Checkpoint, CheckpointError
from transformer.device import (
    DeviceError,
    LostDevice,
    NotFinite,
    OutOfMemory,
    choose_device,
    device_error,
    device_trouble,
    inference_dtype,
)
from transformer.hugging_face.model import HuggingFaceConfig, HuggingFaceModel

NO_MEMORY = torch.OutOfMemoryError(
    "CUDA out of memory. Tried to allocate 20.00 GiB. GPU 0 has a total capacity of 8.00 GiB."
)
AcceleratorError = getattr(torch, "AcceleratorError", RuntimeError)  # as torch 2.7 says it
LOST = AcceleratorError("CUDA error: device-side assert triggered\nCUDA kernel errors might")


@pytest.mark.parametrize(
    ("error", "kind", "said"),
    [
        (NO_MEMORY, OutOfMemory, "The GPU has too little memory for this, and what it took"),
        (RuntimeError("MPS backend out of memory (MPS allocated: 1 GB)"), OutOfMemory, "The GPU"),
        (RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when"), OutOfMemory, "The GPU has"),
        (AcceleratorError("CUDA error: out of memory"), OutOfMemory, "The GPU has too"),
        (LOST, LostDevice, "does not answer any more (device-side assert triggered): the program"),
        (RuntimeError("cuDNN error: CUDNN_STATUS_EXECUTION_FAILED"), LostDevice, "CUDNN_STATUS"),
    ],
)
def test_what_torch_says_of_a_device(error: Exception, kind: type, said: str) -> None:
    found = device_error(error)
    assert type(found) is kind and said in str(found)
    within = InputError("The model cannot run over this text.")
    within.__cause__ = error
    assert type(device_error(within)) is kind


def test_memory_of_the_machine_and_other_errors() -> None:
    with pytest.raises(OutOfMemory, match="This machine has too little"), device_trouble():
        torch.empty(2**48)
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"), device_trouble():
        torch.ones(2, 3) @ torch.ones(2, 3)
    assert device_error(RuntimeError("CUDA error: x").with_traceback(None)) is not None
    assert device_error(ValueError("out of memory")) is None


def fail(error: Exception) -> Callable[..., Any]:
    def hook(*_: object) -> None:
        raise error

    return hook


@pytest.mark.parametrize("error", [NO_MEMORY, LOST])
def test_a_model_that_fails_within(text_folder: Path, error: Exception) -> None:
    checkpoint = load_checkpoint(text_folder, "cpu")
    checkpoint.model.get_submodule("decoder.layers.1").register_forward_hook(fail(error))
    for run in (decode, record):
        args = (SENTENCES[1],) if run is record else ()
        with pytest.raises(DeviceError, match="The GPU"):
            run(checkpoint, SENTENCES[0], *args)


def test_what_failed_holds_no_memory() -> None:
    """Also while somebody still holds the error."""
    taken: list[weakref.ref[torch.Tensor]] = []

    def run() -> None:
        tensor = torch.ones(1000)
        taken.append(weakref.ref(tensor))
        raise NO_MEMORY

    with pytest.raises(OutOfMemory) as caught, device_trouble():
        run()
    assert caught.value.__cause__ is NO_MEMORY and taken[0]() is None


def test_a_model_of_hugging_faces_that_fails_within() -> None:
    class Inner(nn.Module):
        def forward(self, input_ids: torch.Tensor) -> None:
            raise NO_MEMORY

    model = HuggingFaceModel(Inner(), HuggingFaceConfig("Inner", 9, 9, 0, None))
    with pytest.raises(OutOfMemory), device_trouble():
        model(torch.tensor([[1]]))


def test_a_load_that_fails(text_folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setattr(nn.Module, "to", fail(NO_MEMORY))
    with pytest.raises(OutOfMemory):
        load_checkpoint(text_folder, "cpu")
    assert main(["decode", str(text_folder), "x"]) == 1
    assert capsys.readouterr().err.startswith("error: The GPU has too little memory")


@pytest.fixture
def half(text_folder: Path) -> Checkpoint:
    """In half precision, with weights that go beyond it in one place."""
    checkpoint = load_checkpoint(text_folder, "cpu")
    half = replace(checkpoint, model=checkpoint.model.half())
    for parameter in half.model.get_submodule("encoder.layers.1.feed_forward").parameters():
        parameter.fill_(6e4)
    return half


def test_numbers_beyond_half_precision(half: Checkpoint) -> None:
    said = r"beyond float16 at encoder\.layers\.1\.feed_forward\..* HEADSCOPE_PRECISION=float32"
    for method in ("greedy", "beam", "sample"):
        with pytest.raises(NotFinite, match=said):
            decode(half, SENTENCES[0], method)
    with pytest.raises(NotFinite, match=said):
        record(half, SENTENCES[0], SENTENCES[1])
    RECORDED.clear()  # of numbers that are none


def test_precision_by_a_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    cuda, cpu = torch.device("cuda"), torch.device("cpu")
    assert (inference_dtype(cuda), inference_dtype(cpu)) == (torch.float16, torch.float32)
    monkeypatch.setenv("HEADSCOPE_PRECISION", "float32")
    assert inference_dtype(cuda) == torch.float32
    monkeypatch.setenv("HEADSCOPE_PRECISION", "double")
    with pytest.raises(DeviceError, match=r"must be float16, bfloat16 or float32, not 'double'\."):
        inference_dtype(cuda)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_out_of_memory_on_cuda(text_folder: Path) -> None:
    checkpoint = load_checkpoint(text_folder, "cuda")
    before = torch.cuda.memory_allocated()

    def take(*_: object) -> None:
        taken = [torch.empty(2**28, device="cuda")]
        while True:
            taken.append(torch.empty(2**32, device="cuda"))

    handle = checkpoint.model.get_submodule("decoder.layers.1").register_forward_hook(take)
    with pytest.raises(OutOfMemory, match="The GPU has too little memory"):
        decode(checkpoint, SENTENCES[0])
    handle.remove()
    assert torch.cuda.memory_allocated() <= before + 2**24
    assert decode(checkpoint, SENTENCES[0]).text is not None


@pytest.mark.parametrize(
    "name",
    ["gpu", "cpu:x", "", "meta", "cuda:99", "cpu:1", "cpu:300", 0.5, [], torch.device("meta")],
)
def test_a_device_that_is_not_here(name: Any) -> None:
    with pytest.raises(DeviceError, match="there is no device"):
        choose_device(name)


@pytest.mark.parametrize("number", ["2", "256", "257", "65536"])
def test_a_number_that_torch_wraps(number: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert choose_device("cuda:1") == torch.device("cuda:1")
    with pytest.raises(DeviceError, match=f"'cuda:{number}'"):
        choose_device(f"cuda:{number}")


def test_a_device_of_torch() -> None:
    assert choose_device(torch.device("cpu")) == choose_device("cpu") == torch.device("cpu")


def test_a_path_that_begins_at_home(text_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(text_folder.parent))
    assert load_checkpoint(f"~/{text_folder.name}", "cpu").path == text_folder


@pytest.mark.parametrize("path", [None, 5, b"checkpoints/en-de"])
def test_what_is_not_a_path(path: Any) -> None:
    with pytest.raises(CheckpointError, match="by its path"):
        load_checkpoint(path)
