"""What training tools wrap around a model leaves no trace in the names of its tensors."""

import itertools

import pytest

from transformer.files.tensors import MODULE, WRAPPERS, unwrapped, without_common

NAMES = ["wte.weight", "h.0.attn.weight", "h.0.attn.bias", "h.1.attn.weight", "h.1.attn.bias"]
ALL = (*WRAPPERS, MODULE)


@pytest.mark.parametrize("wrapper", ALL)
@pytest.mark.parametrize("place", ["", "h.", "h.0.", "h.0.attn.", "h.1.attn."])
@pytest.mark.parametrize("times", [1, 3])
def test_one_wrapper_anywhere(wrapper: str, place: str, times: int) -> None:
    added = f"{place}{f'{wrapper}.' * times}"
    wrapped = [added + n.removeprefix(place) if n.startswith(place) else n for n in NAMES]
    assert unwrapped(wrapped) == dict(zip(NAMES, wrapped, strict=True))


@pytest.mark.parametrize("two", list(itertools.permutations(ALL, 2)), ids=".".join)
def test_two_in_any_order(two: tuple[str, str]) -> None:
    wrapped = [f"{'.'.join(two)}.{name}" for name in NAMES]
    assert list(unwrapped(wrapped)) == NAMES


def test_a_part_that_is_called_module_beside_others_stays() -> None:
    names = ["head.module.weight", "head.bias"]
    assert list(unwrapped(names)) == names


def test_two_names_that_would_become_one_stay() -> None:
    names = ["a._orig_mod.weight", "a.weight"]
    assert list(unwrapped(names)) == names


def test_names_of_absurd_depth_are_left() -> None:
    names = [f"{'module.' * 500}weight"]
    assert list(unwrapped(names)) == names


def test_what_is_common_to_all_falls_away_one_at_a_time() -> None:
    once = without_common(unwrapped([f"net._orig_mod.gpt.{name}" for name in NAMES]))
    assert list(without_common(once)) == NAMES
    assert without_common(unwrapped([*NAMES, "lm_head.weight"])) == {}
