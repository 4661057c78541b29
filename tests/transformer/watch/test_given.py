"""What a module cannot be recorded over ends in a sentence; a compiled one runs as written."""

import re
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer import InputError, record

ids = torch.arange(5)[None]
HEADS = torch.tensor([[False, True], [True, False]])


class Attends(nn.Module):
    """Ids [1, T] -> [1, T, 8]."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.project = nn.Embedding(9, 8), nn.Linear(8, 24)

    def forward(self, ids: Tensor) -> Tensor:
        q, k, v = self.project(self.words(ids))[:, None].chunk(3, -1)
        return F.scaled_dot_product_attention(q, k, v)[:, 0]


class Sees(Attends):
    """Reads an image beside the text."""

    def forward(self, ids: Tensor, pixel_values: Tensor | None = None) -> Tensor:
        return super().forward(ids) + pixel_values.mean()  # type: ignore[union-attr]


class Boxed(Attends):
    """Asks for boxes, and for what stands before them it does not."""

    def forward(self, ids: Tensor, labels: Any = None, bbox: Any = None) -> Tensor:
        if bbox is None:
            raise ValueError("Bbox is required for positions")
        return super().forward(ids)


class Needs(Attends):
    """Cannot even be called without the second one."""

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:  # type: ignore[override]
        return super().forward(ids) * mask


class Windows(Attends):
    """Cuts one input into 4 parts."""

    def forward(self, ids: Tensor) -> Tensor:
        return super().forward(ids.reshape(4, -1))


def refused(module: nn.Module, inputs: Any, said: str) -> None:
    with pytest.raises(InputError, match=said) as caught:
        record(module.eval(), inputs)
    assert re.search(r"\.$", str(caught.value)) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("inputs", "what"),
    [
        ("It rains.", "not text"),
        (["It", "rains."], "not text"),
        ({"ids": "It rains."}, "not text"),
        ([[1, 2, 3]], "not plain numbers"),
        (np.arange(3)[None], "not arrays of numpy"),
        (None, "not None"),
    ],
)
def test_what_is_no_tensor(inputs: Any, what: str) -> None:
    refused(Attends(), inputs, rf"reads tensors, {what}: give its inputs as a tensor, a tuple or a")


def test_an_input_that_is_missing() -> None:
    """Of another modality, or any: the error of the module itself stays beside it."""
    refused(Sees(), {"ids": ids}, "^Sees was not given pixel_values, which it also reads: ")
    refused(Boxed(), {"ids": ids}, "^Boxed was not given bbox, which it also reads: ")
    refused(Needs(), ids, r"^Needs was not given mask, which it also reads")
    with pytest.raises(InputError) as caught:
        record(Sees(), ids)
    assert isinstance(caught.value.__cause__, AttributeError)


def test_inputs_that_do_not_fit() -> None:
    refused(Attends(), ids + 9, r"^Attends cannot run over \[1, 5\] of int64: index out of range")
    refused(Attends(), ids / 2, r"over \[1, 5\] of float32: .* Its forward takes ids\.$")
    refused(Attends(), {"input_ids": ids}, "argument 'input_ids'. Its forward takes ids")


def test_one_input_that_is_read_as_windows() -> None:
    refused(Windows(), torch.arange(8)[None], "reads one input as 4 of 2 positions")


@pytest.mark.filterwarnings("ignore")
def test_what_is_scripted_is_named() -> None:
    scripted = torch.jit.trace(Attends().eval(), ids)
    refused(scripted, ids, r"cannot be recorded: it is scripted or traced \(torch\.jit\)")
    refused(nn.Sequential(scripted), ids, r"^Sequential .* 0 in it is scripted or traced")


def test_what_is_compiled_is_recorded_as_it_was_written() -> None:
    module = Attends().eval()
    plain = record(module, ids).attentions["encoder_self"].weights(0)
    compiled = torch.compile(module, backend="eager")
    for each in (compiled, nn.Sequential(compiled)):
        assert torch.equal(record(each, ids).attentions["encoder_self"].weights(0), plain)
    refused(compiled, ids + 9, r"^Attends cannot run over")
    module.compile(backend="eager")
    assert torch.equal(record(module, ids).attentions["encoder_self"].weights(0), plain)


class Calls(Attends):
    """Calls a function that is compiled by itself."""

    attend = staticmethod(torch.compile(F.scaled_dot_product_attention, backend="eager"))

    def forward(self, ids: Tensor) -> Tensor:
        q, k, v = self.project(self.words(ids))[:, None].chunk(3, -1)
        return self.attend(q, k, v)[:, 0]  # type: ignore[no-any-return]


class Decorated(Attends):
    forward = torch.compile(Attends.forward, backend="eager")  # type: ignore[assignment]


@pytest.mark.parametrize("module", [Calls, Decorated])
def test_a_compiled_function_runs_as_it_was_written(module: type[Attends]) -> None:
    (attention,) = record(module().eval(), ids).attentions.values()
    assert attention.role == "encoder_self"


@pytest.mark.parametrize("tokens", ["It rains", {"source": "abcde"}, b"abcde", 5])
def test_a_text_in_place_of_its_pieces_is_refused(tokens: Any) -> None:
    """Each character would be a token, and there may be as many of them as positions."""
    with pytest.raises(InputError, match="list of the pieces"):
        record(Attends().eval(), ids, tokens)


def test_tokens_that_are_ids_are_refused() -> None:
    with pytest.raises(InputError, match="int"):
        record(Attends().eval(), ids, [1, 2, 3, 4, 5])  # type: ignore[list-item]


def test_a_sparse_buffer_is_no_obstacle() -> None:
    """openai/whisper's code keeps one, of the heads that align."""
    module = Attends().eval()
    module.register_buffer("alignment_heads", HEADS.to_sparse(), persistent=False)
    assert len(record(module, ids).source) == 5


class ByHand(Attends):
    def forward(self, ids: Tensor) -> Tensor:
        q, k, v = self.project(self.words(ids))[:, None].chunk(3, -1)
        return ((q @ k.mT).softmax(-1) @ v)[:, 0]  # type: ignore[no-any-return]


@pytest.mark.parametrize("style", [Attends, ByHand])
def test_an_empty_text_is_refused(style: type[nn.Module]) -> None:
    refused(style(), ids[:, :0], r"\[1, 0\] of int64")


@pytest.mark.parametrize("style", [Attends, ByHand])
@pytest.mark.parametrize("moved", ["weights", "inputs", "both"])
def test_what_holds_no_numbers_is_refused(style: type[nn.Module], moved: str) -> None:
    module = style() if moved == "inputs" else style().to("meta")
    refused(module, ids if moved == "weights" else ids.to("meta"), "meta device")
