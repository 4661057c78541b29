"""The tree of modules: order, depth and sums."""

import pytest

from transformer.files.tensors import Stored
from transformer.inspection.tensor_statistics import DEEPEST, NAMELESS, module_tree


def test_modules_stand_above_their_parts_with_their_sums() -> None:
    shapes = {"b.x.weight": (2, 3), "b.x.mean": (7,), "a": (), "b.y.weight": (4,)}
    tree = module_tree([Stored(name, "F32", shape) for name, shape in shapes.items()], {"b.x.mean"})
    assert [(row.path, row.depth, row.n_parameters, row.tensor is None) for row in tree] == [
        ("b", 0, 10, True),
        ("b.x", 1, 6, True),
        ("b.x.weight", 2, 6, False),
        ("b.x.mean", 2, 0, False),
        ("b.y", 1, 4, True),
        ("b.y.weight", 2, 4, False),
        ("a", 0, 1, False),
    ]
    assert tree[2].name == "weight"


@pytest.mark.parametrize(
    ("names", "rows"),
    [
        ([""], [("", 0, 1, NAMELESS)]),
        ([".weight"], [("", 0, 1, NAMELESS), (".weight", 1, 1, "weight")]),
        (["a..b"], [("a", 0, 1, "a"), ("a.", 1, 1, NAMELESS), ("a..b", 2, 1, "b")]),
        (["a."], [("a", 0, 1, "a"), ("a.", 1, 1, NAMELESS)]),
        (["a.b", "a"], [("a", 0, 1, "a"), ("a.b", 1, 1, "b"), ("a", 0, 1, "a")]),
        (["", ".", "b"], [("", 0, 1, NAMELESS), ("", 0, 1, NAMELESS), (".", 1, 1, NAMELESS)]),
    ],
)
def test_parts_without_a_name_are_rows_as_any(
    names: list[str], rows: list[tuple[str, int, int, str]]
) -> None:
    tree = module_tree([Stored(name, "F32", (1,)) for name in names])
    found = [(row.path, row.depth, row.n_parameters, row.name) for row in tree]
    assert found[: len(rows)] == rows
    assert sum(row.n_parameters for row in tree if row.tensor) == len(names)


def test_a_name_with_very_many_dots_is_no_danger() -> None:
    (*_, last) = module_tree([Stored("a." * 2000 + "a", "F32", (3,))])
    assert (last.depth, last.n_parameters) == (DEEPEST, 3)
