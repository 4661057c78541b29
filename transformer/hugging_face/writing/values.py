"""Values that a setting for writing may have: each tells whether one can be followed."""

from collections.abc import Callable
from math import isfinite
from typing import Any

IsLegal = Callable[[Any, int], bool]
"""(value, size of the vocabulary) -> whether it can be followed."""


def is_count(value: Any, vocab_size: int) -> bool:
    """A whole number, 0 or more."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def is_number(value: Any, vocab_size: int) -> bool:
    """A finite number of a size that no sum suffers from."""
    is_one = isinstance(value, int | float) and not isinstance(value, bool)
    return is_one and abs(value) < 1e6 and isfinite(value)


def is_penalty(value: Any, vocab_size: int) -> bool:
    """A factor above 0."""
    return is_number(value, vocab_size) and value > 0


def is_flag(value: Any, vocab_size: int) -> bool:
    """True or False."""
    return isinstance(value, bool)


def is_id(value: Any, vocab_size: int) -> bool:
    """The id of a token."""
    return is_count(value, vocab_size) and value < vocab_size


def are_numbers(value: Any, vocab_size: int) -> bool:
    """Ids, be they in the vocabulary or not: some folders say -1 for none."""
    numbers = value if isinstance(value, list) else [value]
    return all(isinstance(each, int) and not isinstance(each, bool) for each in numbers)


def are_ids(value: Any, vocab_size: int) -> bool:
    """A list of ids."""
    return isinstance(value, list) and all(is_id(each, vocab_size) for each in value)


def is_one_id(value: Any, vocab_size: int) -> bool:
    """An id, or a list of one."""
    ids = value if isinstance(value, list) else [value]
    return len(ids) == 1 and is_id(ids[0], vocab_size)


def is_id_or_ids(value: Any, vocab_size: int) -> bool:
    """An id, or a list of them."""
    return is_id(value, vocab_size) or are_ids(value, vocab_size)


def are_runs(value: Any, vocab_size: int) -> bool:
    """A list of runs of ids, none of them empty."""
    return isinstance(value, list) and all(each and are_ids(each, vocab_size) for each in value)


def are_biases(value: Any, vocab_size: int) -> bool:
    """Runs of ids, each with what is added to the logit of its last one."""
    return isinstance(value, list) and all(
        isinstance(each, list)
        and len(each) == 2
        and are_runs([each[0]], vocab_size)
        and is_number(each[1], vocab_size)
        for each in value
    )


def is_decay(value: Any, vocab_size: int) -> bool:
    """The number of tokens after which the end grows likelier, and the factor of each further."""
    is_two = isinstance(value, list) and len(value) == 2
    return is_two and is_count(value[0], vocab_size) and is_penalty(value[1], vocab_size)
