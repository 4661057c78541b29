"""The circuits of a head: of a model of one layer there are none; what heads share is read once."""

import pytest

from tests.viz.ui.test_app import start
from viz.pages.heads import one
from viz.pages.heads.one import HeadCircuits
from viz.run.cache import CACHE
from viz.run.line import Runner


def test_no_head_of_a_single_layer_has_circuits() -> None:
    told = [
        [each.value for each in start(page="heads", checkpoint=name, heads_of="one").info]
        for name in ("sentiment", "copy")
    ]
    assert [sum("No layer" in each for each in notes) for notes in told] == [1, 0]


@pytest.mark.parametrize(("most", "n_read"), [(2**27, 1), (100, 2)])
def test_all_heads_are_read_once_where_they_are_few(
    monkeypatch: pytest.MonkeyPatch, most: int, n_read: int
) -> None:
    """Of a large model each head reads them anew, and nothing is kept."""
    heads = one.inspected(("copy", 7)).heads
    read, layer = [], heads.layer
    monkeypatch.setattr(one, "MOST_BYTES", most)
    CACHE.clear()
    before = CACHE.n_bytes

    def count(kind: str, at: int) -> object:
        read.append((kind, at))
        return layer(kind, at)

    monkeypatch.setattr(heads, "layer", count)
    studies = [HeadCircuits("copy", 7, ("cross", 0, head)) for head in (0, 1)]
    every = [next(study.run(None, Runner())) for study in studies]
    assert read.count(("decoder_self", 1)) == n_read and all(map(any, every))
    assert (CACHE.n_bytes > before) == (n_read == 1)
    CACHE.clear()
