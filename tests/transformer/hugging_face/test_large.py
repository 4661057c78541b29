"""Large models: each tensor is read into the precision that it stays in, where it fits."""

import gc
import json
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.real.large import TEXT, make
from tests.representatives import cases
from transformer import decode, load_checkpoint, record
from transformer.analysis.ablation import sweep
from transformer.checkpoint import Checkpoint, CheckpointError
from transformer.device import _left_in_container, weights_bytes
from transformer.files.tensor_files import SafetensorsFiles
from transformer.hugging_face import loading as placing

DTYPES = (torch.float32, torch.float16, torch.bfloat16)
N = 157_888
"""Parameters of the tiny ones."""
SPLIT = {
    **dict.fromkeys(("model.embed_tokens", "model.layers.0", "model.norm"), "cpu"),
    **dict.fromkeys(("model.rotary_emb",), "cpu"),
    **dict.fromkeys(("model.layers.1", "lm_head"), "disk"),
}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A Llama of 2 layers in each precision; and one whose output matrix is its embedding."""
    above = tmp_path_factory.mktemp("large")
    made = {str(dtype).removeprefix("torch."): above / str(dtype)[6:] for dtype in DTYPES}
    for name, folder in made.items():
        folder.mkdir()
        make(folder, "tiny", getattr(torch, name), most=2**17)
    assert len([*made["float32"].glob("*.safetensors")]) > 2
    (above / "tied").mkdir()
    make(above / "tied", "tiny", torch.bfloat16, is_tied=True)
    return made | {"tied": above / "tied"}


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """At each tensor that is read, the bytes of all others that are in memory and new.

    They are looked for at each fifth, and stay the same until then: that takes a while.
    """
    before = _storages()
    gc.collect()
    gc.freeze()  # what there is: each look is at what is new
    bytes_then: list[int] = []
    reads = SafetensorsFiles._values

    def counted(self: SafetensorsFiles, *args: Any) -> torch.Tensor:
        if len(bytes_then) % 5:
            bytes_then.append(bytes_then[-1])
        else:
            now = _storages()
            bytes_then.append(sum(now[each] for each in now.keys() - before.keys()))
        return reads(self, *args)

    monkeypatch.setattr(SafetensorsFiles, "_values", counted)
    return bytes_then


def _storages() -> dict[int, int]:
    """Where each is -> its bytes."""
    plain = torch.Tensor, torch.nn.Parameter  # other tests may leave tensors without numbers
    tensors = (it for it in gc.get_objects() if type(it) in plain and not it.is_meta)
    each = (it.untyped_storage() for it in tensors)
    return {it.data_ptr(): it.nbytes() for it in each}


SAVED = ("float32", "float16", "bfloat16", "tied")
FEW = {
    **{f"saved in {it}": (it, torch.float32) for it in SAVED},
    **{f"asked for in {it}": ("float32", it) for it in DTYPES},
}


@pytest.mark.parametrize(("saved", "asked"), cases(product(SAVED, DTYPES), FEW))
def test_each_precision_opens_as_each(
    folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch, saved: str, asked: torch.dtype
) -> None:
    from transformers import LlamaForCausalLM

    def no_random_values(tensor: torch.Tensor, *args: Any, **named: Any) -> torch.Tensor:
        assert tensor.is_meta, "random values were made"
        return tensor

    with monkeypatch.context() as patched:
        patched.setenv("HEADSCOPE_PRECISION", str(asked).removeprefix("torch."))
        patched.setattr(torch.Tensor, "normal_", no_random_values)
        opened: Any = load_checkpoint(folders[saved], "cpu")
    theirs = LlamaForCausalLM.from_pretrained(folders[saved], dtype=asked)
    ours = opened.model.inner.state_dict()
    assert ours.keys() == theirs.state_dict().keys()
    assert all(torch.equal(ours[name], each) for name, each in theirs.state_dict().items())
    assert {each.dtype for each in ours.values()} == {asked}
    assert opened.model.inner.model.rotary_emb.inv_freq.dtype == torch.float32
    assert weights_bytes(opened.model) == weights_bytes(theirs)
    recording = record(opened, TEXT)
    assert recording.checked.is_right and decode(opened, TEXT, "greedy", max_len=3).target


def test_no_second_copy_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, read: list[int]
) -> None:
    n = make(tmp_path, "deep", torch.float32)
    monkeypatch.setenv("HEADSCOPE_PRECISION", "bfloat16")
    opened = load_checkpoint(tmp_path, "cpu")
    largest, n_bytes = 4 * 512 * 64, weights_bytes(opened.model)
    assert len(read) == 9 * 16 + 3 and n_bytes < 2 * n + 1000
    assert n_bytes / 2 < max(read) < n_bytes + 4 * largest < 4 * n  # those of all in float32


def test_half_precision_where_memory_asks_for_it(
    folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    n_bytes = 4 * N
    monkeypatch.setattr(placing, "free_memory", lambda device: n_bytes)
    opened = load_checkpoint(folders["float32"], "cpu")
    assert next(opened.model.parameters()).dtype == torch.bfloat16
    assert "In half precision (bfloat16): its weights take" in opened.about.notes[-1]
    opened = load_checkpoint(folders["float16"], "cpu")
    assert next(opened.model.parameters()).dtype == torch.float16
    monkeypatch.setenv("HEADSCOPE_PRECISION", "float32")
    with pytest.raises(CheckpointError, match=r"bfloat16 takes half, and HEADSCOPE_OFFLOAD=FOLDER"):
        load_checkpoint(folders["float32"], "cpu")
    monkeypatch.setattr(placing, "free_memory", lambda device: 2 * n_bytes)
    assert not load_checkpoint(folders["float32"], "cpu").about.notes


@pytest.mark.parametrize("devices", [{"": "cpu"}, SPLIT])
def test_a_divided_model_is_the_undivided_one(
    folders: dict[str, Path],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    devices: dict[str, str],
) -> None:
    whole = load_checkpoint(folders["float32"], "cpu")
    monkeypatch.setenv("HEADSCOPE_DEVICE_MAP", json.dumps(devices))
    monkeypatch.setenv("HEADSCOPE_OFFLOAD", str(tmp_path))
    divided = load_checkpoint(folders["float32"], "cpu")
    is_split = devices is SPLIT
    assert any(each.is_meta for each in divided.model.parameters()) == is_split
    assert (weights_bytes(divided.model) < weights_bytes(whole.model)) == is_split
    _equal(whole, divided)
    del divided
    gc.collect()
    assert not any(tmp_path.iterdir())


def _equal(whole: Checkpoint, divided: Checkpoint) -> None:
    changed = ("head-off:decoder_self.1.0",)
    for edits in ((), changed):
        ours, theirs = (record(each, TEXT, None, edits) for each in (whole, divided))
        assert theirs.checked.is_right
        for layer in range(2):
            pair = (each.attentions["decoder_self"].weights(layer) for each in (ours, theirs))
            torch.testing.assert_close(*pair, rtol=0, atol=0)
    for method in ("greedy", "beam"):
        texts = [decode(each, TEXT, method, max_len=4).target for each in (whole, divided)]
        assert texts[0] == texts[1]
    ours, theirs = (sweep(each, TEXT).changes for each in (whole, divided))
    torch.testing.assert_close(ours, theirs, rtol=0, atol=0)


def test_what_fits_no_device_lies_on_disk_where_that_was_asked_for(
    folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(placing, "free_memory", lambda device: N)
    with pytest.raises(CheckpointError, match=r"takes .* in bfloat16, and .* of memory are free"):
        load_checkpoint(folders["bfloat16"], "cpu")
    monkeypatch.setenv("HEADSCOPE_OFFLOAD", str(tmp_path))
    opened = load_checkpoint(folders["bfloat16"], "cpu")
    assert any("Divided over the devices" in note for note in opened.about.notes)
    monkeypatch.setenv("HEADSCOPE_DEVICE_MAP", json.dumps(SPLIT))
    monkeypatch.delenv("HEADSCOPE_OFFLOAD")
    monkeypatch.setattr(placing, "free_memory", lambda device: 2**40)
    with pytest.raises(CheckpointError, match=r"HEADSCOPE_OFFLOAD=FOLDER leaves on disk"):
        load_checkpoint(folders["bfloat16"], "cpu")


def test_without_accelerate_a_sentence_says_what_to_install(
    folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADSCOPE_DEVICE_MAP", "auto")
    monkeypatch.setattr(
        "transformer.extras.missing", lambda extra: ["accelerate"] * (extra == "large")
    )
    with pytest.raises(
        CheckpointError, match=r"accelerate is not installed here: pip install .*large"
    ):
        load_checkpoint(folders["bfloat16"], "cpu")


def test_values_too_large_for_the_precision(
    folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    make(tmp_path, "tiny", torch.float32)
    from safetensors.torch import load_file, save_file

    (file,) = tmp_path.glob("*.safetensors")
    weights = load_file(file)
    weights["model.norm.weight"][3] = 7e4
    save_file(weights, file, {"format": "pt"})
    monkeypatch.setenv("HEADSCOPE_PRECISION", "float16")
    with pytest.raises(CheckpointError, match=r"model\.norm\.weight holds 7e\+04, which float16"):
        load_checkpoint(tmp_path, "cpu")


def test_the_limit_of_a_container(tmp_path: Path) -> None:
    assert not _left_in_container(tmp_path)
    (tmp_path / "memory.max").write_text("1000\n")
    (tmp_path / "memory.current").write_text("700\n")
    (tmp_path / "memory.stat").write_text("anon 1\ninactive_file 200\n")
    assert _left_in_container(tmp_path) == [500]
    (tmp_path / "memory.max").write_text("max\n")
    assert not _left_in_container(tmp_path)


def test_a_call_of_another_device_comes_to_one(folders: dict[str, Path]) -> None:
    attention = record(load_checkpoint(folders["float32"], "cpu"), TEXT).attentions["decoder_self"]
    call = attention.calls[0]
    assert call.on(torch.device("cpu")) is call
    moved = call.on(torch.device("meta"))  # the only other device that is everywhere
    assert call.projection is not None and call.sample is not None and moved.sample is not None
    assert moved.q.is_meta and moved.v.is_meta and moved.sample.values.is_meta
    assert moved.projection is not None and moved.projection.is_meta
    assert (moved.scale, moved.is_causal) == (call.scale, call.is_causal)
