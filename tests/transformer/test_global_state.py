"""torch's global state as a caller has set it: each result is the usual one, or a sentence."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from tests.conftest import SENTENCES
from tests.representatives import cases
from tests.transformer.hugging_face.saving import save, writer
from transformer import decode, evidence, from_module, load_checkpoint, record, survey
from transformer.analysis.ablation import sweep
from transformer.refusal import Refusal
from viz import head_grid, head_view

LETTERS = "abcdef"


class Own(nn.Module):
    """A causal attention that says where its tensors lie, and in which type they are."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.embed, self.qkv, self.out = nn.Embedding(6, 8), nn.Linear(8, 24), nn.Linear(8, 6)

    def forward(self, ids: Tensor) -> Tensor:
        q, k, v = self.qkv(self.embed(ids)).chunk(3, -1)
        closed = torch.ones(ids.size(1), ids.size(1), dtype=torch.bool, device=ids.device).triu(1)
        return self.out((q @ k.mT).masked_fill(closed, -torch.inf).softmax(-1) @ v)


MODULE = Own()


class FunctionMode(TorchFunctionMode):
    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


class DispatchMode(TorchDispatchMode):
    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


def setting(put: Callable[[Any], object], value: Any, usual: Any) -> Callable[[], Any]:
    """A state of the process, which is taken back."""

    @contextmanager
    def entered() -> Iterator[None]:
        put(value)
        try:
            yield
        finally:
            put(usual)

    return entered


STATES: dict[str, Callable[[], AbstractContextManager[Any]]] = {
    "float64": setting(torch.set_default_dtype, torch.float64, torch.float32),
    "bfloat16": setting(torch.set_default_dtype, torch.bfloat16, torch.float32),
    "a default device": setting(torch.set_default_device, "meta", None),
    "a device": lambda: torch.device("meta"),
    "autocast": lambda: torch.autocast("cpu", torch.bfloat16),
    "inference": torch.inference_mode,
    "no gradients": torch.no_grad,
    "gradients": torch.enable_grad,
    "deterministic": setting(torch.use_deterministic_algorithms, True, False),
    "anomalies": lambda: torch.autograd.set_detect_anomaly(True),
    "a function mode": FunctionMode,
    "a dispatch mode": DispatchMode,
}


@pytest.fixture(scope="module")
def models(text_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The name of a model -> how it is opened, and a text."""
    folder = save(writer("GPT-2"), tmp_path_factory.mktemp("hugging_face"))
    return {
        "ours": (lambda: load_checkpoint(text_folder, "cpu"), SENTENCES[0]),
        "Hugging Face": (lambda: load_checkpoint(folder, "cpu"), "the cat"),
        "own": (own, "abcd"),
    }


def own() -> Any:
    def ids(text: str) -> list[int]:
        return [*map(LETTERS.index, text)]

    return from_module(MODULE, ids, [*LETTERS], ["abc"], writes="continuation")


def everything(opened: Callable[[], Any], text: str) -> dict[str, Any]:
    checkpoint = opened()
    decoding = decode(checkpoint, text, max_len=3)
    recording = record(checkpoint, text, decoding.target)
    kind = next(iter(recording.attentions))
    off = record(checkpoint, text, decoding.target, edits=[f"head-off:{kind}.0.0"])
    numbers = survey(checkpoint, [text]).heads[0].numbers
    return {
        "ids": [token.id for token in decode(checkpoint, text, method="beam", max_len=3).target],
        "logits": recording.logits,
        "weights": recording.attentions[kind].weights(0),
        "is right": recording.checked.is_right,
        "edited": off.logits,
        "hidden": evidence(checkpoint, text, decoding.target).hidden,
        "heads": sweep(checkpoint, text, decoding.target).totals,
        "survey": [value.mean for value in numbers.values()],
        "pictures": [len(draw(recording).html) for draw in (head_view, head_grid)],
    }


usual: dict[str, Any] = {}
"""The name of a model -> everything, in the state in which torch begins."""


ALL = [(state, model) for state in STATES for model in ("ours", "Hugging Face", "own")]
APART = {
    "weights that are read": ("bfloat16", "ours"),
    "numbers that are computed": ("float64", "own"),
    "the device of the process": ("a default device", "ours"),
    "the device of a thread": ("a device", "Hugging Face"),
    "autocast that is left": ("autocast", "ours"),
    "autocast that stays": ("autocast", "own"),
    "a mode around a watcher's": ("a function mode", "own"),
}


@pytest.mark.parametrize(("state", "model"), cases(ALL, APART))
def test_results_are_the_usual_ones(models: dict[str, Any], state: str, model: str) -> None:
    if model not in usual:
        usual[model] = everything(*models[model])
    with STATES[state]():
        result = everything(*models[model])
    assert torch.get_default_dtype() == torch.float32
    if state == "autocast" and model == "own":  # it runs as its caller has set it
        assert result["is right"] and result["logits"].dtype == torch.bfloat16
        return
    for name, wanted in usual[model].items():
        given = result[name]
        if isinstance(wanted, Tensor):
            wanted, given = wanted.double(), given.double()
        torch.testing.assert_close(given, wanted, rtol=1e-4, atol=1e-4, msg=name)


@pytest.mark.parametrize("model", ["ours", "own"])
def test_another_thread_may_have_set_any(models: dict[str, Any], model: str) -> None:
    """What is set for a thread is none of another's."""
    wanted, results = everything(*models[model]), []

    def run() -> None:
        with torch.inference_mode(), torch.autocast("cpu", torch.bfloat16), torch.device("meta"):
            thread = Thread(target=lambda: results.append(everything(*models[model])))
            thread.start()
            thread.join()

    outer = Thread(target=run)
    outer.start()
    outer.join()
    torch.testing.assert_close(results[0]["logits"], wanted["logits"])


def test_what_a_caller_has_set_is_there_again() -> None:
    with torch.device("meta"), torch.autocast("cpu", torch.bfloat16):
        assert record(own(), "abcd").checked.is_right
        with pytest.raises(Refusal):
            record(own(), "abcz")
        assert torch.empty(1).is_meta and torch.is_autocast_enabled("cpu")
    assert not torch.empty(1).is_meta and not torch.is_autocast_enabled("cpu")


def test_a_module_runs_where_its_caller_has_set() -> None:
    """Its own tensors, too, lie where it would have them."""

    class Made(Own):
        def forward(self, ids: Tensor) -> Tensor:
            devices.append(torch.empty(1).device.type)
            return super().forward(ids)

    devices: list[str] = []
    module = Made().eval()
    with torch.device("meta"):
        record(module, torch.tensor([[1, 2, 3]], device="cpu"))
    assert devices == ["meta"]


@pytest.mark.parametrize("name", ["ours", "Hugging Face", "own"])
@pytest.mark.parametrize("state", ["fake", "grad", "vjp"])
def test_where_tensors_hold_no_numbers_is_said(
    models: dict[str, Any], name: str, state: str
) -> None:
    opened, text = models[name]
    checkpoint = opened()

    def refused(x: Tensor) -> Tensor:
        for run in (opened, lambda: record(checkpoint, text), lambda: decode(checkpoint, text)):
            with pytest.raises(Refusal, match="leave it first"):
                run()
        return x.sum()

    if state == "fake":
        with FakeTensorMode():
            refused(torch.ones(2))
    elif state == "grad":
        torch.func.grad(refused)(torch.ones(2))
    else:
        torch.func.vjp(refused, torch.ones(2))


def test_a_module_that_needs_the_type_of_its_caller_has_it(models: dict[str, Any]) -> None:
    class Made(Own):
        def forward(self, ids: Tensor) -> Tensor:
            return super().forward(ids) + torch.zeros(6)

    module = Made().double().eval()
    with STATES["float64"]():
        assert record(module, torch.tensor([[1, 2, 3]])).logits.dtype == torch.float64
        assert torch.get_default_dtype() == torch.float64
