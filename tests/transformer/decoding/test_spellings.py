"""Options may be spelled as Hugging Face's generate() takes them, wherever they are said."""

from typing import Any

import pytest

from transformer import Checkpoint, decode, load_checkpoint
from transformer.commands.decode import _value
from transformer.decoding import decoding_methods
from transformer.decoding.method import OptionError, checked_option
from transformer.formats.format import checked_defaults

SPELLED = [
    (method.name, option.name, spelling, number)
    for method in decoding_methods().values()
    for option in method.options
    for spelling, number in option.spellings
]
FLAGS = {
    (method.name, option.name)
    for method in decoding_methods().values()
    for option in method.options
    if option.is_whole and option.limits == (0, 1)
}


@pytest.fixture(scope="module")
def small() -> Checkpoint:
    return load_checkpoint("en-de-small", "cpu")


def test_every_option_that_is_on_or_off_takes_true_and_false() -> None:
    assert {each[:2] for each in SPELLED if each[2] is True} >= FLAGS
    assert ("beam", "early_stopping", "never", 2) in SPELLED


@pytest.mark.parametrize(("method", "name", "spelling", "number"), SPELLED)
def test_it_means_the_number(method: str, name: str, spelling: Any, number: int) -> None:
    of = decoding_methods()[method]
    (option,) = (each for each in of.options if each.name == name)
    assert checked_option(option, spelling) == number
    assert checked_option(option, number) == number
    assert checked_defaults({method: {name: spelling}})[method][name] == number  # of a folder
    assert _value(of, f"{name}={spelling}") == (name, spelling)  # in a shell
    assert _value(of, f"{name}={str(spelling).lower()}") == (name, spelling)


@pytest.mark.parametrize(("method", "name", "spelling", "number"), SPELLED)
def test_it_decodes_the_same(
    method: str, name: str, spelling: Any, number: int, small: Checkpoint
) -> None:
    one, other = (
        decode(small, "It rains.", method=method, **{name: value}) for value in (spelling, number)
    )
    assert one.target == other.target and one.log_prob == other.log_prob


def test_a_truth_value_of_another_option_is_refused() -> None:
    (size,) = (it for it in decoding_methods()["beam"].options if it.name == "beam_size")
    (stops,) = (it for it in decoding_methods()["beam"].options if it.name == "early_stopping")
    with pytest.raises(OptionError, match="must be a whole number, not True"):
        checked_option(size, True)
    with pytest.raises(OptionError, match="a whole number or False, True, never, not 'soon'"):
        checked_option(stops, "soon")
