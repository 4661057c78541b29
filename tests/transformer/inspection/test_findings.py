"""Findings of many tensors are one line that names the first, and those of one are said whole."""

from transformer.inspection.tensor_statistics import Finding, grouped

ZERO = ("every value is 0", "are 0")


def test_what_many_share_is_one_line_and_loses_nothing() -> None:
    biases = [Finding(f"layers.{n}.bias", *ZERO) for n in range(96)]
    weights = [Finding(f"layers.{n}.weight", *ZERO) for n in range(2)]
    nan = [Finding(f"layers.{n}.in_proj_bias", f"{n} are NaN", "hold NaN values") for n in (3, 4)]
    alone = Finding("stranger", "unexpected", "are unexpected")
    groups = grouped([biases[0], alone, nan[0], *weights, nan[1], *biases[1:]])
    assert [group.title for group in groups] == [
        "96 biases are 0: layers.0.bias, layers.1.bias and 94 more",
        "stranger: unexpected.",
        "2 biases hold NaN values: layers.3.in_proj_bias, layers.4.in_proj_bias",
        "2 weights are 0: layers.0.weight, layers.1.weight",
    ]
    assert [group.findings for group in groups] == [
        tuple(biases),
        (alone,),
        tuple(nan),
        tuple(weights),
    ]


def test_what_is_said_of_a_file_stands_by_itself() -> None:
    files = [Finding(f"part-{n}.safetensors", "is missing") for n in (1, 2)]
    assert [group.findings for group in grouped(files)] == [(files[0],), (files[1],)]
