"""The contract of roles: runs on every one that discover() finds."""

import pytest
import torch

from transformer.corpus.measured import metrics, roles
from transformer.corpus.roles.role import Role, Sides

every_role = pytest.mark.parametrize("role", roles().values(), ids=roles())
TEXTS = ([5, 6, 5, 7, 6, 1], [8, 1], [9, 9, 9, 1])


def sides(longest: int, is_same: bool = True, counts: bool = True) -> Sides:
    ids = torch.tensor([[*text, *[-1] * (longest - len(text))] for text in TEXTS])
    return Sides(
        queries=ids if is_same else ids[:, :3],
        keys=ids,
        names=(ids if is_same else ids[:, 1:4]),
        special=ids == 1,
        words=ids > 1,
        is_cross=not is_same,
        n_keys=torch.tensor([len(text) for text in TEXTS]),
        counts=ids.clamp_min(0) % 3 if counts else None,
        is_same=is_same,
    )


def test_the_roles_are_there() -> None:
    assert {"duplicate", "end", "induction", "rare"} <= set(roles())
    assert not set(roles()) & set(metrics())


@every_role
@pytest.mark.parametrize("is_same", [True, False])
@pytest.mark.parametrize("counts", [True, False])
def test_cells_of_each_query(role: Role, is_same: bool, counts: bool) -> None:
    tokens = sides(6, is_same, counts)
    cells = role.cells(tokens)
    if cells is not None:
        assert cells.dtype == torch.bool
        assert cells.shape == (3, tokens.queries.size(1), 6)


@every_role
def test_padding_changes_nothing(role: Role) -> None:
    """Cells in rows and columns of padding are taken out by whoever asks."""
    is_same = role.cells(sides(6)) is not None  # else of cross-attention
    short, long = role.cells(sides(6, is_same)), role.cells(sides(18, is_same))
    assert short is not None and long is not None
    for at, text in enumerate(TEXTS):
        n, n_rows = len(text), min(len(text), short.size(1))
        assert torch.equal(short[at, :n_rows, :n], long[at, :n_rows, :n])


@every_role
def test_it_says_what_it_is(role: Role) -> None:
    assert role.title and role.explain.endswith(".")
