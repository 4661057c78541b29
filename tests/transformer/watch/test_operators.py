"""What watching stands on in torch, and that it is of no consequence to anything else."""

import pytest
import torch
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
    assert key in operators.KEYS
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
def parse(name):
    raise RuntimeError("could not parse dispatch key: " + name)
torch._C._dispatch_key_parse = parse
import transformer
"""


def test_a_torch_without_the_keys_is_named() -> None:
    ran = warm.run(WITHOUT_KEYS)
    last = ran.stderr.decode().splitlines()[-1]
    assert last.startswith("ImportError") and torch.__version__ in last
