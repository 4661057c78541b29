"""What a person may decide of a decoding, right, odd or contradictory: prefix, force and forbid."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from tests.fuzz.strings import strange_text

NAMES = ("prefix", "force", "forbid")


def strange_decisions(random: Random, n_ids: int) -> dict[str, Any]:
    """Some of the three, as texts or ids, of which nearly all are of a vocabulary of n_ids."""
    given: dict[str, Any] = {}
    for name in random.sample(NAMES, k=random.randrange(1, 4)):
        several = [_phrase(random, n_ids) for _ in range(random.randrange(4))]
        given[name] = _phrase(random, n_ids) if name == "prefix" else several
    if random.randrange(6) == 0:  # what leaves nothing, or a token
        spared = random.randrange(2 * n_ids)
        given = {"forbid": [(id,) for id in range(n_ids) if id != spared]}
    return given


def _phrase(random: Random, n_ids: int) -> Any:
    if random.randrange(4) == 0:
        return strange_text(random)[:200]
    return tuple(_id(random, n_ids) for _ in range(random.choice((0, 1, 1, 2, 3, 9))))


def _id(random: Random, n_ids: int) -> int:
    odd = (-1, n_ids, 2**31, 2**64)
    return random.choice(odd) if random.randrange(30) == 0 else random.randrange(n_ids)


def check_kept(target: Sequence[int], decided: Mapping[str, Any]) -> None:
    """Raise AssertionError where a target has not what was decided in ids."""
    prefix = decided.get("prefix", ())
    assert isinstance(prefix, str) or tuple(target[: len(prefix)]) == prefix
    for name in ("force", "forbid"):
        for phrase in decided.get(name, ()):
            n = len(phrase)
            has = any(tuple(target[i : i + n]) == phrase for i in range(len(target)))
            assert isinstance(phrase, str) or has == (name == "force"), (name, phrase, target)
