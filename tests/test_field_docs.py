"""Public values say of each field what it is, where help() shows it: shapes and units included."""

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from functools import cache, cached_property
from inspect import getdoc, isfunction
from types import ModuleType
from typing import Any, get_args, get_type_hints

import pytest
from torch import Tensor

import transformer
import viz
from transformer.analysis.ablation import Sweep
from transformer.analysis.patching import Patching
from transformer.causes import Contrast, Evidence
from transformer.corpus.labels import Label
from transformer.field_docs import fields_in_help
from transformer.recording.data import PooledClassification, Recording

BESIDE = (Sweep, Patching, Label, Contrast, PooledClassification)
"""Values of functions that documents name and of other rooms, and a kind of one that is reached."""
PARTS = {"MadeOf", "OnPaper", "Figure"}
"""The parts of a `Picture` by which it saves itself: whoever has one asks it for none of them."""
SAYS_ALL = {
    *("title", "kind", "layer", "head", "token", "reader"),
    "n_sentences",
}
"""Fields whose name and type say what they are."""
SHAPE = re.compile(r"\[[^\]]+\]")
PRICE = re.compile(r"log_prob|entropy|nats")
COST = re.compile(r"\bcosts?\b")
UNIT = re.compile(r"\b(nats|bits|degrees|percent)\b|`unit`")


def types_in(hint: Any) -> Iterator[type]:
    if isinstance(hint, type):
        yield hint
    for each in get_args(hint):
        for part in each if isinstance(each, list) else [each]:
            yield from types_in(part)


def hints(value: Any) -> Iterator[Any]:
    """The annotations of a function; of a class those of its fields and properties."""
    yield from get_type_hints(value).values()
    for name, of in vars(value).items() if isinstance(value, type) else ():
        function = of.fget if isinstance(of, property) else getattr(of, "func", None)
        if not name.startswith("_") and isinstance(of, property | cached_property):
            yield get_type_hints(function).get("return")


def is_ours(cls: type) -> bool:
    return cls.__module__.split(".")[0] in ("transformer", "viz") and cls.__name__ not in PARTS


@cache
def public() -> list[type]:
    """The dataclasses that public functions take or give, and all that one reaches from these."""
    rooms: tuple[ModuleType, ...] = (transformer, viz)
    left: list[Any] = [getattr(room, name) for room in rooms for name in room.__all__]
    left += BESIDE
    reached: dict[Any, None] = {}
    while left:
        value = left.pop()
        if value not in reached and (isfunction(value) or is_ours(value)):
            reached[value] = None
            left += [each for hint in hints(value) for each in types_in(hint)]
    return [each for each in reached if isinstance(each, type) and is_dataclass(each)]


def lines(cls: type) -> dict[str, tuple[str, str]]:
    """Field -> its type and its line, as help() has them."""
    _, _, section = (getdoc(cls) or "").partition("\nAttributes:\n")
    parts = re.findall(r"^    (\w+): (.+)\n((?:        .+\n)*)", section + "\n", re.M)
    return {name: (sort, " ".join(words.split())) for name, sort, words in parts}


def faults(cls: type) -> list[str]:
    result, every = [], lines(cls)
    above = (getdoc(cls) or "").partition("\nAttributes:\n")[0]
    for name in (each.name for each in fields(cls) if not each.name.startswith("_")):
        sort, words = every.get(name, ("", ""))
        is_numbers = "Tensor" in sort or "NDArray" in sort
        has_price = PRICE.search(name) or COST.search(words)
        if name not in every:
            result.append(f"{name}: not in help()")
        elif not words and name not in SAYS_ALL:
            result.append(f"{name}: no line")
        elif is_numbers and "Callable" not in sort and not SHAPE.search(words):
            result.append(f"{name}: no shape")
        elif has_price and not UNIT.search(f"{name} {above} {words}"):
            result.append(f"{name}: no unit")
    return result


def test_public_values_are_reached() -> None:
    names = {each.__name__ for each in public()}
    assert {"Recording", "Evidence", "Verdict", "Step", "Hypothesis", "Estimate", "Token"} <= names
    assert {"Survey", "HeadSummary", "Alignment", "Reading", "About", "Masked", "Picture"} <= names
    assert {"Pair", "Patching", "Classification", "Edit", "Decoding", "ModelConfig"} <= names


def test_each_field_says_what_it_is() -> None:
    left = {cls.__qualname__: each for cls in public() if (each := faults(cls))}
    assert not left


def test_help_shows_shapes() -> None:
    sort, words = lines(Evidence)["hidden"]
    assert sort == "Tensor" and "[T, S]" in words
    assert "[words of the target, words of the source]" in lines(Recording)["hidden"][1]


def test_inherited_fields_are_there() -> None:
    assert [*lines(PooledClassification)] == [each.name for each in fields(PooledClassification)]


@fields_in_help
@dataclass
class Bare:
    """Nothing is said of its fields."""

    rows: Tensor
    """The rows."""
    log_prob: float
    """Of all."""
    words: str
    title: str = ""
    _hidden: int = 0


def test_a_fault_is_noticed() -> None:
    assert faults(Bare) == ["rows: no shape", "log_prob: no unit", "words: no line"]
    assert "_hidden" not in (getdoc(Bare) or "")


def test_a_value_has_the_docstring_of_its_class() -> None:
    assert getdoc(Bare(Tensor(), 0.0, "")) == getdoc(Bare) == Bare.__doc__


def test_without_sources_the_docstring_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(sys.modules[__name__], "__file__")
    assert Bare.__doc__ == "Nothing is said of its fields."
