"""A verdict names every word that is needed, and judges the one that is looked at by its cut."""

import pytest
import torch

from transformer.causes.verdict import Verdict, verdict

SOURCE = ("x", "y", "z")


def judged(
    looks_at: int | None,
    hidden: tuple[float, ...],
    cut: tuple[float, ...] | None,
    prefix: tuple[float, ...] = (),
) -> Verdict:
    weights = None if looks_at is None else torch.eye(len(SOURCE))[looks_at]
    closed = None if cut is None else torch.tensor(cut)
    words = (*"abc"[: len(prefix)], "own")
    rows = torch.tensor(hidden), closed, torch.tensor(prefix)
    return verdict(len(prefix), words, SOURCE, weights, *rows)


@pytest.mark.parametrize(
    ("looks_at", "hidden", "cut", "kind", "needed"),
    [
        (0, (2.0, 0.1, 0.0), (1.0, 0.0, 0.0), "agrees", (0,)),
        (0, (2.0, 0.1, 0.0), None, "agrees", (0,)),
        (0, (2.0, 0.1, 0.0), (0.4, 0.0, 0.0), "backed up", (0,)),
        (1, (2.0, 0.1, 0.0), (0.4, 0.9, 0.0), "moved by the encoder", (0,)),
        (1, (2.0, 0.1, 0.0), (0.6, 0.0, 0.0), "undecided", (0,)),
        (1, (2.0, 0.1, 0.0), None, "undecided", (0,)),
        # Two that are needed alike: the one that is looked at is one of them,
        (1, (2.0, 1.6, 0.0), (0.1, 0.6, 0.0), "agrees", (0, 1)),
        (1, (2.0, 1.6, 0.0), (0.9, 0.4, 0.0), "backed up", (0, 1)),
        (1, (2.0, 1.6, 0.0), None, "agrees", (0, 1)),
        (0, (2.0, 1.6, 0.0), (0.9, 0.0, 0.0), "agrees", (0, 1)),
        # or none of them,
        (2, (2.0, 1.6, 0.0), (0.1, 0.4, 0.0), "moved by the encoder", (0, 1)),
        (2, (2.0, 1.6, 0.0), (0.1, 0.6, 0.0), "undecided", (0, 1)),
        (None, (2.0, 1.6, 0.0), (0.1, 0.6, 0.0), "undecided", (0, 1)),
        # and a second one that is much cheaper, or below the threshold, is not needed.
        (1, (2.0, 1.4, 0.0), (0.1, 1.4, 0.0), "moved by the encoder", (0,)),
        (1, (0.7, 0.4, 0.0), (0.1, 0.4, 0.0), "moved by the encoder", (0,)),
        (2, (0.7, 0.6, 0.9), (0.7, 0.6, 0.9), "agrees", (2, 0, 1)),
    ],
)
def test_kinds(
    looks_at: int | None,
    hidden: tuple[float, ...],
    cut: tuple[float, ...] | None,
    kind: str,
    needed: tuple[int, ...],
) -> None:
    result = judged(looks_at, hidden, cut)
    assert result.kind == kind and (result.needs, *result.also) == needed
    assert result.nats == pytest.approx(max(hidden))
    for i in needed:
        assert f"“{SOURCE[i]}”" in result.text and f"{hidden[i]:.2f}" in result.text
    for i in {0, 1, 2} - {*needed, looks_at}:
        assert f"“{SOURCE[i]}”" not in result.text


@pytest.mark.parametrize("looks_at", [0, None])
def test_a_written_word_holds_it_where_none_of_the_source_is_needed(looks_at: int | None) -> None:
    result = judged(looks_at, (0.4, 0.3, 0.0), (0.4, 0.3, 0.0), (0.1, 0.8))
    assert (result.kind, result.needs, result.also) == ("held by the prefix", 1, ())
    result = judged(looks_at, (0.4, 0.3, 0.0), (0.4, 0.3, 0.0), (0.1, 0.2))
    assert (result.kind, result.needs, result.also) == ("undecided", None, ())


@pytest.mark.parametrize(
    ("looks_at", "needed", "held", "is_named"),
    [
        (1, 0.6, 1.3, True),
        (1, 0.6, 1.1, False),
        (1, 2.0, 3.9, False),
        (1, 2.0, 4.1, True),
        (0, 0.6, 9.0, False),  # it looks at what it needs
    ],
)
def test_a_written_word_that_costs_twice_as_much_is_named(
    looks_at: int, needed: float, held: float, is_named: bool
) -> None:
    result = judged(looks_at, (needed, 0.1, 0.0), (needed, 0.1, 0.0), (0.1, held))
    assert (result.needs, result.nats) == (0, pytest.approx(needed))
    assert ("“b”" in result.text and f"{held:.2f}" in result.text) == is_named
