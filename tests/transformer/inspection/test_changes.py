"""Changes between two models, against direct formulas."""

import math

import pytest
import torch
from torch import nn

from transformer.inspection.tensor_statistics import changes


def test_each_tensor_is_measured_and_the_largest_change_comes_first() -> None:
    torch.manual_seed(0)
    first, second = nn.Linear(3, 4), nn.Linear(3, 4)
    second.bias.data = first.bias.data * 1.01
    found = changes(first, second)
    assert [change.name for change in found.both] == ["weight", "bias"]
    weight, bias = found.both
    a, b = first.weight.detach().double(), second.weight.detach().double()
    assert weight.shape == (4, 3)
    assert weight.distance == pytest.approx(float(((b - a) ** 2).sum().sqrt()))
    assert weight.relative == pytest.approx(weight.distance / float(a.norm()))
    assert weight.cosine == pytest.approx(float((a * b).sum() / a.norm() / b.norm()))
    assert bias.relative == pytest.approx(0.01, rel=1e-4) and bias.cosine == pytest.approx(1)


def test_tensors_of_one_model_alone_and_zeros() -> None:
    first = nn.ModuleDict({"a": nn.Linear(2, 2), "b": nn.Linear(2, 2)})
    second = nn.ModuleDict({"a": nn.Linear(2, 2), "c": nn.Linear(2, 2), "b": nn.Linear(3, 2)})
    nn.init.zeros_(first["a"].bias)
    found = changes(first, second)
    assert found.only_first == () and found.only_second == ("c.weight", "c.bias")
    assert found.other_shapes == ("b.weight",)
    assert [change.name for change in found.both if change.name.startswith("b")] == ["b.bias"]
    bias = next(change for change in found.both if change.name == "a.bias")
    assert math.isinf(bias.relative) and math.isnan(bias.cosine)
    nn.init.zeros_(second["a"].bias)
    bias = next(change for change in changes(first, second).both if change.name == "a.bias")
    assert bias.relative == bias.distance == 0
