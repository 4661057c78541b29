"""What watching stands on in torch, and that it is of no consequence to anything else."""

from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from tests import warm
from tests.transformer.watch.invented import HeadsAsAxis, TorchLayer
from transformer import record
from transformer.watch.capture import operators

KEYS = ("DeferredInit", "TESTING_ONLY_GenericMode")
SEQUENCE = torch.randn(1, 7, 12, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("key", KEYS)
def test_torch_still_has_the_key_and_uses_it_for_nothing(key: str) -> None:
    try:
        torch._C._dispatch_key_parse(key)
    except RuntimeError:
        pytest.fail(f"torch {torch.__version__} has no dispatch key {key}: choose another one")
    assert operators.HAS_KEYS and key in operators.KEYS
    for operator in ("aten::sinh", "aten::cumsum"):  # nothing of ours is registered for them
        kernels = torch._C._dispatch_dump(operator).splitlines()
        is_used = any(line.startswith(f"{key}:") for line in kernels)
        assert not is_used, f"torch {torch.__version__} uses dispatch key {key} itself"


def test_gradients_flow_through_a_recorded_pass() -> None:
    torch.manual_seed(3)
    model = HeadsAsAxis().eval()
    results: list[Tensor] = []

    class Around(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            with torch.enable_grad():
                results.append(model(x))
            return results[-1]

    record(Around(), SEQUENCE)
    results[0].sum().backward()
    found = [parameter.grad for parameter in model.parameters()]
    model.zero_grad()
    model(SEQUENCE).sum().backward()
    for parameter, grad in zip(model.parameters(), found, strict=True):
        assert grad is not None and parameter.grad is not None
        assert torch.equal(parameter.grad, grad)


@pytest.mark.parametrize("style", [HeadsAsAxis, TorchLayer])
def test_other_modes_may_be_active(style: type[nn.Module]) -> None:
    model = style().eval()
    with FlopCounterMode(display=False) as counter:
        recording = record(model, SEQUENCE)
    assert counter.get_total_flops() > 0
    assert recording.attentions


WITHOUT_KEYS = """
import sys
import torch
for name in [*sys.modules]:
    if name.startswith("transformer."):
        del sys.modules[name]  # what a process that never had the keys would import
del sys.modules["transformer"]
def parse(name, known=torch._C._dispatch_key_parse):
    if name in {keys}:
        raise RuntimeError("could not parse dispatch key: " + name)
    return known(name)
torch._C._dispatch_key_parse = parse
from transformer import record
from transformer.watch.capture import operators
layer = torch.nn.TransformerEncoderLayer(12, 2, 24, batch_first=True).eval()
print(operators.HAS_KEYS, *record(layer, torch.zeros(1, 7, 12)).attentions)
"""


def test_a_torch_without_the_keys_is_watched_by_a_mode() -> None:
    script = WITHOUT_KEYS.replace("{keys}", repr(KEYS))
    ran = warm.run(script)
    assert ran.stdout.split() == [b"False", b"encoder_self"], ran.stderr


def test_functions_tell_what_their_operators_would(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operators, "HAS_KEYS", False)
    told: list[tuple[Any, ...]] = []
    func, table, ids = F.embedding, torch.eye(3), torch.tensor([2])
    operator = torch.ops.aten.embedding.default
    monkeypatch.setitem(operators._FUNCTIONS, func, (operator, None, lambda *it: told.append(it)))
    watcher: Any = object()
    for args, named in (((ids, table), {}), ((ids,), {"weight": table})):
        result = operators.call_function(watcher, func, args, named)
        assert torch.equal(result, table[2:])
        _, given, others, known = told[-1]
        assert given[0] is table and given[1] is ids and others == {} and known is result
