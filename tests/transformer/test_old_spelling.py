import warnings
from typing import Any

import pytest

from transformer.old_spelling import Respelled, TwiceGiven, respelled


@respelled(("text", "method", "edits", "prefix"), text="source")
def write(text: str, method: str = "greedy", *, prefix: str = "", edits: str = "") -> Any:
    return text, method, prefix, edits


def test_new_spellings_warn_of_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert write("a", "beam", prefix="p", edits="e") == ("a", "beam", "p", "e")
        assert write(text="a") == ("a", "greedy", "", "")


def test_an_old_name_works_and_warns_at_the_callers_line() -> None:
    with pytest.warns(Respelled, match="source.*text") as caught:
        assert write(source="a") == write("a")
    assert caught[0].filename == __file__


def test_an_old_place_works_and_warns_of_each_name() -> None:
    with pytest.warns(Respelled, match="edits, prefix"):
        assert write("a", "beam", "e", "p") == ("a", "beam", "p", "e")


def test_one_argument_given_twice_is_refused() -> None:
    with pytest.raises(TwiceGiven, match="old name"):
        write(source="a", text="b")
    with pytest.raises(TwiceGiven, match="by its name"):
        write("a", "beam", "e", edits="f")


def test_more_arguments_than_there_ever_were_are_pythons_own_error() -> None:
    with pytest.raises(TypeError):
        write("a", "beam", "e", "p", "too many")  # type: ignore[call-arg]
