"""Arguments of a notebook's pictures: a wrong one ends in a sentence that says what to give."""

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from transformer.analysis.reading import Reading
from transformer.arguments import NUMBER, TEXT, YES_OR_NO, Wanted, all_whole, checks, of_class
from transformer.causes import Evidence
from transformer.corpus.shipped import ShippedSurvey
from transformer.corpus.surveyed import Survey
from transformer.decoding import Decoding
from transformer.device import usual_state
from transformer.recording import Recording

P = ParamSpec("P")
T = TypeVar("T")

WANTED = {
    "recording": of_class(
        Recording,
        "a recording, which record(checkpoint, text, target) and record(module, inputs) make",
    ),
    "decoding": of_class(Decoding, "a decoding, as decode(checkpoint, text) makes it"),
    "evidence": of_class(Evidence, "evidence, as evidence(checkpoint, text) finds it"),
    "survey": of_class(
        (Survey, ShippedSurvey), "a survey, as survey(checkpoint, sentences) makes it"
    ),
    "heads": Wanted(all_whole, "a list of heads, counted from 0").or_none,
    "lens": of_class((str, Reading), "the name of a lens, or a Reading"),
    "word": Wanted(lambda it: TEXT.fits(it) or NUMBER.fits(it), "a written word, or its number"),
    "height": NUMBER.or_none,
    "path": YES_OR_NO,
    "words": YES_OR_NO,
    "query": NUMBER,
    "key": NUMBER,
    "kind": TEXT.or_none,
    **dict.fromkeys(("show", "sort", "theme", "name"), TEXT),
}
"""The arguments by their names, which are the same in every picture."""


def pictured(function: Callable[P, T]) -> Callable[P, T]:
    """A function that draws what it is given, wherever a caller has tensors made."""
    return usual_state()(checks(**WANTED)(function))
